"""The current atoms: how they are filtered, and the `Atoms` port."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import Atom, AtomId
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomFilter:
    """A selection of atoms to read. Scopes are required: an empty tuple selects nothing.

    `excluded_kinds` are left out. `core_only`: only pinned atoms and those that never age. `include_run_notes`:
    whether the notes of runs are included. `expired_by`: only active atoms whose valid time ended by this moment.
    `agent`: only what this agent learnt (`is_of_agent`). `episode_id`: the day and the session, such as
    2026-11-14:standup. `source_ref`: the id in the memory that an atom comes from.
    """

    scopes: tuple[Scope, ...]
    ids: tuple[AtomId, ...] | None = None
    id_suffix: str | None = None
    statuses: frozenset[Status] | None = None
    kinds: frozenset[str] | None = None
    excluded_kinds: frozenset[str] = frozenset()
    memory_types: frozenset[MemoryType] | None = None
    layers: frozenset[Layer] | None = None
    subject: str | None = None
    claims: tuple[str, ...] | None = None
    session_id: str | None = None
    episode_id: str | None = None
    source_ref: str | None = None
    run_id: str | None = None
    include_run_notes: bool = True
    contents: tuple[str, ...] | None = None
    valid_at: datetime | None = None
    expired_by: datetime | None = None
    core_only: bool = False
    agent: str | None = None
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class EditedAtom:
    """An atom, and the origins that have changed it since it was created."""

    atom: Atom
    editors: frozenset[Origin]


class Atoms(Protocol):
    """The current atoms and those of an earlier journal position."""

    def read(self, atom_filter: AtomFilter) -> list[Atom]:
        """Return the current atoms that match, most recently recorded first, then by id."""

    def read_many(self, atom_filters: Sequence[AtomFilter]) -> list[list[Atom]]:
        """Return what `read` returns for each of the filters; a backend needs one round trip for a few."""

    def count_by(self, field: str, atom_filter: AtomFilter) -> dict[str, int]:
        """Return how many atoms match for each value of `field`: status, kind, memory_type or layer.

        The limit of the filter is ignored.
        """

    def read_at(self, ids: Iterable[AtomId], seq: int, scopes: Sequence[Scope]) -> dict[AtomId, Atom]:
        """Return those of the atoms that existed at a journal position, as they were then."""

    def find_subjects(self, scope: Scope, words: Sequence[str]) -> list[str]:
        """Return the subjects of a scope, in normal form, that begin with the same letters as one of the words."""

    def read_with_editors(self, ids: Iterable[AtomId]) -> dict[AtomId, EditedAtom]:
        """Return those of the atoms that exist, whatever their scope: only the rules of trust may use them."""
