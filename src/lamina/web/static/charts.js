// The chart of retention curves, with the newest memories on it.
import uPlot from "./vendor/uplot.esm.js";

const place = document.getElementById("fading-chart");
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const SHADES = ["--c1", "--c2", "--c3", "--c4", "--c5"];
const DASHES = [[], [6, 4], [2, 4], [10, 4], [4, 2]];

// All ages of curves and memories share one axis. Memories with the same age keep separate points; one that is older
// than the curves is drawn at their end.
function series(chartData) {
  const last = chartData.ages.at(-1);
  const memories = chartData.places.map(([age, left]) => ({ age: Math.min(age, last), left }));
  const points = [...chartData.ages.map((age, n) => ({ age, n })), ...memories].sort((a, b) => a.age - b.age);
  const lines = chartData.lines.map(([, values]) => points.map((point) => (point.n === undefined ? null : values[point.n])));
  return [points.map((point) => point.age), ...lines, points.map((point) => point.left ?? null)];
}

function options(chartData, width) {
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false },
    font: "12px sans-serif" };
  const line = ([name], n) => ({
    label: name.replaceAll("_", " "), stroke: colour(SHADES[n]), width: name === chartData.mode ? 3 : 1.25,
    dash: name === chartData.mode ? [] : DASHES[n], spanGaps: true, points: { show: false },
  });
  return {
    width, height: 280, cursor: { y: false }, legend: { live: false },
    scales: { x: { time: false, range: (_, first, last) => [first - 0.05, last + 0.05] }, y: { range: [0, 1.05] } },
    axes: [{ ...axis, values: (_, ticks) => ticks.map((point) => `${point}`) },
      { ...axis, values: (_, ticks) => ticks.map((point) => `${Math.round(100 * point)} %`), size: 56 }],
    series: [{}, ...chartData.lines.map(line), { label: "memories", stroke: colour("--accent"), paths: () => null,
      points: { show: true, size: 7, fill: colour("--accent"), stroke: colour("--paper") } }],
  };
}

async function draw() {
  const answer = await fetch(place.dataset.from);
  if (!answer.ok) return;
  const chartData = await answer.json();
  let chart;
  const redraw = () => {
    chart?.destroy();
    chart = new uPlot(options(chartData, place.clientWidth), series(chartData), place);
    place.chart = chart;
    place.dataset.drawn = "yes";
  };
  redraw();
  document.addEventListener("theme", redraw);
  let width = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth !== width && place.clientWidth) chart.setSize({ width: (width = place.clientWidth), height: 280 });
  }).observe(place);
}

if (place) draw();
