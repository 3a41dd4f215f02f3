"""Restores ended atoms: they are active again, and their successors no longer supersede them."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.scope import Scope
from lamina.atom.status import REPLACED, Status
from lamina.review.reinstatement import find_claim_holders, lift_doubts, restore_fields
from lamina.store.base import AtomFilter, Store

_REPLACED_STATUSES = REPLACED | {Status.INVALIDATED}


def restore_atom(atom: Atom, store: Store, scopes: Sequence[Scope]) -> list[Atom]:
    """Return the atom as active, then what changes with it.

    If another atom holds its claim now, its validity still ends when it did.
    """
    active = atom.with_(status=Status.ACTIVE)
    versions = store.versions(atom.id)
    ended = next(
        (n for n, version in reversed([*enumerate(versions)]) if version.old_status is not version.atom.status), None
    )
    if atom.status not in _REPLACED_STATUSES or ended is None:
        return [active]
    before = versions[ended - 1].atom if ended else None
    restored_atom = restore_fields(atom, before, versions[ended].atom).with_(status=Status.ACTIVE, superseded_by=())
    if find_claim_holders({atom.id: restored_atom}, (), store):
        return [active]
    successors = store.read(AtomFilter(scopes=tuple(scopes), ids=atom.superseded_by)) if atom.superseded_by else []
    released = [
        successor.with_(supersedes=tuple(other for other in successor.supersedes if other != atom.id))
        for successor in successors
        if atom.id in successor.supersedes
    ]
    lifted = lift_doubts(atom, versions[ended].commit, {atom.id}, store, scopes)
    changed_ids = {atom.id, *(other.id for other in released)}
    return [restored_atom, *released, *(other for other in lifted.values() if other.id not in changed_ids)]
