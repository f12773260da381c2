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

// What would tell this case from others, for an answer that is not sure.
function doubt({ message, by }) {
  const library = named(message.libraries);
  if (message.condition) return `if ${message.condition}`;
  if (message.signal) return `if ${library} is in the crash; many faults end by ${message.signal}`;
  if (by === "related") return `if ${library} is at work above: what you pasted shows frames of its relatives only`;
  if (message.level === 0) return "if your code does what the case does: these words have many other causes";
  if (by === "frame") return "if your code does what that place shows: the book meets these words beside the case";
  return `if ${library} raised it: the frames above these words would say so`;
}

function reason({ message, by }, sure) {
  if (!sure) return `Perhaps, ${doubt({ message, by })}.`;
  if (by === "frame") return message.libraries.length ? `These words, from ${named(message.libraries)}, belong to this case.` : "These words belong to this case.";
  return `These words belong to this case, if they came from ${named(message.libraries)}.`;
}

function words(one, found, sure) {
  const { message } = found;
  const where = message.cells.map(([number, section], n) => [n ? ", " : "Shown in ", link(`${one.href}#cell-${number}`, `cell ${number}`), ` (${section})`]);
  const seen = message.link ? [" Seen in ", link(message.link, new URL(message.link).pathname.slice(1)), "."] : [];
  const item = element("li", "", element("p", "", element("code", "", message.text)), element("p", "", reason(found, sure)));
  if (where.length || seen.length) item.append(element("p", "", ...where.flat(), where.length ? "." : "", ...seen));
  return item;
}

function describe({ case: one, sure, messages }) {
  const title = element("h3", "", link(one.href, `Case ${one.number}: `, ...prose(one.title)));
  const named = new Set(messages.map(({ message }) => message.fault).filter(Boolean));
  const faults = Object.entries(one.faults).filter(([id]) => !named.size || named.has(id)).map(([, fault]) => fault);
  const facts = faults.flatMap(fault => [
    element("p", "fact", element("strong", "", "Do"), " ", ...prose(fault.do), "."),
    element("p", "fact", element("strong", "", "Affected"), ` ${fault.affected}. `, element("strong", "", "Fixed in"), ` ${fault.fixed}.`),
  ]);
  const list = element("ul", "messages", ...messages.map(found => words(one, found, sure)));
  return element("section", sure ? "finding sure" : "finding perhaps", element("p", "mark", sure ? "This is it" : "Perhaps"), title, ...facts, list);
}

// No case fits: whom to ask, by the frames that the text shows, and the cases of that library that come without a message.
function ask(text) {
  const made = unknown.cloneNode(true);
  const names = shown(BOOK, text);
  const trackers = names.slice(0, 2).map(name => link(BOOK.libraries[name].tracker, BOOK.libraries[name].label));
  const silent = BOOK.cases.filter(one => one.libraries.some(name => names.includes(name)));
  if (trackers.length) made.querySelector(".where").replaceChildren("It comes from ", ...trackers.flatMap((one, n) => n ? [" by way of ", one] : [one]),
    ": search there, then ask there.");
  if (silent.length) made.querySelector(".near").replaceChildren("Not every case has a message. Those about the same library: ",
    ...silent.flatMap((one, n) => [n ? " · " : "", link(one.href, ...prose(one.title))]), ".");
  return made;
}

function update() {
  const findings = match(BOOK, box.value);
  const made = findings.length ? findings.map(describe) : box.value.trim() ? [ask(box.value)] : [];
  answer.replaceChildren(...made);
}

let waiting;
box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(update, 150); });
update();   // a browser may have kept the text
