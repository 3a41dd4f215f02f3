"""Reinstates statements as they were before they ended: those that removed atoms had ended, and restored ones.

A removed statement between two others is bridged: what it had ended is then ended by its own successor.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, RelationName
from lamina.atom.claim import claim_of
from lamina.atom.provenance import Scope
from lamina.atom.status import ENDED, REPLACED, Status
from lamina.store.base import AtomFilter, CommitId, Store

_REPLACED_STATUSES = REPLACED | {Status.INVALIDATED}
_DEPENDENCY_RELATIONS = frozenset({RelationName.DEPENDS_ON, RelationName.IMPLEMENTS})


def reinstate_ended(removed: Mapping[AtomId, Atom], store: Store, scopes: Sequence[Scope]) -> dict[AtomId, Atom]:
    """Return the atoms that removed ones had ended, as they are without them, and those challenged because of it."""
    ended_ids = {target for atom in removed.values() for target in atom.supersedes} - removed.keys()
    successor_ids = {target for atom in removed.values() for target in atom.superseded_by} - removed.keys()
    ended = _read_atoms(ended_ids, store, scopes)
    candidates = {candidate.id: candidate for candidate in ended if removed.keys() & set(candidate.superseded_by)}
    reinstated: dict[AtomId, Atom] = {}
    for ended_atom in candidates.values():
        remaining = tuple(atom_id for atom_id in ended_atom.superseded_by if atom_id not in removed)
        successors, until = _successors(ended_atom, removed)
        if remaining or successors:
            is_reopened = ended_atom.status is Status.SUPERSEDED and not remaining
            kept_ids = tuple(dict.fromkeys((*remaining, *successors)))
            reinstated[ended_atom.id] = ended_atom.with_(
                superseded_by=kept_ids, valid_until=until if is_reopened else ended_atom.valid_until
            )
        else:
            versions = store.journal.versions(ended_atom.id)
            n = next(n for n, version in enumerate(versions) if removed.keys() & set(version.atom.superseded_by))
            before = versions[n - 1].atom if n else None
            reinstated[ended_atom.id] = restore_fields(ended_atom, before, versions[n].atom)
            reinstated |= lift_doubts(ended_atom, versions[n].commit, candidates.keys(), store, scopes)
    for successor in _read_atoms(successor_ids, store, scopes):
        bridged = tuple(atom.id for atom in reinstated.values() if successor.id in atom.superseded_by)
        kept_ids = tuple(atom_id for atom_id in successor.supersedes if atom_id not in removed)
        if bridged or kept_ids != successor.supersedes:
            current = reinstated.get(successor.id, successor)
            reinstated[successor.id] = current.with_(supersedes=tuple(dict.fromkeys((*kept_ids, *bridged))))
    return reinstated


def find_claim_holders(
    reinstated: Mapping[AtomId, Atom], removed: Collection[AtomId], store: Store
) -> dict[AtomId, list[Atom]]:
    """Return, for each atom to be reinstated, the atoms that hold its claim now."""
    holders_by_atom: dict[AtomId, list[Atom]] = {}
    for atom in reinstated.values():
        if not _has_single_value(atom) or atom.status is not Status.ACTIVE:
            continue
        query = AtomFilter(scopes=(atom.scope,), claims=(str(claim_of(atom)),), statuses=frozenset({Status.ACTIVE}))
        holders = [
            reinstated.get(holder.id, holder)
            for holder in store.atoms.read(query)
            if holder.id not in removed and _has_single_value(holder)
        ]
        conflicting = [holder for holder in holders if holder.id != atom.id and holder.validity.overlaps(atom.validity)]
        if conflicting:
            holders_by_atom[atom.id] = conflicting
    return holders_by_atom


def _has_single_value(atom: Atom) -> bool:
    claim = claim_of(atom)
    return claim is not None and claim.is_single_valued


def restore_fields(head: Atom, before: Atom | None, after: Atom) -> Atom:
    """Return the head with the fields that its end had set restored, unless they were changed since."""
    status, until = head.status, head.valid_until
    if status in _REPLACED_STATUSES and status is after.status:
        status = before.status if before is not None else Status.ACTIVE
    if until == after.valid_until:
        until = before.valid_until if before is not None else None
    return head.with_(status=status, valid_until=until, superseded_by=before.superseded_by if before else ())


def _successors(ended: Atom, removed: Mapping[AtomId, Atom]) -> tuple[list[AtomId], datetime | None]:
    """Return the remaining successors of the removed atoms that ended this one, and from when on they apply."""
    successors: dict[AtomId, None] = {}
    until = ended.valid_until
    queue, visited = [atom_id for atom_id in ended.superseded_by if atom_id in removed], set[AtomId]()
    while queue:
        current = removed[queue.pop()]
        visited.add(current.id)
        for atom_id in current.superseded_by:
            if atom_id not in removed:
                successors[atom_id], until = None, current.valid_until or until
            elif atom_id not in visited:
                queue.append(atom_id)
    return list(successors), until


def lift_doubts(
    ended: Atom, commit: CommitId, reinstated_ids: Collection[AtomId], store: Store, scopes: Sequence[Scope]
) -> dict[AtomId, Atom]:
    """Return atoms that were challenged only because the statement they depend on had ended."""
    changes = [change for entry in store.journal.read(scopes, commit=commit) for change in entry.changes]
    ended_ids = {change.atom_id for change in changes if change.new_status in ENDED and change.old_status not in ENDED}
    challenged = {
        change.atom_id: change.old_status
        for change in changes
        if change.new_status is Status.CHALLENGED and change.old_status not in (None, Status.CHALLENGED)
    }
    lifted: dict[AtomId, Atom] = {}
    for atom in _read_atoms(challenged.keys(), store, scopes):
        depends_on_ended = any(
            relation.name in _DEPENDENCY_RELATIONS and relation.target == ended.id for relation in atom.relations
        )
        before, is_lifted = challenged[atom.id], depends_on_ended or ended_ids <= {*reinstated_ids}
        if before is not None and atom.status is Status.CHALLENGED and is_lifted:
            lifted[atom.id] = atom.with_(status=before)
    return lifted


def restore_atom(atom: Atom, store: Store, scopes: Sequence[Scope]) -> list[Atom]:
    """Return the atom as active, then what changes with it.

    If another atom holds its claim now, its validity still ends when it did.
    """
    active = atom.with_(status=Status.ACTIVE)
    versions = store.journal.versions(atom.id)
    ended = next(
        (n for n, version in reversed([*enumerate(versions)]) if version.old_status is not version.atom.status), None
    )
    if atom.status not in _REPLACED_STATUSES or ended is None:
        return [active]
    before = versions[ended - 1].atom if ended else None
    restored_atom = restore_fields(atom, before, versions[ended].atom).with_(status=Status.ACTIVE, superseded_by=())
    if find_claim_holders({atom.id: restored_atom}, (), store):
        return [active]
    released = [
        successor.with_(supersedes=tuple(other for other in successor.supersedes if other != atom.id))
        for successor in _read_atoms(atom.superseded_by, store, scopes)
        if atom.id in successor.supersedes
    ]
    lifted = lift_doubts(atom, versions[ended].commit, {atom.id}, store, scopes)
    changed_ids = {atom.id, *(other.id for other in released)}
    return [restored_atom, *released, *(other for other in lifted.values() if other.id not in changed_ids)]


def _read_atoms(ids: Collection[AtomId], store: Store, scopes: Sequence[Scope]) -> list[Atom]:
    return store.atoms.read(AtomFilter(scopes=tuple(scopes), ids=tuple(sorted(ids))))
