"""Updates pages and summaries immediately after statements are retracted or restored.

A person who forgets something does not have to wait for a dream: pages lose the line, and summaries made from it are
retired. Restored statements return to existing pages; everything else is done by the next dream.
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
from lamina.dream.identity import KINDS as IDENTITY_KINDS
from lamina.dream.identity import identity, identity_of
from lamina.dream.profile import KINDS as PROFILE_KINDS
from lamina.dream.profile import profile, profile_of
from lamina.dream.scene import Scene
from lamina.dream.shelf import Shelf
from lamina.lifecycle.moment import Moment
from lamina.store.base import Change, Changed, Commit, Filter, Store

_VERB = "entity"
_REASON = "update pages and summaries after a retraction"
_TAKEN_BACK = frozenset({Status.TOMBSTONED, Status.INVALIDATED, Status.CONSTRAINED})
_OURS = frozenset({_VERB, "dream", "erase"})
"""Verbs of commits that update pages themselves."""


def follow(store: Store, scopes: Sequence[Scope], seq: int, ids: IdSource, now: datetime) -> None:
    """Update pages and summaries after statements were retracted or restored since a journal position."""
    reversed_ids = taken_back(store, scopes, seq)
    for scope in scopes if reversed_ids else ():
        context = Scene(store=store, scope=scope, moment=Moment(now), ids=fresh_ids(ids, now))
        changes = tuple(map(Change, following(context, reversed_ids)))
        if changes:
            store.commit(
                Commit(actor="lamina", origin=Origin.DREAM, verb=_VERB, reason=_REASON, scope=scope, changes=changes)
            )


def taken_back(store: Store, scopes: Sequence[Scope], seq: int) -> tuple[AtomId, ...]:
    """Return the atoms that were retracted or restored after a journal position."""
    entries = (entry for entry in store.journal(scopes, seq) if entry.verb not in _OURS)
    return tuple(dict.fromkeys(change.atom_id for entry in entries for change in entry.changes if _turned(change)))


def following(scene: Scene, ids: Sequence[AtomId]) -> list[Atom]:
    """Return the pages and summaries of a scope that change now that these atoms do or do not count."""
    atoms = scene.store.read(Filter(scopes=(scene.scope,), ids=tuple(ids)))
    retracted = {atom.id for atom in atoms if atom.status not in RECALL_WEIGHT}
    if not atoms:
        return []
    pages = pages_of(scene.store, scene.scope)
    changed = {atom.id: atom for atom in (*_made_anew(scene, pages, atoms), *_let_go(scene, retracted))}
    root_pages = (profile_of(scene.store, scene.scope), identity_of(scene.store, scene.scope))
    for page in (*pages.live, *(root_page for root_page in root_pages if root_page is not None)):
        shortened = _without(page, retracted)
        if page.id not in changed and shortened != page:
            changed[page.id] = shortened
    return list(changed.values())


def _turned(change: Changed) -> bool:
    """Return whether a change retracts an atom that counted, or restores one that did not."""
    old, new = change.old_status, change.new_status
    return (old in RECALL_WEIGHT and new in _TAKEN_BACK) or (old in _TAKEN_BACK and new in RECALL_WEIGHT)


def _made_anew(scene: Scene, pages: Pages, atoms: Sequence[Atom]) -> Iterator[Atom]:
    """Return existing pages that name these atoms, regenerated; new pages are left to the dream."""
    changed_forms = frozenset(form for atom in atoms for form in forms_in(atom))
    for page in pages.live:
        forms = pages.forms(page)
        if page.pinned or forms.isdisjoint(changed_forms):
            continue
        updated = kept_up(page, forms, stated_of(scene.store, scene.scope, forms, scene.now))
        if updated != page and not is_unwanted(updated, [page], scene.store):
            yield updated
    kinds = {atom.kind for atom in atoms}
    if kinds & PROFILE_KINDS and profile_of(scene.store, scene.scope) is not None:
        yield from profile(scene).changes
    if kinds & IDENTITY_KINDS and identity_of(scene.store, scene.scope) is not None:
        yield from identity(scene).changes


def _let_go(scene: Scene, gone: Collection[AtomId]) -> Iterator[Atom]:
    """Return the summaries made from retracted atoms as tombstones; the next dream summarises what is left."""
    for synthesis in Shelf(scene).stale() if gone else ():
        if not set(synthesis.derived_from).isdisjoint(gone):
            yield synthesis.with_(status=Status.TOMBSTONED)


def _without(page: Atom, gone: Collection[AtomId]) -> Atom:
    """Return the page without generated lines that cite retracted atoms; this applies to pinned pages too."""
    lines = generated_part(page.content)
    remaining = lines_without(lines, gone)
    return page if remaining == lines else page.with_(content=with_generated(page.content, remaining))
