"""Whether a new statement replaces an earlier one, surely enough to withhold the earlier one.

Only a statement that itself names the old value may: "moved from Berlin to Lisbon" says what happened to "I live in
Berlin". Everything less explicit is ordered at read time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from lamina.models.state_model import SentenceState
from lamina.states.state_reader import StateReader
from lamina.text.analyse import content_words
from lamina.vectors.levels import Floats

SURE_SLOT_SIMILARITY = 0.65
"""The least similarity of two slot vectors that are taken for one slot."""
LEAST = 0.5
"""The least probability at which the model is believed."""
_ADDS = re.compile(
    r"\b(?:also|too|as well|besides|another|both|alongside|in addition|on top of|plus|still|second|same|than|"
    r"if|maybe|might|would|could|should|wish|compared|versus|vs|unlike|while|whereas|or)\b",
    re.IGNORECASE,
)
"""Words of a sentence that adds, compares or supposes: it may name an old value and leave it standing."""
_NAME = re.compile(r"(?<![.!?]\s)(?<!\A)\b(?:[A-Z][\w-]*|\w*\d[\w.-]*)")


@dataclass(frozen=True, slots=True)
class Assertion:
    """A sentence as it was said and the words of its value."""

    text: str
    value: str

    @property
    def rest(self) -> str:
        """The sentence without its value."""
        return self.text.replace(self.value, " ", 1) if self.value else self.text


def names_value(new: Assertion, old_value: str) -> bool:
    """Whether a sentence names an old value outside its own value. Cheap: no model is asked."""
    words = content_words(old_value)
    return bool(words) and bool(new.value) and set(words) <= set(content_words(new.rest))


def replaces(new: Assertion, old: Assertion, reader: StateReader) -> bool:
    """Whether the new sentence surely replaces the old one of the same speaker.

    It names the old value, gives another one, and the model places both in one single-valued slot of one owner.
    """
    if not old.value or not names_value(new, old.value) or _ADDS.search(new.rest):
        return False
    if set(content_words(new.value)) == set(content_words(old.value)) or _names_differ(new, old):
        return False
    new_state, old_state = reader.read_sentence(new.text), reader.read_sentence(old.text)
    if new_state is None or old_state is None:
        return False
    is_own = new_state.is_own >= 0.5
    return _is_one_slot(new_state, old_state) and (is_own or _name_one_thing(new, old))


def similarity(one: Floats, other: Floats) -> float:
    """The cosine of two slot vectors."""
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float(np.dot(one, other)) / lengths if lengths else 0.0


def _is_one_slot(new: SentenceState, old: SentenceState) -> bool:
    if new.is_many >= 0.5 or old.is_many >= 0.5 or (new.is_own >= 0.5) != (old.is_own >= 0.5):
        return False
    return similarity(new.slot, old.slot) >= SURE_SLOT_SIMILARITY


def _names_differ(new: Assertion, old: Assertion) -> bool:
    """Whether one sentence names somebody or something, beside the values, that the other does not."""
    values = {*content_words(new.value), *content_words(old.value)}
    new_names, old_names = (
        {word for name in _NAME.findall(each.rest) for word in content_words(name)} - values for each in (new, old)
    )
    return new_names != old_names


def _name_one_thing(new: Assertion, old: Assertion) -> bool:
    """Whether a sentence about somebody or something else begins with what the other one names too."""
    old_words = content_words(old.rest)
    return bool(old_words) and old_words[0] in content_words(new.rest)


def states_same_slot(new: str, old: str, reader: StateReader) -> bool:
    """Whether two sentences assert values of one single-valued slot of one owner."""
    new_state, old_state = reader.read_sentence(new), reader.read_sentence(old)
    if new_state is None or old_state is None:
        return False
    return min(new_state.asserts, old_state.asserts) >= LEAST and _is_one_slot(new_state, old_state)
