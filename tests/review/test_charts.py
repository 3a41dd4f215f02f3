from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import Signals
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Scope
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.errors import InvalidInput
from lamina.lifecycle.heat import heat
from lamina.lifecycle.retention import DEFAULT_MODE, RetentionMode
from lamina.lifecycle.signals import from_counters
from lamina.review.charts import (
    MAX_DAYS,
    DailyCounts,
    build_panels,
    collect_heat,
    daily_counts,
    sample_days,
    write_charts,
)
from lamina.review.svg_plots import DARK, LIGHT, Axis, Panel, PlotBar, PlotLine, count_axis, render_sheet, spread_labels
from lamina.store.atoms import AtomFilter
from lamina.store.base import Store
from lamina.testing.store_harness import LOCAL, NOON, OTHER, StoreHarness
from vault_workspace import VaultWorkspace

NAMESPACE = "{http://www.w3.org/2000/svg}"
NAMES = ["retention", "heat", "layers", "statuses"]
SCOPES = (LOCAL,)


@pytest.fixture
def long_history(harness: StoreHarness) -> StoreHarness:
    """Three days: two memories on the first, one archived and one learnt on the third, and another's in between."""
    first = harness.add("tea", layer=Layer.EPISODIC)
    harness.add("milk")
    harness.clock.at += timedelta(days=1)
    harness.add("theirs", scope=OTHER)
    harness.clock.at += timedelta(days=1)
    harness.commit(first.with_(status=Status.ARCHIVED, layer=Layer.PROFILE))
    harness.add("bread", status=Status.CONSTRAINED)
    return harness


def svg_texts(document: str) -> list[str]:
    return [item.text or "" for item in ElementTree.fromstring(document).iter(f"{NAMESPACE}text")]


def of(name: str, harness: StoreHarness, mode: RetentionMode = DEFAULT_MODE) -> Panel:
    return next(panel for panel in build_panels(harness.store, SCOPES, harness.clock.at, mode) if panel.name == name)


def plain(*lines: PlotLine, bars: tuple[PlotBar, ...] = ()) -> Panel:
    return Panel(
        name="one",
        title='a "b" <c> & d',
        description="told",
        x=Axis("age", 0, 10, ((0, "0"), (10, "10"))),
        y=count_axis("memories", 100),
        lines=lines,
        bars=bars,
    )


def draw_panels(store: Store, scopes: Sequence[Scope], now: datetime, mode: RetentionMode) -> dict[str, str]:
    return {panel.name: render_sheet([panel]) for panel in build_panels(store, scopes, now, mode)}


def test_each_chart_is_a_document_with_a_title_and_a_text_alternative(long_history: StoreHarness) -> None:
    result = draw_panels(long_history.store, SCOPES, long_history.clock.at, DEFAULT_MODE)
    assert list(result) == NAMES
    for name, document in result.items():
        root = ElementTree.fromstring(document)
        assert root.get("role") == "img" and root.get("aria-labelledby") == f"{name}-title"
        assert root.findtext(f".//{NAMESPACE}title") and root.findtext(f".//{NAMESPACE}desc")


def test_charts_are_drawn_of_an_empty_store(harness: StoreHarness) -> None:
    result = draw_panels(harness.store, SCOPES, NOON, DEFAULT_MODE)
    assert [name for name in NAMES if "nothing yet" in svg_texts(result[name])] == ["heat", "layers", "statuses"]


def test_charts_of_one_store_at_one_time_are_byte_identical(long_history: StoreHarness) -> None:
    twice = [draw_panels(long_history.store, SCOPES, long_history.clock.at, DEFAULT_MODE) for _ in range(2)]
    assert twice[0] == twice[1]


def test_every_mode_has_its_curve_and_the_active_one_is_highlighted(harness: StoreHarness) -> None:
    panel = of("retention", harness, RetentionMode.POWER)
    assert [line.label for line in panel.lines if line.is_strong] == ["power (in use)"]
    assert len(panel.lines) == len(RetentionMode)
    for line in panel.lines:
        at = dict(line.points)
        assert at[0] == 100
        assert at[1] == pytest.approx(50) or line.label == "fsrs"
        assert all(0 <= later <= earlier for (_, earlier), (_, later) in pairwise(line.points))


