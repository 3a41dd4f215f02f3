// Shared by every page: the theme switch, the CSRF token of forms, error messages, and scrolling to a highlighted turn.

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
  // The URL contains only the fields that were filled in.
  const fields = event.detail.verb === "get" ? event.detail.formData : new FormData();
  for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
});
const posting = (event) => event.detail.elt.closest("form[method=post]");
document.body.addEventListener("htmx:confirm", (event) => {
  // Ignore a second click while the request is running.
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
  // The timeline's feed reports by itself that the server cannot be reached.
  if (event.detail.elt.id !== "fresh") tell(event.detail.elt, "The server does not respond. Later, check whether this was done before you repeat it.");
});

function busy(form, is) {
  if (!form) return;
  if (is) form.dataset.busy = "yes";
  else delete form.dataset.busy;
  for (const button of form.elements) if (button.localName === "button") button.setAttribute("aria-disabled", String(is));
}

document.body.addEventListener("htmx:beforeSwap", (event) => {
  // An error is shown beside the element that sent the request, and replaces nothing else.
  if (event.detail.xhr.status >= 400) refused(event);
});

function refused(event) {
  event.detail.shouldSwap = false;
  const read = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  const said = read.querySelector(".said");
  put(event.detail.elt, said ? document.adoptNode(said) : plainly(event.detail.xhr));
}

document.body.addEventListener("htmx:beforeOnLoad", (event) => {
  // An expired session leads to the sign-in page, unless a text would be lost.
  const form = posting(event);
  const written = form && [...form.elements].some((field) => field.localName === "textarea" && field.value !== field.defaultValue);
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

// The security middleware sends a problem document.
function plainly(xhr) {
  const said = document.createElement("p");
  said.className = "said trouble";
  said.setAttribute("role", "alert");
  const isProblem = xhr.getResponseHeader("Content-Type")?.startsWith("application/problem+json");
  said.textContent = isProblem ? JSON.parse(xhr.responseText).detail : `Not done (status ${xhr.status}).`;
  return said;
}

document.body.addEventListener("htmx:afterSettle", (event) => {
  // If the clicked button is gone, move the keyboard focus to the result.
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
