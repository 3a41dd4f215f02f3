"""Updates pages and summaries immediately after statements are retracted or restored.

A person who forgets something does not have to wait for a dream: pages lose the line, and summaries made from it are
retired. Restored statements return to existing pages; everything else is done by the next dream.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from lamina.atom.atom import (
    IDENTITY_PAGE,
    PROFILE_PAGE,
    TOPICS_PAGE,
    Atom,
    AtomId,
    IdSource,
    extract_generated_section,
    replace_generated_section,
)
from lamina.atom.provenance import Scope
from lamina.atom.sentence_erasure import remove_linked_lines
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.capture.store_reads import new_ids
from lamina.dream.entity_pages import (
    EntityPages,
    dream_writer,
    load_pages,
    name_forms_of,
    refresh_page,
    repeats_undone_page,
    statements_about,
)
from lamina.dream.identity_page import IDENTITY_KINDS, plan_identity
from lamina.dream.profile_page import PROFILE_KINDS, plan_profile
from lamina.dream.scope_pages import find_root_page
from lamina.dream.step import StepContext
from lamina.dream.synthesis import ExistingSyntheses
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.store.base import EntryChange, Store

_VERB = "entity"
_REASON = "update pages and summaries after a retraction"
_RETRACTED = frozenset({Status.TOMBSTONED, Status.INVALIDATED, Status.CONSTRAINED})
_PAGE_VERBS = frozenset({_VERB, "dream", "erase"})
"""Verbs of commits that update pages themselves."""


def cascade_changes(store: Store, scopes: Sequence[Scope], position: int, ids: IdSource, now: datetime) -> None:
    """Update pages and summaries after statements were retracted or restored since a journal position."""
    reversed_ids = find_reversals(store, scopes, position)
    for scope in scopes if reversed_ids else ():
        context = StepContext(store=store, scope=scope, moment=AgeingTime(now), ids=new_ids(ids, now))
        changed = plan_cascade(context, reversed_ids)
        if changed:
            store.journal.append(dream_writer(scope).commit(_VERB, _REASON, changed))


def find_reversals(store: Store, scopes: Sequence[Scope], position: int) -> tuple[AtomId, ...]:
    """Return the atoms that were retracted or restored after a journal position."""
    entries = (entry for entry in store.journal.read(scopes, position) if entry.verb not in _PAGE_VERBS)
    return tuple(dict.fromkeys(change.atom_id for entry in entries for change in entry.changes if _is_reversal(change)))


def plan_cascade(context: StepContext, ids: Sequence[AtomId]) -> list[Atom]:
    """Return the pages and summaries of a scope that change now that these atoms do or do not count."""
    atoms = context.read(ids=tuple(ids))
    retracted = {atom.id for atom in atoms if atom.status not in RECALL_WEIGHT}
    if not atoms:
        return []
    pages = load_pages(context.store, context.scope)
    changed = {
        atom.id: atom for atom in (*_refreshed_pages(context, pages, atoms), *_retired_syntheses(context, retracted))
    }
    names = (PROFILE_PAGE, IDENTITY_PAGE, TOPICS_PAGE)
    root_pages = (find_root_page(context.store, context.scope, name) for name in names)
    for page in (*pages.live, *(root_page for root_page in root_pages if root_page is not None)):
        shortened = _without_lines(page, retracted)
        if page.id not in changed and shortened != page:
            changed[page.id] = shortened
    return list(changed.values())


def _is_reversal(change: EntryChange) -> bool:
    """Return whether a change retracts an atom that counted, or restores one that did not."""
    old, new = change.old_status, change.new_status
    return (old in RECALL_WEIGHT and new in _RETRACTED) or (old in _RETRACTED and new in RECALL_WEIGHT)


def _refreshed_pages(context: StepContext, pages: EntityPages, atoms: Sequence[Atom]) -> Iterator[Atom]:
    """Return existing pages that name these atoms, regenerated; new pages are left to the dream."""
    changed_forms = frozenset(form for atom in atoms for form in name_forms_of(atom))
    for page in pages.live:
        forms = pages.names_of(page)
        if page.pinned or forms.isdisjoint(changed_forms):
            continue
        updated = refresh_page(page, forms, statements_about(context.store, context.scope, forms, context.now))
        if updated != page and not repeats_undone_page(updated, [page], context.store):
            yield updated
    kinds = {atom.kind for atom in atoms}
    if kinds & PROFILE_KINDS and find_root_page(context.store, context.scope, PROFILE_PAGE) is not None:
        yield from plan_profile(context).changes
    if kinds & IDENTITY_KINDS and find_root_page(context.store, context.scope, IDENTITY_PAGE) is not None:
        yield from plan_identity(context).changes


def _retired_syntheses(context: StepContext, retracted: Collection[AtomId]) -> Iterator[Atom]:
    """Return the summaries made from retracted atoms as tombstones; the next dream summarises what is left."""
    for synthesis in ExistingSyntheses(context).stale() if retracted else ():
        if not set(synthesis.derived_from).isdisjoint(retracted):
            yield synthesis.with_(status=Status.TOMBSTONED)


def _without_lines(page: Atom, retracted: Collection[AtomId]) -> Atom:
    """Return the page without generated lines that cite retracted atoms; this applies to pinned pages too."""
    lines = extract_generated_section(page.content)
    remaining = remove_linked_lines(lines, retracted)
    return page if remaining == lines else page.with_(content=replace_generated_section(page.content, remaining))
