"""The exact channel: facts about just what a question names, by their subject or an entity in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.recall.recipe import ENTITY, EXACT
from lamina.store.base import Store
from lamina.text.normal import normal_form

LONGEST, MOST_WORDS, WIDEST = 4, 32, 50
"""Words of a name at most, words of a question that are looked at, and facts that may share a name: what everything is
about tells nothing apart."""


def named(
    question: str, scopes: Sequence[Scope], statuses: Collection[Status], store: Store
) -> dict[AtomId, tuple[str, float]]:
    """The atoms whose subject or entity a question names, and the term that adds; the subject counts more."""
    words = normal_form(question).split()[:MOST_WORDS]
    names = {
        " ".join(words[start : start + length])
        for length in range(1, LONGEST + 1)
        for start in range(len(words) - length + 1)
    }
    shared = sorted(f"{sort}:{name}" for sort in ("subject", "entity") for name in names)
    edges = store.edges(shared, scopes, statuses) if shared else []
    holding = Counter(edge.target for edge in edges)
    found: dict[AtomId, tuple[str, float]] = {}
    for edge in edges:
        if holding[edge.target] <= WIDEST and edge.name in _TERMS and found.get(edge.source, ("", 0.0))[0] != "exact":
            found[edge.source] = _TERMS[edge.name]
    return found


_TERMS = {"subject": ("exact", EXACT), "entity": ("entity", ENTITY)}
