"""A small state model for tests: it asserts plain sentences and knows a few slots by their words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from lamina.models.list_reader import AnswerReading
from lamina.models.pair_model import RelationReading
from lamina.models.state_model import QuestionState, QuestionTarget, SentenceMood, SentenceState
from lamina.text.analyser import content_tokens
from lamina.text.sentences import find_sentences
from lamina.vectors.integer_vectors import Floats

DIMENSIONS = 256
MAX_CHARS = 1000
"""How much of a sentence is read."""
SLOTS = {
    "office": "office",
    "home": "live lives living moved moving home city address flat street",
    "job": "work works working job employer hired company",
    "phone": "phone number reach call",
    "editor": "editor vim emacs neovim code switched use",
    "pay": "earn salary paid pay",
    "rent": "rent",
    "evenings": "evenings",
    "drink": "coffee tea roast drink prefer",
    "boat": "boat moored",
}
_SLOT_OF = {word: name for name, words in SLOTS.items() for word in content_tokens(words)}
_NO_STATEMENT = re.compile(
    r"^\W*(?:please|can|could|would|will|maybe|perhaps|if|imagine|let's|thanks|thank|hello|hi|ok|okay|tell|show|write|"
    r"what|when|where|who|why|how|forget|delete|erase|remove|don't|yes|no)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:\b[A-Z][\w'-]*(?: [A-Z][\w'-]*)*|\b\d[\w.,:/-]*\w|\b\d\b)")

_OLD = re.compile(r"\b(?:from|no|no longer|not|left|instead of)(?: \w+)? \Z")


class FakeStateModel:
    """Deterministic and quick; nothing is loaded."""

    id = "fake@0"

    def read(self, text: str) -> list[SentenceState]:
        return [self._state(text, start, end) for start, end in find_sentences(text)]

    def ask(self, question: str) -> QuestionState:
        return QuestionState(
            slot_of(question), {item: float(item is QuestionTarget.CURRENT) for item in QuestionTarget}
        )

    def _state(self, text: str, start: int, end: int) -> SentenceState:
        sentence = text[start:end][:MAX_CHARS]
        spoken = not sentence.endswith("?") and " will " not in sentence and len(sentence.split()) >= 3
        asserts = spoken and not _NO_STATEMENT.match(sentence)
        return SentenceState(
            start=start,
            end=end,
            slot=slot_of(sentence),
            mood=SentenceMood.CURRENT if asserts else SentenceMood.NONE,
            asserts=0.9 if asserts else 0.1,
            is_own=0.9 if re.search(r"\b(?:i|i'm|i've|my|we|our)\b", sentence, re.IGNORECASE) else 0.1,
            is_many=0.9 if "also" in sentence else 0.1,
            forget=0.95 if re.search(r"\bscratch what\b|\bthe thing about\b", sentence, re.IGNORECASE) else 0.1,
            keep_out=0.95 if "stays with you" in sentence else 0.1,
            secret=0.9 if "passphrase" in sentence else 0.1,
            value=value_of(sentence, start),
        )


class FakePairModel:
    """A new sentence replaces an earlier one of the same known slot with another value."""

    def read(self, earlier: str, new: str) -> RelationReading:
        return RelationReading(0.999 if _replaces(earlier, new) else 0.001, 0.0, 0.0)


class FakeListReader:
    """What shares a word with a question answers it; a request to forget means what is about the same known slot."""

    def answers(self, question: str, candidates: Sequence[str]) -> list[AnswerReading]:
        texts = set(content_tokens(question))
        return [AnswerReading(0.9 if texts & set(content_tokens(candidate)) else 0.1, 0.0) for candidate in candidates]

    def forgets(self, request: str, statements: Sequence[str]) -> list[float]:
        return [0.95 if _is_same_slot(statement, request) else 0.05 for statement in statements]


def _replaces(old: str, new: str) -> bool:
    names_value = any(match.start() > 0 for match in _NAMED.finditer(new))
    shared = set(content_tokens(old)) & set(content_tokens(new))
    denies = bool(re.search(r"\b(?:no longer|not)\b|\bfrom [A-Z\d]", new)) and len(shared) > 1
    return ((_is_same_slot(old, new) and names_value) or denies) and not new.endswith("?") and old != new


def _is_same_slot(one: str, other: str) -> bool:
    slot = known_slot(one)
    return slot not in {None, "evenings"} and slot == known_slot(other) and "also" not in other


def known_slot(sentence: str) -> str | None:
    named = {_SLOT_OF[word] for word in content_tokens(sentence) if word in _SLOT_OF}
    return next((slot for slot in SLOTS if slot in named), None)


def value_of(sentence: str, start: int) -> tuple[int, int] | None:
    """The last name or number after the first word, else the last word."""
    named = [
        match for match in _NAMED.finditer(sentence) if match.start() > 0 and not _OLD.search(sentence[: match.start()])
    ]
    words = [match for match in re.finditer(r"\w[\w'-]*", sentence) if not _OLD.search(sentence[: match.start()])]
    result = named or words
    return (start + result[-1].start(), start + result[-1].end()) if result else None


def slot_of(sentence: str) -> Floats:
    """One direction for each known slot; unknown sentences lie where their words say."""
    slot = np.zeros(DIMENSIONS, np.float32)
    words = content_tokens(sentence)
    named = {_SLOT_OF[word] for word in words if word in _SLOT_OF}
    for name in [slot for slot in SLOTS if slot in named][:1] or words:
        slot[int.from_bytes(sha256(name.encode()).digest()[:2]) % DIMENSIONS] = 1.0
    return slot
