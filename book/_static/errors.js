// The box of Find your error: match.js finds the cases of a paste, and this says what was found.
// cases.js holds the book's messages.
const box = document.getElementById("traceback");
const answer = document.querySelector(".lookup .answer");
const unknown = document.querySelector(".lookup template").content;

const OPEN = 3; // cases of a general error that are not folded
const SHARED = 2000; // letters of a text that its address holds
const NEAREST = "Nearest by words, usually not it";
const FAILURE = /error|exception|traceback|warning|fatal|file "|failed|cannot|not found|no module/;
const SLICE = 50; // milliseconds of reading between two looks at the page

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
function question(one, { message, by }, paste) {
  const library = named(message.libraries);
  const fault = one.faults[message.fault];
  if (fault && message.general && !message.signal)
    return ["Is this what you see: ", ...prose(fault.see), "?"];
  if (message.condition) return ["Is it so that ", ...prose(message.condition), "?"];
  if (message.signal) return [`Is ${library} in the crash? Many faults end by ${message.signal}.`];
  if (by === "related") return [`Is ${library} at work? What you pasted shows frames of others.`];
  if (by === "unknown" || by === "strange")
    return [
      `Did ${library} raise it? `,
      paste.lines.length > 1
        ? "The frames above these words say so."
        : "Paste the lines above this one, too: they show which library it comes from.",
    ];
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

function describe({ case: one, sure, messages }, paste) {
  const title = element("h2", "", link(one.href, `Case ${one.number}: `, ...prose(one.title)));
  const known = new Set(messages.map(({ message }) => message.fault).filter(Boolean));
  const can = possible(one, paste);
  const shown = [...can].filter(([id]) => !known.size || known.has(id));
  const faults = (shown.length ? shown : [...can]).map(([, fault]) => fault);
  const facts = faults.flatMap(fault => [
    act(fault.do),
    element(
      "p",
      "fact",
      ...(faults.length > 1 ? ["if you see: ", ...prose(fault.see), ". "] : []),
      element("strong", "", "Affected"),
      ` ${fault.affected}. `,
      ...(fault.fixed.startsWith("never")
        ? ["No release will fix it, since it works as it is meant to."]
        : [element("strong", "", "Fixed in"), ` ${fault.fixed}.`]),
    ),
  ]);
  const beside = messages.every(({ message }) => message.beside);
  if (beside) facts.splice(0, facts.length, element("p", "fact", "That place says what helps."));
  const asked = sure ? reason(messages[0]) : question(one, messages[0], paste);
  const likely = messages.every(vague) ? NEAREST : "Likely";
  const unsure = beside ? "These words stand beside a case" : likely;
  const mark = element("p", "mark", sure ? "This is it" : unsure);
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
    ...remarks(one, paste).map(sentence => element("p", "", sentence)),
    title,
    ...facts.slice(1),
    list,
  );
}

// Something folded under a few words.
const folded = (title, ...rest) => [element("details", "", element("summary", "", title), ...rest)];

// A fault as one line: what is seen, as a question, and where it stands.
const ask = ({ case: one, fault }) => [
  ...prose(fault.see),
  "? ",
  link(one.href, `Case ${one.number}`),
];

// A fault with what to do, and what tells it from others.
const advise = one => [
  element("p", "like", ...ask(one)),
  act(one.fault.do),
  element("p", "fact", element("strong", "", "Affected"), ` ${one.fault.affected}.`),
];

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
function explain(error, findings, paste) {
  const made = advice(error, "Many causes");
  const alike = rank(BOOK, paste.text);
  const like = new Map(alike.map(({ fault, score }) => [fault, score]));
  const likeness = ({ fault }) => like.get(fault) ?? 0;
  const lines = findings
    .map(({ case: one, messages }) => ({
      case: one,
      fault: one.faults[messages[0].message.fault] ?? Object.values(one.faults)[0],
    }))
    .sort((one, other) => likeness(other) - likeness(one));
  const [open, rest] = [lines.slice(0, OPEN), lines.slice(OPEN)];
  if (open.length)
    made.append(
      element("p", "can", `${lines.length} ${lines.length === 1 ? "case" : "cases"} can end so:`),
      ...open.flatMap(advise),
    );
  if (rest.length) made.append(...folded(`${rest.length} more`, ...rest.flatMap(advise)));
  const near = guesses(alike).filter(found => !lines.some(line => line.case === found.case));
  if (near.length)
    made.append(
      element("p", "can", `${NEAREST}:`),
      ...near.map(one => element("p", "like", ...ask(one))),
    );
  return made;
}

