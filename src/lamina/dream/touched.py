"""What became different since somebody last looked: whose pages that concerns, and of which kinds it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.dream.fragments import alias_of, names_in
from lamina.dream.scene import LIVE, Scene
from lamina.store.base import Entry, Filter

MOST = 5000
"""Where more has changed, looking at everything is quicker."""
_DREAM = "dream"


@dataclass(frozen=True, slots=True)
class Touched:
    """Names in normal form, and kinds of atoms, of what was written, changed or is over since."""

    forms: frozenset[str]
    kinds: frozenset[str]


def touched_since(scene: Scene, seq: int) -> Touched | None:
    """What was touched after a journal position; None where that is so much that all may be looked at."""
    entries = scene.store.journal((scene.scope,), seq)
    told = {change.atom_id: entry for entry in entries for change in entry.changes}
    if len(told) > MOST:
        return None
    scopes, ids = (scene.scope,), tuple(told)
    heads = scene.store.read(Filter(scopes=scopes, ids=ids)) if ids else []
    before = scene.store.heads_at(ids, seq, scopes).values() if ids else ()
    ours = {head.id for head in heads if head.kind == "entity" and told[head.id].verb == _DREAM}
    found = [each for each in (*heads, *before, *_over(scene, seq)) if each.id not in ours and not each.is_segment]
    return Touched(_forms(found), frozenset(each.kind for each in found))


def _forms(atoms: Iterable[Atom]) -> frozenset[str]:
    every = list(atoms)
    return frozenset({*names_in(every), *filter(None, map(alias_of, every))})


def _over(scene: Scene, seq: int) -> list[Atom]:
    """What held at that position and does not any more, though nobody touched it."""
    since = _at(scene.store.journal((scene.scope,), max(0, seq - 1), until=seq))
    found = scene.store.read(Filter(scopes=(scene.scope,), statuses=LIVE, notes=False, over_by=scene.now))
    return [each for each in found if since is None or (each.valid_until is not None and each.valid_until > since)]


def _at(entries: list[Entry]) -> datetime | None:
    return entries[-1].at if entries else None
