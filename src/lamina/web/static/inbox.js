// Keyboard control of the inbox. Every key clicks a button that is also visible.

const list = () => [...document.querySelectorAll("[data-item]")];
let at = 0;

function go(to, look = true) {
  const items = list();
  if (!items.length) return;
  at = Math.max(0, Math.min(items.length - 1, to));
  items.forEach((item, n) => item.classList.toggle("current", n === at));
  if (look) {
    items[at].focus({ preventScroll: true });
    items[at].scrollIntoView({ block: "nearest" });
  }
}

const current = () => list()[at];

function press(key) {
  const button = current()?.querySelector(`[data-key="${key}"]`);
  if (!button) return;
  button.click();
  if ("em".includes(key)) {
    const words = button.closest("details")?.querySelector("textarea");
    if (button.closest("details")?.open) words?.focus();
  }
}

// Decisions in the order they were made, so that undo reverses the last one wherever it is in the list.
const decided = [];

new MutationObserver(() => {
  for (const button of document.querySelectorAll(".decided [data-undo], #waiting > .said [data-undo]")) {
    if (!decided.includes(button)) decided.push(button);
  }
}).observe(document.body, { childList: true, subtree: true });

function undoLast() {
  while (decided.length) {
    const button = decided.pop();
    if (button.isConnected) return button.click();
  }
}

const keys = {
  j: () => go(at + 1),
  k: () => go(at - 1),
  ...Object.fromEntries([..."cernobml"].map((key) => [key, () => press(key)])),
  x: () => current()?.querySelector("[data-select]")?.click(),
  u: undoLast,
  Enter: () => current()?.querySelector("[data-open]")?.click(),
  "?": () => document.getElementById("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select, dialog");
  if (event.key === "Escape" && event.target.closest("textarea")) {
    event.target.closest("details").open = false;
    go(at);
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  if (event.key === "Enter" && event.target.closest("a, button, summary, input")) return;
  event.preventDefault();
  keys[event.key]();
});

document.addEventListener("focusin", (event) => {
  const item = event.target.closest("[data-item]");
  if (item) go(list().indexOf(item), false);
});

// Decided items have left the list, so the next page starts that much earlier.
document.addEventListener("click", (event) => {
  const next = event.target.closest("[data-next]");
  if (!next) return;
  const address = new URL(next.href);
  const left = Number(address.searchParams.get("offset")) - document.querySelectorAll(".items > .decided").length;
  address.searchParams.set("offset", String(Math.max(0, left)));
  next.href = address.href;
});

document.querySelector("[data-help]")?.addEventListener("click", keys["?"]);

function count() {
  const ticked = document.querySelectorAll("[data-select]:checked").length;
  const told = document.getElementById("selected");
  if (told) told.textContent = ticked ? `${ticked} selected` : "none selected";
}
document.addEventListener("change", (event) => {
  if (event.target.id === "all") {
    document.querySelectorAll("[data-select]").forEach((box) => (box.checked = event.target.checked));
  }
  count();
});

document.body.addEventListener("htmx:afterSettle", () => {
  if (current()?.matches(".decided") && at < list().length - 1) go(at + 1);
  else go(at);
  count();
});

go(0, false);
