"""Pages of which a scope has one each, at the root of its folder. One that a person deleted, laid aside or wrote
themselves is theirs, and is not made again."""

from __future__ import annotations

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.page import PAGE, is_page, single_page, with_generated
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.workplace import is_undone
from lamina.dream.scene import Scene
from lamina.store.base import Filter, Store
from lamina.vault import layout


def single_of(store: Store, scope: Scope, name: str) -> Atom | None:
    """The page of this name as it stands, if the scope has one."""
    found = [each for each in _all(store, scope, name) if each.status is Status.ACTIVE and is_page(each.content)]
    return min(found, key=lambda each: each.id, default=None)


def kept_up(scene: Scene, name: str, generated: str) -> Atom | str | None:
    """The page as it shall be, None where it is a person's to have or not; in words, why it cannot be made."""
    page = single_of(scene.store, scene.scope, name)
    if page is None:
        every = _all(scene.store, scene.scope, name)
        if not all(is_undone(each, scene.store) for each in every):
            return None
        return _made(scene, name, generated)
    return page.with_(content=with_generated(page.content, generated))


def _all(store: Store, scope: Scope, name: str) -> list[Atom]:
    found = store.read(Filter(scopes=(scope,), kinds=frozenset({"entity"})))
    return [each for each in found if single_page(each.metadata) == name and each.origin is Origin.DREAM]


def _made(scene: Scene, name: str, generated: str) -> Atom | str:
    page = Atom(
        id=next(scene.ids), scope=scene.scope, kind="entity", content=with_generated("", generated), subject=name,
        observed_at=scene.now, origin=Origin.DREAM, metadata={PAGE: name},
        **kind_defaults("entity", 1.0, Origin.DREAM),
    )  # fmt: skip
    path = layout.path_for(page)
    if scene.store.ledger.line(path) is not None:
        return f"{path} is a file of yours and was left alone; move it for a page of that name to be made"
    return page
