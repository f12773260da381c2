// The ticks on the page Learn: this browser alone remembers them.

for (const tick of document.querySelectorAll("[data-lesson]")) {
  const key = `lesson-${tick.dataset.lesson}`;
  tick.checked = localStorage.getItem(key) === "done";
  tick.addEventListener("change", () => {
    if (tick.checked) localStorage.setItem(key, "done");
    else localStorage.removeItem(key);
  });
}
