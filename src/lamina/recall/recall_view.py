"""The state of the store that a question is about: what held at a time, as it was known at a journal position.

Valid time (`as_of`) depends on the standing of a statement at that time, transaction time (`known_at`) on the journal:
the commits up to a time say which atoms existed, with which words and status, whatever came later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from lamina.atom.atom import Atom, AtomId, EffectiveStatus, Signals, effective_from, effective_status_at
from lamina.atom.kinds import Layer
from lamina.atom.passage import Passage, passage_of
from lamina.atom.provenance import Scope, is_of_agent
from lamina.atom.status import ENDED, RECALL_WEIGHT, REPLACED, Status
from lamina.errors import InvalidInput, NotFound
from lamina.store.base import AtomFilter, Store
from lamina.store.encodings import PackedStates, PassageKey
from lamina.store.signals_and_ageing import AgeingState
from lamina.text.normal_form import normal_form
from lamina.text.timestamps import TimeInput, parse_time, to_utc

ONCE_CURRENT = frozenset({*RECALL_WEIGHT, *REPLACED})
"""With these statuses a statement was true while it held."""
_TICK = timedelta(milliseconds=1)
_PAGE_SIZE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallView:
    """The atoms as recall reads them, each of them once. `at` is the time at which they must hold; `include_ended`:
    ended statements are shown, flagged.

    `journal_position` is the position at which they are read, None for the latest. `is_as_of`: the view is of what was
    true at that time, so statements superseded since count as they did then. `token_state_models`: the models whose
    stored token states recall reads; those of one text are read together.
    """

    store: Store
    scopes: tuple[Scope, ...]
    at: datetime
    include_ended: bool = False
    journal_position: int | None = None
    is_as_of: bool = False
    token_state_models: tuple[str, ...] = ()
    _atoms: dict[AtomId, Atom | None] = field(default_factory=dict, repr=False, compare=False)
    _use: dict[AtomId, tuple[Signals, AgeingState | None]] = field(default_factory=dict, repr=False, compare=False)
    _states: dict[bytes, dict[str, PackedStates]] = field(default_factory=dict, repr=False, compare=False)
    _rarities: dict[Scope, tuple[int, dict[str, int]]] = field(default_factory=dict, repr=False, compare=False)
    _counted_tokens: set[str] = field(default_factory=set, repr=False, compare=False)

    @property
    def is_historical(self) -> bool:
        """Return whether the view is of another time than now."""
        return self.is_as_of or self.journal_position is not None

    def atoms(self, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        """Return the atoms as they were known, as far as they exist."""
        atom_ids = tuple(dict.fromkeys(ids))
        unread = tuple(atom_id for atom_id in atom_ids if atom_id not in self._atoms)
        if unread:
            loaded = self._read(unread)
            self._atoms.update({atom_id: loaded.get(atom_id) for atom_id in unread})
        return {atom_id: atom for atom_id in atom_ids if (atom := self._atoms[atom_id]) is not None}

    def current_atoms(self, ids: Collection[AtomId]) -> dict[AtomId, Atom]:
        """Return the atoms as they are now, whatever the position of the view."""
        if self.journal_position is None:
            return self.atoms(ids)
        return {atom.id: atom for atom in self.store.atoms.read(AtomFilter(scopes=self.scopes, ids=tuple(ids)))}

    def passages(self, keys: Iterable[PassageKey]) -> dict[PassageKey, tuple[Atom, Passage]]:
        """Return the passages that exist, each with its atom."""
        key_list = list(keys)
        atoms = self.atoms(atom_id for atom_id, _ in key_list)
        pairs = {key: (atom, passage_of(atom, key[1])) for key in key_list if (atom := atoms.get(key[0])) is not None}
        return {key: (atom, passage) for key, (atom, passage) in pairs.items() if passage is not None}

    def signals(self, ids: Iterable[AtomId]) -> dict[AtomId, Signals]:
        """Return the signals of these atoms."""
        return {atom_id: signals for atom_id, (signals, _) in self._read_use(ids).items()}

    def ageing_states(self, ids: Iterable[AtomId]) -> dict[AtomId, AgeingState]:
        """Return the ageing state of these atoms from the last dream; empty for another time."""
        if self.is_historical:
            return {}
        return {atom_id: ageing for atom_id, (_, ageing) in self._read_use(ids).items() if ageing is not None}

    def token_states(self, model: str, digests: Iterable[bytes]) -> dict[bytes, PackedStates]:
        """Return what a model stored for these texts; without those it has not encoded."""
        digest_list = list(dict.fromkeys(digests))
        unread = [digest for digest in digest_list if digest not in self._states]
        if unread:
            read = self.store.passages.encodings.states(self.token_state_models, unread)
            for digest in unread:
                self._states[digest] = {name: states[digest] for name, states in read.items() if digest in states}
        return {digest: self._states[digest][model] for digest in digest_list if model in self._states[digest]}

    def token_statistics(self, tokens: Collection[str]) -> dict[Scope, tuple[int, dict[str, int]]]:
        """Return for each scope the number of recallable passages, and in how many each token occurs."""
        if not self._rarities or not self._counted_tokens.issuperset(tokens):
            self._counted_tokens.update(tokens)
            read = self.store.passages.statistics(self.scopes, tokens=sorted(self._counted_tokens))
            self._rarities.update(read.tokens)
        return self._rarities

    def _read_use(self, ids: Iterable[AtomId]) -> dict[AtomId, tuple[Signals, AgeingState | None]]:
        atom_ids = tuple(dict.fromkeys(ids))
        unread = [atom_id for atom_id in atom_ids if atom_id not in self._use]
        if unread:
            signals, ageing = self.store.signals.get(unread)
            self._use.update({atom_id: (signals.get(atom_id, Signals()), ageing.get(atom_id)) for atom_id in unread})
        return {atom_id: self._use[atom_id] for atom_id in atom_ids}

    def _read(self, ids: tuple[AtomId, ...]) -> dict[AtomId, Atom]:
        if self.journal_position is None:
            return {atom.id: atom for atom in self.store.atoms.read(AtomFilter(scopes=self.scopes, ids=ids))}
        return self.store.atoms.read_at(ids, self.journal_position, self.scopes)


@dataclass(frozen=True, slots=True)
class ViewTime:
    """The time of a view of the store: what was true at `as_of`, as it was known at `known_at`; None is now."""

    as_of: datetime | None = None
    known_at: datetime | None = None

    @property
    def is_historical(self) -> bool:
        """Return whether it is another time than now."""
        return self.as_of is not None or self.known_at is not None

    def view(
        self,
        store: Store,
        scopes: tuple[Scope, ...],
        now: datetime,
        *,
        include_ended: bool = False,
        token_state_models: tuple[str, ...] = (),
    ) -> RecallView:
        """Return the view of the store at this time. What was known at a time is read as of that time, unless `as_of`
        is given: what ended since still counts."""
        seq = None if self.known_at is None else store.journal.position(before=_next_tick(self.known_at))
        return RecallView(
            store=store,
            scopes=scopes,
            at=self.as_of or self.known_at or now,
            include_ended=include_ended or self.is_historical,
            journal_position=seq,
            is_as_of=self.as_of is not None,
            token_state_models=token_state_models,
        )

    def describe(self) -> dict[str, str]:
        """Return the times as text."""
        times = {"as of": self.as_of, "known at": self.known_at}
        return {name: f"{moment:%Y-%m-%d %H:%M} UTC" for name, moment in times.items() if moment is not None}


NOW = ViewTime()


def parse_view_time(as_of: TimeInput | None, known_at: TimeInput | None) -> ViewTime:
    """Parse the times that a caller gave. A bare day starts at its first moment for `as_of` and includes the whole day
    for `known_at`. Raises InvalidInput for a text that is no time."""
    known_until = _parse_time_input(known_at, "known_at", is_end=True)
    if known_until is not None and _is_day(known_at):
        known_until -= _TICK
    return ViewTime(_parse_time_input(as_of, "as_of", is_end=False), known_until)


def is_admitted(view: RecallView, atom: Atom, statuses: Collection[Status]) -> bool:
    """Return whether an atom may answer: it held at the time in question, or has one of the additional statuses
    requested."""
    if not view.is_as_of:
        return atom.status in statuses and (atom.status in ENDED or atom.validity.covers(view.at))
    if effective_status_at(atom, view.at) is EffectiveStatus.CURRENT:
        return True
    return atom.status in statuses and atom.status not in RECALL_WEIGHT and effective_from(atom) <= view.at


def was_said(view: RecallView, atom: Atom, passage: Passage) -> bool:
    """Return whether words had been said by the time in question; for a statement its own start counts."""
    return not (view.is_as_of and atom.is_segment) or (passage.at or atom.observed_at) <= view.at


def status_at(view: RecallView, atom: Atom) -> Status:
    """Return the status by which an atom is weighed: one that was superseded later counts as active."""
    return Status.ACTIVE if view.is_as_of and atom.status in REPLACED else atom.status


def read_historical_atom(atom_id: AtomId, view_time: ViewTime, view: RecallView) -> Atom:
    """Return an atom as it was known. Raises NotFound if it was not known, or not true, at the time in question."""
    atom = view.atoms([atom_id]).get(atom_id)
    if atom is None:
        raise NotFound(f"no atom {atom_id} was known at {view_time.describe()['known at']}")
    standing_then = effective_status_at(atom, view.at)
    if view.is_as_of and standing_then is not EffectiveStatus.CURRENT:
        raise NotFound(
            f"{atom_id} was not true as of {view_time.describe()['as of']}: {standing_then}; "
            "ask without as_of to see it"
        )
    return atom


def list_historical_atoms(view: RecallView, atom_filter: AtomFilter, statuses: Collection[Status] | None) -> list[Atom]:
    """Return the atoms that a filter selects as they were then, newest first.

    With `as_of`, active atoms are those that held at that time, whatever happened to them later; atoms of another
    status are included if their validity covers the time.
    """
    atoms = (atom for atom in iterate_historical_atoms(view, atom_filter) if is_listed(view, atom, statuses))
    end = None if atom_filter.limit is None else atom_filter.offset + atom_filter.limit
    return list(islice(atoms, atom_filter.offset, end))


def iterate_historical_atoms(view: RecallView, atom_filter: AtomFilter) -> Iterator[Atom]:
    """Yield the atoms that a filter selects by their values at that time, newest first, whatever their status."""
    page_filter = (
        AtomFilter(scopes=atom_filter.scopes, ids=atom_filter.ids) if view.journal_position is not None else atom_filter
    )
    seen: set[str] = set()
    for start in range(0, 2**62, _PAGE_SIZE):
        page = view.store.atoms.read(replace(page_filter, statuses=None, limit=_PAGE_SIZE, offset=start))
        # The time of recording never changes, so the order is the same at every journal position.
        atoms = (
            view.atoms(head.id for head in page)
            if view.journal_position is not None
            else {head.id: head for head in page}
        )
        for atom in (atoms[head.id] for head in page if head.id in atoms and head.id not in seen):
            seen.add(atom.id)
            if view.journal_position is None or _is_chosen(atom, atom_filter):
                yield atom
        if len(page) < _PAGE_SIZE:
            return


def is_listed(view: RecallView, atom: Atom, statuses: Collection[Status] | None) -> bool:
    """Return whether an atom had one of the statuses, or any for None: active are those that held at that time."""
    if not view.is_as_of:
        return statuses is None or atom.status in statuses
    if statuses is None:
        return effective_from(atom) <= view.at
    if Status.ACTIVE in statuses and effective_status_at(atom, view.at) is EffectiveStatus.CURRENT:
        return True
    ends = atom.valid_until is None or view.at < atom.valid_until
    return atom.status in {*statuses} - {Status.ACTIVE} and effective_from(atom) <= view.at and ends


def _is_chosen(atom: Atom, atom_filter: AtomFilter) -> bool:
    """Return whether a filter selects an atom by its own values."""
    return (
        (atom_filter.kinds is None or atom.kind in atom_filter.kinds)
        and atom.kind not in atom_filter.excluded_kinds
        and (atom_filter.memory_types is None or atom.memory_type in atom_filter.memory_types)
        and (atom_filter.layers is None or atom.layer in atom_filter.layers)
        and (atom_filter.subject is None or normal_form(atom.subject) == (normal_form(atom_filter.subject) or None))
        and atom_filter.session_id in (None, atom.session_id)
        and atom_filter.episode_id in (None, atom.episode_id or atom.default_episode_id)
        and atom_filter.run_id in (None, atom.run_id)
        and (atom_filter.agent is None or is_of_agent(atom_filter.agent, atom.scope, atom.agents))
        and (atom_filter.include_run_notes or not (atom.run_id and atom.layer is Layer.WORKING))
    )


def _parse_time_input(value: TimeInput | None, name: str, *, is_end: bool) -> datetime | None:
    """Return a time that a caller gave as a datetime, or None. Raises InvalidInput if it is no time."""
    if value is None:
        return None
    try:
        return to_utc(value) if isinstance(value, datetime) else parse_time(str(value), end=is_end)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{name}: {str(value)!r} is not a time; write a date like 2026-11-15 or a time like 2026-11-15T09:30"
        ) from error


def _is_day(value: TimeInput | None) -> bool:
    if isinstance(value, datetime) or value is None:
        return False
    return isinstance(value, date) or len(value.strip()) == len("2026-11-15")


def _next_tick(moment: datetime) -> datetime:
    """Return the next millisecond, up to the last possible time."""
    return min(moment, datetime.max.replace(tzinfo=UTC) - _TICK) + _TICK
