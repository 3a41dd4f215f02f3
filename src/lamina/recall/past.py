"""Questions about another time: what was true at a time (`as_of`), and what was known at a time (`known_at`).

Valid time depends on the standing of a statement at that time, transaction time on the journal: the commits up to a
time say which atoms existed, with which words and status, whatever came later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.passage import Passage
from lamina.atom.scope import Scope
from lamina.atom.standing import Standing, begins, standing
from lamina.atom.status import ENDED, RECALL_WEIGHT, REPLACED, Status
from lamina.errors import InvalidInput, NotFound
from lamina.recall.view import View
from lamina.store.base import Filter, Store
from lamina.text.normal import normal_form
from lamina.text.times import parse_time, to_utc

Moment = datetime | date | str
"""A time, a day, or the ISO text of either; without a zone it is UTC."""

STOOD = frozenset({*RECALL_WEIGHT, *REPLACED})
"""With these statuses a statement was true while it held."""
_TICK = timedelta(milliseconds=1)
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Moments:
    """The time that a question is about: what was true at `as_of`, as it was known at `known_at`; None is now."""

    as_of: datetime | None = None
    known_at: datetime | None = None

    def __bool__(self) -> bool:
        return self.as_of is not None or self.known_at is not None

    def view(self, store: Store, scopes: tuple[Scope, ...], now: datetime, *, past: bool = False) -> View:
        """Return the view of the store that is asked about. What was known at a time is read as of that time, unless
        `as_of` is given: what ended since still counts."""
        seq = None if self.known_at is None else store.position(before=_after(self.known_at))
        return View(
            store=store,
            scopes=scopes,
            at=self.as_of or self.known_at or now,
            past=past or bool(self),
            seq=seq,
            as_of=self.as_of is not None,
        )

    def told(self) -> dict[str, str]:
        """Return the times as text."""
        times = {"as of": self.as_of, "known at": self.known_at}
        return {name: f"{moment:%Y-%m-%d %H:%M} UTC" for name, moment in times.items() if moment is not None}


NOW = Moments()


def moments(as_of: Moment | None, known_at: Moment | None) -> Moments:
    """Parse the times that a caller gave. A bare day starts at its first moment for `as_of` and includes the whole day
    for `known_at`. Raises InvalidInput for a text that is no time."""
    known_until = _parsed(known_at, "known_at", end=True)
    if known_until is not None and _is_day(known_at):
        known_until -= _TICK
    return Moments(_parsed(as_of, "as_of", end=False), known_until)


def admits(view: View, atom: Atom, statuses: Collection[Status]) -> bool:
    """Return whether an atom may answer: it held at the time in question, or has one of the additional statuses
    requested."""
    if not view.as_of:
        return atom.status in statuses and (atom.status in ENDED or atom.validity.covers(view.at))
    if standing(atom, view.at) is Standing.CURRENT:
        return True
    return atom.status in statuses and atom.status not in RECALL_WEIGHT and begins(atom) <= view.at


def is_said(view: View, atom: Atom, passage: Passage) -> bool:
    """Return whether words had been said by the time in question; for a statement its own start counts."""
    return not (view.as_of and atom.is_segment) or (passage.at or atom.observed_at) <= view.at


def stood_as(view: View, atom: Atom) -> Status:
    """Return the status by which an atom is weighed: one that was superseded later counts as active."""
    return Status.ACTIVE if view.as_of and atom.status in REPLACED else atom.status


def was(atom_id: AtomId, asked: Moments, view: View) -> Atom:
    """Return an atom as it was known. Raises NotFound if it was not known, or not true, at the time in question."""
    atom = view.atoms([atom_id]).get(atom_id)
    if atom is None:
        raise NotFound(f"no atom {atom_id} was known at {asked.told()['known at']}")
    standing_then = standing(atom, view.at)
    if view.as_of and standing_then is not Standing.CURRENT:
        raise NotFound(
            f"{atom_id} was not true as of {asked.told()['as of']}: {standing_then}; ask without as_of to see it"
        )
    return atom


def listed(view: View, wanted: Filter, status: Status | None) -> list[Atom]:
    """Return the atoms that a filter selects as they were then, newest first.

    With `as_of`, active atoms are those that held at that time, whatever happened to them later; atoms of another
    status are included if their validity covers the time.
    """
    atoms = (atom for atom in believed(view, wanted) if _is_listed(view, atom, status))
    end = None if wanted.limit is None else wanted.offset + wanted.limit
    return list(islice(atoms, wanted.offset, end))


def believed(view: View, wanted: Filter) -> Iterator[Atom]:
    """Yield the atoms that a filter selects by their values at that time, newest first, whatever their status."""
    page_filter = Filter(scopes=wanted.scopes, ids=wanted.ids) if view.seq is not None else wanted
    seen: set[str] = set()
    for start in range(0, 2**62, _AT_ONCE):
        page = view.store.read(replace(page_filter, statuses=None, limit=_AT_ONCE, offset=start))
        # The time of recording never changes, so the order is the same at every journal position.
        atoms = view.atoms(head.id for head in page) if view.seq is not None else {head.id: head for head in page}
        for atom in (atoms[head.id] for head in page if head.id in atoms and head.id not in seen):
            seen.add(atom.id)
            if view.seq is None or _is_chosen(atom, wanted):
                yield atom
        if len(page) < _AT_ONCE:
            return


def _is_listed(view: View, atom: Atom, status: Status | None) -> bool:
    if not view.as_of:
        return status is None or atom.status is status
    if status is None:
        return begins(atom) <= view.at
    if status is Status.ACTIVE:
        return standing(atom, view.at) is Standing.CURRENT
    ends = atom.valid_until is None or view.at < atom.valid_until
    return atom.status is status and begins(atom) <= view.at and ends


def _is_chosen(atom: Atom, wanted: Filter) -> bool:
    """Return whether a filter selects an atom by its own values."""
    return (
        (wanted.kinds is None or atom.kind in wanted.kinds)
        and (wanted.memory_types is None or atom.memory_type in wanted.memory_types)
        and (wanted.subject is None or normal_form(atom.subject) == (normal_form(wanted.subject) or None))
        and wanted.session_id in (None, atom.session_id)
        and wanted.run_id in (None, atom.run_id)
        and (wanted.notes or not (atom.run_id and atom.layer is Layer.WORKING))
    )


def _parsed(given: Moment | None, name: str, *, end: bool) -> datetime | None:
    """Return a time that a caller gave as a datetime, or None. Raises InvalidInput if it is no time."""
    if given is None:
        return None
    try:
        return to_utc(given) if isinstance(given, datetime) else parse_time(str(given), end=end)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{name}: {str(given)!r} is not a time; write a date like 2026-11-15 or a time like 2026-11-15T09:30"
        ) from error


def _is_day(given: Moment | None) -> bool:
    if isinstance(given, datetime) or given is None:
        return False
    return isinstance(given, date) or len(given.strip()) == len("2026-11-15")


def _after(moment: datetime) -> datetime:
    """Return the next millisecond, up to the last possible time."""
    return min(moment, datetime.max.replace(tzinfo=UTC) - _TICK) + _TICK
