// The first page: the cases of one library. Without a script all of them are listed.
const filter = document.getElementById("filter");
const cases = [...document.querySelectorAll("ul.cases > li")];

function sift() {
  const name = new FormData(filter).get("library");
  for (const item of cases) item.hidden = Boolean(name) && !item.classList.contains(`about-${name}`);
  for (const section of document.querySelectorAll("section.kind")) section.hidden = !section.querySelector("li:not([hidden])");
  const titles = new Set(cases.filter(item => !item.hidden).map(item => item.querySelector(".case-title").textContent));
  filter.querySelector("[role=status]").textContent = `${titles.size} ${titles.size === 1 ? "case" : "cases"}`;
}

filter.addEventListener("change", sift);
sift();
