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

// For each package with a certain fault, the release to take.
function upgrades(packages, certain) {
  const parts = partsOf(packages);
  return Object.entries(packages).flatMap(([name, version]) => {
    const part = partOf(name);
    const counts = range =>
      parts[range.part] && (range.part === part || (part === "numba" && range.builtIn));
    const own = certain.filter(fault => fault.ranges.some(counts));
    if (!own.length) return [];
    const [take, left] = better(packages, name, own) ?? [];
    const rest = `; it has ${left || "none"} of these ${own.length}`;
    const said = take
      ? [": take ", element("strong", "", take), rest]
      : [": no newer release that the book knows is better"];
    return [element("p", "", `${name} ${version}`, ...said, ".")];
  });
}

function environment(packages) {
  const found = diagnose(packages);
  const of = status => [...found].filter(([, one]) => one === status).map(([fault]) => fault);
  const groups = [AFFECTED, AT_RISK, READ].map(status => [status, of(status)]);
  const some = groups.some(([, faults]) => faults.length);
  const list = Object.entries(packages).map(one => one.join(" ")).join(", ");
  const title = some ? "Known faults in these releases" : "No known fault in these releases";
  return element(
    "section",
    `finding packages ${groups[0][1].length ? "sure" : "perhaps"}`,
    element("p", "mark", title),
    element("p", "", `Looked at: ${list}.`),
    ...groups.flatMap(([status, faults]) => [
      ...(faults.length ? group(status, faults) : []),
      ...(status === AFFECTED ? upgrades(packages, faults) : []),
    ]),
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
