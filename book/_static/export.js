// The buttons below cells: copy the cell as one file. A page that was opened from a disk may not
// read files; its link saves them.
document.addEventListener("click", async event => {
  const button = event.target.closest(".export > button");
  if (!button) return;
  const status = button.parentElement.querySelector("[role=status]");
  try {
    const file = await fetch(button.dataset.file);
    if (!file.ok) throw new Error(file.statusText);
    await navigator.clipboard.writeText(await file.text());
    status.textContent = "Copied. Save it as case.py, then: uv run case.py";
  } catch {
    status.textContent = "This browser does not let the page copy; the link saves the file.";
  }
});
