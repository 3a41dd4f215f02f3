"""Which sentences a request to forget refers to: by the words of its topic, else by the list reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import log

from lamina.atom.atom import Evidence
from lamina.capture.forget_requests import ForgetRequest
from lamina.capture.prose import is_question
from lamina.states.decisions import load_replacement_bounds
from lamina.states.state_reader import StateReader
from lamina.text.analyse import content_words
from lamina.text.normal import normal_form, one_line

CLEAR_SHARE, POSSIBLE_SHARE = 0.6, 0.3
"""The weighted share of the topic words that a sentence must contain to be a clear or a possible target."""
MOST_PLACES = 8
"""More sentences than this are no clear target, unless everything about a topic is to be forgotten."""
MOST_ASKED = 3
"""The most sentences of a question to the reviewer."""
FEW = 2
"""This many sentences with the same words may be one fact and its repetition; of more, the list reader chooses."""
_TIE = 0.05
_COMMON_WORDS = frozenset(
    content_words("number name code detail info information data date figure id story issue case status")
)
_COMMON_WEIGHT = 0.25
_OWNED = re.compile(r"\b(\w+(?=['’]s\b)|his|her|their)(?:['’]s)?\s+([\w-]+)", re.IGNORECASE)
_SHARP = re.compile(r"(?<!\A)(?<![.!?]\s)\b[A-Z][\w'-]*|\S*\d[\w@.,:/-]*|\S+@\S+")


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence that may be the target of a request; `statement_text` is what the statements on it say."""

    at: Evidence
    text: str
    speaker: str | None
    time: datetime
    more: str = field(default="", compare=False)

    def value(self, target: ForgetTarget | None) -> str:
        """Return the words by which repetitions are recognised: names and numbers, else topic words, else all."""
        sharp = [name.strip(".,:;!?") for name in _SHARP.findall(self.text)]
        sharp = [name for name in sharp if content_words(name)]
        topic = target.words if target else []
        topic_words = [word for word in self.text.split() if set(content_words(word)) & set(topic)]
        return " ".join(sharp or topic_words) or one_line(self.text)[:200]


@dataclass(frozen=True, slots=True)
class Choice:
    """The sentences that a request refers to, and whether that is clear."""

    places: Sequence[Place]
    is_clear: bool


class ForgetTarget:
    """The topic of a request, and how well a sentence fits it."""

    def __init__(self, request: ForgetRequest, asking: str, states: StateReader | None) -> None:
        self._request, self._request_text, self._state_reader = request, asking, states
        self.words = list(dict.fromkeys(content_words(request.topic))) or request.topic.lower().split()
        self._numbers = {word for word in self.words if any(char.isdigit() for char in word)}
        self._exception_words = set(content_words(request.spared))

    def choose(self, places: Sequence[Place]) -> Choice:
        """Return the sentences that fit best; none if nothing fits."""
        possible_targets = [
            sentence for sentence in places if not is_question(sentence.text) and self._may_be_meant(sentence)
        ]
        shares = self._shares(possible_targets)
        best = max(shares, default=0.0)
        if best >= CLEAR_SHARE:
            least = POSSIBLE_SHARE if self._request.is_all else best - _TIE
            targets = [
                sentence
                for sentence, share in zip(possible_targets, shares, strict=True)
                if share >= max(least, POSSIBLE_SHARE)
            ]
            has_reader = self._state_reader is not None and self._state_reader.lists is not None
            if len(targets) > FEW and not self._request.is_all and has_reader:
                return self._most_likely(targets)
            is_clear = self._request.is_all or len(targets) <= MOST_PLACES
            return Choice(targets if is_clear else targets[-MOST_ASKED:], is_clear)
        probabilities = self._chances(possible_targets)
        highest = max(probabilities, default=0.0)
        if highest >= self._sure:
            return Choice(
                [
                    sentence
                    for sentence, probability in zip(possible_targets, probabilities, strict=True)
                    if probability >= highest - _TIE
                ],
                True,
            )
        possible = [
            (max(share, probability), sentence.time, sentence)
            for share, probability, sentence in zip(shares, probabilities, possible_targets, strict=True)
            if max(share, probability) >= POSSIBLE_SHARE
        ]
        possible.sort(key=lambda entry: entry[:2], reverse=True)
        return Choice([sentence for _, _, sentence in possible[:MOST_ASKED]], False)

    def _most_likely(self, places: Sequence[Place]) -> Choice:
        """Return those of several fitting sentences that the list reader chooses; unclear if it is not sure."""
        probabilities = self._chances(places)
        highest = max(probabilities)
        targets = [
            sentence
            for sentence, probability in zip(places, probabilities, strict=True)
            if probability >= highest - _TIE
        ]
        is_clear = highest >= self._sure
        return Choice(targets if is_clear else targets[-MOST_ASKED:], is_clear)

    @property
    def _sure(self) -> float:
        """The least probability at which the list reader is believed."""
        lists = self._state_reader.lists if self._state_reader is not None else None
        return load_replacement_bounds().forgets if lists is not None else 1.0

    def _shares(self, places: Sequence[Place]) -> list[float]:
        """Return the weighted share of the topic words that each sentence contains; rare words weigh more."""
        word_sets = [set(content_words(f"{place.text} {place.more}")) for place in places]
        weights = {}
        for word in self.words:
            count = sum(word in words for words in word_sets)
            weights[word] = (_COMMON_WEIGHT if word in _COMMON_WORDS else 1.0) * log(1 + len(places) / (count or 1))
        total = sum(weights.values())
        return [
            sum(weights[word] for word in self.words if word in words) / total if total else 0.0 for words in word_sets
        ]

    def _chances(self, places: Sequence[Place]) -> list[float]:
        """Return the probability, by the list reader, that the request refers to each sentence."""
        lists = self._state_reader.lists if self._state_reader is not None else None
        if lists is None:
            return [0.0] * len(places)
        return list(lists.forgets(self._request_text, [place.text for place in places]))

    def _may_be_meant(self, place: Place) -> bool:
        """Return whether a sentence contains every number of the topic, is no exception, and is about the speaker."""
        words = set(content_words(f"{place.text} {place.more}"))
        if not self._numbers <= words or (self._exception_words and self._exception_words & words):
            return False
        return not self._is_of_another(place)

    def _is_of_another(self, place: Place) -> bool:
        """Return whether a sentence is about another person: "my sister's address" for "my address"."""
        if not self._request.is_own or re.search(r"['’]s\b", self._request.topic):
            return False
        speaker = normal_form(place.speaker or "").split()
        return any(
            set(content_words(owned)) & set(self.words) and normal_form(owner) not in speaker
            for owner, owned in _OWNED.findall(place.text)
        )
