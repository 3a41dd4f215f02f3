"""A sentence that may assert the value of a slot, with everything needed to compare it with another one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lamina.models.state_model import SentenceState
from lamina.text.analyser import STOP_WORDS, analyse
from lamina.text.normal_form import normal_form


@dataclass(frozen=True, eq=False)
class AttributedSentence:
    """A sentence of a passage: its words, what the state model read from it, its speaker and its time in
    milliseconds."""

    text: str
    state: SentenceState
    speaker: str
    at_ms: int
    session: str = ""

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that carry meaning, as search sees them."""
        return frozenset(analyse(self.text)) - STOP_WORDS

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Every word in lower case, stop words and single letters included."""
        return lower_case_words(self.text)

    @cached_property
    def value(self) -> str:
        """The value it states, as written; empty if the model found none."""
        if self.state.value is None:
            return ""
        start, end = self.state.value
        return self.text[start - self.state.start : end - self.state.start]

    @cached_property
    def names(self) -> frozenset[str]:
        """The capitalised words inside the sentence and the words with digits, without those of the value."""
        words = [word.strip(".,;:!?()\"'") for word in self.text.split()[1:]]
        names = {normal_form(word) for word in words if word[:1].isupper() and word.lower() not in _NEVER_NAMES}
        return frozenset(names) - frozenset(normal_form(self.value).split()) - {""}


_WORDS = re.compile(r"\w+")
_NEVER_NAMES = frozenset(["i", "i'm", "i've", "i'll", "i'd", "ok"])


def lower_case_words(text: str) -> frozenset[str]:
    """Return every word of a text in lower case."""
    return frozenset(word.lower() for word in _WORDS.findall(text))


def find_names(question: str) -> frozenset[str]:
    """Return the words of a question that name something: with a capital inside it, or with a digit; in lower case."""
    words = _WORDS.findall(question)
    named = (word for n, word in enumerate(words) if any(map(str.isdigit, word)) or (n and word[0].isupper()))
    return frozenset(word.lower() for word in named) - _NEVER_NAMES


def make_assertions(
    text: str, states: Sequence[SentenceState], speaker: str, at_ms: int, session: str = ""
) -> list[AttributedSentence]:
    """Return a passage's sentences as assertions, whether they assert anything or not."""
    return [AttributedSentence(text[state.start : state.end], state, speaker, at_ms, session) for state in states]
