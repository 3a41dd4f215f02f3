"""Draws lines and bars as SVG without a plotting library.

The output works on light and dark backgrounds and without colour, because every line is labelled at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

from lamina.errors import InvalidInput

LIGHT = ("#0072b2", "#d55e00", "#00805d", "#b4558a", "#9a6700", "#3a8cc0", "#6f6400", "#5a5a5a")
DARK = ("#56b0ee", "#ff9350", "#35cfa1", "#eaa6cd", "#f2be4a", "#9ad6f7", "#f0e442", "#c4c4c4")
DASHES = ("", "7 3", "2 3", "9 3 2 3")
WIDTH, HEIGHT = 600, 330
LEFT, TOP, BOTTOM = 74, 66, 58
RIGHT, RIGHT_UNLABELLED = 172, 40
"""The space at the right is for line labels; bars have none."""
COLUMNS = 2
_LABEL_GAP, _LEADER = 15.0, 16
_INNER_HEIGHT = HEIGHT - TOP - BOTTOM


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its label, its range, and the labelled values."""

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def fraction(self, value: float) -> float:
        """Return how far along the axis a value is, from 0 to 1."""
        span = self.high - self.low
        return min(1.0, max(0.0, (value - self.low) / span)) if span > 0 else 0.0


@dataclass(frozen=True, slots=True)
class PlotLine:
    """A line and its label; an `is_strong` one is drawn thicker."""

    label: str
    points: tuple[tuple[float, float], ...]
    is_strong: bool = False


@dataclass(frozen=True, slots=True)
class PlotBar:
    """A bar from one value to another, with its height."""

    start: float
    end: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One chart: lines or bars over two axes. `description` says in words what it shows; `mark` labels a value of x."""

    name: str
    title: str
    description: str
    x: Axis
    y: Axis
    lines: tuple[PlotLine, ...] = ()
    bars: tuple[PlotBar, ...] = ()
    mark: tuple[float, str] | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.lines or self.bars)

    @property
    def right(self) -> int:
        """Return where the drawing ends and the line labels begin."""
        return WIDTH - (RIGHT if self.lines else RIGHT_UNLABELLED)


def count_axis(label: str, maximum: float) -> Axis:
    """Return an axis for counts up to `maximum`, with a few round numbers."""
    raw = max(1.0, maximum) / 4
    size = 10 ** floor(log10(raw))
    step = max(1, next(candidate for candidate in (size, 2 * size, 5 * size, 10 * size) if candidate >= raw))
    high = ceil(max(1.0, maximum) / step) * step
    return Axis(label, 0, high, tuple((n * step, f"{n * step:,.0f}") for n in range(round(high / step) + 1)))


def render_sheet(panels: Sequence[Panel]) -> str:
    """Render panels as one document, two in a row."""
    width, height = WIDTH * min(COLUMNS, len(panels)), HEIGHT * ceil(len(panels) / COLUMNS)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    body = [line for n, panel in enumerate(panels) for line in _render_panel(panel, n)]
    title_ids = " ".join(f"{panel.name}-title" for panel in panels)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{title_ids}">'
    return "\n".join([head, f"<style>{_render_style()}</style>", *body, "</svg>", ""])


def write_plots(path: Path, panels: Sequence[Panel]) -> None:
    """Write the panels to one file; its extension selects the format. InvalidInput if it cannot be written."""
    try:
        match path.suffix.lower():
            case ".svg":
                path.write_text(render_sheet(panels), encoding="utf-8")
            case ".png":
                _write_png(path, panels)
            case _:
                raise InvalidInput(f"charts are written as .svg or .png, not as {path.name}")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written ({error.strerror}); choose a file in a folder you own") from error


def spread_labels(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions as near as possible to the given ones, in their order, a gap apart, between two bounds.

    If they do not fit, the gap is smaller.
    """
    if not positions:
        return []
    gap = min(gap, (high - low) / max(1, len(positions) - 1))
    order = sorted(range(len(positions)), key=lambda n: (positions[n], n))
    places = dict[int, float]()
    floor_at = low
    for n in order:
        places[n] = max(positions[n], floor_at)
        floor_at = places[n] + gap
    ceiling = high
    for n in reversed(order):
        places[n] = min(places[n], ceiling)
        ceiling = places[n] - gap
    return [places[n] for n in range(len(positions))]


