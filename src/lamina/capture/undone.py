"""What a person undid: it is not made again of the same things."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from lamina.atom.atom import Atom
from lamina.capture.card import without_summary
from lamina.store.base import Store

_MAKING = frozenset({"dream", "entity"})
"""The verbs by which pages and summaries are made."""


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
    return any(told == without_summary(text) for each in known for text in undone_texts(each, store))
