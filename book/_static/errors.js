// The box of Find your error: pastes a text into match.js and says what it finds. cases.js holds
// the book's messages.
const box = document.getElementById("traceback");
const answer = document.querySelector(".lookup .answer");
const unknown = document.querySelector(".lookup template").content;

const OPEN = 3; // cases of a general error that are not folded
const SHARED = 2000; // letters of a text that its address holds

const named = names => names.map(name => BOOK.libraries[name].label).join(" or ");

function element(tag, className, ...parts) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...parts);
  return made;
}

// Text with `code` in it, as nodes.
const prose = text =>
  text.split(/`([^`]+)`/).map((part, n) => (n % 2 ? element("code", "", part) : part));
const link = (href, ...parts) => Object.assign(element("a", "", ...parts), { href });

// The question that tells this case from others, for an answer that is not sure.
function question(one, { message, by }) {
  const library = named(message.libraries);
  const fault = one.faults[message.fault];
  if (fault && message.general && !message.signal)
    return ["Is this what you see: ", ...prose(fault.see), "?"];
  if (message.condition) return [`Is it so that ${message.condition}?`];
  if (message.signal) return [`Is ${library} in the crash? Many faults end by ${message.signal}.`];
  if (by === "related") return [`Is ${library} at work? What you pasted shows frames of others.`];
  if (by === "unknown" || by === "strange")
    return [`Did ${library} raise it? The frames above these words say so.`];
  if (fault && !message.cells.length) return ["Is this what you see: ", ...prose(fault.see), "?"];
  return ["Does your code do what that place shows? These words have other causes."];
}

function reason({ message, by }) {
  if (by === "frame" && message.libraries.length)
    return [`These words, from ${named(message.libraries)}, belong to this case.`];
  return ["These words belong to this case."];
}

function words(found) {
  const { message } = found;
  const where = message.cells.map(([number, section], n) => [
    n ? ", " : "Shown in ",
    link(`${found.href}#cell-${number}`, `cell ${number}`),
    ` (${section})`,
  ]);
  const seen = message.link
    ? [" Seen in ", link(message.link, new URL(message.link).pathname.slice(1)), "."]
    : [];
  const item = element("li", "", element("p", "", element("code", "", message.text)));
  if (where.length || seen.length)
    item.append(element("p", "", ...where.flat(), where.length ? "." : "", ...seen));
  return item;
}

const act = (text, end = ".") =>
  element("p", "fact", element("strong", "", "Do"), " ", ...prose(text), end);

function describe({ case: one, sure, messages }) {
  const title = element("h2", "", link(one.href, `Case ${one.number}: `, ...prose(one.title)));
  const known = new Set(messages.map(({ message }) => message.fault).filter(Boolean));
  const faults = Object.entries(one.faults)
    .filter(([id]) => !known.size || known.has(id))
    .map(([, fault]) => fault);
  const facts = faults.flatMap(fault => [
    act(fault.do),
    element(
      "p",
      "fact",
      ...(faults.length > 1 ? ["if you see: ", ...prose(fault.see), ". "] : []),
      element("strong", "", "Affected"),
      ` ${fault.affected}. `,
      element("strong", "", "Fixed in"),
      ` ${fault.fixed}.`,
    ),
  ]);
  const asked = sure ? reason(messages[0]) : question(one, messages[0]);
  const mark = element("p", "mark", sure ? "This is it" : "Perhaps");
  const list = element(
    "ul",
    "messages",
    ...messages.map(found => words({ ...found, href: one.href })),
  );
  return element(
    "section",
    sure ? "finding sure" : "finding perhaps",
    facts[0],
    mark,
    element("p", "", ...asked),
    title,
    ...facts.slice(1),
    list,
  );
}

// The rest of a list, folded.
const folded = (count, ...rest) =>
  count ? [element("details", "", element("summary", "", `${count} more`), ...rest)] : [];

// A fault as one line: what is seen, as a question, and where it stands.
const ask = ({ case: one, fault }) => [
  ...prose(fault.see),
  "? ",
  link(one.href, `Case ${one.number}`),
];

// A fault with what to do.
const advise = one => [element("p", "like", ...ask(one)), act(one.fault.do)];

// What to do about an error, with a command, and why.
function advice({ title, cause, do: action, command }, mark, ...more) {
  return element(
    "section",
    "finding general",
    act(action, ":"),
    element("pre", "", command.trim()),
    element("p", "mark", mark),
    element("p", "", element("strong", "", title), ". ", ...prose(cause)),
    ...more,
  );
}

