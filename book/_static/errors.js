// The box of the error index: which messages of the page fit a pasted text. The list below the box holds all that an answer says.
const box = document.getElementById("traceback");
const answer = document.querySelector(".lookup .answer");
const patterns = Object.entries(JSON.parse(document.getElementById("patterns").textContent))
  .map(([id, pattern]) => [document.getElementById(id), new RegExp(pattern, "ms")]);

function copy(element, tag = element.localName) {
  const made = document.createElement(tag);
  made.append(...element.cloneNode(true).childNodes);
  made.className = element.className;
  return made;
}

function describe(section, items) {
  const found = document.createElement("section");
  const title = copy(section.querySelector("h2"), "h3");
  title.querySelector(".headerlink")?.remove();
  const list = document.createElement("ul");
  list.className = "messages";
  list.append(...items.map(item => copy(item)));
  found.append(title, ...[...section.querySelectorAll(".fact")].map(fact => copy(fact)), list);
  return found;
}

function look() {
  const text = box.value.replaceAll("\r", "").trim();
  const bySection = new Map();
  for (const [item, pattern] of patterns) {
    if (!text || !pattern.test(text)) continue;
    const section = item.closest("section");
    bySection.set(section, [...bySection.get(section) ?? [], item]);
  }
  const unknown = text ? [document.querySelector(".lookup template").content.cloneNode(true)] : [];
  answer.replaceChildren(...bySection.size ? [...bySection].map(found => describe(...found)) : unknown);
}

let waiting;
box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, 150); });
look();   // a browser may have kept the text
