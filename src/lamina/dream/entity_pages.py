"""Entity pages: a page for each person or thing that is named repeatedly, with the statements about it."""

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
"""The fewest statements that name something for it to get a page."""
SUMMED_UP = 40
"""The most lines of a page that are summarised."""
_LIVE = frozenset({Status.ACTIVE})
_MAKING = frozenset({"dream", "entity"})
"""Verbs of commits that generate pages and summaries."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The entity pages of a scope: those that lamina maintains, their other names, and names to leave alone.

    `dismissed` are names of pages that a person deleted, archived or took over: they are not generated again. `undone`
    are pages whose creation was undone: they are generated again if their content would differ.
    """

    live: tuple[Atom, ...]
    also: dict[AtomId, frozenset[str]]
    left: frozenset[str]
    undone: tuple[Atom, ...] = ()

    def forms(self, page: Atom) -> frozenset[str]:
        """Return every name of a page, normalised."""
        return self.also.get(page.id, frozenset()) | {name_form(page.subject)}

    def forerunners(self, forms: Collection[str]) -> list[Atom]:
        """Return the pages of these names whose creation was undone."""
        return [page for page in self.undone if name_form(page.subject) in forms]


def named_in(atoms: Iterable[Atom]) -> dict[str, str]:
    """Return the capitalised names in statements as written, by normalised name."""
    names = (name for atom in atoms for name in (*atom.entities, atom.subject))
    return {form: name for name in names if (form := name_form(name)) and name[:1].isupper()}


def write_pages(
    store: Store, scope: Scope, names: dict[str, str], ids: Iterator[AtomId], now: datetime | None = None
) -> list[Committed]:
    """Update the pages of these names in one commit each; pages that are current or pinned are left alone.

    With `now`, pages only contain what is valid then.
    """
    pages = pages_of(store, scope)
    page_by_form = {form: page for page in reversed(pages.live) for form in pages.forms(page)}
    commits: list[Committed] = []
    for form, name in sorted(names.items()):
        page = page_by_form.get(form)
        if page is None and form in pages.left:
            continue
        forms = pages.forms(page) if page else frozenset({form})
        statements = stated_of(store, scope, forms, now)
        if len(statements) < NAMED and page is None:
            continue
        updated = kept_up(page or blank_page(scope, name, statements, next(ids)), forms, statements)
        if page is not None and page.pinned:
            continue
        if updated != page and not is_unwanted(updated, [page] if page else pages.forerunners(forms), store):
            commits.append(_commit(store, scope, updated, f"{len(statements)} statements name {updated.subject}"))
            page_by_form |= dict.fromkeys(forms, commits[-1].atoms[0])
    return commits


def pages_of(store: Store, scope: Scope) -> Pages:
    """Load the entity pages of a scope, the oldest first. A page whose markers a person removed is theirs."""
    pages = [
        page
        for page in store.read(Filter(scopes=(scope,), kinds=frozenset({"entity"})))
        if single_page(page.metadata) is None and (is_page(page.content) or page.origin is Origin.DREAM)
    ]
    live = {page.id: page for page in sorted(pages, key=lambda page: page.id) if _is_kept_up(page)}
    successors = store.followed([page.id for page in pages if page.status is Status.SUPERSEDED], (scope,))
    aliases: dict[AtomId, frozenset[str]] = {}
    dismissed: set[str] = set()
    undone: list[Atom] = []
    for page in pages:
        successor = next((atom_id for atom_id in successors.get(page.id, ()) if atom_id in live), None)
        if successor is not None:
            aliases[successor] = aliases.get(successor, frozenset()) | {name_form(page.subject)}
        elif page.id not in live and page.status is not Status.SUPERSEDED:
            if is_undone(page, store):
                undone.append(page)
            else:
                dismissed.add(name_form(page.subject))
    return Pages(tuple(live.values()), aliases, frozenset(dismissed), tuple(undone))


def kept_up(page: Atom, forms: Collection[str], stated: Sequence[Atom]) -> Atom:
    """Return the page with current lines; its summary stays as long as the lines it was made from."""
    digest = page.metadata.get(SUMMARY_OF)
    is_unchanged = digest is not None and digest == digest_of(shown_rows(forms, stated, SUMMED_UP))
    return with_summary(page, forms, stated, summary_in(page.content) if is_unchanged else ())


def with_summary(page: Atom, forms: Collection[str], stated: Sequence[Atom], summary: Iterable[str]) -> Atom:
    """Return the page with these lines as its summary."""
    lines = page_lines(page.subject, forms, stated, summary)
    return page.with_(content=with_generated(page.content, "\n".join(lines)))


def blank_page(scope: Scope, name: str, stated: Sequence[Atom], atom_id: AtomId) -> Atom:
    """Return an empty page, dated by the newest statement."""
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
    """Return the statements about these names, the newest first; with `now`, only those valid then."""
    names = [
        f"{node_type}:{form}" for form in sorted(set(map(normal_form, forms))) for node_type in ("entity", "subject")
    ]
    ids = tuple(dict.fromkeys(edge.source for edge in store.edges(names, (scope,), _LIVE)))
    atoms = store.read(Filter(scopes=(scope,), ids=ids, statuses=_LIVE, valid_at=now)) if ids else []
    return [atom for atom in atoms if is_stated(atom) and not forms_in(atom).isdisjoint(forms)]


def forms_in(atom: Atom) -> frozenset[str]:
    """Return the normalised names in a statement, its subject included."""
    return frozenset(form for name in (*atom.entities, atom.subject) if (form := name_form(name)))


def is_stated(atom: Atom) -> bool:
    """Return whether an atom is a statement that was made: not a segment, a list or something a dream generated."""
    is_other = atom.is_segment or atom.kind == "entity" or atom.layer is Layer.CODEBASE
    return atom.is_searched and not is_other and atom.origin is not Origin.DREAM


def undone_texts(atom: Atom, store: Store) -> frozenset[str]:
    """Return the texts of an atom that were undone since it was last generated."""
    texts: set[str] = set()
    for before, version in reversed([*pairwise(store.versions(atom.id))]):
        if version.verb in _MAKING:
            break
        if version.verb == "undo":
            texts.add(before.atom.content)
    return frozenset(texts)


def is_unwanted(page: Atom, known: Iterable[Atom], store: Store) -> bool:
    """Return whether a page repeats a text that was undone on an earlier page; summaries are not compared."""
    content = without_summary(page.content)
    return any(content == without_summary(text) for atom in known for text in undone_texts(atom, store))


def _commit(store: Store, scope: Scope, page: Atom, reason: str) -> Committed:
    return store.commit(
        Commit(actor="lamina", origin=Origin.DREAM, verb="entity", reason=reason, scope=scope, changes=(Change(page),))
    )
