"""Undo: restore the fields that a commit set, if no later commit changed them."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import DATA_FIELDS, Atom
from lamina.atom.scope import Scope
from lamina.atom.status import Status, TransitionCause
from lamina.atom.trust import Origin
from lamina.errors import NotFound, UndoRefused
from lamina.store.ageing_state import BACKGROUND_VERBS
from lamina.store.base import AtomChange, AtomVersion, Commit, CommitId, CommitResult, EntryChange, JournalEntry, Store


def undo(
    store: Store, commit_id: str, scopes: Sequence[Scope], actor: str, origin: Origin, *, cascade: bool = False
) -> list[CommitResult]:
    """Undo a commit; with `cascade`, first the later commits that depend on it; without, UndoRefused lists those."""
    entries = store.read_journal(scopes, commit=commit_id)
    if not entries:
        raise NotFound(f"no commit {commit_id}; `lamina journal` lists the commits")
    commits: list[CommitResult] = []
    dependents = _dependent_commits(store, entries[0], scopes)
    if dependents and not cascade:
        raise UndoRefused(commit_id, [entry.id for entry in dependents])
    for entry in reversed(dependents):
        commits.append(_undo_one(store, entry, actor, origin))
    return [*commits, _undo_one(store, entries[0], actor, origin)]


def undo_batch(store: Store, batch: str, scopes: Sequence[Scope], actor: str, origin: Origin) -> list[CommitResult]:
    """Undo every commit of a batch, the last first; UndoRefused if a later commit depends on one of them."""
    batch_entries = _batch_entries(store, batch, scopes)
    if not batch_entries:
        raise NotFound(f"no commits of batch {batch}; `lamina journal` lists the commits")
    ids = {entry.id for entry in batch_entries}
    commits: list[CommitResult] = []
    for entry in reversed(batch_entries):
        dependents = [
            dependent.id
            for dependent in _dependent_commits(store, entry, scopes)
            if dependent.id not in ids and dependent.undoes not in ids
        ]
        if dependents:
            raise UndoRefused(entry.id, dependents)
        commits.append(_undo_one(store, entry, actor, origin))
    return commits


def _batch_entries(store: Store, batch: str, scopes: Sequence[Scope]) -> list[JournalEntry]:
    """Return the commits of a batch that are not undone, oldest first."""
    for limit in (100, 5000, None):
        entries = store.read_journal(scopes, limit=limit)
        undone = {entry.undoes for entry in entries}
        batch_entries = [entry for entry in entries if entry.batch == batch]
        if batch_entries and (limit is None or batch_entries[0] is not entries[0]):
            return [entry for entry in batch_entries if entry.id not in undone]
    return []


def last_undoable(store: Store, scopes: Sequence[Scope]) -> JournalEntry | None:
    """Return the newest commit that is no undo, not undone and no housekeeping; a dream is undone by its batch."""
    for limit in (20, 1000, None):
        undone: set[CommitId] = set()
        for entry in reversed(store.read_journal(scopes, limit=limit)):
            if entry.id in undone:
                continue
            if entry.undoes is not None:
                undone.add(entry.undoes)
            elif entry.verb not in BACKGROUND_VERBS:
                return entry
    return None


def _dependent_commits(store: Store, entry: JournalEntry, scopes: Sequence[Scope]) -> list[JournalEntry]:
    """Return the commits that changed what this one set, and those that depend on them, oldest first."""
    dependents: dict[CommitId, JournalEntry] = {}
    queue = [entry]
    while queue:
        for commit_id in _overwriting_commits(store, queue.pop()):
            if commit_id not in dependents and commit_id != entry.id:
                dependents |= {dependent.id: dependent for dependent in store.read_journal(scopes, commit=commit_id)}
                queue += [dependents[commit_id]] if commit_id in dependents else []
    return sorted(dependents.values(), key=lambda dependent: dependent.seq)


def _overwriting_commits(store: Store, entry: JournalEntry) -> set[CommitId]:
    commits: set[CommitId] = set()
    for change in entry.changes:
        versions = store.versions(change.atom_id)
        after = next(version for version in versions if version.revision == change.revision).atom
        head = versions[-1].atom
        if any(getattr(head, name) != getattr(after, name) for name in _fields_set(change)):
            commits |= {
                version.commit
                for version in versions
                if version.revision > change.revision and _sets_same_fields(version, change)
            }
    return commits


def _sets_same_fields(version: AtomVersion, change: EntryChange) -> bool:
    return bool(version.fields & _fields_set(change))


def _fields_set(change: EntryChange) -> frozenset[str]:
    """Return the fields that a commit set; for a new atom, every field."""
    return frozenset(DATA_FIELDS if change.old_status is None else change.fields)


def _undo_one(store: Store, entry: JournalEntry, actor: str, origin: Origin) -> CommitResult:
    changes = tuple(AtomChange(_reverted_atom(store.versions(change.atom_id), change)) for change in entry.changes)
    return store.commit(
        Commit(
            actor=actor,
            origin=origin,
            verb="undo",
            reason=f"undo of {entry.verb}: {entry.reason}",
            scope=entry.scope,
            changes=changes,
            way=TransitionCause.UNDO,
            undoes=entry.id,
        )
    )


def _reverted_atom(versions: Sequence[AtomVersion], change: EntryChange) -> Atom:
    head = versions[-1].atom
    if change.old_status is None:
        return head.with_(status=Status.TOMBSTONED)
    before = next(version for version in versions if version.revision == change.revision - 1).atom
    return head.with_(**{name: getattr(before, name) for name in change.fields})
