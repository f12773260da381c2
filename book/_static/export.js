// The buttons below cells copy the cell as one file; those of Found here copy an issue. A page that
// was opened from a disk may not read files; its link saves them.
document.addEventListener("click", async event => {
  const button = event.target.closest(".export > button");
  if (!button) return;
  const status = button.parentElement.querySelector("[role=status]");
  try {
    if (button.dataset.copies) {
      const text = document.getElementById(button.dataset.copies).textContent;
      await navigator.clipboard.writeText(text);
      status.textContent = "Copied. The first line is the title.";
      return;
    }
    const file = await fetch(button.dataset.file);
    if (!file.ok) throw new Error(file.statusText);
    await navigator.clipboard.writeText(await file.text());
    status.textContent = "Copied. Save it as case.py, then: uv run case.py";
  } catch {
    status.textContent = button.dataset.file
      ? "This browser does not let the page copy; the link saves the file."
      : "This browser does not let the page copy; the text is below.";
  }
});
