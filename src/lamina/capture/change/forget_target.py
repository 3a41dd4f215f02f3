"""Which sentences a request to forget means: by the words it names, else by the list reader."""

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
"""How much of a topic's words, by weight, a sentence must hold to be meant clearly, or possibly."""
MOST_PLACES = 8
"""More sentences than these are no clear target unless everything about a topic is to go."""
MOST_ASKED = 3
FEW = 2
"""So many sentences with the same words may be one fact and its repetition; more are told apart by the list reader."""
_TIE = 0.05
_COMMON_WORDS = frozenset(
    content_words("number name code detail info information data date figure id story issue case status")
)
_COMMON_WEIGHT = 0.25
_OWNED = re.compile(r"\b(\w+(?=['’]s\b)|his|her|their)(?:['’]s)?\s+([\w-]+)", re.IGNORECASE)
_SHARP = re.compile(r"(?<!\A)(?<![.!?]\s)\b[A-Z][\w'-]*|\S*\d[\w@.,:/-]*|\S+@\S+")


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence that may be meant: where it stands, who said it when; `more` is what its statements say."""

    at: Evidence
    text: str
    speaker: str | None
    time: datetime
    more: str = field(default="", compare=False)

    def value(self, target: ForgetTarget | None) -> str:
        """The words by which repetitions are recognised: names and numbers, else the topic's words, else all."""
        sharp = [each.strip(".,:;!?") for each in _SHARP.findall(self.text)]
        sharp = [each for each in sharp if content_words(each)]
        topic = target.words if target else []
        named = [word for word in self.text.split() if set(content_words(word)) & set(topic)]
        return " ".join(sharp or named) or one_line(self.text)[:200]


@dataclass(frozen=True, slots=True)
class Choice:
    """The sentences that are meant, and whether that is clear."""

    places: Sequence[Place]
    is_clear: bool


class ForgetTarget:
    """The topic of a request and how well a sentence fits it."""

    def __init__(self, request: ForgetRequest, asking: str, states: StateReader | None) -> None:
        self._request, self._asking, self._states = request, asking, states
        self.words = list(dict.fromkeys(content_words(request.topic))) or request.topic.lower().split()
        self._exact = {word for word in self.words if any(char.isdigit() for char in word)}
        self._spared = set(content_words(request.spared))

    def choose(self, places: Sequence[Place]) -> Choice:
        """Return the sentences that fit best; none where nothing fits."""
        told = [each for each in places if not is_question(each.text) and self._may_be_meant(each)]
        shares = self._shares(told)
        best = max(shares, default=0.0)
        if best >= CLEAR_SHARE:
            least = POSSIBLE_SHARE if self._request.is_all else best - _TIE
            meant = [place for place, share in zip(told, shares, strict=True) if share >= max(least, POSSIBLE_SHARE)]
            has_reader = self._states is not None and self._states.lists is not None
            if len(meant) > FEW and not self._request.is_all and has_reader:
                return self._most_likely(meant)
            is_clear = self._request.is_all or len(meant) <= MOST_PLACES
            return Choice(meant if is_clear else meant[-MOST_ASKED:], is_clear)
        chances = self._chances(told)
        surest = max(chances, default=0.0)
        if surest >= self._sure:
            return Choice([place for place, chance in zip(told, chances, strict=True) if chance >= surest - _TIE], True)
        possible = [
            (max(share, chance), place.time, place)
            for share, chance, place in zip(shares, chances, told, strict=True)
            if max(share, chance) >= POSSIBLE_SHARE
        ]
        possible.sort(key=lambda each: each[:2], reverse=True)
        return Choice([place for _, _, place in possible[:MOST_ASKED]], False)

    def _most_likely(self, places: Sequence[Place]) -> Choice:
        """Of sentences that hold the topic's words alike, those the list reader takes for meant; else one question."""
        chances = self._chances(places)
        surest = max(chances)
        meant = [place for place, chance in zip(places, chances, strict=True) if chance >= surest - _TIE]
        is_clear = surest >= self._sure
        return Choice(meant if is_clear else meant[-MOST_ASKED:], is_clear)

    @property
    def _sure(self) -> float:
        """From which probability on the list reader is believed."""
        lists = self._states.lists if self._states is not None else None
        return load_replacement_bounds().forgets if lists is not None else 1.0

    def _shares(self, places: Sequence[Place]) -> list[float]:
        """How much of the topic's words each sentence holds; rare words count more."""
        held = [set(content_words(f"{place.text} {place.more}")) for place in places]
        weights = {}
        for word in self.words:
            count = sum(word in words for words in held)
            weights[word] = (_COMMON_WEIGHT if word in _COMMON_WORDS else 1.0) * log(1 + len(places) / (count or 1))
        whole = sum(weights.values())
        return [sum(weights[word] for word in self.words if word in words) / whole if whole else 0.0 for words in held]

    def _chances(self, places: Sequence[Place]) -> list[float]:
        """How likely the request means each sentence, by the list reader."""
        lists = self._states.lists if self._states is not None else None
        if lists is None:
            return [0.0] * len(places)
        return list(lists.forgets(self._asking, [place.text for place in places]))

    def _may_be_meant(self, place: Place) -> bool:
        """Whether a sentence holds every number of the topic, is not spared, and is about the speaker's own."""
        words = set(content_words(f"{place.text} {place.more}"))
        if not self._exact <= words or (self._spared and self._spared & words):
            return False
        return not self._is_of_another(place)

    def _is_of_another(self, place: Place) -> bool:
        """Whether a sentence speaks of somebody else's: "my sister's address" where "my address" is meant."""
        if not self._request.is_own or re.search(r"['’]s\b", self._request.topic):
            return False
        speaker = normal_form(place.speaker or "").split()
        return any(
            set(content_words(owned)) & set(self.words) and normal_form(owner) not in speaker
            for owner, owned in _OWNED.findall(place.text)
        )
