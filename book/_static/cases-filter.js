// The first page: the cases of one library and one kind, those that are about the library first,
// each with the fault that fits. Without a choice, and without a script, all of them are listed
// below the captions of the contents, with their first fault.
const filter = document.getElementById("filter");
const list = document.querySelector("ul.cases");
const all = [...list.children];
const cases = all.filter(item => !item.matches(".caption"));
const narrow = matchMedia("(max-width: 600px)");

function sift() {
  const chosen = [...new FormData(filter).values()].filter(Boolean);
  const fits = part => chosen.every(name => part.classList.contains(name));
  const about = item => [...item.classList].find(name => name.startsWith("about-"));
  const main = item => (chosen.includes(about(item)) ? 0 : 1);
  for (const item of cases) {
    const faults = [...item.querySelectorAll(".fault")];
    const shown = faults.find(fits) ?? faults[0];
    for (const fault of faults) fault.classList.toggle("other", fault !== shown);
    item.hidden = !fits(item);
  }
  const sorted = [...cases].sort((one, other) => main(one) - main(other));
  list.replaceChildren(...(chosen.length ? sorted : all));
  const left = [...list.children].filter(item => cases.includes(item) && !item.hidden);
  const count = `${left.length} ${left.length === 1 ? "case" : "cases"}`;
  filter.querySelector("[role=status]").textContent = count;
  return left[0];
}

// An address may bring a choice along: ?Library=about-cupy&Kind=kind-hang
for (const [name, value] of new URLSearchParams(location.search)) {
  for (const input of filter.elements) {
    if (input.name === name && input.value === value) input.checked = true;
  }
}

const fold = () => {
  filter.firstElementChild.open = !narrow.matches;
};
narrow.addEventListener("change", fold);
filter.addEventListener("change", () => sift()?.scrollIntoView({ block: "nearest" }));
fold();
sift();
