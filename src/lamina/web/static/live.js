// The timeline as it happens: the feed says that something did, and the page asks for it. Without a feed it looks by itself.

const EVERY = 5000;
const told = document.getElementById("live");
const ask = () => window.htmx.trigger("#fresh", "news");

function look() {
  told.textContent = "looking every few seconds";
  setInterval(ask, EVERY);
}

const since = document.getElementById("fresh").dataset.since;
const feed = new EventSource(`/v1/feed?since=${since}`);
let heard = false;
feed.addEventListener("open", () => {
  heard = true;
  told.textContent = "live";
});
feed.addEventListener("message", ask);
feed.addEventListener("commit", ask);
feed.addEventListener("error", () => {
  if (feed.readyState === EventSource.CLOSED) {
    feed.close();
    look();
  } else if (heard) told.textContent = "waiting for the server";
});
addEventListener("pagehide", () => feed.close());
