"""Groups names of one person or thing: by a stated alias, or by the same words in another order.

Names with similar spelling stay apart: Martina is not Martin. So do names that one statement mentions together, that
have different values of a single-valued claim, or whose pages a person split again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of, comparable_value
from lamina.atom.passage import ROLE_NAMES
from lamina.atom.status import Status
from lamina.capture.existing_statements import ALIAS
from lamina.dream.entity_page_text import MIN_CARD_STATEMENTS
from lamina.dream.entity_pages import EntityPages, name_forms_of
from lamina.dream.identity_page import SELF_SUBJECTS
from lamina.store.base import Store
from lamina.text.normal_form import name_form, normal_form

_NON_PERSONS = (ROLE_NAMES - {"user", "human"}) | SELF_SUBJECTS
"""Roles in a conversation that are no persons: what an agent says about itself belongs to its identity."""
_MERGED_STATUSES = (Status.SUPERSEDED, Status.ARCHIVED)


class StatementsByName:
    """Statements by normalised name; unknown names are loaded once."""

    def __init__(
        self, known: Mapping[str, Sequence[Atom]], load: Callable[[str], Sequence[Atom]] | None = None
    ) -> None:
        self._known, self._look = dict(known), load

    def statements(self, form: str) -> Sequence[Atom]:
        """Return the statements under a name, the newest first."""
        if form not in self._known and self._look is not None:
            self._known[form] = self._look(form)
        return self._known.get(form, ())

    def statements_under(self, forms: Iterable[str]) -> list[Atom]:
        """Return the statements under any of these names, in the store's order."""
        statements_by_id = {statement.id: statement for form in sorted(forms) for statement in self.statements(form)}
        return sorted(statements_by_id.values(), key=_newest_first)

    def most_used(self, forms: Iterable[str]) -> str:
        """Return the name that most statements use."""
        return min(forms, key=lambda form: (-len(self.statements(form)), form))

    def usual_spelling(self, form: str) -> str:
        """Return a name in its most frequent spelling with a capital letter, if there is one."""
        names = (name for statement in self.statements(form) for name in (*statement.entities, statement.subject))
        spellings = Counter(name for name in names if name_form(name) == form)
        return min(spellings.items(), key=lambda item: (not item[0][:1].isupper(), -item[1], item[0]))[0]


def group_by_name(statements: Iterable[Atom]) -> dict[str, list[Atom]]:
    """Return statements by the normalised names in them."""
    by_name: dict[str, list[Atom]] = defaultdict(list)
    for atom in statements:
        for form in sorted(name_forms_of(atom) - _NON_PERSONS):
            by_name[form].append(atom)
    return by_name


def alias_of(atom: Atom) -> str:
    """Return the alias that a statement gives its subject, normalised; empty if it gives none."""
    return name_form(atom.value or "") if atom.attribute and normal_form(atom.attribute) == ALIAS else ""


def group_names(
    names: StatementsByName, candidates: Iterable[str], pages: EntityPages, store: Store
) -> list[frozenset[str]]:
    """Return the candidates that have or deserve a page, each with its other names."""
    page_by_form = {form: page for page in reversed(pages.live) for form in pages.names_of(page)}
    seeds = sorted(
        form for form in candidates if form in page_by_form or len(names.statements(form)) >= MIN_CARD_STATEMENTS
    )
    split_pages, heads = _SplitPages(store, page_by_form), {form: form for form in (*seeds, *page_by_form)}

    def head(form: str) -> str:
        while heads[form] != form:
            form = heads[form]
        return form

    def join(form: str, other: str) -> None:
        first, second = sorted((head(form), head(other)))
        heads[second] = first

    for page in pages.live:
        page_forms = sorted(pages.names_of(page))
        for form in page_forms[1:]:
            join(page_forms[0], form)
    for one, other in [*_aliases(names, seeds), *_word_orders(seeds, {*seeds, *page_by_form, *pages.dismissed}, names)]:
        if not split_pages.are_split(one, other):
            heads |= {form: form for form in (one, other) if form not in heads}
            join(one, other)
    groups: dict[str, set[str]] = defaultdict(set)
    for form in heads:
        groups[head(form)].add(form)
    return [frozenset(groups[form]) for form in sorted({head(form) for form in seeds})]


class _SplitPages:
    """Knows which names have pages that were merged once and were split again by a person."""

    def __init__(self, store: Store, page_of: Mapping[str, Atom]) -> None:
        self._store, self._owned = store, page_of
        self._known: dict[str, bool] = {}

    def are_split(self, form: str, other_form: str) -> bool:
        first, second = self._owned.get(form), self._owned.get(other_form)
        if first is None or second is None or first.id == second.id:
            return False
        return self._was_merged_once(first) or self._was_merged_once(second)

    def _was_merged_once(self, page: Atom) -> bool:
        if page.id not in self._known:
            self._known[page.id] = any(
                version.atom.status in _MERGED_STATUSES for version in self._store.journal.versions(page.id)
            )
        return self._known[page.id]


def _aliases(names: StatementsByName, seeds: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Return stated aliases with their name; an alias of several names is ignored."""
    names_by_alias: dict[str, set[str]] = defaultdict(set)
    for form in seeds:
        for atom in names.statements(form):
            if alias_of(atom):
                names_by_alias[alias_of(atom)].add(name_form(atom.subject))
    yield from ((alias, owners.pop()) for alias, owners in sorted(names_by_alias.items()) if len(owners) == 1)


def _word_orders(seeds: Iterable[str], forms: Iterable[str], names: StatementsByName) -> Iterator[tuple[str, str]]:
    """Return pairs of names with the same words, unless statements show that they differ."""
    forms_by_words: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for form in sorted(forms):
        forms_by_words[tuple(sorted(form.split()))].append(form)
    for seed in seeds:
        for other in forms_by_words[tuple(sorted(seed.split()))]:
            if other != seed and not _are_distinct(names.statements(seed), names.statements(other)):
                yield seed, other


def _are_distinct(statements: Sequence[Atom], others: Sequence[Atom]) -> bool:
    """Return whether two names differ: a statement mentions both, or a single-valued claim has different values."""
    if not {atom.id for atom in statements}.isdisjoint(other.id for other in others):
        return True
    values, other_values = _single_values(statements), _single_values(others)
    return any(values[attribute] != other_values[attribute] for attribute in values.keys() & other_values.keys())


def _single_values(statements: Iterable[Atom]) -> dict[str, str]:
    values: dict[str, str] = {}
    for atom in statements:
        claim = claim_of(atom)
        if claim is not None and claim.is_single_valued and atom.value:
            values.setdefault(claim.attribute, comparable_value(atom))
    return values


def _newest_first(atom: Atom) -> tuple[float, str]:
    return -(atom.recorded_at or atom.observed_at).timestamp(), atom.id
