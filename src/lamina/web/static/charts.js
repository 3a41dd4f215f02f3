// The curves of forgetting, and where memories lie on them.
import uPlot from "./vendor/uplot.esm.js";

const place = document.getElementById("fading-chart");
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const SHADES = ["--c1", "--c2", "--c3", "--c4", "--c5"];
const DASHES = [[], [6, 4], [2, 4], [10, 4], [4, 2]];

// Every age of the curves and of the memories is a place on one axis; a memory that shares an age with another keeps
// its own, and one that is older than the curves reach stands at their end.
function series(told) {
  const last = told.ages.at(-1);
  const memories = told.places.map(([age, left]) => ({ age: Math.min(age, last), left }));
  const points = [...told.ages.map((age, n) => ({ age, n })), ...memories].sort((a, b) => a.age - b.age);
  const lines = told.lines.map(([, values]) => points.map((each) => (each.n === undefined ? null : values[each.n])));
  return [points.map((each) => each.age), ...lines, points.map((each) => each.left ?? null)];
}

function options(told, width) {
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false },
    font: "12px sans-serif" };
  const line = ([name], n) => ({
    label: name.replaceAll("_", " "), stroke: colour(SHADES[n]), width: name === told.mode ? 3 : 1.25,
    dash: name === told.mode ? [] : DASHES[n], spanGaps: true, points: { show: false },
  });
  return {
    width, height: 280, cursor: { y: false }, legend: { live: false },
    scales: { x: { time: false, range: (_, first, last) => [first - 0.05, last + 0.05] }, y: { range: [0, 1.05] } },
    axes: [{ ...axis, values: (_, ticks) => ticks.map((each) => `${each}`) },
      { ...axis, values: (_, ticks) => ticks.map((each) => `${Math.round(100 * each)} %`), size: 56 }],
    series: [{}, ...told.lines.map(line), { label: "memories", stroke: colour("--accent"), paths: () => null,
      points: { show: true, size: 7, fill: colour("--accent"), stroke: colour("--paper") } }],
  };
}

async function draw() {
  const answer = await fetch(place.dataset.from);
  if (!answer.ok) return;
  const told = await answer.json();
  let chart;
  const again = () => {
    chart?.destroy();
    chart = new uPlot(options(told, place.clientWidth), series(told), place);
    place.chart = chart;
    place.dataset.drawn = "yes";
  };
  again();
  document.addEventListener("theme", again);
  let width = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth !== width && place.clientWidth) chart.setSize({ width: (width = place.clientWidth), height: 280 });
  }).observe(place);
}

if (place) draw();
