from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.chart import render_svg, write_chart
from lamina.errors import InvalidInput

GROUPS = {"multi-hop": {"R@5": 25.0, "R@10": 50.0}, "a < b & c": {"R@5": 0.0, "R@10": 100.0}}
NAMESPACE = "{http://www.w3.org/2000/svg}"


def test_each_bar_is_as_high_as_its_figure() -> None:
    drawn = ElementTree.fromstring(render_svg("figures", GROUPS))
    bars = [float(item.get("height", "")) for item in drawn.iter(f"{NAMESPACE}rect")][2:]
    assert bars == [60.0, 120.0, 0.0, 240.0]


def test_names_are_escaped_as_text() -> None:
    drawn = ElementTree.fromstring(render_svg('a "title" <b>', GROUPS))
    words = {item.text for item in drawn.iter(f"{NAMESPACE}text")}
    assert {'a "title" <b>', "multi-hop", "a < b & c", "R@5", "R@10", "100"} <= words


def test_everything_is_drawn_within_the_canvas() -> None:
    drawn = render_svg("a rather long title of a chart with very little in it", {"one": {"R@5": 12.3}})
    width = float(re.findall(r'width="(\d+)"', drawn)[0])
    assert all(float(x) <= width for x in re.findall(r'x[12]?="([\d.]+)"', drawn))


def test_the_chart_supports_dark_mode() -> None:
    assert "prefers-color-scheme: dark" in render_svg("figures", GROUPS)


def test_a_png_without_matplotlib_names_the_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InvalidInput, match=r"lamina\[chart\]"):
        write_chart(tmp_path / "chart.png", "figures", GROUPS)


def test_a_png_is_drawn_with_matplotlib(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is an extra")
    write_chart(tmp_path / "chart.png", "figures", GROUPS)
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_other_file_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\.svg or \.png"):
        write_chart(tmp_path / "chart.gif", "figures", GROUPS)
