"""Charts of a memory: retention curves, numbers of memories by day, and the distribution of heat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil
from pathlib import Path

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.scope import Scope
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.lifecycle.half_life import STANDARD_DAYS
from lamina.lifecycle.heat import heat
from lamina.lifecycle.lifecycle_state import HOT_AT
from lamina.lifecycle.retention import Mode, retention
from lamina.lifecycle.signals import Signals as Known
from lamina.lifecycle.signals import from_counted
from lamina.review.plots import Axis, Bar, Line, Panel, count_axis, svg, write
from lamina.store.base import Changed, Filter, Store

HALF_LIVES = 5
BINS = 20
DAYS = 120
"""The most days that are drawn; a longer history is sampled."""
AT_ONCE = 2_000
"""The number of commits that are read together."""
_FINE = 20


@dataclass(frozen=True, slots=True)
class Census:
    """The number of memories at the end of a day, by status, and of those that recall returns, by layer."""

    day: date
    statuses: Mapping[str, int]
    layers: Mapping[str, int]


def pictures(store: Store, scopes: Sequence[Scope], now: datetime, mode: Mode) -> dict[str, str]:
    """Return each chart as an SVG document, by name."""
    return {panel.name: svg(panel) for panel in panels(store, scopes, now, mode)}


def write_pictures(path: Path, store: Store, scopes: Sequence[Scope], now: datetime, mode: Mode) -> None:
    """Write all charts to one file, as .svg, or as .png if matplotlib is installed."""
    write(path, panels(store, scopes, now, mode))


def panels(store: Store, scopes: Sequence[Scope], now: datetime, mode: Mode) -> tuple[Panel, ...]:
    """Return the panels to draw."""
    past = sampled(list(censuses(store, scopes)), now.date())
    return (
        _curves(mode),
        _heats(heats(store, scopes, now)),
        _over_time("layers", "Memories that recall returns, by layer", past, [census.layers for census in past]),
        _over_time("statuses", "All memories, by status", past, [census.statuses for census in past]),
    )


def censuses(store: Store, scopes: Sequence[Scope], at_once: int = AT_ONCE) -> Iterator[Census]:
    """Return the counts at the end of every day (UTC) with a commit, oldest first, from the journal."""
    states, last = dict[AtomId, tuple[Status, str | None]](), store.position()
    statuses, layers = Counter[str](), Counter[str]()
    day: date | None = None
    for since in range(0, last, at_once):
        for entry in store.journal(scopes, since, until=min(last, since + at_once)):
            if day is not None and entry.at.date() > day:
                yield Census(day, +statuses, +layers)
            day = max(day or entry.at.date(), entry.at.date())
            for change in entry.changes:
                old_state = states.pop(change.atom_id, None)
                _count(old_state, -1, statuses, layers)
                if not _erases(change):
                    new_state = states[change.atom_id] = change.new_status, _layer(change, old_state)
                    _count(new_state, 1, statuses, layers)
    if day is not None:
        yield Census(day, +statuses, +layers)


def sampled(past: Sequence[Census], today: date) -> list[Census]:
    """Return one entry for each day up to today, or for every n-th day of a long history; the last is today."""
    if not past:
        return []
    first, last = past[0].day, max(past[-1].day, today)
    step = ceil(((last - first).days + 1) / DAYS)
    samples, position = list[Census](), 0
    for days_ago in range((last - first).days // step * step, -1, -step):
        day = last - timedelta(days=days_ago)
        while position + 1 < len(past) and past[position + 1].day <= day:
            position += 1
        samples.append(Census(day, past[position].statuses, past[position].layers))
    return samples


def heats(store: Store, scopes: Sequence[Scope], now: datetime) -> list[float]:
    """Return the heat of every atom that recall returns."""
    query = Filter(scopes=tuple(scopes), statuses=frozenset(RECALL_WEIGHT))
    live = [atom for atom in store.read(query) if atom.is_searched]
    counters = store.ledger.signals_of(atom.id for atom in live)
    return [heat(atom, from_counted(counters.get(atom.id, Signals())), now) for atom in live]


def _erases(change: Changed) -> bool:
    """Return whether a change is an erasure: nothing is left to count."""
    return change.new_status is Status.TOMBSTONED and not change.fields


def _layer(change: Changed, before: tuple[Status, str | None] | None) -> str | None:
    """Return the layer after a change; a new atom omits the default layer, an erased one has none."""
    if "layer" in change.fields:
        return str(change.fields["layer"])
    if before is not None:
        return before[1]
    return Layer.SEMANTIC.value if change.fields else None


def _count(standing: tuple[Status, str | None] | None, by: int, statuses: Counter[str], layers: Counter[str]) -> None:
    if standing is None:
        return
    status, layer = standing
    statuses[status.value] += by
    if status in RECALL_WEIGHT and layer is not None:
        layers[layer] += by


def _curves(mode: Mode) -> Panel:
    """Draw each retention mode for an unused memory of a person with ordinary importance."""
    created_at = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
    atom = Atom(
        id=AtomId(""),
        scope=Scope(""),
        kind="fact",
        content="",
        observed_at=created_at,
        recorded_at=created_at,
        layer=Layer.EPISODIC,
    )
    ages = [n / _FINE for n in range(HALF_LIVES * _FINE + 1)]
    lines = []
    for curve_mode in Mode:
        moments = [(age, created_at + timedelta(days=age * STANDARD_DAYS)) for age in ages]
        points = tuple((age, 100 * retention(atom, Known(), at, curve_mode)) for age, at in moments)
        name = curve_mode.replace("_", " ")
        lines.append(Line(f"{name} (in use)" if curve_mode is mode else name, points, strong=curve_mode is mode))
    return Panel(
        name="retention",
        title="How much of an unused memory is left",
        lines=tuple(lines),
        told="; ".join(
            f"{line.label}: {line.points[_FINE][1]:.0f} % after one half-life, "
            f"{line.points[-1][1]:.0f} % after {HALF_LIVES}"
            for line in lines
        ),
        x=Axis(
            f"age in half-lives ({STANDARD_DAYS:.0f} days for a statement of a person)",
            0,
            HALF_LIVES,
            tuple((n, str(n)) for n in range(HALF_LIVES + 1)),
        ),
        y=Axis("% left", 0, 100, tuple((n, str(n)) for n in range(0, 101, 25))),
    )


def _over_time(name: str, title: str, past: Sequence[Census], counts: Sequence[Mapping[str, int]]) -> Panel:
    """Draw one step a day, as high as the count at its end; the largest line first."""
    end = counts[-1] if counts else {}
    non_zero = {label: None for day_counts in counts for label, count in day_counts.items() if count}
    names = sorted(non_zero, key=lambda label: (-end.get(label, 0), label))
    lines = tuple(Line(f"{label} {end.get(label, 0):,}", _steps(past, label, counts)) for label in names)
    first = past[0].day.toordinal() if past else 0
    last = past[-1].day.toordinal() + 1 if past else 1
    gap = ceil((last - first) / 4)
    days = range(first, last, gap) if past else range(0)
    return Panel(
        name=name,
        title=title,
        lines=lines,
        told="; ".join(line.label for line in lines) + (f" on {past[-1].day}" if past else "nothing yet"),
        x=Axis("day (UTC)", first, last, tuple((day, date.fromordinal(day).isoformat()) for day in days)),
        y=count_axis("memories", max((count for day_counts in counts for count in day_counts.values()), default=0)),
    )


def _steps(past: Sequence[Census], name: str, counts: Sequence[Mapping[str, int]]) -> tuple[tuple[float, float], ...]:
    starts = [sample.day.toordinal() for sample in past]
    ends = [*starts[1:], starts[-1] + 1]
    return tuple(
        (day, day_counts.get(name, 0))
        for start, end, day_counts in zip(starts, ends, counts, strict=True)
        for day in (start, end)
    )


def _heats(found: Sequence[float]) -> Panel:
    bins = Counter(min(BINS - 1, int(value * BINS)) for value in found)
    hot = sum(1 for value in found if value >= HOT_AT)
    return Panel(
        name="heat",
        title="Heat of the memories that recall returns",
        told=f"{hot:,} of {len(found):,} have a heat of {HOT_AT} or more" if found else "nothing yet",
        bars=tuple(Bar(n / BINS, (n + 1) / BINS, bins[n]) for n in range(BINS)) if found else (),
        x=Axis("heat (0: unused, 1: in constant use)", 0, 1, tuple((n / 5, f"{n / 5:.1f}") for n in range(6))),
        y=count_axis(f"memories ({len(found):,} in all)", max(bins.values(), default=0)),
        mark=(HOT_AT, f"warm from {HOT_AT} on: {hot:,}") if found else None,
    )