// An error with many causes: what to do first, the usual cause, then the cases that can end so:
// those that the text is most like, and the others folded.
function explain(error, findings, text) {
  const made = advice(error, "Many causes");
  const like = rank(BOOK, text);
  const lines = findings
    .map(({ case: one, messages }) => ({
      case: one,
      fault: one.faults[messages[0].message.fault] ?? Object.values(one.faults)[0],
    }))
    .sort((one, other) => like.indexOf(one.fault) - like.indexOf(other.fault));
  const [open, rest] = [lines.slice(0, OPEN), lines.slice(OPEN)];
  if (open.length)
    made.append(
      element("p", "can", `${lines.length} ${lines.length === 1 ? "case" : "cases"} can end so:`),
      ...open.flatMap(advise),
    );
  made.append(...folded(rest.length, ...rest.flatMap(advise)));
  return made;
}

// A message that no case is about: what to do, why, and how we know.
function reply(error) {
  const { link: address, known } = error;
  const how =
    known === "read" ? "Read there, not run" : `We ran it: ${known.replace(/^run, /, "")}`;
  return advice(
    error,
    "No case, but an answer",
    element("p", "", "See ", link(address, new URL(address).pathname.slice(1)), `. ${how}.`),
  );
}

// The faults that come nearest, where nothing fits, and the first page with the cases like them.
function guess(text, names) {
  const found = nearest(BOOK, text);
  if (!found.length) return [];
  const kind = `kind-${found[0].case.kind.split(", ")[0].replaceAll(" ", "-")}`;
  const library = [...names, ...found[0].case.libraries].find(name =>
    BOOK.cases.some(one => one.libraries.includes(name)),
  );
  const chosen = new URLSearchParams({
    ...(library && { Library: `about-${library}` }),
    Kind: kind,
  });
  return [
    element("p", "guess", element("strong", "", "Nearest, not sure:")),
    ...found.flatMap(advise),
    element(
      "p",
      "",
      "More of this kind: ",
      link(`index.html?${chosen}`, "the first page, filtered"),
      ".",
    ),
  ];
}

// Faults that a description in plain words sounds like.
function suggest(found) {
  return element(
    "section",
    "finding perhaps",
    element("p", "mark", "Perhaps: cases that sound like it"),
    ...found.flatMap(advise),
  );
}

// No case fits: whom to ask, by the frames that the text shows, and the cases of that library
// that come without a message.
function refer(text) {
  const made = unknown.cloneNode(true);
  const names = libraries(BOOK, text);
  const trackers = names
    .slice(0, 2)
    .map(name => link(BOOK.libraries[name].tracker, BOOK.libraries[name].label));
  const silent = BOOK.cases.filter(one => one.libraries.some(name => names.includes(name)));
  if (trackers.length)
    made
      .querySelector(".where")
      .replaceChildren(
        element("strong", "", "Do"),
        " search the issues of ",
        ...trackers.flatMap((one, n) => (n ? [", then of ", one] : [one])),
        ", where it comes from, then ask there.",
      );
  if (silent.length)
    made
      .querySelector(".near")
      .replaceChildren(
        "Not every case has a message. Those about the same library: ",
        ...silent.flatMap((one, n) => [n ? " · " : "", link(one.href, ...prose(one.title))]),
        ".",
      );
  made.querySelector(".mark").after(...guess(text, names));
  return made;
}

// The address of an answer: of the case, where there is one alone, else of the words, which stay in
// the fragment, so that no server sees them.
function address(text, findings) {
  const page = new URL("errors.html", location.href);
  page.search = "";
  page.hash =
    findings.length === 1
      ? `case-${findings[0].case.number}`
      : `q=${encodeURIComponent(text.slice(0, SHARED))}`;
  return page.href;
}

// A button that copies it.
function share(text, findings) {
  const button = Object.assign(element("button", "share", "Copy link"), { type: "button" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(address(text, findings));
      button.textContent = "Copied";
    } catch {
      // a page from a disk may not copy
      location.hash = new URL(address(text, findings)).hash;
      button.textContent = "The address bar has it";
    }
  });
  return button;
}

function update() {
  const text = shorten(box.value.trim());
  answer.replaceChildren(); // whatever happens, the answer before does not stay
  if (empty(text)) return;
  const packages = packagesOf(box.value);
  if (packages) {
    answer.replaceChildren(environment(box.value), share(text, []));
    return;
  }
  const findings = match(BOOK, text);
  const sure = findings.some(found => found.sure);
  const error = sure ? null : general(BOOK, text);
  const told = sure ? null : answered(BOOK, text);
  const made = [
    ...(told ? [reply(told)] : []),
    ...(error ? [explain(error, findings, text)] : findings.map(describe)),
  ];
  const like = made.length ? [] : sounds(BOOK, text);
  if (!made.length) made.push(like.length ? suggest(like) : refer(text));
  answer.replaceChildren(...made, share(text, made.length > 1 || error ? [] : findings));
}

// The words that an address brings along.
function arrive() {
  if (!location.hash.startsWith("#q=")) return;
  try {
    box.value = decodeURIComponent(location.hash.slice(3));
  } catch {
    return;
  }
  update();
  box.scrollIntoView({ block: "nearest" });
}

let waiting;
box.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(update, 150);
});
addEventListener("hashchange", arrive);
update(); // a browser may have kept the text
arrive();
