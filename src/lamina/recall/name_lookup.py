"""The name channel: facts whose subject or entity is named in the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from string import ascii_lowercase

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.recall.scoring_profiles import NAMED_ENTITY, NAMED_SUBJECT
from lamina.store.base import Edge, Store
from lamina.text.normal_form import normal_form

MAX_NAME_WORDS, MAX_QUESTION_WORDS, MAX_FACTS_PER_NAME = 4, 128, 50
"""The most words of a name, the most words of a question that are looked at, and the most facts that may share a name:
a name that everything shares distinguishes nothing."""
MAX_MISSPELT_WORDS, MISSPELT_LENGTHS, CORRECT_PREFIX = 3, range(4, 25), 2
"""How many words may be misspelt names, how many letters such a word has, and how many of its first letters must be
right."""


def find_named_atoms(
    question: str,
    scopes: Sequence[Scope],
    statuses: Collection[Status],
    store: Store,
    unmatched_words: Collection[str] = (),
) -> dict[AtomId, tuple[str, float]]:
    """Return the atoms whose subject or entity a question names, with the name and amount of the term; a subject counts
    more.

    Words that no passage contains (`unmatched_words`) and that are no known name are also tried with one typing error
    corrected.
    """
    words = normal_form(question).split()[:MAX_QUESTION_WORDS]
    names = {
        " ".join(words[start : start + length])
        for length in range(1, MAX_NAME_WORDS + 1)
        for start in range(len(words) - length + 1)
    }
    edges = _find_edges(names, scopes, statuses, store)
    known_words = {word for edge in edges for word in edge.target.partition(":")[2].split()}
    misspelt = [
        word for word in map(normal_form, unmatched_words) if len(word) in MISSPELT_LENGTHS and word not in known_words
    ]
    edges += _find_edges(
        {variant for word in misspelt[:MAX_MISSPELT_WORDS] for variant in spelling_variants(word)},
        scopes,
        statuses,
        store,
    )
    fact_counts = Counter(edge.target for edge in edges)
    terms: dict[AtomId, tuple[str, float]] = {}
    for edge in edges:
        if (
            fact_counts[edge.target] <= MAX_FACTS_PER_NAME
            and edge.name in _TERMS
            and terms.get(edge.source, ("", 0.0))[0] != "exact"
        ):
            terms[edge.source] = _TERMS[edge.name]
    return terms


def _find_edges(
    names: Collection[str], scopes: Sequence[Scope], statuses: Collection[Status], store: Store
) -> list[Edge]:
    """Return the links to these names as subjects or entities."""
    shared = sorted(f"{sort}:{name}" for sort in ("subject", "entity") for name in names)
    return store.edges(shared, scopes, statuses) if shared else []


def spelling_variants(word: str) -> Iterator[str]:
    """Yield the words that may have been meant by a misspelt one: a letter more, less or different, or two letters
    swapped."""
    for at in range(CORRECT_PREFIX, len(word) + 1):
        head, tail = word[:at], word[at:]
        yield from (head + letter + tail for letter in ascii_lowercase)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in ascii_lowercase)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


_TERMS = {"subject": ("exact", NAMED_SUBJECT), "entity": ("entity", NAMED_ENTITY)}
