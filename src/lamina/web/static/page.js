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
  // An address says what was asked for, and nothing of the fields that were left alone.
  const asked = event.detail.verb === "get" ? event.detail.formData : new FormData();
  for (const [name, value] of [...asked]) if (value === "") asked.delete(name);
});
const posting = (event) => event.detail.elt.closest("form[method=post]");
document.body.addEventListener("htmx:confirm", (event) => {
  // A second press of the same button is no second order.
  if (posting(event)?.dataset.busy) event.preventDefault();
});
document.body.addEventListener("htmx:beforeRequest", (event) => {
  busy(posting(event), true);
  event.detail.target?.setAttribute("aria-busy", "true");
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  const form = posting(event);
  busy(form, false);
  event.detail.target?.setAttribute("aria-busy", "false");
  if (event.detail.successful && form && "clears" in form.dataset) form.reset();
});
document.body.addEventListener("htmx:sendError", (event) => {
  // The feed of the timeline tells by itself that the server is away.
  if (event.detail.elt.id !== "fresh") tell(event.detail.elt, "The server does not answer. When it does again, look whether this was done before you repeat it.");
});

function busy(form, is) {
  if (!form) return;
  if (is) form.dataset.busy = "yes";
  else delete form.dataset.busy;
  for (const button of form.elements) if (button.localName === "button") button.setAttribute("aria-disabled", String(is));
}

document.body.addEventListener("htmx:beforeSwap", (event) => {
  // A refusal is told where it was asked for, and takes nothing else off the page.
  if (event.detail.xhr.status >= 400) refused(event);
});

function refused(event) {
  event.detail.shouldSwap = false;
  const read = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  const said = read.querySelector(".said");
  put(event.detail.elt, said ? document.adoptNode(said) : plainly(event.detail.xhr));
}

document.body.addEventListener("htmx:beforeOnLoad", (event) => {
  // Whose session has ended is led to sign in; but nobody's words are thrown away for it.
  const form = posting(event);
  const written = form && [...form.elements].some((each) => each.localName === "textarea" && each.value !== each.defaultValue);
  if (event.detail.xhr.status !== 401 || !written) return;
  event.preventDefault();
  tell(form, "The session has ended, and this was not done. Copy what you wrote, reload the page and sign in again.");
});

function put(beside, said) {
  const place = beside.closest(".item, .undo-place, .event, form, section") ?? document.getElementById("main");
  document.querySelectorAll(".refusal").forEach((old) => old.remove());
  const told = document.createElement("div");
  told.className = "refusal";
  told.append(said);
  if (place.matches("li")) place.append(told);
  else place.after(told);
  window.htmx.process(told);
}

function tell(beside, words) {
  const said = document.createElement("p");
  said.className = "said trouble";
  said.setAttribute("role", "alert");
  said.textContent = words;
  put(beside, said);
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

document.body.addEventListener("htmx:afterSettle", (event) => {
  // Where the button that was pressed is gone, the keyboard goes on from what was done.
  if (document.activeElement !== document.body) return;
  const said = event.detail.elt.querySelector?.(".said");
  said?.setAttribute("tabindex", "-1");
  said?.focus({ preventScroll: true });
});

const found = document.querySelector("[data-found]");
if (found) {
  found.setAttribute("tabindex", "-1");
  found.scrollIntoView({ block: "center" });
  found.focus({ preventScroll: true });
}
