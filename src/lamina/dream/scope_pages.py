"""Pages that a scope has once, in the root of its folder, such as the profile.

A page that a person deleted, archived or wrote is not generated again; one that they pinned or undid stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lamina.atom.atom import (
    PAGE_KEY,
    Atom,
    has_generated_section,
    kind_defaults,
    replace_generated_section,
    root_page_name,
)
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.capture.existing_statements import is_undone
from lamina.dream.entity_pages import merge_pages, repeats_undone_page
from lamina.dream.step import Move, StepContext, StepPlan
from lamina.store.base import AtomFilter, Store
from lamina.vault import layout


def find_root_page(store: Store, scope: Scope, name: str) -> Atom | None:
    """Return the active page with this name, if the scope has one."""
    return min(_active_pages(_pages_named(store, scope, name)), key=lambda page: page.id, default=None)


def plan_root_page(
    context: StepContext, name: str, generated: str, why: str, metadata: Mapping[str, str] | None = None
) -> StepPlan:
    """Plan the page with this generated part; empty if it is current, or if a person decided about it.

    If an undo restored a second page of the name, the two are merged.
    """
    earlier = _pages_named(context.store, context.scope, name)
    live, unpinned = _active_pages(earlier), [other for other in _active_pages(earlier) if not other.pinned]
    if not live:
        return _plan_first_page(context, _new_page(context, name, generated, metadata or {}), why, earlier)
    if not unpinned:
        return StepPlan()
    before, replaced = merge_pages(unpinned, context.store)
    page = before.with_(
        content=replace_generated_section(before.content, generated), metadata={**before.metadata, **(metadata or {})}
    )
    if not replaced and (page in live or repeats_undone_page(page, unpinned, context.store)):
        return StepPlan()
    moves = [_move(name, page, why), *(_move("merge page", other, "the page existed twice") for other in replaced)]
    return StepPlan((page, *replaced), tuple(moves))


def _plan_first_page(context: StepContext, page: Atom, why: str, earlier: Sequence[Atom]) -> StepPlan:
    """Plan a first page, unless a person removed one or undid one with the same text."""
    is_undone_only = all(is_undone(atom, context.store) for atom in earlier)
    if not is_undone_only or repeats_undone_page(page, earlier, context.store):
        return StepPlan()
    path = layout.path_for(page)
    if context.store.projection.read(paths=[path]).records:
        note = f"{path} is your own file and was left alone; move it so that a page can be created there"
        return StepPlan(notes=(note,))
    return StepPlan((page,), (_move(page.subject, page, why),))


def _active_pages(pages: Iterable[Atom]) -> list[Atom]:
    return [page for page in pages if page.status is Status.ACTIVE and has_generated_section(page.content)]


def _pages_named(store: Store, scope: Scope, name: str) -> list[Atom]:
    atoms = store.atoms.read(AtomFilter(scopes=(scope,), kinds=frozenset({"entity"})))
    return [page for page in atoms if root_page_name(page.metadata) == name and page.origin is Origin.DREAM]


def _new_page(context: StepContext, name: str, generated: str, metadata: Mapping[str, str]) -> Atom:
    return Atom(
        id=next(context.ids),
        scope=context.scope,
        kind="entity",
        content=replace_generated_section("", generated),
        subject=name,
        observed_at=context.now,
        origin=Origin.DREAM,
        metadata={PAGE_KEY: name, **metadata},
        **kind_defaults("entity", 1.0, Origin.DREAM),
    )


def _move(action: str, page: Atom, why: str) -> Move:
    return Move(action, page.id, f"{page.subject}.md", why)
