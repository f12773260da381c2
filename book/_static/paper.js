// Paper is white: a page in the dark theme is printed in the light one.
const paper = matchMedia("print");
const theme = document.documentElement.dataset;
let screenTheme;

paper.addEventListener("change", () => {
  if (paper.matches) [screenTheme, theme.theme] = [theme.theme, "light"];
  else theme.theme = screenTheme;
});
