// Runs before the page is drawn, so that nobody who chose the dark is blinded first.
const chosen = localStorage.getItem("theme");
if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
