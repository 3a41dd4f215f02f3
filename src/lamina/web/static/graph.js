// The graph of a neighbourhood. Text is data and drawn on a canvas; the table has the same data.
import cytoscape from "./vendor/cytoscape.esm.min.js";

const place = document.getElementById("graph");
const narrow = matchMedia("(max-width: 46rem)").matches;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const SHADES = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"];
const kinds = [];

function shade(kind) {
  if (!kinds.includes(kind)) kinds.push(kind);
  return SHADES[kinds.indexOf(kind) % SHADES.length];
}

function style() {
  return [
    {
      selector: "node",
      style: {
        "background-color": (node) => colour(shade(node.data("kind"))),
        label: "data(label)", color: colour("--ink"), "font-size": 12, "font-family": "sans-serif",
        "text-wrap": "wrap", "text-max-width": narrow ? 100 : 180, "text-valign": narrow ? "center" : "bottom",
        "text-halign": narrow ? "right" : "center", "text-margin-x": narrow ? 6 : 0, "text-margin-y": narrow ? 0 : 5,
        "text-background-color": colour("--paper"), "text-background-opacity": 1, "text-background-padding": 2,
        width: 18, height: 18, "border-width": 0, "min-zoomed-font-size": 7,
      },
    },
    { selector: "node[status != 'active']", style: { "background-opacity": 0.25, "border-width": 2,
      "border-color": (node) => colour(shade(node.data("kind"))), "border-style": "dashed" } },
    { selector: "node[?middle]", style: { width: 30, height: 30, "font-weight": "bold", "font-size": 12, "min-zoomed-font-size": 0 } },
    { selector: "node:selected", style: { "border-width": 3, "border-color": colour("--accent"), "border-style": "solid" } },
    {
      selector: "edge",
      style: {
        width: (edge) => 1 + 2 * edge.data("confidence"), "line-color": colour("--line-strong"),
        "target-arrow-color": colour("--line-strong"), "target-arrow-shape": "triangle", "curve-style": "bezier",
        label: (edge) => edge.data("name").replaceAll("_", " "), "text-rotation": "autorotate", "font-size": 10,
        color: colour("--muted"), "text-background-color": colour("--paper"), "text-background-opacity": 1,
        "text-background-padding": 2, "min-zoomed-font-size": 7,
      },
    },
  ];
}

function elements(around, middle) {
  return [
    ...around.nodes.map((node) => ({ data: { ...node, middle: node.id === middle } })),
    ...around.links.map((link) => ({ data: { ...link, id: `${link.source} ${link.name} ${link.target}` } })),
  ];
}

async function near(id, depth) {
  const answer = await fetch(`/graph/${encodeURIComponent(id)}/near?depth=${depth}`);
  return answer.ok ? answer.json() : { nodes: [], links: [] };
}

const MANY = 12;
const RING = 90;
const APART = 46;

// Layout from the centre outwards by distance: in columns if there is room, else in rows; in rings for many nodes.
function lay(graph) {
  const steps = new Map();
  graph.elements().bfs({ roots: graph.nodes("[?middle]"), visit: (node, edge, before, n, depth) => void steps.set(node.id(), depth) });
  const ranks = [];
  graph.nodes().forEach((node) => (ranks[steps.get(node.id()) ?? 0] ??= []).push(node.id()));
  const places = Math.max(...ranks.map((rank) => rank.length)) > MANY ? rings(ranks) : rows(ranks);
  graph.nodes().positions((node) => places.get(node.id()));
  graph.fit(undefined, 24);
  if (graph.zoom() > 1.1) graph.zoom(1.1);
  graph.center();
}

function rows(ranks) {
  const most = Math.max(...ranks.map((rank) => rank.length));
  const along = narrow ? 110 : Math.min(340, Math.max(260, place.clientWidth / ranks.length));
  const across = narrow ? 140 : Math.min(150, Math.max(76, place.clientHeight / (most + 1)));
  const places = new Map();
  ranks.forEach((rank, step) => rank.forEach((id, n) => {
    const turn = n - (rank.length - 1) / 2;
    places.set(id, narrow ? { x: turn * across, y: step * along } : { x: step * along, y: turn * across });
  }));
  return places;
}

function rings(ranks) {
  const places = new Map();
  let radius = 0;
  for (const rank of ranks) {
    for (let left = [...rank]; left.length; radius += RING) {
      const here = left.splice(0, radius ? Math.floor((2 * Math.PI * radius) / APART) : 1);
      here.forEach((id, n) => {
        const angle = (2 * Math.PI * n) / here.length - Math.PI / 2;
        places.set(id, { x: radius * Math.cos(angle), y: radius * Math.sin(angle) });
      });
    }
  }
  return places;
}

function legend() {
  const told = document.getElementById("legend");
  told.replaceChildren(...kinds.map((kind) => {
    const entry = document.createElement("span");
    const dot = document.createElement("i");
    dot.className = `dot ${shade(kind).slice(2)}`;
    entry.append(dot, kind.replaceAll("_", " "));
    return entry;
  }));
}

function cell(words, href) {
  const made = document.createElement("td");
  if (href) {
    const link = document.createElement("a");
    link.href = href;
    link.textContent = words;
    made.append(link);
  } else made.textContent = words;
  return made;
}

function tell(around, graph) {
  const rows = document.querySelector("#links tbody");
  const known = new Set([...rows.children].map((row) => row.dataset.link));
  const name = (id) => graph.getElementById(id).data("label") ?? id.slice(-8);
  for (const link of around.links) {
    const key = `${link.source} ${link.name} ${link.target}`;
    if (known.has(key)) continue;
    const row = document.createElement("tr");
    row.dataset.link = key;
    const sure = cell(String(Number(link.confidence.toPrecision(4))));
    sure.className = "num";
    row.append(cell(name(link.source), `/atom/${link.source}`), cell(link.name.replaceAll("_", " ")),
      cell(name(link.target), `/atom/${link.target}`), sure);
    rows.append(row);
  }
}

async function expand(graph, id) {
  const around = await near(id, 1);
  const fresh = elements(around, null).filter((element) => graph.getElementById(element.data.id).empty());
  if (!fresh.length) return;
  const from = graph.getElementById(id).position();
  for (const element of fresh) if (!element.data.source) element.position = { ...from };
  graph.add(fresh);
  graph.style(style());
  tell(around, graph);
  legend();
  lay(graph);
}

async function draw() {
  const middle = place.dataset.id;
  const graph = cytoscape({
    container: place, elements: elements(await near(middle, place.dataset.depth), middle), style: style(),
    layout: { name: "preset" }, minZoom: 0.1, maxZoom: 2.5,
  });
  lay(graph);
  legend();
  graph.on("onetap", "node", (event) => expand(graph, event.target.id()));
  graph.on("dbltap", "node", (event) => location.assign(`/atom/${event.target.id()}`));
  document.addEventListener("theme", () => graph.style(style()));
  place.graph = graph;
  place.dataset.drawn = "yes";
}

if (place) draw();
