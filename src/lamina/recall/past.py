"""Asking of another time: what was true at a moment (`as_of`), and what was known at one (`known_at`).

Valid time decides by where a statement stood at that moment, transaction time by the journal: the entries up to a
moment say which atoms there were, in which words and with which status, whatever came after.
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
    """Of when somebody asks: what was true at `as_of`, as it was known at `known_at`; None is this moment."""

    as_of: datetime | None = None
    known_at: datetime | None = None

    def __bool__(self) -> bool:
        return self.as_of is not None or self.known_at is not None

    def view(self, store: Store, scopes: tuple[Scope, ...], now: datetime, *, past: bool = False) -> View:
        """The state that is asked of. What was known at a moment is looked at as of that moment, if no other is named:
        what has come to an end since does not take it back."""
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
        """The moments in words."""
        named = {"as of": self.as_of, "known at": self.known_at}
        return {name: f"{moment:%Y-%m-%d %H:%M} UTC" for name, moment in named.items() if moment is not None}


NOW = Moments()


def moments(as_of: Moment | None, known_at: Moment | None) -> Moments:
    """What a caller gave. A bare day begins for `as_of` and is over for `known_at`: all that was known on that day."""
    until = _parsed(known_at, "known_at", end=True)
    if until is not None and _is_day(known_at):
        until -= _TICK
    return Moments(_parsed(as_of, "as_of", end=False), until)


def admits(view: View, atom: Atom, statuses: Collection[Status]) -> bool:
    """Whether an atom is let through: it stood at the moment, or has one of the statuses asked for besides."""
    if not view.as_of:
        return atom.status in statuses and (atom.status in ENDED or atom.validity.covers(view.at))
    if standing(atom, view.at) is Standing.CURRENT:
        return True
    return atom.status in statuses and atom.status not in RECALL_WEIGHT and begins(atom) <= view.at


def is_said(view: View, atom: Atom, passage: Passage) -> bool:
    """Whether words had been said at the moment; statements begin when they say."""
    return not (view.as_of and atom.is_segment) or (passage.at or atom.observed_at) <= view.at


def stood_as(view: View, atom: Atom) -> Status:
    """The status an atom is weighed by: one that was replaced later stood like any other."""
    return Status.ACTIVE if view.as_of and atom.status in REPLACED else atom.status


def was(atom_id: AtomId, asked: Moments, view: View) -> Atom:
    """An atom as it was known, if it was there and held at the moment that is asked for."""
    found = view.atoms([atom_id]).get(atom_id)
    if found is None:
        raise NotFound(f"no atom {atom_id} was known at {asked.told()['known at']}")
    where = standing(found, view.at)
    if view.as_of and where is not Standing.CURRENT:
        raise NotFound(f"{atom_id} was not true as of {asked.told()['as of']}: {where}; ask without a moment to see it")
    return found


def listed(view: View, wanted: Filter, status: Status | None) -> list[Atom]:
    """The atoms a filter chooses as they were then, newest first.

    With `as_of`, active ones are those that stood at the moment, whatever became of them; those of another status are
    told where their time holds the moment.
    """
    there = (atom for atom in believed(view, wanted) if _is_listed(view, atom, status))
    end = None if wanted.limit is None else wanted.offset + wanted.limit
    return list(islice(there, wanted.offset, end))


def believed(view: View, wanted: Filter) -> Iterator[Atom]:
    """The atoms a filter chooses by what they were then, newest first; it does not look at their statuses."""
    every = Filter(scopes=wanted.scopes, ids=wanted.ids) if view.seq is not None else wanted
    seen: set[str] = set()
    for start in range(0, 2**62, _AT_ONCE):
        page = view.store.read(replace(every, statuses=None, limit=_AT_ONCE, offset=start))
        # When an atom was recorded never changes, so every journal position has the same order.
        atoms = view.atoms(each.id for each in page) if view.seq is not None else {each.id: each for each in page}
        for atom in (atoms[each.id] for each in page if each.id in atoms and each.id not in seen):
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
    """Whether a filter chooses an atom by what it says of itself."""
    return (
        (wanted.kinds is None or atom.kind in wanted.kinds)
        and (wanted.memory_types is None or atom.memory_type in wanted.memory_types)
        and (wanted.subject is None or normal_form(atom.subject) == (normal_form(wanted.subject) or None))
        and wanted.session_id in (None, atom.session_id)
        and wanted.run_id in (None, atom.run_id)
        and (wanted.notes or not (atom.run_id and atom.layer is Layer.WORKING))
    )


def _parsed(given: Moment | None, name: str, *, end: bool) -> datetime | None:
    if given is None:
        return None
    try:
        return to_utc(given) if isinstance(given, datetime) else parse_time(str(given), end=end)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{name}: {str(given)!r} is no time; give a date like 2026-11-15 or a time like 2026-11-15T09:30"
        ) from error


def _is_day(given: Moment | None) -> bool:
    if isinstance(given, datetime) or given is None:
        return False
    return isinstance(given, date) or len(given.strip()) == len("2026-11-15")


def _after(moment: datetime) -> datetime:
    """The next moment, so far as there is one."""
    return min(moment, datetime.max.replace(tzinfo=UTC) - _TICK) + _TICK
