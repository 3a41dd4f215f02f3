"""Find the sentences that a request to forget refers to: by the words of its topic, else by the list reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import log

from lamina.atom.atom import Evidence
from lamina.capture.memory_requests import ForgetRequest
from lamina.capture.prose import is_question
from lamina.models.list_reader import MAX_CANDIDATES
from lamina.states.fitted_decisions import load_replacement_bounds
from lamina.states.sentence_models import StateReader
from lamina.text.analyser import content_tokens
from lamina.text.normal_form import normal_form, one_line

CLEAR_SHARE, POSSIBLE_SHARE = 0.6, 0.3
"""The weighted share of the topic words that a sentence must contain to be a clear or a possible target."""
MAX_TARGETS = 8
"""More sentences than this are no clear target, unless everything about a topic is to be forgotten."""
MAX_QUESTION_SENTENCES = 3
"""The most sentences of a question to the reviewer."""
_TIE_MARGIN = 0.05
_COMMON_WORDS = frozenset(
    content_tokens("number name code detail info information data date figure id story issue case status")
)
_COMMON_WEIGHT = 0.25
_POSSESSIVE = re.compile(r"\b(\w+(?=['’]s\b)|his|her|their)(?:['’]s)?\s+([\w-]+)", re.IGNORECASE)
_NAME_OR_NUMBER = re.compile(r"(?<!\A)(?<![.!?]\s)\b[A-Z][\w'-]*|\S*\d[\w@.,:/-]*|\S+@\S+")


@dataclass(frozen=True, slots=True)
class ForgetCandidate:
    """A sentence that may be the target of a request; `statement_text` is what the statements on it say."""

    evidence: Evidence
    text: str
    speaker: str | None
    said_at: datetime
    statement_text: str = field(default="", compare=False)

    def key_words(self, target: ForgetTarget | None) -> str:
        """Return the words by which repetitions are recognised: names and numbers, else topic words, else all."""
        sharp = [name.strip(".,:;!?") for name in _NAME_OR_NUMBER.findall(self.text)]
        sharp = [name for name in sharp if content_tokens(name)]
        topic = target.words if target else []
        topic_words = [word for word in self.text.split() if set(content_tokens(word)) & set(topic)]
        return " ".join(sharp or topic_words) or one_line(self.text)[:200]


@dataclass(frozen=True, slots=True)
class ForgetChoice:
    """The sentences that a request refers to, and whether that is clear."""

    sentences: Sequence[ForgetCandidate]
    is_clear: bool


class ForgetTarget:
    """The topic of a request, and how well a sentence fits it."""

    def __init__(self, request: ForgetRequest, request_text: str, state_reader: StateReader | None) -> None:
        self._request, self._request_text, self._state_reader = request, request_text, state_reader
        self.words = list(dict.fromkeys(content_tokens(request.topic))) or request.topic.lower().split()
        self._numbers = {word for word in self.words if any(char.isdigit() for char in word)}
        self._exception_words = set(content_tokens(request.exception_topic))

    def choose(self, candidates: Sequence[ForgetCandidate]) -> ForgetChoice:
        """Return the sentences that fit best; none if nothing fits."""
        possible_targets = [
            sentence for sentence in candidates if not is_question(sentence.text) and self._may_be_target(sentence)
        ]
        shares = self._word_shares(possible_targets)
        best = max(shares, default=0.0)
        if best < CLEAR_SHARE:
            return self._choose_by_meaning(possible_targets, shares)
        least = POSSIBLE_SHARE if self._request.is_everything else best - _TIE_MARGIN
        targets = [
            sentence
            for sentence, share in zip(possible_targets, shares, strict=True)
            if share >= max(least, POSSIBLE_SHARE)
        ]
        has_reader = self._state_reader is not None and self._state_reader.lists is not None
        if len(targets) > 1 and not self._request.is_everything and has_reader:
            return self._choose_by_list_reader(targets)
        is_clear = self._request.is_everything or len(targets) <= MAX_TARGETS
        return ForgetChoice(targets if is_clear else targets[-MAX_QUESTION_SENTENCES:], is_clear)

    def _choose_by_meaning(self, candidates: Sequence[ForgetCandidate], shares: Sequence[float]) -> ForgetChoice:
        """Return the one sentence that the list reader is sure of; else the possible ones, as a question."""
        ranked = sorted(
            zip(self._probabilities(candidates), shares, candidates, strict=True),
            key=lambda entry: (entry[0], entry[1], entry[2].said_at),
            reverse=True,
        )
        if ranked and ranked[0][0] >= self._min_probability(ranked[0][1]):
            is_single = len(ranked) == 1 or ranked[1][0] < ranked[0][0] - _TIE_MARGIN or ranked[1][1] < ranked[0][1]
            if is_single:
                return ForgetChoice([ranked[0][2]], True)
        possible = [sentence for probability, share, sentence in ranked if max(probability, share) >= POSSIBLE_SHARE]
        return ForgetChoice(possible[:MAX_QUESTION_SENTENCES], False)

    def _choose_by_list_reader(self, candidates: Sequence[ForgetCandidate]) -> ForgetChoice:
        """Return those of several fitting sentences that the list reader chooses; unclear if it is not sure."""
        probabilities = self._probabilities(candidates)
        highest = max(probabilities)
        targets = [
            sentence
            for sentence, probability in zip(candidates, probabilities, strict=True)
            if probability >= highest - _TIE_MARGIN
        ]
        is_clear = highest >= self._min_probability(CLEAR_SHARE)
        return ForgetChoice(targets if is_clear else targets[-MAX_QUESTION_SENTENCES:], is_clear)

    def _min_probability(self, share: float) -> float:
        """Return the least probability at which the list reader is believed of a sentence with this share of the
        topic's words."""
        lists = self._state_reader.lists if self._state_reader is not None else None
        if lists is None:
            return 1.0
        bounds = load_replacement_bounds()
        return bounds.forgets_named if share >= POSSIBLE_SHARE else bounds.forgets

    def _word_shares(self, candidates: Sequence[ForgetCandidate]) -> list[float]:
        """Return the weighted share of the topic words that each sentence contains; rare words weigh more."""
        word_sets = [set(content_tokens(f"{place.text} {place.statement_text}")) for place in candidates]
        weights = {}
        for word in self.words:
            count = sum(word in words for words in word_sets)
            weights[word] = (_COMMON_WEIGHT if word in _COMMON_WORDS else 1.0) * log(1 + len(candidates) / (count or 1))
        total = sum(weights.values())
        return [
            sum(weights[word] for word in self.words if word in words) / total if total else 0.0 for words in word_sets
        ]

    def _probabilities(self, candidates: Sequence[ForgetCandidate]) -> list[float]:
        """Return the probability, by the list reader, that the request refers to each sentence.

        Of more sentences than one list holds, the best of each list are read again together: only those of one list
        can be compared. The others get 0.
        """
        lists = self._state_reader.lists if self._state_reader is not None else None
        if lists is None:
            return [0.0] * len(candidates)
        texts = [place.text for place in candidates]
        probabilities = list(lists.forgets(self._request_text, texts))
        if len(texts) <= MAX_CANDIDATES:
            return probabilities
        finalists = sorted(sorted(range(len(texts)), key=lambda n: -probabilities[n])[:MAX_CANDIDATES])
        again = dict(zip(finalists, lists.forgets(self._request_text, [texts[n] for n in finalists]), strict=True))
        return [again.get(n, 0.0) for n in range(len(texts))]

    def _may_be_target(self, candidate: ForgetCandidate) -> bool:
        """Return whether a sentence contains every number of the topic, is no exception, and is about the speaker."""
        words = set(content_tokens(f"{candidate.text} {candidate.statement_text}"))
        if not self._numbers <= words or (self._exception_words and self._exception_words & words):
            return False
        return not self._is_about_other_person(candidate)

    def _is_about_other_person(self, candidate: ForgetCandidate) -> bool:
        """Return whether a sentence is about another person: "my sister's address" for "my address"."""
        if not self._request.is_about_speaker or re.search(r"['’]s\b", self._request.topic):
            return False
        speaker = normal_form(candidate.speaker or "").split()
        return any(
            set(content_tokens(owned)) & set(self.words) and normal_form(owner) not in speaker
            for owner, owned in _POSSESSIVE.findall(candidate.text)
        )
