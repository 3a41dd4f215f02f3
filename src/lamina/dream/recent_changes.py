"""What changed in a scope since a journal position: the names and kinds that it concerns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.dream.name_groups import alias_of, group_by_name
from lamina.dream.step_context import LIVE, StepContext
from lamina.store.base import AtomFilter, JournalEntry

MAX_CHANGES = 5000
"""With more changes than this, checking everything is faster."""
_DREAM = "dream"


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """The normalised names and the kinds of atoms that were written, changed or expired."""

    forms: frozenset[str]
    kinds: frozenset[str]


def changes_since(context: StepContext, position: int) -> RecentChanges | None:
    """Return what changed after a journal position; None if that is too much to list."""
    entries = context.store.read_journal((context.scope,), position)
    entry_by_atom = {change.atom_id: entry for entry in entries for change in entry.changes}
    if len(entry_by_atom) > MAX_CHANGES:
        return None
    scopes, ids = (context.scope,), tuple(entry_by_atom)
    heads = context.store.read(AtomFilter(scopes=scopes, ids=ids)) if ids else []
    before = context.store.heads_at(ids, position, scopes).values() if ids else ()
    dream_pages = {head.id for head in heads if head.kind == "entity" and entry_by_atom[head.id].verb == _DREAM}
    changed = [
        atom
        for atom in (*heads, *before, *_expired(context, position))
        if atom.id not in dream_pages and not atom.is_segment
    ]
    return RecentChanges(_name_forms(changed), frozenset(atom.kind for atom in changed))


def _name_forms(atoms: Iterable[Atom]) -> frozenset[str]:
    all_atoms = list(atoms)
    return frozenset({*group_by_name(all_atoms), *filter(None, map(alias_of, all_atoms))})


def _expired(context: StepContext, position: int) -> list[Atom]:
    """Return atoms that expired since that position without a commit."""
    since = _last_time(context.store.read_journal((context.scope,), max(0, position - 1), until=position))
    expired = context.store.read(
        AtomFilter(scopes=(context.scope,), statuses=LIVE, include_run_notes=False, expired_by=context.now)
    )
    return [atom for atom in expired if since is None or (atom.valid_until is not None and atom.valid_until > since)]


def _last_time(entries: list[JournalEntry]) -> datetime | None:
    return entries[-1].at if entries else None
