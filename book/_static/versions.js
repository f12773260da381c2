// Below a strip of releases: what the run under the pointer or the focus said.
for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, event => {
    const run = event.target.closest(".strip a");
    if (run) run.closest("figure").querySelector(".run").textContent = run.getAttribute("aria-label");
  });
}
