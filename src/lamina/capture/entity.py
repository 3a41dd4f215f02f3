"""A page for everybody and everything that is named again and again: what is stated of them, each with its link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.page import is_page, with_generated
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.store.base import Change, Commit, Committed, Filter, Store
from lamina.text.normal import normal_form, one_line
from lamina.vault import layout

NAMED = 3
"""So many statements that name somebody make a page."""
LISTED = 60
"""So many of the youngest stand on it."""
_LIVE = frozenset({Status.ACTIVE})


def named_in(atoms: Iterable[Atom]) -> dict[str, str]:
    """Who and what statements name or are about, by normal form, spelt as they spell it."""
    names = (name for atom in atoms for name in (*atom.entities, atom.subject))
    return {form: name for name in names if (form := normal_form(name)) and name[:1].isupper()}


def write_pages(store: Store, scope: Scope, names: dict[str, str], ids: Iterator[AtomId]) -> list[Committed]:
    """Bring the pages of these names up to date; a page that says so already is left alone."""
    pages = _pages(store, scope)
    done: list[Committed] = []
    for form, name in sorted(names.items()):
        stated = _stated_of(store, scope, form)
        page = pages.get(form)
        if len(stated) < NAMED and page is None:
            continue
        wanted = _page(page or _blank(scope, name, stated[0], next(ids)), name, stated)
        if wanted != page:
            done.append(_commit(store, scope, wanted, f"{len(stated)} statements name {name}"))
    return done


def _pages(store: Store, scope: Scope) -> dict[str, Atom]:
    found = store.read(Filter(scopes=(scope,), kinds=frozenset({"entity"}), statuses=_LIVE))
    return {normal_form(each.subject): each for each in found if is_page(each.content)}


def _stated_of(store: Store, scope: Scope, form: str) -> list[Atom]:
    edges = store.edges([f"entity:{form}", f"subject:{form}"], (scope,), _LIVE)
    ids = tuple(dict.fromkeys(each.source for each in edges))
    found = store.read(Filter(scopes=(scope,), ids=ids, statuses=_LIVE)) if ids else []
    return [each for each in found if each.is_searched and not each.is_segment and each.kind != "entity"]


def _page(page: Atom, name: str, stated: list[Atom]) -> Atom:
    lines = [f"- [[{layout.stem(layout.path_for(each))}]] {one_line(each.content)}" for each in stated[:LISTED]]
    if len(stated) > LISTED:
        lines.append(f"- and {len(stated) - LISTED} older ones")
    return page.with_(content=with_generated(page.content, "\n".join([f"# {name}", "", *lines])))


def _blank(scope: Scope, name: str, first: Atom, atom_id: AtomId) -> Atom:
    return Atom(
        id=atom_id, scope=scope, kind="entity", content="", subject=name, observed_at=first.observed_at,
        origin=Origin.DREAM, **kind_defaults("entity", 1.0, Origin.DREAM),
    )  # fmt: skip


def _commit(store: Store, scope: Scope, page: Atom, reason: str) -> Committed:
    return store.commit(
        Commit(
            actor="lamina", origin=Origin.DREAM, verb="entity", reason=reason, scope=scope, changes=(Change(page),)
        )
    )  # fmt: skip
