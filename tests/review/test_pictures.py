from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desk import Desk
from lamina.atom.atom import Signals
from lamina.atom.kinds import Layer
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.clock import FixedClock
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
    render_charts,
    sample_days,
    write_charts,
)
from lamina.review.svg_plots import (
    DARK,
    LIGHT,
    Axis,
    Panel,
    PlotBar,
    PlotLine,
    count_axis,
    render_sheet,
    render_svg,
    spread_labels,
)
from lamina.store.sqlite import SqliteStore
from lamina.testing.store_harness import LOCAL, NOON, OTHER, StoreHarness

NAMESPACE = "{http://www.w3.org/2000/svg}"
NAMES = ["retention", "heat", "layers", "statuses"]
SCOPES = (LOCAL,)


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    yield StoreHarness(store, clock)
    store.close()


@pytest.fixture
def lived(hand: StoreHarness) -> StoreHarness:
    """Three days: two memories on the first, one archived and one learnt on the third, and another's in between."""
    first = hand.add("tea", layer=Layer.EPISODIC)
    hand.add("milk")
    hand.clock.at += timedelta(days=1)
    hand.add("theirs", scope=OTHER)
    hand.clock.at += timedelta(days=1)
    hand.commit(first.with_(status=Status.ARCHIVED, layer=Layer.PROFILE))
    hand.add("bread", status=Status.CONSTRAINED)
    return hand


def words(document: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(document).iter(f"{NAMESPACE}text")]


def of(name: str, hand: StoreHarness, mode: RetentionMode = DEFAULT_MODE) -> Panel:
    return next(panel for panel in build_panels(hand.store, SCOPES, hand.clock.at, mode) if panel.name == name)


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


def test_each_picture_is_a_document_with_a_title_and_words_for_those_who_do_not_see_it(lived: StoreHarness) -> None:
    made = render_charts(lived.store, SCOPES, lived.clock.at, DEFAULT_MODE)
    assert list(made) == NAMES
    for name, document in made.items():
        root = ElementTree.fromstring(document)
        assert root.get("role") == "img" and root.get("aria-labelledby") == f"{name}-title"
        assert root.findtext(f".//{NAMESPACE}title") and root.findtext(f".//{NAMESPACE}desc")


def test_pictures_are_drawn_of_an_empty_store(hand: StoreHarness) -> None:
    made = render_charts(hand.store, SCOPES, NOON, DEFAULT_MODE)
    assert [name for name in NAMES if "nothing yet" in words(made[name])] == ["heat", "layers", "statuses"]


def test_one_store_at_one_moment_gives_the_same_bytes(lived: StoreHarness) -> None:
    twice = [render_charts(lived.store, SCOPES, lived.clock.at, DEFAULT_MODE) for _ in range(2)]
    assert twice[0] == twice[1]


def test_every_mode_has_its_curve_and_the_one_in_use_stands_out(hand: StoreHarness) -> None:
    panel = of("retention", hand, RetentionMode.POWER)
    assert [each.label for each in panel.lines if each.is_strong] == ["power (in use)"]
    assert len(panel.lines) == len(RetentionMode)
    for line in panel.lines:
        at = dict(line.points)
        assert at[0] == 100
        assert at[1] == pytest.approx(50) or line.label == "fsrs"
        assert all(0 <= later <= earlier for (_, earlier), (_, later) in pairwise(line.points))


def test_a_census_is_taken_at_the_end_of_every_day_on_which_something_changed(lived: StoreHarness) -> None:
    assert list(daily_counts(lived.store, SCOPES)) == [
        DailyCounts(date(2026, 11, 14), {"active": 2}, {"episodic": 1, "semantic": 1}),
        DailyCounts(date(2026, 11, 16), {"active": 1, "archived": 1, "constrained": 1}, {"profile": 1, "semantic": 1}),
    ]


