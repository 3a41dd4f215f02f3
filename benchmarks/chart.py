"""Draw a grouped bar chart without a plotting library: SVG that is readable on light and dark backgrounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from textwrap import wrap

from lamina.errors import InvalidInput

Groups = Mapping[str, Mapping[str, float]]
"""The bars of each group, in percent."""

COLOURS = ("#2a78b8", "#d98b2b", "#4a9d6e", "#a05aa8")
BAR, GAP, MARGIN = 26, 30, 56
HEIGHT, TOP = 240, 74
LINE, LABEL = 15, 14
"""The height of a line of a group's name, and how many characters fit."""
_CHARACTER = 7
_STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .title { font-size: 16px; font-weight: 600 }
  .value { font-size: 10px }
  .grid { stroke: #ccc; stroke-width: 1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd }
    .grid { stroke: #555 }
  }
"""


def write_chart(path: Path, title: str, groups: Groups) -> None:
    """Write the chart as SVG or PNG, by the suffix of the file; InvalidInput for any other."""
    match path.suffix.lower():
        case ".svg":
            path.write_text(render_svg(title, groups), encoding="utf-8")
        case ".png":
            _png(path, title, groups)
        case _:
            raise InvalidInput(f"a chart is written as .svg or .png, not as {path.name}")


def render_svg(title: str, groups: Groups) -> str:
    """Return the chart as an SVG document."""
    names = _bar_names(groups)
    labels = [wrap(group.replace("_", " "), LABEL, break_long_words=False) for group in groups]
    spans = [max(*(len(line) * _CHARACTER for line in item), len(names) * BAR) for item in labels]
    width = max(2 * MARGIN + sum(spans) + GAP * len(spans), 2 * MARGIN + len(title) * 9)
    body = [*_grid(width), *_legend(names)]
    left = MARGIN + GAP / 2
    for bars, label, span in zip(groups.values(), labels, spans, strict=True):
        body += _group(label, [(n, bars[name]) for n, name in enumerate(names) if name in bars], left, span)
        left += span + GAP
    height = TOP + HEIGHT + LINE * (1 + max(map(len, labels)))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'{head} role="img" aria-label="{escape(title)}">',
            f"<style>{_STYLE}</style>",
            f'<text class="title" x="{MARGIN}" y="24">{escape(title)}</text>',
            *body,
            "</svg>",
            "",
        ]
    )


def _bar_names(groups: Groups) -> list[str]:
    return list(dict.fromkeys(name for bars in groups.values() for name in bars))


def _grid(width: int) -> Iterator[str]:
    for percent in range(0, 101, 20):
        y = _y(percent)
        yield f'<line class="grid" x1="{MARGIN}" x2="{width - MARGIN}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{MARGIN - 8}" y="{y + 4:.1f}" text-anchor="end">{percent}</text>'


def _legend(names: Sequence[str]) -> Iterator[str]:
    left = MARGIN
    for n, name in enumerate(names):
        yield f'<rect x="{left}" y="40" width="12" height="12" rx="2" fill="{_colour(n)}"/>'
        yield f'<text x="{left + 18}" y="51">{escape(name)}</text>'
        left += 18 + len(name) * (_CHARACTER + 1) + 18


def _group(label: Sequence[str], bars: Sequence[tuple[int, float]], left: float, span: int) -> Iterator[str]:
    middle = left + span / 2
    x = middle - len(bars) * BAR / 2
    for n, value in bars:
        y = _y(value)
        size = f'width="{BAR - 4}" height="{TOP + HEIGHT - y:.1f}"'
        yield f'<rect x="{x + 2:.1f}" y="{y:.1f}" {size} rx="2" fill="{_colour(n)}"/>'
        yield f'<text class="value" x="{x + BAR / 2:.1f}" y="{y - 4:.1f}" text-anchor="middle">{value:.0f}</text>'
        x += BAR
    for n, line in enumerate(label, 1):
        yield f'<text x="{middle:.1f}" y="{TOP + HEIGHT + 3 + n * LINE}" text-anchor="middle">{escape(line)}</text>'


def _y(percent: float) -> float:
    return TOP + HEIGHT * (1 - percent / 100)


def _colour(n: int) -> str:
    return COLOURS[n % len(COLOURS)]


def _png(path: Path, title: str, groups: Groups) -> None:
    try:
        drawing = import_module("matplotlib.figure")
    except ImportError as error:
        raise InvalidInput(
            'a PNG chart needs matplotlib: pip install "lamina[chart]", or name a file ending in .svg'
        ) from error
    names = _bar_names(groups)
    figure = drawing.Figure(figsize=(2 + 1.4 * len(groups), 4.5), layout="constrained")
    axes = figure.subplots()
    for n, name in enumerate(names):
        places = [at + (n - (len(names) - 1) / 2) * 0.8 / len(names) for at in range(len(groups))]
        axes.bar(
            places, [bars.get(name, 0.0) for bars in groups.values()], 0.75 / len(names), label=name, color=_colour(n)
        )
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_ylim(0, 100)
    axes.set_title(title)
    axes.legend()
    figure.savefig(path)
