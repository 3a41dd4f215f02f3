"""Undo: restore the fields that a commit set, if no later commit changed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.atom.atom import DATA_FIELDS, Atom, AtomId
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.statement_commit import retry_exclusively
from lamina.errors import NotFound, Refused, UndoRefused
from lamina.review.reinstatement import find_claim_holders, reinstate_ended
from lamina.review.review_context import Reviewer, parse_reason
from lamina.store.base import AtomChange, AtomVersion, Commit, CommitId, CommitResult, EntryChange, JournalEntry, Store
from lamina.store.signals_and_ageing import BACKGROUND_VERBS


def rollback(id: str, reason: str, reviewer: Reviewer) -> Receipt:
    """Roll a statement back; Refused if another statement holds the claim of what would be reinstated."""
    parsed_reason = parse_reason(reason)
    reviewer.authorised_writer()

    def attempt() -> Receipt:
        atom = reviewer.find_atom(id)
        if atom.status in ENDED:
            raise Refused(_ended_message(atom, reviewer))
        reinstated = reinstate_ended({atom.id: atom}, reviewer.store, reviewer.scopes)
        claim_holders = find_claim_holders(reinstated, {atom.id}, reviewer.store)
        if claim_holders:
            raise Refused(_claim_taken_message(atom, claim_holders))
        remaining = tuple(atom_id for atom_id in atom.supersedes if atom_id not in reinstated)
        retracted = atom.with_(status=Status.TOMBSTONED, supersedes=remaining)
        outcomes, why = [Outcome(Result.TAKEN_BACK, retracted, parsed_reason)], f"{atom.id} was rolled back"
        outcomes += [Outcome(_result_of(other), other, why) for other in reinstated.values()]
        return reviewer.commit_outcomes("rollback", parsed_reason, outcomes, TransitionCause.ROLLBACK)

    return retry_exclusively(reviewer.store, attempt)


def _result_of(atom: Atom) -> Result:
    return Result.REVISED if atom.status in ENDED else Result.RESTORED


def _ended_message(atom: Atom, reviewer: Reviewer) -> str:
    if atom.superseded_by and atom.status is not Status.TOMBSTONED:
        return f"{atom.id} is {atom.status} by {', '.join(atom.superseded_by)}; roll that back first"
    last = reviewer.store.journal.versions(atom.id)[-1]
    return f"{atom.id} is {atom.status} since {last.verb} {last.commit}; `lamina undo {last.commit}` undoes that"


def _claim_taken_message(atom: Atom, claim_holders: Mapping[AtomId, Sequence[Atom]]) -> str:
    conflicts = "; ".join(
        f"{atom_id} by {', '.join(holder.id for holder in holders)}" for atom_id, holders in claim_holders.items()
    )
    return (
        f"{atom.id} cannot be rolled back: other statements now hold the claims of what it superseded ({conflicts}); "
        "roll those back first, or forget only this one"
    )


def undo(
    store: Store, commit_id: str, scopes: Sequence[Scope], actor: str, origin: Origin, *, cascade: bool = False
) -> list[CommitResult]:
    """Undo a commit; with `cascade`, first the later commits that depend on it; without, UndoRefused lists those."""
    entries = store.journal.read(scopes, commit=commit_id)
    if not entries:
        raise NotFound(f"no commit {commit_id}; `lamina journal` lists the commits")
    dependents = _dependent_commits(store, entries[0], scopes)
    if dependents and not cascade:
        raise UndoRefused(commit_id, [entry.id for entry in dependents])
    return [_undo_one(store, entry, actor, origin) for entry in (*reversed(dependents), entries[0])]


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
        entries = store.journal.read(scopes, limit=limit)
        undone = {entry.undoes for entry in entries}
        batch_entries = [entry for entry in entries if entry.batch == batch]
        if batch_entries and (limit is None or batch_entries[0] is not entries[0]):
            return [entry for entry in batch_entries if entry.id not in undone]
    return []


def last_undoable(store: Store, scopes: Sequence[Scope]) -> JournalEntry | None:
    """Return the newest commit that is no undo, not undone and no housekeeping; a dream is undone by its batch."""
    for limit in (20, 1000, None):
        undone: set[CommitId] = set()
        for entry in reversed(store.journal.read(scopes, limit=limit)):
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
                dependents |= {dependent.id: dependent for dependent in store.journal.read(scopes, commit=commit_id)}
                queue += [dependents[commit_id]] if commit_id in dependents else []
    return sorted(dependents.values(), key=lambda dependent: dependent.seq)


def _overwriting_commits(store: Store, entry: JournalEntry) -> set[CommitId]:
    commits: set[CommitId] = set()
    for change in entry.changes:
        versions = store.journal.versions(change.atom_id)
        after = next(version for version in versions if version.revision == change.revision).atom
        head = versions[-1].atom
        if any(getattr(head, name) != getattr(after, name) for name in _fields_set(change)):
            later = (version for version in versions if version.revision > change.revision)
            commits |= {version.commit for version in later if version.fields & _fields_set(change)}
    return commits


def _fields_set(change: EntryChange) -> frozenset[str]:
    """Return the fields that a commit set; for a new atom, every field."""
    return frozenset(DATA_FIELDS if change.old_status is None else change.fields)


def _undo_one(store: Store, entry: JournalEntry, actor: str, origin: Origin) -> CommitResult:
    changes = tuple(
        AtomChange(_reverted_atom(store.journal.versions(change.atom_id), change)) for change in entry.changes
    )
    return store.journal.append(
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