def test_counts_are_taken_at_the_end_of_every_day_with_a_change(long_history: StoreHarness) -> None:
    assert list(daily_counts(long_history.store, SCOPES)) == [
        DailyCounts(date(2026, 11, 14), {"active": 2}, {"episodic": 1, "semantic": 1}),
        DailyCounts(date(2026, 11, 16), {"active": 1, "archived": 1, "constrained": 1}, {"profile": 1, "semantic": 1}),
    ]


def test_the_last_count_equals_the_store(harness: StoreHarness) -> None:
    for n in range(40):
        harness.clock.at += timedelta(hours=7)
        atom = harness.add(f"thing {n}", kind=("event", "decision", "fact", "habit")[n % 4])
        if n % 3 == 0:
            harness.commit(atom.with_(status=(Status.ARCHIVED, Status.TOMBSTONED, Status.CHALLENGED)[n % 9 // 3]))
        if n % 5 == 0:
            harness.commit(harness.current(atom).with_(layer=Layer.SEMANTIC))
    last = list(daily_counts(harness.store, SCOPES, batch_size=7))[-1]
    atoms = [atom for atom in harness.read() if atom.status in RECALL_WEIGHT]
    assert last.statuses == harness.store.atoms.count_by("status", AtomFilter(scopes=SCOPES))
    assert list(daily_counts(harness.store, SCOPES)) == list(daily_counts(harness.store, SCOPES, batch_size=7))
    assert last.layers == {layer.value: many for layer in Layer if (many := sum(atom.layer is layer for atom in atoms))}


def test_an_erased_atom_is_counted_until_its_erasure(workspace: VaultWorkspace) -> None:
    receipt, kept = workspace.remember("The old code is 4711."), workspace.remember("Tea is ready.")
    workspace.tick(days=1)
    workspace.memory.erase(receipt.id, "asked for")
    store, scopes = workspace.memory.engine.store, (kept.scope,)
    before, after = daily_counts(store, scopes)
    assert before.statuses == {"active": 2} and before.layers == {kept.layer: 1}
    assert after.statuses == store.atoms.count_by("status", AtomFilter(scopes=scopes)) == {"active": 1}
    assert not any(
        "4711" in picture for picture in draw_panels(store, scopes, workspace.clock.at, DEFAULT_MODE).values()
    )


def test_a_day_repeats_the_last_counts_until_a_change(long_history: StoreHarness) -> None:
    panel = of("statuses", long_history)
    active = next(line for line in panel.lines if line.label == "active 1")
    first = date(2026, 11, 14).toordinal()
    assert active.points == ((first, 2), (first + 1, 2), (first + 1, 2), (first + 2, 2), (first + 2, 1), (first + 3, 1))


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=30, unique=True), st.integers(0, 500))
def test_a_long_history_is_drawn_in_few_steps_and_ends_today(days: list[int], later: int) -> None:
    start = date(2020, 1, 1)
    past = [DailyCounts(start + timedelta(days=day), {"active": n}, {}) for n, day in enumerate(sorted(days))]
    today = past[-1].day + timedelta(days=later)
    daily_countses = sample_days(past, today)
    assert (
        1 <= len(daily_countses) <= MAX_DAYS
        and daily_countses[-1].day == today
        and daily_countses[-1].statuses == past[-1].statuses
    )
    for census in daily_countses:
        assert census.statuses == [one for one in past if one.day <= census.day][-1].statuses


def test_a_clock_behind_the_journal_loses_nothing(long_history: StoreHarness) -> None:
    past = list(daily_counts(long_history.store, SCOPES))
    assert sample_days(past, date(2000, 1, 1))[-1] == past[-1]
    assert sample_days([], date(2000, 1, 1)) == []


def test_the_heat_chart_covers_every_recallable_atom(long_history: StoreHarness) -> None:
    used = long_history.add("used", importance=1.0)
    long_history.store.signals.put(used.id, Signals(recall_count=20, last_recalled_at=long_history.clock.at))
    signals = from_counters(long_history.store.signals.get([used.id]).signals.get(used.id, Signals()))
    numbers = collect_heat(long_history.store, SCOPES, long_history.clock.at)
    assert len(numbers) == 3 and max(numbers) == heat(used, signals, long_history.clock.at)
    panel = of("heat", long_history)
    assert sum(bar.height for bar in panel.bars) == 3
    assert panel.bars[int(max(numbers) * len(panel.bars))].height >= 1


def test_names_are_escaped_as_text() -> None:
    assert 'a "b" <c> & d' in svg_texts(render_sheet([plain()]))
    assert "<x>" in svg_texts(render_sheet([plain(PlotLine("<x>", ((0, 1), (10, 2))))]))


@given(st.lists(st.floats(-50, 400), max_size=12))
def test_labels_never_overlap_nor_leave_the_canvas(wanted: list[float]) -> None:
    places = spread_labels(wanted, 15.0, 66, 272)
    assert all(66 - 1e-6 <= place <= 272 + 1e-6 for place in places)
    assert all(later - earlier >= 15 - 1e-6 for earlier, later in pairwise(sorted(places)))
    ranked = sorted(range(len(wanted)), key=lambda n: (wanted[n], n))
    assert [places[n] for n in ranked] == sorted(places)


def test_labels_with_room_are_at_the_end_of_their_lines() -> None:
    assert spread_labels([200.0, 100.0], 15.0, 66, 272) == [200.0, 100.0]


def test_more_labels_than_room_are_spread_evenly() -> None:
    assert spread_labels([5.0] * 5, 15.0, 0, 20) == [0, 5, 10, 15, 20]


@given(st.integers(0, 10**7))
def test_an_axis_of_counts_covers_the_maximum_with_few_whole_numbers(most: int) -> None:
    axis = count_axis("memories", most)
    values = [value for value, _ in axis.ticks]
    assert axis.high == values[-1] >= most and 2 <= len(values) <= 6
    assert all(value == int(value) for value in values)


def test_a_bar_is_as_high_as_its_value() -> None:
    bars = PlotBar(0, 5, 50), PlotBar(5, 10, 100), PlotBar(5, 10, 0)
    root = ElementTree.fromstring(render_sheet([plain(bars=bars)]))
    assert [float(item.get("height", "")) for item in root.iter(f"{NAMESPACE}rect")] == [103.0, 206.0, 0.0]


def test_everything_on_a_sheet_is_within_its_panel(long_history: StoreHarness) -> None:
    document = render_sheet(build_panels(long_history.store, SCOPES, long_history.clock.at, DEFAULT_MODE))
    root = ElementTree.fromstring(document)
    assert (root.get("width"), root.get("height")) == ("1200", "660")
    assert all(0 <= float(x) <= 600 for x in re.findall(r' x[12]?="(-?[\d.]+)"', document))
    assert all(0 <= float(y) <= 330 for y in re.findall(r' y[12]?="(-?[\d.]+)"', document))
    assert len(set(re.findall(r' id="([^"]+)"', document))) == len(NAMES)


def test_the_charts_support_dark_mode(harness: StoreHarness) -> None:
    assert "prefers-color-scheme: dark" in draw_panels(harness.store, SCOPES, NOON, DEFAULT_MODE)["retention"]


@pytest.mark.parametrize(("colours", "paper"), [(LIGHT, 1.0), (DARK, 0.01)])
def test_every_colour_has_contrast_with_its_background(colours: tuple[str, ...], paper: float) -> None:
    for colour in colours:
        light = _luminance(colour)
        assert (max(light, paper) + 0.05) / (min(light, paper) + 0.05) >= 3
    assert len(colours) == len(Status)


def _luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_all_charts_are_written_on_one_sheet(long_history: StoreHarness, tmp_path: Path) -> None:
    write_charts(tmp_path / "all.svg", long_history.store, SCOPES, long_history.clock.at, DEFAULT_MODE)
    texts = svg_texts((tmp_path / "all.svg").read_text(encoding="utf-8"))
    assert {"How much of an unused memory is left", "active 1", "profile 1", "2026-11-14", "% left"} <= {*texts}


def test_a_png_of_the_charts_is_drawn_with_matplotlib(long_history: StoreHarness, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is an extra")
    write_charts(tmp_path / "all.png", long_history.store, SCOPES, long_history.clock.at, DEFAULT_MODE)
    assert (tmp_path / "all.png").read_bytes().startswith(b"\x89PNG")


def test_a_png_of_the_charts_without_matplotlib_names_the_extra(
    harness: StoreHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InvalidInput, match=r"lamina\[chart\]"):
        write_charts(tmp_path / "all.png", harness.store, SCOPES, NOON, DEFAULT_MODE)


@pytest.mark.parametrize("name", ["all.gif", "all", "nowhere/all.svg"])
def test_an_unsupported_file_ending_is_refused_with_the_reason(
    harness: StoreHarness, tmp_path: Path, name: str
) -> None:
    with pytest.raises(InvalidInput, match=r"\.svg or \.png|cannot be written"):
        write_charts(tmp_path / name, harness.store, SCOPES, NOON, DEFAULT_MODE)