def test_the_last_census_is_what_the_store_counts(hand: StoreHarness) -> None:
    for n in range(40):
        hand.clock.at += timedelta(hours=7)
        atom = hand.add(f"thing {n}", kind=("event", "decision", "fact", "habit")[n % 4])
        if n % 3 == 0:
            hand.commit(atom.with_(status=(Status.ARCHIVED, Status.TOMBSTONED, Status.CHALLENGED)[n % 9 // 3]))
        if n % 5 == 0:
            hand.commit(hand.current(atom).with_(layer=Layer.SEMANTIC))
    last = list(daily_counts(hand.store, SCOPES, batch_size=7))[-1]
    found = [each for each in hand.read() if each.status in RECALL_WEIGHT]
    assert last.statuses == hand.store.count_by(SCOPES, "status")
    assert list(daily_counts(hand.store, SCOPES)) == list(daily_counts(hand.store, SCOPES, batch_size=7))
    assert last.layers == {layer.value: many for layer in Layer if (many := sum(each.layer is layer for each in found))}


def test_what_was_erased_was_there_once_and_is_counted_no_longer(desk: Desk) -> None:
    gone, kept = desk.remember("The old code is 4711."), desk.remember("Tea is ready.")
    desk.tick(days=1)
    desk.memory.erase(gone.id, "asked for")
    store, scopes = desk.memory._store, (kept.scope,)
    before, after = daily_counts(store, scopes)
    assert before.statuses == {"active": 2} and before.layers == {kept.layer: 1}
    assert after.statuses == store.count_by(scopes, "status") == {"active": 1}
    assert not any("4711" in picture for picture in render_charts(store, scopes, desk.clock.at, DEFAULT_MODE).values())


def test_a_day_stays_as_it_was_until_something_changes(lived: StoreHarness) -> None:
    panel = of("statuses", lived)
    active = next(line for line in panel.lines if line.label == "active 1")
    first = date(2026, 11, 14).toordinal()
    assert active.points == ((first, 2), (first + 1, 2), (first + 1, 2), (first + 2, 2), (first + 2, 1), (first + 3, 1))


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=30, unique=True), st.integers(0, 500))
def test_a_long_past_is_drawn_in_few_steps_and_ends_today(days: list[int], later: int) -> None:
    start = date(2020, 1, 1)
    past = [DailyCounts(start + timedelta(days=each), {"active": n}, {}) for n, each in enumerate(sorted(days))]
    today = past[-1].day + timedelta(days=later)
    found = sample_days(past, today)
    assert 1 <= len(found) <= MAX_DAYS and found[-1].day == today and found[-1].statuses == past[-1].statuses
    for census in found:
        assert census.statuses == [one for one in past if one.day <= census.day][-1].statuses


def test_a_clock_behind_the_journal_loses_nothing(lived: StoreHarness) -> None:
    past = list(daily_counts(lived.store, SCOPES))
    assert sample_days(past, date(2000, 1, 1))[-1] == past[-1]
    assert sample_days([], date(2000, 1, 1)) == []


def test_heat_is_that_of_all_that_recall_finds(lived: StoreHarness) -> None:
    used = lived.add("used", importance=1.0)
    lived.store.ledger.set_signals(used.id, Signals(recall_count=20, last_recalled_at=lived.clock.at))
    known = from_counters(lived.store.ledger.signals(used.id))
    found = collect_heat(lived.store, SCOPES, lived.clock.at)
    assert len(found) == 3 and max(found) == heat(used, known, lived.clock.at)
    panel = of("heat", lived)
    assert sum(bar.height for bar in panel.bars) == 3
    assert panel.bars[int(max(found) * len(panel.bars))].height >= 1


def test_names_are_text_whatever_signs_they_hold() -> None:
    assert 'a "b" <c> & d' in words(render_svg(plain()))
    assert "<x>" in words(render_svg(plain(PlotLine("<x>", ((0, 1), (10, 2))))))


@given(st.lists(st.floats(-50, 400), max_size=12))
def test_names_never_lie_upon_each_other_nor_off_the_paper(wanted: list[float]) -> None:
    places = spread_labels(wanted, 15.0, 66, 272)
    assert all(66 - 1e-6 <= place <= 272 + 1e-6 for place in places)
    assert all(later - earlier >= 15 - 1e-6 for earlier, later in pairwise(sorted(places)))
    ranked = sorted(range(len(wanted)), key=lambda n: (wanted[n], n))
    assert [places[n] for n in ranked] == sorted(places)


def test_names_that_have_room_stand_where_their_lines_end() -> None:
    assert spread_labels([200.0, 100.0], 15.0, 66, 272) == [200.0, 100.0]


def test_more_names_than_there_is_room_for_lie_evenly() -> None:
    assert spread_labels([5.0] * 5, 15.0, 0, 20) == [0, 5, 10, 15, 20]


@given(st.integers(0, 10**7))
def test_an_axis_of_counts_holds_the_greatest_with_a_few_whole_numbers(most: int) -> None:
    axis = count_axis("memories", most)
    values = [value for value, _ in axis.ticks]
    assert axis.high == values[-1] >= most and 2 <= len(values) <= 6
    assert all(value == int(value) for value in values)


def test_a_bar_is_as_high_as_it_says() -> None:
    root = ElementTree.fromstring(render_svg(plain(bars=(PlotBar(0, 5, 50), PlotBar(5, 10, 100), PlotBar(5, 10, 0)))))
    assert [float(each.get("height", "")) for each in root.iter(f"{NAMESPACE}rect")] == [103.0, 206.0, 0.0]


def test_everything_on_a_sheet_lies_within_its_panel(lived: StoreHarness) -> None:
    document = render_sheet(build_panels(lived.store, SCOPES, lived.clock.at, DEFAULT_MODE))
    root = ElementTree.fromstring(document)
    assert (root.get("width"), root.get("height")) == ("1200", "660")
    assert all(0 <= float(x) <= 600 for x in re.findall(r' x[12]?="(-?[\d.]+)"', document))
    assert all(0 <= float(y) <= 330 for y in re.findall(r' y[12]?="(-?[\d.]+)"', document))
    assert len(set(re.findall(r' id="([^"]+)"', document))) == len(NAMES)


def test_the_pictures_know_dark_paper(hand: StoreHarness) -> None:
    assert "prefers-color-scheme: dark" in render_charts(hand.store, SCOPES, NOON, DEFAULT_MODE)["retention"]


@pytest.mark.parametrize(("colours", "paper"), [(LIGHT, 1.0), (DARK, 0.01)])
def test_every_colour_stands_out_from_its_paper(colours: tuple[str, ...], paper: float) -> None:
    for colour in colours:
        light = _luminance(colour)
        assert (max(light, paper) + 0.05) / (min(light, paper) + 0.05) >= 3
    assert len(colours) == len(Status)


def _luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_all_pictures_are_written_on_one_sheet(lived: StoreHarness, tmp_path: Path) -> None:
    write_charts(tmp_path / "all.svg", lived.store, SCOPES, lived.clock.at, DEFAULT_MODE)
    found = words((tmp_path / "all.svg").read_text(encoding="utf-8"))
    assert {"How much of an unused memory is left", "active 1", "profile 1", "2026-11-14", "% left"} <= {*found}


def test_a_png_of_the_pictures_is_drawn_with_matplotlib(lived: StoreHarness, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is an extra")
    write_charts(tmp_path / "all.png", lived.store, SCOPES, lived.clock.at, DEFAULT_MODE)
    assert (tmp_path / "all.png").read_bytes().startswith(b"\x89PNG")


def test_a_png_of_the_pictures_without_matplotlib_names_the_extra(
    hand: StoreHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InvalidInput, match=r"lamina\[chart\]"):
        write_charts(tmp_path / "all.png", hand.store, SCOPES, NOON, DEFAULT_MODE)


@pytest.mark.parametrize("name", ["all.gif", "all", "nowhere/all.svg"])
def test_a_file_that_cannot_be_written_so_is_refused_with_the_reason(
    hand: StoreHarness, tmp_path: Path, name: str
) -> None:
    with pytest.raises(InvalidInput, match=r"\.svg or \.png|cannot be written"):
        write_charts(tmp_path / name, hand.store, SCOPES, NOON, DEFAULT_MODE)
