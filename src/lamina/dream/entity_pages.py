"""Entity pages: a page for each person or thing that is named repeatedly, with the statements about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from lamina.atom.atom import (
    Atom,
    AtomId,
    append_user_text,
    extract_user_text,
    has_generated_section,
    kind_defaults,
    replace_generated_section,
    root_page_name,
)
from lamina.atom.kinds import Layer
from lamina.atom.provenance import TRUST, Origin, Scope
from lamina.atom.status import Status
from lamina.capture.existing_statements import is_undone
from lamina.capture.statement_commit import Writer
from lamina.dream.entity_page_text import (
    SUMMARY_OF,
    digest_lines,
    extract_summary,
    lines_to_summarise,
    render_page,
    without_summary,
)
from lamina.store.base import AtomFilter, CommitResult, Store
from lamina.store.commit_rules import required_trust
from lamina.text.calendar_days import MONTHS_AND_NAMES, is_calendar_name
from lamina.text.normal_form import name_form, normal_form

MIN_MENTIONS = 3
"""The fewest statements that name something for it to get a page."""
MAX_SUMMARISED_LINES = 40
"""The most lines of a page that are summarised."""
_LIVE = frozenset({Status.ACTIVE})
_GENERATING_VERBS = frozenset({"dream", "entity"})
"""Verbs of commits that generate pages and summaries."""


@dataclass(frozen=True, slots=True)
class EntityPages:
    """The entity pages of a scope: those that lamina maintains, their other names, and names to leave alone.

    `dismissed` are names of pages that a person deleted, archived or took over: they are not generated again. `undone`
    are pages whose creation was undone: they are generated again if their content would differ.
    """

    live: tuple[Atom, ...]
    aliases: dict[AtomId, frozenset[str]]
    dismissed: frozenset[str]
    undone: tuple[Atom, ...] = ()

    def names_of(self, page: Atom) -> frozenset[str]:
        """Return every name of a page, normalised."""
        return self.aliases.get(page.id, frozenset()) | {name_form(page.subject)}

    def undone_pages(self, forms: Collection[str]) -> list[Atom]:
        """Return the pages of these names whose creation was undone."""
        return [page for page in self.undone if name_form(page.subject) in forms]


def find_names(atoms: Iterable[Atom]) -> dict[str, str]:
    """Return the capitalised names in statements as written, by normalised name."""
    return {
        form: name
        for atom in atoms
        for name in (*atom.entities, atom.subject)
        if name[:1].isupper() and (form := name_form(name)) in name_forms_of(atom)
    }


def update_pages(
    store: Store, scope: Scope, names: dict[str, str], ids: Iterator[AtomId], now: datetime | None = None
) -> list[CommitResult]:
    """Update the pages of these names in one commit each; pages that are current or pinned are left alone.

    With `now`, pages only contain what is valid then.
    """
    pages = load_pages(store, scope)
    page_by_form = {form: page for page in reversed(pages.live) for form in pages.names_of(page)}
    commits: list[CommitResult] = []
    for form, name in sorted(names.items()):
        page = page_by_form.get(form)
        if page is None and form in pages.dismissed:
            continue
        forms = pages.names_of(page) if page else frozenset({form})
        statements = statements_about(store, scope, forms, now)
        if len(statements) < MIN_MENTIONS and page is None:
            continue
        updated = refresh_page(page or blank_page(scope, name, statements, next(ids)), forms, statements)
        if page is not None and page.pinned:
            continue
        if updated != page and not repeats_undone_page(updated, [page] if page else pages.undone_pages(forms), store):
            reason = f"{len(statements)} statements name {updated.subject}"
            commits.append(store.journal.append(dream_writer(scope).commit("entity", reason, [updated])))
            page_by_form |= dict.fromkeys(forms, commits[-1].atoms[0])
    return commits


def load_pages(store: Store, scope: Scope) -> EntityPages:
    """Load the entity pages of a scope, the oldest first. A page whose markers a person removed is theirs."""
    pages = [
        page
        for page in store.atoms.read(AtomFilter(scopes=(scope,), kinds=frozenset({"entity"})))
        if root_page_name(page.metadata) is None
        and (has_generated_section(page.content) or page.origin is Origin.DREAM)
    ]
    live = {page.id: page for page in sorted(pages, key=lambda page: page.id) if _is_maintained(page)}
    successors = store.graph.find_successors([page.id for page in pages if page.status is Status.SUPERSEDED], (scope,))
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
    return EntityPages(tuple(live.values()), aliases, frozenset(dismissed), tuple(undone))


def refresh_page(page: Atom, forms: Collection[str], statements: Sequence[Atom]) -> Atom:
    """Return the page with current lines; its summary stays as long as the lines it was made from."""
    digest = page.metadata.get(SUMMARY_OF)
    is_unchanged = digest is not None and digest == digest_lines(
        lines_to_summarise(forms, statements, MAX_SUMMARISED_LINES)
    )
    return with_summary(page, forms, statements, extract_summary(page.content) if is_unchanged else ())


def with_summary(page: Atom, forms: Collection[str], statements: Sequence[Atom], summary: Iterable[str]) -> Atom:
    """Return the page with these lines as its summary."""
    lines = render_page(page.subject, forms, statements, summary)
    return page.with_(content=replace_generated_section(page.content, "\n".join(lines)))


def blank_page(scope: Scope, name: str, statements: Sequence[Atom], atom_id: AtomId) -> Atom:
    """Return an empty page, dated by the newest statement."""
    return Atom(
        id=atom_id,
        scope=scope,
        kind="entity",
        content="",
        subject=name,
        observed_at=statements[0].observed_at,
        origin=Origin.DREAM,
        **kind_defaults("entity", 1.0, Origin.DREAM),
    )


def _is_maintained(page: Atom) -> bool:
    return page.status is Status.ACTIVE and page.origin is Origin.DREAM and has_generated_section(page.content)


def statements_about(store: Store, scope: Scope, forms: Collection[str], now: datetime | None = None) -> list[Atom]:
    """Return the statements about these names, the newest first; with `now`, only those valid then."""
    names = [
        f"{node_type}:{form}" for form in sorted(set(map(normal_form, forms))) for node_type in ("entity", "subject")
    ]
    ids = tuple(dict.fromkeys(edge.source for edge in store.graph.edges(names, (scope,), _LIVE)))
    atoms = store.atoms.read(AtomFilter(scopes=(scope,), ids=ids, statuses=_LIVE, valid_at=now))
    return [atom for atom in atoms if is_plain_statement(atom) and not name_forms_of(atom).isdisjoint(forms)]


def name_forms_of(atom: Atom) -> frozenset[str]:
    """Return the normalised names in a statement, its subject included.

    Days, months and seasons are no names; a subject is one if it is also a given name, such as May.
    """
    forms = {form for name in atom.entities if (form := name_form(name)) and not is_calendar_name(form)}
    subject = name_form(atom.subject)
    if subject and (subject in MONTHS_AND_NAMES or not is_calendar_name(subject)):
        forms.add(subject)
    return frozenset(forms)


def is_plain_statement(atom: Atom) -> bool:
    """Return whether an atom is a statement that was made: not a segment, a list or something a dream generated."""
    is_other = atom.is_segment or atom.kind == "entity" or atom.layer is Layer.CODEBASE
    return atom.is_searched and not is_other and atom.origin is not Origin.DREAM


def undone_texts(atom: Atom, store: Store) -> frozenset[str]:
    """Return the texts of an atom that were undone since it was last generated."""
    texts: set[str] = set()
    for before, version in reversed([*pairwise(store.journal.versions(atom.id))]):
        if version.verb in _GENERATING_VERBS:
            break
        if version.verb == "undo":
            texts.add(before.atom.content)
    return frozenset(texts)


def repeats_undone_page(page: Atom, earlier: Iterable[Atom], store: Store) -> bool:
    """Return whether a page repeats a text that was undone on an earlier page; summaries are not compared."""
    content = without_summary(page.content)
    return any(content == without_summary(text) for atom in earlier for text in undone_texts(atom, store))


def merge_pages(pages: Sequence[Atom], store: Store) -> tuple[Atom, list[Atom]]:
    """Return the page that remains, with everything people wrote on any, and the other pages in their new state.

    A page that returned from the archive and is still in that folder gives way; otherwise the page that a person edited
    remains, or the oldest. Other pages that people edited are archived: only a person ends those.
    """
    paths = store.projection.paths_of([page.id for page in pages])
    archived_ids = {atom_id for atom_id, path in paths.items() if "/archive/" in f"/{path}"}
    first, *others = sorted(pages, key=lambda page: (page.id in archived_ids, not _is_edited(page, store), page.id))
    ended: list[Atom] = []
    for other in others:
        words = extract_user_text(other.content)
        first = first.with_(content=append_user_text(first.content, words)) if words else first
        if _is_edited(other, store):
            ended.append(other.with_(status=Status.ARCHIVED))
        else:
            first = first.with_(supersedes=(*first.supersedes, other.id))
            ended.append(other.with_(status=Status.SUPERSEDED, superseded_by=(*other.superseded_by, first.id)))
    return first, ended


def _is_edited(page: Atom, store: Store) -> bool:
    return required_trust(page, store.atoms) > TRUST[Origin.DREAM]


def dream_writer(scope: Scope) -> Writer:
    """Return the writer of what a dream generates in a scope."""
    return Writer("lamina", Origin.DREAM, None, scope)