def _render_style() -> str:
    light = "".join(f"\n  .c{n} {{ stroke: {colour} }}" for n, colour in enumerate(LIGHT))
    dark = "".join(f"\n    .c{n} {{ stroke: {colour} }}" for n, colour in enumerate(DARK))
    return f"""
  text {{ font: 12px system-ui, sans-serif; fill: #333 }}
  .title {{ font-size: 15px; font-weight: 600 }}
  .unit {{ fill: #555 }}
  .grid {{ stroke: #d5d5d5 }}
  .axis {{ stroke: #888 }}
  .mark {{ stroke: #555; stroke-dasharray: 4 3 }}
  .bar {{ fill: {LIGHT[0]} }}
  .line {{ fill: none; stroke-width: 1.75; stroke-linejoin: round }}
  .leader {{ fill: none; stroke-width: 1 }}
  .strong {{ stroke-width: 3.5 }}
  .strong-label {{ font-weight: 600 }}{light}
  @media (prefers-color-scheme: dark) {{
    text {{ fill: #ddd }}
    .unit {{ fill: #aaa }}
    .grid {{ stroke: #444 }}
    .axis {{ stroke: #888 }}
    .mark {{ stroke: #aaa }}
    .bar {{ fill: {DARK[0]} }}{dark}
  }}
"""


def _render_panel(panel: Panel, n: int) -> Iterator[str]:
    left, top = WIDTH * (n % COLUMNS), HEIGHT * (n // COLUMNS)
    yield f'<g transform="translate({left} {top})" role="group" aria-labelledby="{panel.name}-title">'
    yield f'<title id="{panel.name}-title">{escape(panel.title)}</title><desc>{escape(panel.description)}</desc>'
    yield f'<text class="title" x="{LEFT}" y="26">{escape(panel.title)}</text>'
    yield from _render_axes(panel)
    if panel.is_empty:
        x, y = (LEFT + panel.right) / 2, TOP + _INNER_HEIGHT / 2
        yield f'<text x="{x}" y="{y}" text-anchor="middle">nothing yet</text>'
    yield from _render_bars(panel)
    yield from _render_lines(panel)
    if panel.mark is not None:
        yield from _render_mark(panel, *panel.mark)
    yield "</g>"


def _render_axes(panel: Panel) -> Iterator[str]:
    right, bottom = panel.right, HEIGHT - BOTTOM
    for value, name in () if panel.is_empty else panel.y.ticks:
        y = _y(panel, value)
        yield f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>'
    yield f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
    for value, name in panel.x.ticks:
        x = _x(panel, value)
        yield f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 5}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 19}" text-anchor="middle">{escape(name)}</text>'
    yield f'<text class="unit" x="{LEFT}" y="{TOP - 14}">{escape(panel.y.label)}</text>'
    middle = (LEFT + right) / 2
    yield f'<text class="unit" x="{middle}" y="{bottom + 40}" text-anchor="middle">{escape(panel.x.label)}</text>'


def _render_bars(panel: Panel) -> Iterator[str]:
    for bar in panel.bars:
        x, y = _x(panel, bar.start) + 1, _y(panel, bar.height)
        width, height = _x(panel, bar.end) - 1 - x, HEIGHT - BOTTOM - y
        label = f"{bar.start:g} to {bar.end:g}: {bar.height:,.0f}"
        box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        yield f'<rect class="bar" {box}><title>{escape(label)}</title></rect>'


