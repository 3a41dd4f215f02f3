"""What changed in a scope since a journal position: the names and kinds that it concerns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.dream.fragments import alias_of, names_in
from lamina.dream.scene import LIVE, Scene
from lamina.store.base import Entry, Filter

MOST = 5000
"""With more changes than this, checking everything is faster."""
_DREAM = "dream"


@dataclass(frozen=True, slots=True)
class Touched:
    """The normalised names and the kinds of atoms that were written, changed or expired."""

    forms: frozenset[str]
    kinds: frozenset[str]


def touched_since(scene: Scene, seq: int) -> Touched | None:
    """Return what changed after a journal position; None if that is too much to list."""
    entries = scene.store.journal((scene.scope,), seq)
    entry_by_atom = {change.atom_id: entry for entry in entries for change in entry.changes}
    if len(entry_by_atom) > MOST:
        return None
    scopes, ids = (scene.scope,), tuple(entry_by_atom)
    heads = scene.store.read(Filter(scopes=scopes, ids=ids)) if ids else []
    before = scene.store.heads_at(ids, seq, scopes).values() if ids else ()
    dream_pages = {head.id for head in heads if head.kind == "entity" and entry_by_atom[head.id].verb == _DREAM}
    changed = [
        atom for atom in (*heads, *before, *_over(scene, seq)) if atom.id not in dream_pages and not atom.is_segment
    ]
    return Touched(_forms(changed), frozenset(atom.kind for atom in changed))


def _forms(atoms: Iterable[Atom]) -> frozenset[str]:
    all_atoms = list(atoms)
    return frozenset({*names_in(all_atoms), *filter(None, map(alias_of, all_atoms))})


def _over(scene: Scene, seq: int) -> list[Atom]:
    """Return atoms that expired since that position without a commit."""
    since = _at(scene.store.journal((scene.scope,), max(0, seq - 1), until=seq))
    expired = scene.store.read(Filter(scopes=(scene.scope,), statuses=LIVE, notes=False, over_by=scene.now))
    return [atom for atom in expired if since is None or (atom.valid_until is not None and atom.valid_until > since)]


def _at(entries: list[Entry]) -> datetime | None:
    return entries[-1].at if entries else None
