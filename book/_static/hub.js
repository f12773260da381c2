// The nbgitpuller link of a JupyterHub, built on the page: no request is made until somebody
// follows it.
const form = document.getElementById("hub");
const repository = form.dataset.repository;

function link(hub) {
  const folder = `lab/tree/${repository.split("/").pop()}/notebooks`;
  const query = new URLSearchParams({ repo: repository, branch: "main", urlpath: folder });
  const root = new URL(hub).href.replace(/[?#].*$/, "").replace(/\/((hub|user)(\/.*)?)?$/, "");
  return `${root}/hub/user-redirect/git-pull?${query}`;
}

function show() {
  const { address, result } = form.elements;
  const anchor = document.createElement("a");
  if (!address.value || !address.checkValidity()) {
    result.value = address.value && "Not an address yet: it begins with https://";
    return;
  }
  anchor.href = anchor.textContent = link(address.value);
  result.replaceChildren(anchor);
}

form.hidden = false;
form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
