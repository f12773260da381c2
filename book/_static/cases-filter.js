// The first page: the cases of one library and one kind. Without a script all of them are listed.
const filter = document.getElementById("filter");
const cases = [...document.querySelectorAll("ul.cases > li")];

function sift() {
  const chosen = [...new FormData(filter).values()].filter(Boolean);
  for (const item of cases) item.hidden = !chosen.every(name => item.classList.contains(name));
  const left = cases.filter(item => !item.hidden).length;
  filter.querySelector("[role=status]").textContent = `${left} ${left === 1 ? "case" : "cases"}`;
}

filter.addEventListener("change", sift);
sift();
