"""Whether a new statement replaces an earlier one so surely that the earlier one is withheld."""

from __future__ import annotations

import re

import numpy as np

from lamina.models.state_model import SentenceState
from lamina.states.decisions import PairBounds, load_pair_bounds
from lamina.states.state_reader import StateReader
from lamina.text.analyse import content_words

LONGEST_OLD, MOST_COMMAS = 14, 1
"""Words and commas of a sentence that may be withheld: a longer one mostly says something else as well, which still
holds."""
ASSERTS = 0.5
"""The least probability with which both sentences assert a current value."""


_ADDS = re.compile(
    r"\b(?:also|too|as well|besides|another|both|alongside|additionally|in addition|plus|second)\b", re.IGNORECASE
)
"""Words of a sentence that tells one more value: it leaves the others standing."""
_DESIGNATED = re.compile(r"\A\W*(?:(?:the|my|our) )?(\w+) (\d+\w*|[A-Z])\b", re.IGNORECASE)
"""A sentence about one of several numbered or lettered things: "Room 2 …", "the oven B …"."""


_NAMES = re.compile(r"(?<!\A)\b(?:[A-Z]\w*|\d[\w.,]*)")


def surely_replaces(new: str, old: str, reader: StateReader, bounds: PairBounds | None = None) -> bool:
    """Whether the models agree: the state model that both sentences assert a value of one slot, the pair model that the
    old one no longer holds. Without a pair model the new sentence must name the old value beside its own."""
    if len(old.split()) > LONGEST_OLD or old.count(",") > MOST_COMMAS:
        return False
    if _ADDS.search(new) or _are_of_different_things(old, new):
        return False
    bounds = bounds or load_pair_bounds()
    reading = reader.pairs.read(old, new) if reader.pairs is not None else None
    if reading is not None and reading.outdates < bounds.sure:
        return False
    one, other = _surest(old, reader), _surest(new, reader)
    if one is None or other is None or min(one.asserts, other.asserts) < ASSERTS:
        return False
    if reading is None and not _names_old_and_new(old, new):
        return False
    if reading is not None and reading.ends > reading.replaces and not _names_value(new, old, one):
        return False
    return float(np.dot(one.slot, other.slot)) >= bounds.same_slot


def _are_of_different_things(old: str, new: str) -> bool:
    """Whether both sentences begin with one kind of thing, but not with the same one of that kind."""
    one, other = _DESIGNATED.match(old), _DESIGNATED.match(new)
    if one is None or other is None:
        return False
    return one[1].lower() == other[1].lower() and one[2].lower() != other[2].lower()


def _names_old_and_new(old: str, new: str) -> bool:
    """Whether a sentence holds every name and number of an earlier one, and another one beside."""
    before, after = set(_NAMES.findall(old)), set(_NAMES.findall(new))
    return bool(before) and before < after


def _names_value(new: str, old: str, state: SentenceState) -> bool:
    """Whether a sentence names what it ends."""
    value = set(content_words(old[slice(*state.value)])) if state.value is not None else set()
    return bool(value) and value <= set(content_words(new))


def _surest(sentence: str, reader: StateReader) -> SentenceState | None:
    """The part of a sentence that asserts most."""
    return max(reader.read(sentence), key=lambda state: state.asserts, default=None)
