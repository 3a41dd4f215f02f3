"""Pages that a scope has once, in the root of its folder, such as the profile.

A page that a person deleted, archived or wrote is not generated again; one that they pinned or undid stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.page import PAGE, is_page, single_page, with_generated
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.current import is_undone
from lamina.dream.entity_pages import is_unwanted
from lamina.dream.one_page import as_one
from lamina.dream.plan import Move, Plan
from lamina.dream.scene import Scene
from lamina.store.base import Filter, Store
from lamina.vault import layout

_NONE: Mapping[str, str] = {}


def single_of(store: Store, scope: Scope, name: str) -> Atom | None:
    """Return the active page with this name, if the scope has one."""
    return min(_live(_all(store, scope, name)), key=lambda page: page.id, default=None)


def kept_up(scene: Scene, name: str, generated: str, why: str, metadata: Mapping[str, str] = _NONE) -> Plan:
    """Plan the page with this generated part; empty if it is current, or if a person decided about it.

    If an undo restored a second page of the name, the two are merged.
    """
    earlier = _all(scene.store, scene.scope, name)
    live, unpinned = _live(earlier), [other for other in _live(earlier) if not other.pinned]
    if not live:
        return _begun(scene, _made(scene, name, generated, metadata), why, earlier)
    if not unpinned:
        return Plan()
    before, replaced = as_one(unpinned, scene.store)
    page = before.with_(content=with_generated(before.content, generated), metadata={**before.metadata, **metadata})
    if not replaced and (page in live or is_unwanted(page, unpinned, scene.store)):
        return Plan()
    moves = [_move(name, page, why), *(_move("merge page", other, "the page existed twice") for other in replaced)]
    return Plan((page, *replaced), tuple(moves))


def _begun(scene: Scene, page: Atom, why: str, every: Sequence[Atom]) -> Plan:
    """Plan a first page, unless a person removed one or undid one with the same text."""
    if not all(is_undone(atom, scene.store) for atom in every):
        return Plan()
    if is_unwanted(page, every, scene.store):
        return Plan()
    path = layout.path_for(page)
    if scene.store.ledger.line(path) is not None:
        return Plan(notes=(f"{path} is your own file and was left alone; move it so that a page can be created there",))
    return Plan((page,), (_move(page.subject, page, why),))


def _live(pages: Iterable[Atom]) -> list[Atom]:
    return [page for page in pages if page.status is Status.ACTIVE and is_page(page.content)]


def _all(store: Store, scope: Scope, name: str) -> list[Atom]:
    atoms = store.read(Filter(scopes=(scope,), kinds=frozenset({"entity"})))
    return [page for page in atoms if single_page(page.metadata) == name and page.origin is Origin.DREAM]


def _made(scene: Scene, name: str, generated: str, metadata: Mapping[str, str]) -> Atom:
    return Atom(
        id=next(scene.ids),
        scope=scene.scope,
        kind="entity",
        content=with_generated("", generated),
        subject=name,
        observed_at=scene.now,
        origin=Origin.DREAM,
        metadata={PAGE: name, **metadata},
        **kind_defaults("entity", 1.0, Origin.DREAM),
    )


def _move(action: str, page: Atom, why: str) -> Move:
    return Move(action, page.id, f"{page.subject}.md", why)
