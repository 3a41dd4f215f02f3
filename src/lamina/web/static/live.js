// Live timeline: the feed reports new commits and the page loads them. Without a feed it polls.

const POLL_MS = 5000;
const state = document.getElementById("live");
const load = () => window.htmx.trigger("#fresh", "news");

function poll() {
  state.textContent = "updated every few seconds";
  setInterval(load, POLL_MS);
}

const since = document.getElementById("fresh").dataset.since;
const feed = new EventSource(`/v1/feed?since=${since}`);
let wasOpen = false;
feed.addEventListener("open", () => {
  wasOpen = true;
  state.textContent = "live";
});
feed.addEventListener("message", load);
feed.addEventListener("commit", load);
feed.addEventListener("error", () => {
  if (feed.readyState === EventSource.CLOSED) {
    feed.close();
    poll();
  } else if (wasOpen) state.textContent = "waiting for the server";
});
addEventListener("pagehide", () => feed.close());
