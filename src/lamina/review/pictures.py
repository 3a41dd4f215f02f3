"""A memory in pictures: how its curves forget, how many memories there were on which day, and how warm they are."""

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
"""Of a longer past every so many days are drawn that there are no more than these."""
AT_ONCE = 2_000
"""So many commits are read at a time."""
_FINE = 20


@dataclass(frozen=True, slots=True)
class Census:
    """How many memories there were at the end of a day, by status, and those that recall finds, by layer."""

    day: date
    statuses: Mapping[str, int]
    layers: Mapping[str, int]


def pictures(store: Store, scopes: Sequence[Scope], now: datetime, mode: Mode) -> dict[str, str]:
    """Each picture by its name, as an SVG document."""
    return {panel.name: svg(panel) for panel in panels(store, scopes, now, mode)}


def write_pictures(path: Path, store: Store, scopes: Sequence[Scope], now: datetime, mode: Mode) -> None:
    """Write all pictures on one sheet, as .svg, or as .png where matplotlib is installed."""
    write(path, panels(store, scopes, now, mode))


def panels(store: Store, scopes: Sequence[Scope], now: datetime, mode: Mode) -> tuple[Panel, ...]:
    """What there is to draw."""
    past = sampled(list(censuses(store, scopes)), now.date())
    return (
        _curves(mode),
        _heats(heats(store, scopes, now)),
        _over_time("layers", "Memories that recall finds, by layer", past, [census.layers for census in past]),
        _over_time("statuses", "All memories, by status", past, [census.statuses for census in past]),
    )


def censuses(store: Store, scopes: Sequence[Scope], at_once: int = AT_ONCE) -> Iterator[Census]:
    """The end of every day (UTC) on which something changed, oldest first, as the journal tells it."""
    standing, last = dict[AtomId, tuple[Status, str | None]](), store.position()
    statuses, layers = Counter[str](), Counter[str]()
    day: date | None = None
    for since in range(0, last, at_once):
        for entry in store.journal(scopes, since, until=min(last, since + at_once)):
            if day is not None and entry.at.date() > day:
                yield Census(day, +statuses, +layers)
            day = max(day or entry.at.date(), entry.at.date())
            for change in entry.changes:
                before = standing.pop(change.atom_id, None)
                _count(before, -1, statuses, layers)
                if not _erases(change):
                    after = standing[change.atom_id] = change.new_status, _layer(change, before)
                    _count(after, 1, statuses, layers)
    if day is not None:
        yield Census(day, +statuses, +layers)


def sampled(past: Sequence[Census], today: date) -> list[Census]:
    """One for each day up to today, or for every so many days of a long past; the last one is today's."""
    if not past:
        return []
    first, last = past[0].day, max(past[-1].day, today)
    step = ceil(((last - first).days + 1) / DAYS)
    found, at = list[Census](), 0
    for back in range((last - first).days // step * step, -1, -step):
        day = last - timedelta(days=back)
        while at + 1 < len(past) and past[at + 1].day <= day:
            at += 1
        found.append(Census(day, past[at].statuses, past[at].layers))
    return found


def heats(store: Store, scopes: Sequence[Scope], now: datetime) -> list[float]:
    """The heat of everything that recall finds."""
    wanted = Filter(scopes=tuple(scopes), statuses=frozenset(RECALL_WEIGHT))
    live = [each for each in store.read(wanted) if each.is_searched]
    counted = store.ledger.signals_of(each.id for each in live)
    return [heat(each, from_counted(counted.get(each.id, Signals())), now) for each in live]


def _erases(change: Changed) -> bool:
    """Whether this is how something went whose words were taken out for good: nothing is left to be counted."""
    return change.new_status is Status.TOMBSTONED and not change.fields


def _layer(change: Changed, before: tuple[Status, str | None] | None) -> str | None:
    """The layer after a change; a new atom's record leaves out the usual one, and of what is erased nobody knows it."""
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
    """Each mode as it makes an ordinary memory fade: a person's own word, of ordinary importance and never used."""
    born = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
    atom = Atom(
        id=AtomId(""),
        scope=Scope(""),
        kind="fact",
        content="",
        observed_at=born,
        recorded_at=born,
        layer=Layer.EPISODIC,
    )
    ages = [n / _FINE for n in range(HALF_LIVES * _FINE + 1)]
    lines = []
    for each in Mode:
        moments = [(age, born + timedelta(days=age * STANDARD_DAYS)) for age in ages]
        points = tuple((age, 100 * retention(atom, Known(), at, each)) for age, at in moments)
        name = each.replace("_", " ")
        lines.append(Line(f"{name} (in use)" if each is mode else name, points, strong=each is mode))
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
            f"age in half-lives ({STANDARD_DAYS:.0f} days for a person's own word)",
            0,
            HALF_LIVES,
            tuple((n, str(n)) for n in range(HALF_LIVES + 1)),
        ),
        y=Axis("% left", 0, 100, tuple((n, str(n)) for n in range(0, 101, 25))),
    )


def _over_time(name: str, title: str, past: Sequence[Census], counts: Sequence[Mapping[str, int]]) -> Panel:
    """A step a day, as high as the count at its end; the largest line first."""
    end = counts[-1] if counts else {}
    named = {each: None for one in counts for each, many in one.items() if many}
    names = sorted(named, key=lambda each: (-end.get(each, 0), each))
    lines = tuple(Line(f"{each} {end.get(each, 0):,}", _steps(past, each, counts)) for each in names)
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
        y=count_axis("memories", max((many for one in counts for many in one.values()), default=0)),
    )


def _steps(past: Sequence[Census], name: str, counts: Sequence[Mapping[str, int]]) -> tuple[tuple[float, float], ...]:
    starts = [census.day.toordinal() for census in past]
    ends = [*starts[1:], starts[-1] + 1]
    return tuple(
        (at, one.get(name, 0)) for start, end, one in zip(starts, ends, counts, strict=True) for at in (start, end)
    )


def _heats(found: Sequence[float]) -> Panel:
    counted = Counter(min(BINS - 1, int(each * BINS)) for each in found)
    hot = sum(1 for each in found if each >= HOT_AT)
    return Panel(
        name="heat",
        title="Heat of what recall finds",
        told=f"{hot:,} of {len(found):,} have a heat of {HOT_AT} or more" if found else "nothing yet",
        bars=tuple(Bar(n / BINS, (n + 1) / BINS, counted[n]) for n in range(BINS)) if found else (),
        x=Axis("heat (0: cold, 1: in use all the time)", 0, 1, tuple((n / 5, f"{n / 5:.1f}") for n in range(6))),
        y=count_axis(f"memories ({len(found):,} in all)", max(counted.values(), default=0)),
        mark=(HOT_AT, f"warm from {HOT_AT} on: {hot:,}") if found else None,
    )
