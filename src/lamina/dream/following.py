"""What follows at once when somebody takes a statement back: pages lose its line, summaries made of it are let go.

Nobody who forgets something should have to wait for a dream. A statement that comes back finds its way onto the pages
that are there; whatever else there is to make of it is a dream's to do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.page import generated_part, with_generated
from lamina.atom.scope import Scope
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.strike import lines_without
from lamina.atom.trust import Origin
from lamina.capture.write import fresh_ids
from lamina.dream.entity_pages import Pages, forms_in, is_unwanted, kept_up, pages_of, stated_of
from lamina.dream.identity import KINDS as REFLECTIONS
from lamina.dream.identity import identity, identity_of
from lamina.dream.profile import KINDS as TASTES
from lamina.dream.profile import profile, profile_of
from lamina.dream.scene import Scene
from lamina.dream.shelf import Shelf
from lamina.lifecycle.moment import Moment
from lamina.store.base import Change, Changed, Commit, Filter, Store

_VERB = "entity"
_REASON = "pages and summaries follow what was taken back"
_TAKEN_BACK = frozenset({Status.TOMBSTONED, Status.INVALIDATED, Status.CONSTRAINED})
_OURS = frozenset({_VERB, "dream", "erase"})
"""Commits that see to pages themselves."""


def follow(store: Store, scopes: Sequence[Scope], seq: int, ids: IdSource, now: datetime) -> None:
    """Bring pages and summaries in line with what was taken back after a journal position, or came back."""
    turned = taken_back(store, scopes, seq)
    for scope in scopes if turned else ():
        scene = Scene(store=store, scope=scope, moment=Moment(now), ids=fresh_ids(ids, now))
        changes = tuple(map(Change, following(scene, turned)))
        if changes:
            store.commit(
                Commit(actor="lamina", origin=Origin.DREAM, verb=_VERB, reason=_REASON, scope=scope, changes=changes)
            )


def taken_back(store: Store, scopes: Sequence[Scope], seq: int) -> tuple[AtomId, ...]:
    """The atoms that somebody took back, or brought back, after a journal position."""
    entries = (entry for entry in store.journal(scopes, seq) if entry.verb not in _OURS)
    return tuple(dict.fromkeys(change.atom_id for entry in entries for change in entry.changes if _turned(change)))


def following(scene: Scene, ids: Sequence[AtomId]) -> list[Atom]:
    """The pages and summaries of a scope as they shall be, now that these atoms count or do not count any more."""
    atoms = scene.store.read(Filter(scopes=(scene.scope,), ids=tuple(ids)))
    gone = {atom.id for atom in atoms if atom.status not in RECALL_WEIGHT}
    if not atoms:
        return []
    pages = pages_of(scene.store, scene.scope)
    changed = {each.id: each for each in (*_made_anew(scene, pages, atoms), *_let_go(scene, gone))}
    singles = (profile_of(scene.store, scene.scope), identity_of(scene.store, scene.scope))
    for page in (*pages.live, *(single for single in singles if single is not None)):
        struck = _without(page, gone)
        if page.id not in changed and struck != page:
            changed[page.id] = struck
    return list(changed.values())


def _turned(change: Changed) -> bool:
    """Whether what counted does not any more, or the other way round."""
    old, new = change.old_status, change.new_status
    return (old in RECALL_WEIGHT and new in _TAKEN_BACK) or (old in _TAKEN_BACK and new in RECALL_WEIGHT)


def _made_anew(scene: Scene, pages: Pages, atoms: Sequence[Atom]) -> Iterator[Atom]:
    """The pages that name these atoms, as a dream would write them; none that is not there."""
    touched = frozenset(form for atom in atoms for form in forms_in(atom))
    for page in pages.live:
        forms = pages.forms(page)
        if page.pinned or forms.isdisjoint(touched):
            continue
        wanted = kept_up(page, forms, stated_of(scene.store, scene.scope, forms, scene.now))
        if wanted != page and not is_unwanted(wanted, [page], scene.store):
            yield wanted
    kinds = {atom.kind for atom in atoms}
    if kinds & TASTES and profile_of(scene.store, scene.scope) is not None:
        yield from profile(scene).changes
    if kinds & REFLECTIONS and identity_of(scene.store, scene.scope) is not None:
        yield from identity(scene).changes


def _let_go(scene: Scene, gone: Collection[AtomId]) -> Iterator[Atom]:
    """Summaries that were made of what is gone: the next dream sums up what is left."""
    for each in Shelf(scene).stale() if gone else ():
        if not set(each.derived_from).isdisjoint(gone):
            yield each.with_(status=Status.TOMBSTONED)


def _without(page: Atom, gone: Collection[AtomId]) -> Atom:
    """The page but for the generated lines that rest on what is gone: not even a pin keeps those."""
    lines = generated_part(page.content)
    left = lines_without(lines, gone)
    return page if left == lines else page.with_(content=with_generated(page.content, left))
