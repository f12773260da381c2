// What Find your error says about a pasted list of packages.
const LISTED_OPEN = 4; // faults of a group that are not folded

const SAID = {
  [AFFECTED]: "whatever your code does",
  [AT_RISK]: "depends on your code",
  [READ]: "read in the source of these releases, not run",
};

// A fault, with what to do.
function line({ name }) {
  const one = BOOK.cases.find(({ number }) => name.startsWith(`${number}-`));
  const fault = one.faults[name.slice(one.number.length + 1)];
  return element(
    "li",
    "",
    ...prose(fault.see),
    ". ",
    element("strong", "", "Do"),
    " ",
    ...prose(fault.do),
    ". ",
    link(one.href, `Case ${one.number}`),
  );
}

// The faults of one status, the worst first, many of them folded.
function group(status, faults) {
  const list = found => element("ul", "faults", ...found.map(line));
  const count = `${faults.length} known fault${faults.length > 1 ? "s" : ""}`;
  const heading = element("p", "fact", element("strong", "", count), `: ${SAID[status]}`);
  const [open, rest] = [faults.slice(0, LISTED_OPEN), faults.slice(LISTED_OPEN)];
  return [heading, list(open), ...folded(rest.length, list(rest))];
}

// What to run first, and what it changes; nothing where there is no certain fault.
function first(text, certain) {
  if (!certain.length) return [];
  const found = cure(text, certain);
  const none = "No release that the book knows has fewer of these faults.";
  if (!found) return [element("p", "", none)];
  const { command, takes, keeps, left, conda } = found;
  const what = `This installs ${takes.join(", ").replaceAll("==", " ")}`;
  const stays = keeps.length ? `, and keeps ${keeps.join(", ").replaceAll("==", " ")}` : "";
  const rest = left ? ` ${left} of these ${certain.length} faults will remain.` : "";
  const tried = conda ? "We did not try conda." : "Add `--dry-run` to see all that would change.";
  return [
    element("p", "fact", element("strong", "", "Do"), " run this first:"),
    element("pre", "", command),
    element("p", "", ...prose(`${what}${stays}.${rest} ${tried}`)),
  ];
}

// That nvJitLink is older than what it must link.
function mixed(text) {
  const [older, name, version] = olderLink(text) ?? [];
  if (!older) return [];
  const one = BOOK.cases.find(({ number }) => number === "54");
  const sentence =
    `nvidia-nvjitlink-cu12 ${older} is older than ${name} ${version}, ` +
    "so cuSPARSE may not load. ";
  return [
    act(Object.values(one.faults)[0].do, ""),
    element("p", "", sentence, link(one.href, "Case 54")),
  ];
}

function environment(text) {
  const packages = packagesOf(text);
  const found = diagnose(packages);
  const of = status => [...found].filter(([, one]) => one === status).map(([fault]) => fault);
  const groups = [AFFECTED, AT_RISK, READ].map(status => [status, of(status)]);
  const beside = mixed(text);
  const some = groups.some(([, faults]) => faults.length) || beside.length;
  const list = Object.entries(packages).map(one => one.join(" ")).join(", ");
  const title = some ? "Known faults in these releases" : "No known fault in these releases";
  return element(
    "section",
    `finding packages ${groups[0][1].length ? "sure" : "perhaps"}`,
    element("p", "mark", title),
    ...beside,
    ...first(text, groups[0][1]),
    ...groups.flatMap(([status, faults]) => (faults.length ? group(status, faults) : [])),
    element("p", "", `Looked at: ${list}.`),
    ...newerThanKnown(packages).map(([name, version]) =>
      element("p", "", `${name} ${version} is newer than every release that the book knows.`),
    ),
    element(
      "p",
      "",
      "A list says nothing of the driver, the GPU, or packages that don't fit together: the ",
      link(unknown.querySelector("a").getAttribute("href"), "doctor"),
      " looks at these too.",
    ),
  );
}
