"""Which names are names of one: told by an alias, or the same words in another order.

Names that are only spelled alike are two: Martina is not Martin. So are two names that one statement tells apart, that
have two values of what can have but one, or whose pages somebody parted again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of, value_of
from lamina.atom.status import Status
from lamina.capture.subjects import ALIAS
from lamina.dream.entity_card import CARD
from lamina.dream.entity_pages import Pages, forms_in
from lamina.dream.identity import ITSELF
from lamina.store.base import Store
from lamina.text.normal import name_form, normal_form
from lamina.text.roles import ROLES

_NOBODY = (ROLES - {"user", "human"}) | ITSELF
"""Parts in a conversation that are no persons: what an agent says of itself is its identity."""
_LAID_ASIDE = (Status.SUPERSEDED, Status.ARCHIVED)


class Names:
    """Statements by the names in them, in their form; what is not known yet is looked up once."""

    def __init__(
        self, known: Mapping[str, Sequence[Atom]], look: Callable[[str], Sequence[Atom]] | None = None
    ) -> None:
        self._known, self._look = dict(known), look

    def stated(self, form: str) -> Sequence[Atom]:
        """What is stated under a name, the youngest first."""
        if form not in self._known and self._look is not None:
            self._known[form] = self._look(form)
        return self._known.get(form, ())

    def all_of(self, forms: Iterable[str]) -> list[Atom]:
        """What is stated under any of these names, in the order of the store."""
        found = {each.id: each for form in sorted(forms) for each in self.stated(form)}
        return sorted(found.values(), key=_youngest)

    def commonest(self, forms: Iterable[str]) -> str:
        """The name that most statements use."""
        return min(forms, key=lambda form: (-len(self.stated(form)), form))

    def spelt(self, form: str) -> str:
        """A name as most statements spell it."""
        told = (name for each in self.stated(form) for name in (*each.entities, each.subject))
        spellings = Counter(name for name in told if name_form(name) == form)
        return min(spellings.items(), key=lambda each: (-each[1], each[0]))[0]


def names_in(stated: Iterable[Atom]) -> dict[str, list[Atom]]:
    """Who and what statements name or are about."""
    found: dict[str, list[Atom]] = defaultdict(list)
    for atom in stated:
        for form in sorted(forms_in(atom) - _NOBODY):
            found[form].append(atom)
    return found


def alias_of(atom: Atom) -> str:
    """What else somebody says the subject is called, in the form of names; empty where they do not."""
    return name_form(atom.value or "") if atom.attribute and normal_form(atom.attribute) == ALIAS else ""


def grouped(names: Names, looked_at: Iterable[str], pages: Pages, store: Store) -> list[frozenset[str]]:
    """Those of the names looked at that have a page or should have one, each with the other names of the same."""
    owned = {form: page for page in reversed(pages.live) for form in pages.forms(page)}
    seeds = sorted(form for form in looked_at if form in owned or len(names.stated(form)) >= CARD)
    parted, heads = _Parted(store, owned), {form: form for form in (*seeds, *owned)}

    def head(form: str) -> str:
        while heads[form] != form:
            form = heads[form]
        return form

    def join(one: str, other: str) -> None:
        first, second = sorted((head(one), head(other)))
        heads[second] = first

    for page in pages.live:
        own = sorted(pages.forms(page))
        for form in own[1:]:
            join(own[0], form)
    for one, other in [*_aliases(names, seeds), *_orders(seeds, {*seeds, *owned, *pages.left}, names)]:
        if not parted.between(one, other):
            heads |= {form: form for form in (one, other) if form not in heads}
            join(one, other)
    groups: dict[str, set[str]] = defaultdict(set)
    for form in heads:
        groups[head(form)].add(form)
    return [frozenset(groups[each]) for each in sorted({head(form) for form in seeds})]


class _Parted:
    """Which names have pages that were one once and are not any more, because somebody wanted it so."""

    def __init__(self, store: Store, owned: Mapping[str, Atom]) -> None:
        self._store, self._owned = store, owned
        self._known: dict[str, bool] = {}

    def between(self, one: str, other: str) -> bool:
        first, second = self._owned.get(one), self._owned.get(other)
        if first is None or second is None or first.id == second.id:
            return False
        return self._came_back(first) or self._came_back(second)

    def _came_back(self, page: Atom) -> bool:
        if page.id not in self._known:
            self._known[page.id] = any(version.atom.status in _LAID_ASIDE for version in self._store.versions(page.id))
        return self._known[page.id]


def _aliases(names: Names, seeds: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What somebody said is another name of the same; a name of several is nobody's."""
    meant: dict[str, set[str]] = defaultdict(set)
    for form in seeds:
        for atom in names.stated(form):
            if alias_of(atom):
                meant[alias_of(atom)].add(name_form(atom.subject))
    yield from ((alias, of.pop()) for alias, of in sorted(meant.items()) if len(of) == 1)


def _orders(seeds: Iterable[str], forms: Iterable[str], names: Names) -> Iterator[tuple[str, str]]:
    """Names of the same words, unless something tells them apart."""
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for form in sorted(forms):
        alike[tuple(sorted(form.split()))].append(form)
    for one in seeds:
        for other in alike[tuple(sorted(one.split()))]:
            if other != one and not _told_apart(names.stated(one), names.stated(other)):
                yield one, other


def _told_apart(stated: Sequence[Atom], others: Sequence[Atom]) -> bool:
    """Whether statements tell two apart: one names both, or what has one value has another for each."""
    if not {atom.id for atom in stated}.isdisjoint(other.id for other in others):
        return True
    values, other_values = _values(stated), _values(others)
    return any(values[each] != other_values[each] for each in values.keys() & other_values.keys())


def _values(stated: Iterable[Atom]) -> dict[str, str]:
    found: dict[str, str] = {}
    for atom in stated:
        claim = claim_of(atom)
        if claim is not None and claim.single_valued and atom.value:
            found.setdefault(claim.attribute, value_of(atom))
    return found


def _youngest(atom: Atom) -> tuple[float, str]:
    return -(atom.recorded_at or atom.observed_at).timestamp(), atom.id
