"""Restoring: what had ended counts again, from when it held and on; whatever took its place lets go of it."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.scope import Scope
from lamina.atom.status import REPLACED, Status
from lamina.review.give_back import as_before, in_the_way, relieved
from lamina.store.base import Filter, Store

_ENDED_BY = REPLACED | {Status.INVALIDATED}


def restored(atom: Atom, store: Store, scopes: Sequence[Scope]) -> list[Atom]:
    """The atom as it shall count again, then what changes with it.

    Where another holds its claim by now, it counts for the time it held and no longer.
    """
    active = atom.with_(status=Status.ACTIVE)
    versions = store.versions(atom.id)
    ended = next((n for n, each in reversed([*enumerate(versions)]) if each.old_status is not each.atom.status), None)
    if atom.status not in _ENDED_BY or ended is None:
        return [active]
    before = versions[ended - 1].atom if ended else None
    opened = as_before(atom, before, versions[ended].atom).with_(status=Status.ACTIVE, superseded_by=())
    if in_the_way({atom.id: opened}, (), store):
        return [active]
    heirs = store.read(Filter(scopes=tuple(scopes), ids=atom.superseded_by)) if atom.superseded_by else []
    parted = [
        heir.with_(supersedes=tuple(other for other in heir.supersedes if other != atom.id))
        for heir in heirs
        if atom.id in heir.supersedes
    ]
    doubted = relieved(atom, versions[ended].commit, {atom.id}, store, scopes)
    known = {atom.id, *(each.id for each in parted)}
    return [opened, *parted, *(each for each in doubted.values() if each.id not in known)]
