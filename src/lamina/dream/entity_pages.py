"""Entity pages: a page for everybody and everything that is named again and again, with what is stated of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.page import is_page, single_page, with_generated
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.current import is_undone
from lamina.dream.entity_card import SUMMARY_OF, digest_of, page_lines, shown_rows, summary_in, without_summary
from lamina.store.base import Change, Commit, Committed, Filter, Store
from lamina.text.normal import name_form, normal_form

NAMED = 3
"""So many statements that name somebody make a page."""
SUMMED_UP = 40
"""So many lines of a page are summed up."""
_LIVE = frozenset({Status.ACTIVE})
_MAKING = frozenset({"dream", "entity"})
"""The verbs by which pages and summaries are made."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a scope: those that are kept up, what each is called besides its own name, and names left alone.

    `left` are the names of pages that somebody deleted, archived or made their own: they are not made again; `undone`
    are pages whose making somebody undid: they are made again when they would say something else.
    """

    live: tuple[Atom, ...]
    also: dict[AtomId, frozenset[str]]
    left: frozenset[str]
    undone: tuple[Atom, ...] = ()

    def forms(self, page: Atom) -> frozenset[str]:
        """Every name of a page, in the form of names."""
        return self.also.get(page.id, frozenset()) | {name_form(page.subject)}

    def forerunners(self, forms: Collection[str]) -> list[Atom]:
        """Pages of these names whose making somebody undid."""
        return [each for each in self.undone if name_form(each.subject) in forms]


def named_in(atoms: Iterable[Atom]) -> dict[str, str]:
    """Who and what statements name or are about, by the form of names, spelt as they spell it."""
    names = (name for atom in atoms for name in (*atom.entities, atom.subject))
    return {form: name for name in names if (form := name_form(name)) and name[:1].isupper()}


def write_pages(
    store: Store, scope: Scope, names: dict[str, str], ids: Iterator[AtomId], now: datetime | None = None
) -> list[Committed]:
    """Bring the pages of these names up to date; one that says so already, or that is pinned, is left alone.

    With `now` only what holds then is on them.
    """
    pages = pages_of(store, scope)
    known = {form: page for page in reversed(pages.live) for form in pages.forms(page)}
    done: list[Committed] = []
    for form, name in sorted(names.items()):
        page = known.get(form)
        if page is None and form in pages.left:
            continue
        forms = pages.forms(page) if page else frozenset({form})
        stated = stated_of(store, scope, forms, now)
        if len(stated) < NAMED and page is None:
            continue
        wanted = kept_up(page or blank_page(scope, name, stated, next(ids)), forms, stated)
        if page is not None and page.pinned:
            continue
        if wanted != page and not is_unwanted(wanted, [page] if page else pages.forerunners(forms), store):
            done.append(_commit(store, scope, wanted, f"{len(stated)} statements name {wanted.subject}"))
            known |= dict.fromkeys(forms, done[-1].atoms[0])
    return done


def pages_of(store: Store, scope: Scope) -> Pages:
    """The pages of names there are, the oldest first. One whose marks somebody took out is theirs."""
    found = [
        each
        for each in store.read(Filter(scopes=(scope,), kinds=frozenset({"entity"})))
        if single_page(each.metadata) is None and (is_page(each.content) or each.origin is Origin.DREAM)
    ]
    live = {each.id: each for each in sorted(found, key=lambda each: each.id) if _is_kept_up(each)}
    heirs = store.followed([each.id for each in found if each.status is Status.SUPERSEDED], (scope,))
    also: dict[AtomId, frozenset[str]] = {}
    left: set[str] = set()
    undone: list[Atom] = []
    for each in found:
        heir = next((one for one in heirs.get(each.id, ()) if one in live), None)
        if heir is not None:
            also[heir] = also.get(heir, frozenset()) | {name_form(each.subject)}
        elif each.id not in live and each.status is not Status.SUPERSEDED:
            if is_undone(each, store):
                undone.append(each)
            else:
                left.add(name_form(each.subject))
    return Pages(tuple(live.values()), also, frozenset(left), tuple(undone))


def kept_up(page: Atom, forms: Collection[str], stated: Sequence[Atom]) -> Atom:
    """The page as it shall be: a summary stays as long as the lines it was made of."""
    told = page.metadata.get(SUMMARY_OF)
    same = told is not None and told == digest_of(shown_rows(forms, stated, SUMMED_UP))
    return with_summary(page, forms, stated, summary_in(page.content) if same else ())


def with_summary(page: Atom, forms: Collection[str], stated: Sequence[Atom], summary: Iterable[str]) -> Atom:
    """The page with these lines as its summary."""
    lines = page_lines(page.subject, forms, stated, summary)
    return page.with_(content=with_generated(page.content, "\n".join(lines)))


def blank_page(scope: Scope, name: str, stated: Sequence[Atom], atom_id: AtomId) -> Atom:
    """A page on which nothing stands yet, of the day of the youngest statement."""
    return Atom(
        id=atom_id,
        scope=scope,
        kind="entity",
        content="",
        subject=name,
        observed_at=stated[0].observed_at,
        origin=Origin.DREAM,
        **kind_defaults("entity", 1.0, Origin.DREAM),
    )


def _is_kept_up(page: Atom) -> bool:
    return page.status is Status.ACTIVE and page.origin is Origin.DREAM and is_page(page.content)


def stated_of(store: Store, scope: Scope, forms: Collection[str], now: datetime | None = None) -> list[Atom]:
    """What is stated of whoever has these names, the youngest first; with `now` only what holds then."""
    names = [f"{sort}:{form}" for form in sorted(set(map(normal_form, forms))) for sort in ("entity", "subject")]
    ids = tuple(dict.fromkeys(edge.source for edge in store.edges(names, (scope,), _LIVE)))
    found = store.read(Filter(scopes=(scope,), ids=ids, statuses=_LIVE, valid_at=now)) if ids else []
    return [each for each in found if is_stated(each) and not forms_in(each).isdisjoint(forms)]


def forms_in(atom: Atom) -> frozenset[str]:
    """The names in a statement and of its subject, in the form of names."""
    return frozenset(form for name in (*atom.entities, atom.subject) if (form := name_form(name)))


def is_stated(atom: Atom) -> bool:
    """Whether an atom is somebody's statement: not words as such, no list, and nothing a dream made of statements."""
    listed = atom.is_segment or atom.kind == "entity" or atom.layer is Layer.CODEBASE
    return atom.is_searched and not listed and atom.origin is not Origin.DREAM


def undone_texts(atom: Atom, store: Store) -> frozenset[str]:
    """The texts of an atom that somebody undid since it was last made anew."""
    found: set[str] = set()
    for before, each in reversed([*pairwise(store.versions(atom.id))]):
        if each.verb in _MAKING:
            break
        if each.verb == "undo":
            found.add(before.atom.content)
    return frozenset(found)


def is_unwanted(page: Atom, known: Iterable[Atom], store: Store) -> bool:
    """Whether a page would say what somebody undid on one of the known ones; a summary does not make it another."""
    told = without_summary(page.content)
    return any(told == without_summary(text) for atom in known for text in undone_texts(atom, store))


def _commit(store: Store, scope: Scope, page: Atom, reason: str) -> Committed:
    return store.commit(
        Commit(actor="lamina", origin=Origin.DREAM, verb="entity", reason=reason, scope=scope, changes=(Change(page),))
    )
