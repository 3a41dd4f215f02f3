"""The exact channel: facts about just what a question names, by their subject or an entity in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from string import ascii_lowercase

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.recall.recipe import ENTITY, EXACT
from lamina.store.base import Edge, Store
from lamina.text.normal import normal_form

LONGEST, MOST_WORDS, WIDEST = 4, 128, 50
"""Words of a name at most, words of a question that are looked at, and facts that may share a name: what everything is
about tells nothing apart."""
MISSPELT, SPELT, SURE = 3, range(4, 25), 2
"""Words that may be misspelt names, how many letters such a word has, and how many at its beginning must be right."""


def named(
    question: str, scopes: Sequence[Scope], statuses: Collection[Status], store: Store, unheard: Collection[str] = ()
) -> dict[AtomId, tuple[str, float]]:
    """The atoms whose subject or entity a question names, and the term that adds; the subject counts more.

    Of words that nothing there holds (`unheard`), those that are no name as they stand are tried with one slip of the
    pen.
    """
    words = normal_form(question).split()[:MOST_WORDS]
    names = {
        " ".join(words[start : start + length])
        for length in range(1, LONGEST + 1)
        for start in range(len(words) - length + 1)
    }
    edges = _edges(names, scopes, statuses, store)
    known = {word for edge in edges for word in edge.target.partition(":")[2].split()}
    odd = [word for word in map(normal_form, unheard) if len(word) in SPELT and word not in known]
    edges += _edges({slip for word in odd[:MISSPELT] for slip in slips(word)}, scopes, statuses, store)
    holding = Counter(edge.target for edge in edges)
    found: dict[AtomId, tuple[str, float]] = {}
    for edge in edges:
        if holding[edge.target] <= WIDEST and edge.name in _TERMS and found.get(edge.source, ("", 0.0))[0] != "exact":
            found[edge.source] = _TERMS[edge.name]
    return found


def _edges(names: Collection[str], scopes: Sequence[Scope], statuses: Collection[Status], store: Store) -> list[Edge]:
    shared = sorted(f"{sort}:{name}" for sort in ("subject", "entity") for name in names)
    return store.edges(shared, scopes, statuses) if shared else []


def slips(word: str) -> Iterator[str]:
    """What may have been meant by a misspelt word: a letter more, less or other, or two in the other order."""
    for at in range(SURE, len(word) + 1):
        head, tail = word[:at], word[at:]
        yield from (head + letter + tail for letter in ascii_lowercase)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in ascii_lowercase)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


_TERMS = {"subject": ("exact", EXACT), "entity": ("entity", ENTITY)}
