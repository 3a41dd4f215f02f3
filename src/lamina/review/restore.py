"""Restores ended atoms: they are active again, and their successors no longer supersede them."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.scope import Scope
from lamina.atom.status import REPLACED, Status
from lamina.review.give_back import as_before, in_the_way, relieved
from lamina.store.base import Filter, Store

_ENDED_BY = REPLACED | {Status.INVALIDATED}


def restored(atom: Atom, store: Store, scopes: Sequence[Scope]) -> list[Atom]:
    """Return the atom as active, then what changes with it.

    If another atom holds its claim now, its validity still ends when it did.
    """
    active = atom.with_(status=Status.ACTIVE)
    versions = store.versions(atom.id)
    ended = next(
        (n for n, version in reversed([*enumerate(versions)]) if version.old_status is not version.atom.status), None
    )
    if atom.status not in _ENDED_BY or ended is None:
        return [active]
    before = versions[ended - 1].atom if ended else None
    restored_atom = as_before(atom, before, versions[ended].atom).with_(status=Status.ACTIVE, superseded_by=())
    if in_the_way({atom.id: restored_atom}, (), store):
        return [active]
    successors = store.read(Filter(scopes=tuple(scopes), ids=atom.superseded_by)) if atom.superseded_by else []
    released = [
        successor.with_(supersedes=tuple(other for other in successor.supersedes if other != atom.id))
        for successor in successors
        if atom.id in successor.supersedes
    ]
    lifted = relieved(atom, versions[ended].commit, {atom.id}, store, scopes)
    changed_ids = {atom.id, *(other.id for other in released)}
    return [restored_atom, *released, *(other for other in lifted.values() if other.id not in changed_ids)]
