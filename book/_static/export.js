// The buttons below cells: copy the cell as one file.
document.addEventListener("click", async event => {
  const box = event.target.closest(".export > button")?.parentElement;
  if (!box) return;
  const status = box.querySelector("[role=status]");
  try {
    await navigator.clipboard.writeText(box.querySelector("template").content.textContent);
    status.textContent = "Copied. Save it as case.py, then: uv run case.py";
  } catch {
    status.textContent = "This browser does not let the page copy.";
  }
});
