"""Charts of a memory: retention curves, numbers of memories by day, and the distribution of heat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from math import ceil
from pathlib import Path

from lamina.atom.atom import Atom, AtomId, Signals
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Scope
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.lifecycle.heat import heat
from lamina.lifecycle.retention import STANDARD_DAYS, RetentionMode, retention
from lamina.lifecycle.signals import AgeingSignals as Known
from lamina.lifecycle.signals import from_counters
from lamina.lifecycle.standing import HOT_THRESHOLD
from lamina.review.svg_plots import Axis, Panel, PlotBar, PlotLine, count_axis, write_plots
from lamina.store.base import AtomFilter, EntryChange, Store

MAX_HALF_LIVES = 5
HEAT_BINS = 20
MAX_DAYS = 120
"""The most days that are drawn; a longer history is sampled."""
BATCH_SIZE = 2_000
"""The number of commits that are read together."""
_POINTS_PER_HALF_LIFE = 20


@dataclass(frozen=True, slots=True)
class DailyCounts:
    """The number of memories at the end of a day, by status, and of those that recall returns, by layer."""

    day: date
    statuses: Mapping[str, int]
    layers: Mapping[str, int]


def write_charts(path: Path, store: Store, scopes: Sequence[Scope], now: datetime, mode: RetentionMode) -> None:
    """Write all charts to one file, as .svg, or as .png if matplotlib is installed."""
    write_plots(path, build_panels(store, scopes, now, mode))


def build_panels(store: Store, scopes: Sequence[Scope], now: datetime, mode: RetentionMode) -> tuple[Panel, ...]:
    """Return the panels to draw."""
    past = sample_days(list(daily_counts(store, scopes)), now.date())
    return (
        _retention_panel(mode),
        _heat_panel(collect_heat(store, scopes, now)),
        _counts_panel("layers", "Memories that recall returns, by layer", past, [census.layers for census in past]),
        _counts_panel("statuses", "All memories, by status", past, [census.statuses for census in past]),
    )


def daily_counts(store: Store, scopes: Sequence[Scope], batch_size: int = BATCH_SIZE) -> Iterator[DailyCounts]:
    """Return the counts at the end of every day (UTC) with a commit, oldest first, from the journal."""
    states, last = dict[AtomId, tuple[Status, str | None]](), store.journal.position()
    statuses, layers = Counter[str](), Counter[str]()
    day: date | None = None
    for since in range(0, last, batch_size):
        for entry in store.journal.read(scopes, since, until=min(last, since + batch_size)):
            if day is not None and entry.at.date() > day:
                yield DailyCounts(day, +statuses, +layers)
            day = max(day or entry.at.date(), entry.at.date())
            for change in entry.changes:
                old_state = states.pop(change.atom_id, None)
                _add_count(old_state, -1, statuses, layers)
                if not _is_erasure(change):
                    new_state = states[change.atom_id] = change.new_status, _layer_after(change, old_state)
                    _add_count(new_state, 1, statuses, layers)
    if day is not None:
        yield DailyCounts(day, +statuses, +layers)


def sample_days(days: Sequence[DailyCounts], today: date) -> list[DailyCounts]:
    """Return one entry for each day up to today, or for every n-th day of a long history; the last is today."""
    if not days:
        return []
    first, last = days[0].day, max(days[-1].day, today)
    step = ceil(((last - first).days + 1) / MAX_DAYS)
    samples, position = list[DailyCounts](), 0
    for days_ago in range((last - first).days // step * step, -1, -step):
        day = last - timedelta(days=days_ago)
        while position + 1 < len(days) and days[position + 1].day <= day:
            position += 1
        samples.append(DailyCounts(day, days[position].statuses, days[position].layers))
    return samples


def collect_heat(store: Store, scopes: Sequence[Scope], now: datetime) -> list[float]:
    """Return the heat of every atom that recall returns."""
    query = AtomFilter(scopes=tuple(scopes), statuses=frozenset(RECALL_WEIGHT))
    live = [atom for atom in store.atoms.read(query) if atom.is_searched]
    counters = store.signals.get(atom.id for atom in live).signals
    return [heat(atom, from_counters(counters.get(atom.id, Signals())), now) for atom in live]


def _is_erasure(change: EntryChange) -> bool:
    """Return whether a change is an erasure: nothing is left to count."""
    return change.new_status is Status.TOMBSTONED and not change.fields


def _layer_after(change: EntryChange, before: tuple[Status, str | None] | None) -> str | None:
    """Return the layer after a change; a new atom omits the default layer, an erased one has none."""
    if "layer" in change.fields:
        return str(change.fields["layer"])
    if before is not None:
        return before[1]
    return Layer.SEMANTIC.value if change.fields else None


def _add_count(
    state: tuple[Status, str | None] | None, amount: int, statuses: Counter[str], layers: Counter[str]
) -> None:
    if state is None:
        return
    status, layer = state
    statuses[status.value] += amount
    if status in RECALL_WEIGHT and layer is not None:
        layers[layer] += amount


def _retention_panel(mode: RetentionMode) -> Panel:
    """Draw each retention mode for an unused memory of a person with ordinary importance."""
    created_at = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
    blank = Atom(id=AtomId(""), scope=Scope(""), kind="fact", content="", observed_at=created_at)
    atom = blank.with_(recorded_at=created_at, layer=Layer.EPISODIC)
    ages = [n / _POINTS_PER_HALF_LIFE for n in range(MAX_HALF_LIVES * _POINTS_PER_HALF_LIFE + 1)]
    lines = []
    for curve_mode in RetentionMode:
        moments = [(age, created_at + timedelta(days=age * STANDARD_DAYS)) for age in ages]
        points = tuple((age, 100 * retention(atom, Known(), at, curve_mode)) for age, at in moments)
        name = curve_mode.replace("_", " ")
        lines.append(PlotLine(f"{name} (in use)" if curve_mode is mode else name, points, is_strong=curve_mode is mode))
    x_label = f"age in half-lives ({STANDARD_DAYS:.0f} days for a statement of a person)"
    return Panel(
        name="retention",
        title="How much of an unused memory is left",
        lines=tuple(lines),
        description="; ".join(
            f"{line.label}: {line.points[_POINTS_PER_HALF_LIFE][1]:.0f} % after one half-life, "
            f"{line.points[-1][1]:.0f} % after {MAX_HALF_LIVES}"
            for line in lines
        ),
        x=Axis(x_label, 0, MAX_HALF_LIVES, tuple((n, str(n)) for n in range(MAX_HALF_LIVES + 1))),
        y=Axis("% left", 0, 100, tuple((n, str(n)) for n in range(0, 101, 25))),
    )


def _counts_panel(name: str, title: str, samples: Sequence[DailyCounts], counts: Sequence[Mapping[str, int]]) -> Panel:
    """Draw one step a day, as high as the count at its end; the largest line first."""
    end = counts[-1] if counts else {}
    non_zero = {label: None for day_counts in counts for label, count in day_counts.items() if count}
    names = sorted(non_zero, key=lambda label: (-end.get(label, 0), label))
    lines = tuple(PlotLine(f"{label} {end.get(label, 0):,}", _step_points(samples, label, counts)) for label in names)
    first = samples[0].day.toordinal() if samples else 0
    last = samples[-1].day.toordinal() + 1 if samples else 1
    gap = ceil((last - first) / 4)
    days = range(first, last, gap) if samples else range(0)
    return Panel(
        name=name,
        title=title,
        lines=lines,
        description="; ".join(line.label for line in lines) + (f" on {samples[-1].day}" if samples else "nothing yet"),
        x=Axis("day (UTC)", first, last, tuple((day, date.fromordinal(day).isoformat()) for day in days)),
        y=count_axis("memories", max((count for day_counts in counts for count in day_counts.values()), default=0)),
    )


def _step_points(
    samples: Sequence[DailyCounts], name: str, counts: Sequence[Mapping[str, int]]
) -> tuple[tuple[float, float], ...]:
    starts = [sample.day.toordinal() for sample in samples]
    ends = [*starts[1:], starts[-1] + 1]
    return tuple(
        (day, day_counts.get(name, 0))
        for start, end, day_counts in zip(starts, ends, counts, strict=True)
        for day in (start, end)
    )


def _heat_panel(heat_values: Sequence[float]) -> Panel:
    bins = Counter(min(HEAT_BINS - 1, int(value * HEAT_BINS)) for value in heat_values)
    empty = Panel(
        name="heat",
        title="Heat of the memories that recall returns",
        description="nothing yet",
        x=Axis("heat (0: unused, 1: in constant use)", 0, 1, tuple((n / 5, f"{n / 5:.1f}") for n in range(6))),
        y=count_axis(f"memories ({len(heat_values):,} in all)", max(bins.values(), default=0)),
    )
    if not heat_values:
        return empty
    hot = sum(value >= HOT_THRESHOLD for value in heat_values)
    return replace(
        empty,
        description=f"{hot:,} of {len(heat_values):,} have a heat of {HOT_THRESHOLD} or more",
        bars=tuple(PlotBar(n / HEAT_BINS, (n + 1) / HEAT_BINS, bins[n]) for n in range(HEAT_BINS)),
        mark=(HOT_THRESHOLD, f"warm from {HOT_THRESHOLD} on: {hot:,}"),
    )
