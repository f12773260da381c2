// The box of Find your error: pastes a text into match.js and says what it finds. cases.js holds the book's messages.
const box = document.getElementById("traceback");
const answer = document.querySelector(".lookup .answer");
const unknown = document.querySelector(".lookup template").content;

const named = names => names.map(name => BOOK.libraries[name].label).join(" or ");

function element(tag, className, ...parts) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...parts);
  return made;
}

// Text with `code` in it, as nodes.
const prose = text => text.split(/`([^`]+)`/).map((part, n) => n % 2 ? element("code", "", part) : part);
const link = (href, ...parts) => Object.assign(element("a", "", ...parts), { href });

// The question that tells this case from others, for an answer that is not sure.
function question(one, { message, by }) {
  const library = named(message.libraries);
  const fault = one.faults[message.fault];
  if (fault && message.general && !message.signal) return ["Is this what you see: ", ...prose(fault.see), "?"];
  if (message.condition) return [`Is it so that ${message.condition}?`];
  if (message.signal) return [`Is ${library} in the crash? Many faults end by ${message.signal}.`];
  if (by === "related") return [`Is ${library} at work? What you pasted shows frames of others.`];
  if (by === "unknown" || by === "strange") return [`Did ${library} raise it? The frames above these words say so.`];
  if (fault && !message.cells.length) return ["Is this what you see: ", ...prose(fault.see), "?"];
  return ["Does your code do what that place shows? These words have other causes."];
}

function reason({ message, by }) {
  if (by === "frame" && message.libraries.length) return [`These words, from ${named(message.libraries)}, belong to this case.`];
  return ["These words belong to this case."];
}

function words(found) {
  const { message } = found;
  const where = message.cells.map(([number, section], n) => [n ? ", " : "Shown in ", link(`${found.href}#cell-${number}`, `cell ${number}`), ` (${section})`]);
  const seen = message.link ? [" Seen in ", link(message.link, new URL(message.link).pathname.slice(1)), "."] : [];
  const item = element("li", "", element("p", "", element("code", "", message.text)));
  if (where.length || seen.length) item.append(element("p", "", ...where.flat(), where.length ? "." : "", ...seen));
  return item;
}

const act = (text, end = ".") => element("p", "fact", element("strong", "", "Do"), " ", ...prose(text), end);

function describe({ case: one, sure, messages }) {
  const title = element("h3", "", link(one.href, `Case ${one.number}: `, ...prose(one.title)));
  const known = new Set(messages.map(({ message }) => message.fault).filter(Boolean));
  const faults = Object.entries(one.faults).filter(([id]) => !known.size || known.has(id)).map(([, fault]) => fault);
  const facts = faults.flatMap(fault => [
    act(fault.do),
    element("p", "fact", ...faults.length > 1 ? ["if you see: ", ...prose(fault.see), ". "] : [],
      element("strong", "", "Affected"), ` ${fault.affected}. `, element("strong", "", "Fixed in"), ` ${fault.fixed}.`),
  ]);
  const asked = sure ? reason(messages[0]) : question(one, messages[0]);
  const mark = element("p", "mark", sure ? "This is it" : "Perhaps");
  const list = element("ul", "messages", ...messages.map(found => words({ ...found, href: one.href })));
  return element("section", sure ? "finding sure" : "finding perhaps", facts[0], mark, element("p", "", ...asked), title, ...facts.slice(1), list);
}

// A fault as one line: what is seen, as a question, and where it stands.
const ask = ({ case: one, fault }) => [...prose(fault.see), "? ", link(one.href, `Case ${one.number}`)];

// An error with many causes: what to do first, the usual cause, and, folded, the cases that can end so.
function explain({ title, cause, do: action, command }, findings) {
  const made = element("section", "finding general", act(action, ":"), element("pre", "", command.trim()), element("p", "mark", "Many causes"),
    element("p", "", element("strong", "", title), ". ", ...prose(cause)));
  const lines = findings.map(({ case: one, messages }) => ({ case: one, fault: one.faults[messages[0].message.fault] ?? Object.values(one.faults)[0] }));
  const fold = element("details", "", element("summary", "", `${lines.length} ${lines.length === 1 ? "case" : "cases"} can end so`),
    element("ul", "", ...lines.map(line => element("li", "", ...ask(line)))));
  if (lines.length) made.append(fold);
  return made;
}

// A message that no case is about: what to do, why, and how we know.
function reply({ title, cause, do: action, command, link: address, known }) {
  const how = known === "read" ? "Read there, not run" : `We ran it: ${known.replace(/^run, /, "")}`;
  return element("section", "finding general", act(action, ":"), element("pre", "", command.trim()),
    element("p", "mark", "No case, but an answer"),
    element("p", "", element("strong", "", title), ". ", ...prose(cause)),
    element("p", "", "See ", link(address, new URL(address).pathname.slice(1)), `. ${how}.`));
}

// The faults that come nearest, where nothing fits, and the first page with the cases of the libraries named.
function guess(text, names) {
  const found = nearest(BOOK, text);
  if (!found.length) return [];
  const library = names[0] ?? found[0].case.libraries[0];
  const kind = found[0].case.kind.split(", ")[0];
  const chosen = new URLSearchParams({ ...(library && { library }), kind });
  return [element("p", "mark", "Nearest, not sure"),
    ...found.flatMap(one => [element("p", "like", ...ask(one)), act(one.fault.do)]),
    element("p", "", "All cases of this kind are on the ", link(`${BASE}index.html?${chosen}`, "first page"), ".")];
}

// Faults that a description in plain words sounds like.
function suggest(found) {
  const lines = found.flatMap(one => [element("p", "like", ...ask(one)), act(one.fault.do)]);
  return element("section", "finding perhaps", element("p", "mark", "Perhaps: cases that sound like it"), ...lines);
}

// No case fits: whom to ask, by the frames that the text shows, and the cases of that library that come without a message.
function refer(text) {
  const made = unknown.cloneNode(true);
  const names = libraries(BOOK, text);
  const trackers = names.slice(0, 2).map(name => link(BOOK.libraries[name].tracker, BOOK.libraries[name].label));
  const silent = BOOK.cases.filter(one => one.libraries.some(name => names.includes(name)));
  if (trackers.length) made.querySelector(".where").replaceChildren(element("strong", "", "Do"), " search the issues of ",
    ...trackers.flatMap((one, n) => n ? [", then of ", one] : [one]), ", where it comes from, then ask there.");
  if (silent.length) made.querySelector(".near").replaceChildren("Not every case has a message. Those about the same library: ",
    ...silent.flatMap((one, n) => [n ? " · " : "", link(one.href, ...prose(one.title))]), ".");
  const mark = made.querySelector(".mark");
  mark.before(...guess(text, names.filter(name => BOOK.libraries[name].listed)));
  return made;
}

function update() {
  const text = shorten(box.value.trim());
  answer.replaceChildren();      // whatever happens, the answer before does not stay
  if (empty(text)) return;
  const findings = match(BOOK, text);
  const error = findings.some(found => found.sure) ? null : general(BOOK, text);
  const made = error ? [explain(error, findings)] : findings.map(describe);
  const like = made.length || !text ? [] : sounds(BOOK, text);
  answer.replaceChildren(...made.length || !text ? made : [like.length ? suggest(like) : refer(text)]);
}

let waiting;
box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(update, 150); });
update();   // a browser may have kept the text
