"""Whether a new statement replaces an earlier one so surely that the earlier one is withheld."""

from __future__ import annotations

import re

import numpy as np

from lamina.models.pair_text import PairText, Readable
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


def surely_replaces(new: Readable, old: Readable, reader: StateReader, bounds: PairBounds | None = None) -> bool:
    """Whether the models agree: the state model that both sentences assert a value of one slot, the pair model that the
    old one no longer holds. Without a pair model the new sentence must name the old value beside its own."""
    later, earlier = _part(new), _part(old)
    if len(earlier.words.split()) > LONGEST_OLD or earlier.words.count(",") > MOST_COMMAS:
        return False
    if _ADDS.search(later.words) or _are_of_different_things(earlier.words, later.words):
        return False
    bounds = bounds or load_pair_bounds()
    one, other = _surest(earlier, reader), _surest(later, reader)
    if one is None or other is None or min(one.asserts, other.asserts) < ASSERTS:
        return False
    if float(np.dot(one.slot, other.slot)) < bounds.same_slot:
        return False
    if reader.pairs is None:
        return _names_old_and_new(earlier.words, later.words)
    reading = reader.pairs.read(earlier, later)
    if reading.outdates < bounds.sure:
        return False
    return reading.ends <= reading.replaces or _names_value(later.words, earlier.text, one)


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


def _names_value(new: str, passage: str, state: SentenceState) -> bool:
    """Whether a sentence names the value that another one states."""
    value = set(content_words(passage[slice(*state.value)])) if state.value is not None else set()
    return bool(value) and value <= set(content_words(new))


def _surest(part: PairText, reader: StateReader) -> SentenceState | None:
    """The sentence of a part of a text that asserts most."""
    end = part.end if part.end is not None else len(part.text)
    inside = [state for state in reader.read(part.text) if state.start < end and state.end > part.start]
    return max(inside, key=lambda state: state.asserts, default=None)


def _part(text: Readable) -> PairText:
    return PairText(text) if isinstance(text, str) else text