def _render_lines(panel: Panel) -> Iterator[str]:
    right = panel.right
    for n, (line, place) in enumerate(zip(panel.lines, _label_positions(panel), strict=True)):
        strong = " strong" if line.is_strong else ""
        points = " ".join(f"{_x(panel, x):.1f},{_y(panel, y):.1f}" for x, y in line.points)
        dash = _dash(n, line)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        yield f'<polyline class="line c{n % len(LIGHT)}{strong}" points="{points}"{dashed}/>'
        ends = f"{right + 2},{_y(panel, line.points[-1][1]):.1f} {right + _LEADER},{place:.1f}"
        yield f'<polyline class="leader c{n % len(LIGHT)}" points="{ends}"/>'
        label = ' class="strong-label"' if line.is_strong else ""
        yield f'<text{label} x="{right + _LEADER + 4}" y="{place + 4:.1f}">{escape(line.label)}</text>'


def _render_mark(panel: Panel, value: float, name: str) -> Iterator[str]:
    x = _x(panel, value)
    yield f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{HEIGHT - BOTTOM}"/>'
    yield f'<text class="unit" x="{x:.1f}" y="{TOP - 14}">{escape(name)}</text>'


def _label_positions(panel: Panel) -> list[float]:
    """Return the positions of the line labels, so that none overlap."""
    return spread_labels([_y(panel, line.points[-1][1]) for line in panel.lines], _LABEL_GAP, TOP, HEIGHT - BOTTOM)


def _x(panel: Panel, value: float) -> float:
    return LEFT + (panel.right - LEFT) * panel.x.fraction(value)


def _y(panel: Panel, value: float) -> float:
    return TOP + _INNER_HEIGHT * (1 - panel.y.fraction(value))


def _dash(n: int, line: PlotLine) -> str:
    return "" if line.is_strong else DASHES[n % len(DASHES)]


def _write_png(path: Path, panels: Sequence[Panel]) -> None:
    try:
        drawing = import_module("matplotlib.figure")
    except ImportError as error:
        raise InvalidInput(
            'a PNG chart needs matplotlib: pip install "lamina[chart]", or choose a file name ending in .svg'
        ) from error
    rows = ceil(len(panels) / COLUMNS)
    figure = drawing.Figure(figsize=(WIDTH * COLUMNS / 100, HEIGHT * rows / 100), dpi=150)
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.12)
    for axes, panel in zip(figure.subplots(rows, COLUMNS, squeeze=False).flat, panels, strict=False):
        _draw_panel(axes, panel)
    figure.savefig(path)


def _draw_panel(axes: Any, panel: Panel) -> None:
    axes.set_title(panel.title, loc="left", fontsize=11, fontweight="bold", pad=16)
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(panel.y.low, panel.y.high)
    axes.set_xticks([value for value, _ in panel.x.ticks], [name for _, name in panel.x.ticks])
    axes.set_yticks([value for value, _ in panel.y.ticks], [name for _, name in panel.y.ticks])
    axes.set_xlabel(panel.x.label, fontsize=9)
    axes.set_ylabel(panel.y.label, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(axis="y", color="#d5d5d5")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if panel.is_empty:
        axes.text(0.5, 0.5, "nothing yet", transform=axes.transAxes, ha="center")
    for bar in panel.bars:
        axes.bar(bar.start, bar.height, (bar.end - bar.start) * 0.9, align="edge", color=LIGHT[0])
    for n, (line, place) in enumerate(zip(panel.lines, _label_positions(panel), strict=True)):
        dash = _dash(n, line)
        style = (0, tuple(map(int, dash.split()))) if dash else "-"
        color, strong = LIGHT[n % len(LIGHT)], line.is_strong
        points = zip(*line.points, strict=True)
        axes.plot(*points, color=color, linestyle=style, linewidth=3 if strong else 1.5, clip_on=False)
        height, weight = 1 - (place - TOP) / _INNER_HEIGHT, "bold" if strong else "normal"
        label = {"transform": axes.transAxes, "va": "center", "fontsize": 8.5, "color": color, "fontweight": weight}
        axes.text(1.03, height, line.label, **label)
    if panel.mark is not None:
        axes.axvline(panel.mark[0], color="#555", linestyle="--", linewidth=1)
        axes.text(panel.mark[0], 1.01, panel.mark[1], transform=axes.get_xaxis_transform(), ha="center", fontsize=8)