// A message that no case is about: what to do, why, and how we know.
function tell(error) {
  const { link: address, known } = error;
  const how =
    known === "read" ? "Read there, not run" : `We ran it: ${known.replace(/^run, /, "")}`;
  return advice(
    error,
    "No case, but an answer",
    element("p", "", "See ", link(address, new URL(address).pathname.slice(1)), `. ${how}.`),
  );
}

// No message fits: where to ask, the three cases that come nearest by their words, folded, and the
// other cases of the libraries that the paste shows.
function refer(paste) {
  const made = unknown.cloneNode(true);
  const near = nearest(BOOK, paste);
  const message = FAILURE.test(paste.shown);
  const [mark, title] = message
    ? ["No message of this book stands in your text", `${NEAREST}:`]
    : ["Nearest by words", "Is it one of these?"];
  if (near.length) {
    made.querySelector(".mark").textContent = mark;
    const cases = near.flatMap(one =>
      message
        ? [element("p", "like", ...ask(one)), ...folded("What it says", act(one.fault.do))]
        : advise(one),
    );
    made.querySelector(".near").replaceChildren(element("p", "can", title), ...cases);
  }
  if (!message) made.querySelector(".finding").prepend(...made.querySelectorAll(".mark, .near"));
  const names = libraries(BOOK, paste);
  const trackers = names
    .slice(0, 2)
    .map(name => link(BOOK.libraries[name].tracker, BOOK.libraries[name].label));
  if (trackers.length)
    made
      .querySelector(".where")
      .replaceChildren(...trackers.flatMap((one, n) => (n ? [" or of ", one] : [one])));
  const silent = BOOK.cases.filter(one => one.libraries.some(name => names.includes(name)));
  if (silent.length)
    made.querySelector(".finding").append(
      ...folded(
        `All ${silent.length} cases about the same library`,
        element(
          "ul",
          "messages",
          ...silent.map(one => element("li", "", link(one.href, ...prose(one.title)))),
        ),
      ),
    );
  return made;
}

// What was not read of a long text.
const skipped = ({ lines, skipped: count }) =>
  element(
    "p",
    "skipped",
    `This text is long. All of it was searched for the book's messages; of the rest, ` +
      `${lines.length} lines were read and ${count} were not.`,
  );

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
      history.replaceState(null, "", new URL(address(text, findings)).hash);
      button.textContent = "The address bar has it";
    }
  });
  return button;
}

// The answer to a paste.
function reply(text, paste) {
  if (empty(paste)) return [];
  const findings = match(BOOK, paste);
  const sure = findings.some(found => found.sure);
  const error = sure ? undefined : general(BOOK, paste);
  const told = sure ? undefined : answered(BOOK, paste);
  const made = [
    ...(told ? [tell(told)] : []),
    ...(error ? [explain(error, findings, paste)] : findings.map(one => describe(one, paste))),
  ];
  if (!made.length) made.push(refer(paste));
  if (paste.skipped) made.push(skipped(paste));
  const one = made.length > 1 || error ? [] : findings;
  return [...made, share(text, one)];
}

let turn = 0; // of the text in the box

// A paste. A long text is read in slices, between which the page shows how far it is; undefined
// where another text came meanwhile.
async function readInSlices(text) {
  const mine = turn;
  const bar = Object.assign(element("progress", ""), { ariaLabel: "Searching your text" });
  const steps = reading(BOOK, text);
  for (let end = performance.now() + SLICE; mine === turn; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < end) continue;
    bar.value = value;
    if (!bar.isConnected) answer.replaceChildren(bar);
    await new Promise(resolve => setTimeout(resolve));
    end = performance.now() + SLICE;
  }
  return undefined;
}

// Until an answer stands, the page keeps its height and a screen reader waits.
async function update() {
  const text = box.value.trim();
  const mine = ++turn;
  answer.style.minHeight = `${answer.offsetHeight}px`;
  answer.ariaBusy = "true";
  answer.replaceChildren(); // whatever happens, the answer before does not stay
  try {
    const made = packagesOf(text.slice(0, LONG.text))
      ? [environment(text), share(text, [])]
      : await readInSlices(text).then(paste => paste && reply(text, paste));
    if (mine === turn) answer.replaceChildren(...made);
  } finally {
    if (mine === turn) {
      answer.style.minHeight = "";
      answer.ariaBusy = "false";
    }
  }
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
