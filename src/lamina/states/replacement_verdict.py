"""Decides whether a new statement replaces earlier ones: so surely that they are withheld, only likely, or not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from lamina.models.pair_model import RelationReading
from lamina.models.state_model import SentenceState
from lamina.states.fitted_decisions import ReplacementBounds, load_replacement_bounds
from lamina.states.sentence_models import StateReader
from lamina.text.analyser import content_tokens

MAX_OLD_WORDS = 14
"""The most words of a sentence that may be withheld: a longer one mostly says something else as well, which still
holds."""
_SAYS_MORE = re.compile(r"[,;:](?!\d)|\b(?:and|but|n)\b|&", re.IGNORECASE)
"""What joins a second statement to the first in one sentence: withholding the sentence would hide it."""
MIN_ASSERTS = 0.5
"""The least probability with which both sentences assert a current value."""


MIN_SLOT_SIMILARITY = 0.6
"""How similar the slots of two sentences must be to count as the same, if there is no pair model."""


class ReplacementCertainty(IntEnum):
    """The certainty of a replacement: a likely one changes labels and order, a sure one withholds the earlier
    statement."""

    NONE = 0
    LIKELY = 1
    SURE = 2


_ADDITION = re.compile(
    r"\b(?:also|too|as well|besides|another|both|alongside|additionally|in addition|plus|second)\b", re.IGNORECASE
)
"""Words of a sentence that adds a value and leaves the others valid."""
_NUMBERED_THING = re.compile(r"\A\W*(?:(?:the|my|our) )?(\w+) (\d+\w*|[A-Z])\b", re.IGNORECASE)
"""A sentence about one of several numbered or lettered things: "Room 2 …", "the oven B …"."""
_NAMES = re.compile(r"(?<!\A)\b(?:[A-Z]\w*|\d[\w.,]*)")


def judge_replacements(
    new: str, earlier: Sequence[str], reader: StateReader, bounds: ReplacementBounds | None = None
) -> list[ReplacementCertainty]:
    """Return how surely a new statement replaces each earlier one.

    The state model must see both assert a value of one slot, the pair model that the earlier one no longer holds.
    Without a pair model the new statement must name the old value beside its own.
    """
    state = find_surest_state(new, reader)
    if not earlier or state is None or state.asserts < MIN_ASSERTS or _ADDITION.search(new):
        return [ReplacementCertainty.NONE] * len(earlier)
    if reader.pairs is None:
        return [_judge_by_names(new, state, old, reader) for old in earlier]
    bounds = bounds or load_replacement_bounds()
    return [_judge(new, state, old, reader.pairs.read(old, new), reader, bounds) for old in earlier]


def _judge(
    new: str, state: SentenceState, old: str, reading: RelationReading, reader: StateReader, bounds: ReplacementBounds
) -> ReplacementCertainty:
    if reading.outdates < min(bounds.likely, bounds.sure) or _name_different_things(old, new):
        return ReplacementCertainty.NONE
    old_state = find_surest_state(old, reader)
    if old_state is None or old_state.asserts < MIN_ASSERTS:
        return ReplacementCertainty.NONE
    similarity = float(np.dot(old_state.slot, state.slot))
    is_end_named = reading.ends <= reading.replaces or _names_value(new, old, old_state)
    if reading.outdates >= bounds.sure and similarity >= bounds.same_slot and is_end_named and _may_be_withheld(old):
        return ReplacementCertainty.SURE
    is_likely = reading.outdates >= bounds.likely and similarity >= bounds.likely_slot
    return ReplacementCertainty.LIKELY if is_likely else ReplacementCertainty.NONE


def _judge_by_names(new: str, state: SentenceState, old: str, reader: StateReader) -> ReplacementCertainty:
    if not _may_be_withheld(old) or _name_different_things(old, new) or not _names_old_and_new(old, new):
        return ReplacementCertainty.NONE
    old_state = find_surest_state(old, reader)
    if old_state is None or old_state.asserts < MIN_ASSERTS:
        return ReplacementCertainty.NONE
    is_same_slot = float(np.dot(old_state.slot, state.slot)) >= MIN_SLOT_SIMILARITY
    return ReplacementCertainty.SURE if is_same_slot else ReplacementCertainty.NONE


def _may_be_withheld(sentence: str) -> bool:
    return len(sentence.split()) <= MAX_OLD_WORDS and not _SAYS_MORE.search(sentence.rstrip())


def _name_different_things(old: str, new: str) -> bool:
    """Return whether both sentences begin with the same kind of thing, but not with the same one."""
    old_thing, new_thing = _NUMBERED_THING.match(old), _NUMBERED_THING.match(new)
    if old_thing is None or new_thing is None:
        return False
    return old_thing[1].lower() == new_thing[1].lower() and old_thing[2].lower() != new_thing[2].lower()


def _names_old_and_new(old: str, new: str) -> bool:
    """Return whether a sentence contains every name and number of an earlier one, and at least one more."""
    old_names, new_names = set(_NAMES.findall(old)), set(_NAMES.findall(new))
    return bool(old_names) and old_names < new_names


def _names_value(new: str, old: str, state: SentenceState) -> bool:
    """Return whether a sentence names the value that it ends."""
    value = set(content_tokens(old[slice(*state.value)])) if state.value is not None else set()
    return bool(value) and value <= set(content_tokens(new))


def find_surest_state(sentence: str, reader: StateReader) -> SentenceState | None:
    """Return the state of the part of a sentence that most surely asserts something; None if it has no words."""
    return max(reader.read(sentence), key=lambda state: state.asserts, default=None)
