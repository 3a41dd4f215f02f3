"""Pages of which a scope has one each, at the root of its folder. One that a person deleted, laid aside or wrote
themselves is theirs, and is not made again; one that they pinned or undid stays as it is."""

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
    """The page of this name as it stands, if the scope has one."""
    return min(_live(_all(store, scope, name)), key=lambda each: each.id, default=None)


def kept_up(scene: Scene, name: str, generated: str, why: str, metadata: Mapping[str, str] = _NONE) -> Plan:
    """What makes the page say this: nothing where it does, or where it is a person's to have or not.

    Where an undo brought a second page of the name back, the two become one.
    """
    every = _all(scene.store, scene.scope, name)
    live, loose = _live(every), [each for each in _live(every) if not each.pinned]
    if not live:
        return _begun(scene, _made(scene, name, generated, metadata), why, every)
    if not loose:
        return Plan()
    before, aside = as_one(loose, scene.store)
    page = before.with_(content=with_generated(before.content, generated), metadata={**before.metadata, **metadata})
    if not aside and (page in live or is_unwanted(page, loose, scene.store)):
        return Plan()
    moves = [_move(name, page, why), *(_move("merge page", each, "was there twice") for each in aside)]
    return Plan((page, *aside), tuple(moves))


def _begun(scene: Scene, page: Atom, why: str, every: Sequence[Atom]) -> Plan:
    """A first page, unless a person did away with one, or undid one that said the same."""
    if not all(is_undone(atom, scene.store) for atom in every):
        return Plan()
    if is_unwanted(page, every, scene.store):
        return Plan()
    path = layout.path_for(page)
    if scene.store.ledger.line(path) is not None:
        return Plan(
            notes=(f"{path} is a file of yours and was left alone; move it for a page of that name to be made",)
        )
    return Plan((page,), (_move(page.subject, page, why),))


def _live(pages: Iterable[Atom]) -> list[Atom]:
    return [page for page in pages if page.status is Status.ACTIVE and is_page(page.content)]


def _all(store: Store, scope: Scope, name: str) -> list[Atom]:
    found = store.read(Filter(scopes=(scope,), kinds=frozenset({"entity"})))
    return [each for each in found if single_page(each.metadata) == name and each.origin is Origin.DREAM]


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
