// The buttons below cells: copy the cell as one file. A page that was opened from a disk may not read files; its link saves them.
document.addEventListener("click", async event => {
  const button = event.target.closest(".export > button");
  if (!button) return;
  const status = button.parentElement.querySelector("[role=status]");
  try {
    const text = fetch(button.dataset.file).then(answer => answer.ok ? answer.text() : Promise.reject());
    await navigator.clipboard.writeText(await text);
    status.textContent = "Copied. Save it as case.py, then: uv run case.py";
  } catch {
    status.textContent = "This browser does not let the page copy; the link saves the file.";
  }
});
