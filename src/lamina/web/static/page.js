// What every page shares: the theme switch, the word that proves a form is ours, and the turn one came to see.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
}

function tellTheme() {
  const button = document.getElementById("theme");
  button?.setAttribute("aria-pressed", String(isDark()));
  document.dispatchEvent(new Event("theme"));
}

document.getElementById("theme")?.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  tellTheme();
});
dark.addEventListener("change", tellTheme);
tellTheme();

const csrf = document.querySelector("meta[name=csrf]")?.content;
document.body.addEventListener("htmx:configRequest", (event) => {
  if (csrf && event.detail.verb !== "get") event.detail.headers["X-CSRF-Token"] = csrf;
});
document.body.addEventListener("htmx:beforeRequest", (event) => event.detail.target?.setAttribute("aria-busy", "true"));
document.body.addEventListener("htmx:afterRequest", (event) => event.detail.target?.setAttribute("aria-busy", "false"));

document.body.addEventListener("htmx:beforeSwap", (event) => {
  // A refusal is told where it was asked for, and takes nothing else off the page.
  if (event.detail.xhr.status >= 400) refused(event);
});

function refused(event) {
  event.detail.shouldSwap = false;
  const place = event.detail.elt.closest(".item, .undo-place, .event, form, section") ?? document.getElementById("main");
  place.parentElement.querySelectorAll(":scope > .refusal").forEach((old) => old.remove());
  const told = document.createElement("div");
  told.className = "refusal";
  const read = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  const said = read.querySelector(".said");
  told.append(said ? document.adoptNode(said) : plainly(event.detail.xhr));
  if (place.matches("li")) place.append(told);
  else place.after(told);
  window.htmx.process(told);
}

// What the gate before the pages refuses comes as a problem document.
function plainly(xhr) {
  const said = document.createElement("p");
  said.className = "said trouble";
  said.setAttribute("role", "alert");
  const isProblem = xhr.getResponseHeader("Content-Type")?.startsWith("application/problem+json");
  said.textContent = isProblem ? JSON.parse(xhr.responseText).detail : `That was not done (${xhr.status}).`;
  return said;
}

const found = document.querySelector("[data-found]");
if (found) {
  found.setAttribute("tabindex", "-1");
  found.scrollIntoView({ block: "center" });
  found.focus({ preventScroll: true });
}
