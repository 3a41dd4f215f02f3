"""Undo: a commit's fields go back to what they were, if nobody built on them since."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import DATA_FIELDS, Atom
from lamina.atom.scope import Scope
from lamina.atom.status import Status, Way
from lamina.atom.trust import Origin
from lamina.errors import NotFound, UndoRefused
from lamina.store.base import Change, Changed, Commit, CommitId, Committed, Entry, Store, Version
from lamina.store.lives import HOUSEKEEPING


def undo(
    store: Store, commit_id: str, scopes: Sequence[Scope], actor: str, origin: Origin, *, cascade: bool = False
) -> list[Committed]:
    """Undo a commit; with `cascade`, first whatever was built on it, newest first."""
    found = store.journal(scopes, commit=commit_id)
    if not found:
        raise NotFound(f"no commit {commit_id}; `lamina journal` lists them")
    done: list[Committed] = []
    later = _later(store, found[0], scopes)
    if later and not cascade:
        raise UndoRefused(commit_id, [entry.id for entry in later])
    for entry in reversed(later):
        done.append(_undo_one(store, entry, actor, origin))
    return [*done, _undo_one(store, found[0], actor, origin)]


def undo_batch(store: Store, batch: str, scopes: Sequence[Scope], actor: str, origin: Origin) -> list[Committed]:
    """Undo every commit of a batch, the last first; refused where somebody has built on one of them since."""
    own = _of_batch(store, batch, scopes)
    if not own:
        raise NotFound(f"no commits of {batch}; `lamina journal` lists them")
    ids = {entry.id for entry in own}
    done: list[Committed] = []
    for entry in reversed(own):
        later = [each.id for each in _later(store, entry, scopes) if each.id not in ids and each.undoes not in ids]
        if later:
            raise UndoRefused(entry.id, later)
        done.append(_undo_one(store, entry, actor, origin))
    return done


def _of_batch(store: Store, batch: str, scopes: Sequence[Scope]) -> list[Entry]:
    """The commits of a batch that are not undone, oldest first."""
    for limit in (100, 5000, None):
        entries = store.journal(scopes, limit=limit)
        undone = {entry.undoes for entry in entries}
        own = [entry for entry in entries if entry.batch == batch]
        if own and (limit is None or own[0] is not entries[0]):
            return [entry for entry in own if entry.id not in undone]
    return []


def last_undoable(store: Store, scopes: Sequence[Scope]) -> Entry | None:
    """The newest commit that is neither an undo nor undone, and that somebody means: a dream is undone by its name."""
    for limit in (20, 1000, None):
        undone: set[CommitId] = set()
        for entry in reversed(store.journal(scopes, limit=limit)):
            if entry.id in undone:
                continue
            if entry.undoes is not None:
                undone.add(entry.undoes)
            elif entry.verb not in HOUSEKEEPING:
                return entry
    return None


def _later(store: Store, entry: Entry, scopes: Sequence[Scope]) -> list[Entry]:
    """The commits that set again what this one set, and whatever was built on those; oldest first."""
    found: dict[CommitId, Entry] = {}
    waiting = [entry]
    while waiting:
        for commit_id in _built_on(store, waiting.pop()):
            if commit_id not in found and commit_id != entry.id:
                found |= {each.id: each for each in store.journal(scopes, commit=commit_id)}
                waiting += [found[commit_id]] if commit_id in found else []
    return sorted(found.values(), key=lambda each: each.seq)


def _built_on(store: Store, entry: Entry) -> set[CommitId]:
    found: set[CommitId] = set()
    for change in entry.changes:
        versions = store.versions(change.atom_id)
        after = next(version for version in versions if version.revision == change.revision).atom
        head = versions[-1].atom
        if any(getattr(head, name) != getattr(after, name) for name in _fields_set(change)):
            found |= {each.commit for each in versions if each.revision > change.revision and _touches(each, change)}
    return found


def _touches(version: Version, change: Changed) -> bool:
    return bool(version.fields & _fields_set(change))


def _fields_set(change: Changed) -> frozenset[str]:
    """What a commit set; where it made the atom, also every field it left at its default."""
    return frozenset(DATA_FIELDS if change.old_status is None else change.fields)


def _undo_one(store: Store, entry: Entry, actor: str, origin: Origin) -> Committed:
    changes = tuple(Change(_reverted(store.versions(change.atom_id), change)) for change in entry.changes)
    return store.commit(
        Commit(
            actor=actor,
            origin=origin,
            verb="undo",
            reason=f"undo of {entry.verb}: {entry.reason}",
            scope=entry.scope,
            changes=changes,
            way=Way.UNDO,
            undoes=entry.id,
        )
    )


def _reverted(versions: Sequence[Version], change: Changed) -> Atom:
    head = versions[-1].atom
    if change.old_status is None:
        return head.with_(status=Status.TOMBSTONED)
    before = next(version for version in versions if version.revision == change.revision - 1).atom
    return head.with_(**{name: getattr(before, name) for name in change.fields})
