"""Current state first: among candidates that state the slot a question asks for, the newest assertion ranks first.

Nothing is hidden and nothing is stored: the order and the mark "earlier value" follow from the question, the sentences
found and their dates. The weights of the features were learnt from questions of every kind (`make train`), so a
question about an event, a reason or a list is ranked as it would be without them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lamina.atom.passage import is_role
from lamina.models.state_model import QuestionState, QuestionTarget
from lamina.states.attributed_sentence import AttributedSentence, lower_case_words
from lamina.states.sentence_models import TextListReader
from lamina.vectors.integer_vectors import Floats

STATE_FEATURES = (
    "current: states the slot",
    "past: newest",
    "past: states the slot",
    "list: states the slot",
    "a state: answers",
    "a state: odds",
    "a state: outdated",
    "past: answers",
)
"""What changes the relevance of a candidate, by what the question asks for."""
NEAR_DISTANCE, NEAR_SOFTNESS, MIN_SIMILARITY = 0.15, 0.05, 0.2
"""A candidate states the requested slot if it is about as similar to the question as the most similar one."""


@dataclass(frozen=True, slots=True)
class CertaintyRange:
    """The probability from which a kind of question counts, and the one from which it counts fully."""

    doubtful: float
    certain: float

    def certainty(self, probability: float) -> float:
        """Return 0 for a probability in doubt, 1 for a certain one, and values in between."""
        return min(1.0, max(0.0, (probability - self.doubtful) / (self.certain - self.doubtful)))


STATE_CERTAINTY = CertaintyRange(0.95, 0.998)
"""How much the list reader's result counts, by the probability that a question asks for a state at all."""


@dataclass(frozen=True, slots=True)
class SaidAt:
    """When a passage was said: its time, when it was recorded, and its position in its session."""

    at_ms: int = 0
    recorded_ms: int = 0
    session: str = ""
    position: int = 0

    @property
    def sort_key(self) -> tuple[int, int, str, int]:
        """Oldest first."""
        return self.at_ms, self.recorded_ms, self.session, self.position

    def is_after(self, other: SaidAt) -> bool:
        """Return whether this was said later; of passages of one moment only those of one session have an order."""
        if (self.at_ms, self.recorded_ms) == (other.at_ms, other.recorded_ms):
            return self.session == other.session and self.position > other.position
        return (self.at_ms, self.recorded_ms) > (other.at_ms, other.recorded_ms)


@dataclass(frozen=True, slots=True)
class StateCandidate:
    """A candidate: its relevance so far, its sentences, its words and when it was said."""

    relevance: float
    assertions: Sequence[AttributedSentence]
    text: str = ""
    said: SaidAt = SaidAt()


def add_speaker(text: str, speaker: str) -> str:
    """Return the words of a passage with the name of the speaker in front, unless that is only a role."""
    return f"{speaker}: {text}" if speaker and not is_role(speaker) else text


def prepare_texts(passages: Sequence[tuple[str, str]]) -> list[str]:
    """Return passages, given as text and speaker, as the list reader gets them: with names if several people speak.

    One person's turns are read as they were said: a name in front of every turn adds nothing and costs answers.
    """
    names = {speaker for _, speaker in passages if speaker and not is_role(speaker)}
    return [add_speaker(text, speaker) if len(names) > 1 else text for text, speaker in passages]


READ_TOGETHER, READ_BRIEFLY = 8, 4
"""How many of the best candidates the list reader reads with the question, if it may ask for a state and if not."""
MIN_STATE_PROBABILITY = 0.2
"""From this probability on a question counts as one that may ask for a state."""


@dataclass(frozen=True, slots=True)
class ListReadings:
    """The list reader's reading of the best candidates; zeros for those it did not read, and without a list reader.

    `answers` is the probability that a candidate answers the question, `outdated` that it states an earlier value of
    what is asked for, and `outdated_by` the newer candidate that most likely answers.
    """

    answers: Floats
    outdated: Floats
    outdated_by: list[int | None]
    is_read: Floats


def read_candidates_together(
    text: str,
    question: QuestionState,
    candidates: Sequence[StateCandidate],
    view: StateView,
    reader: TextListReader | None,
    certainty_range: CertaintyRange,
    names: frozenset[str] = frozenset(),
) -> ListReadings:
    """Let the list reader read the best candidates together with the question.

    `names` are those in the question: a candidate that lacks a name which an older candidate contains does not replace
    it.
    """
    count = len(candidates)
    answers, outdated, is_read = (np.zeros(count, np.float32) for _ in range(3))
    outdated_by: list[int | None] = [None] * count
    if reader is None or not count:
        return ListReadings(answers, outdated, outdated_by, is_read)
    current = certainty_range.certainty(question.asks_current)
    relevance = np.array([candidate.relevance for candidate in candidates]) + 0.5 * current * view.similarity
    count_read = (
        READ_TOGETHER if 1.0 - question.asks[QuestionTarget.NO_STATE] >= MIN_STATE_PROBABILITY else READ_BRIEFLY
    )
    read_order = [n for n in np.argsort(-relevance, kind="stable").tolist() if candidates[n].text][:count_read]
    read_order.sort(key=lambda n: candidates[n].said.sort_key)
    for n, reading in zip(read_order, reader.answers(text, [candidates[n].text for n in read_order]), strict=True):
        answers[n], outdated[n], is_read[n] = reading.answers, reading.outdated, 1.0
    words = {n: lower_case_words(candidates[n].text) for n in read_order}
    for index, n in enumerate(read_order):
        own_names = names & words[n]
        newer = [
            m
            for m in read_order[index + 1 :]
            if candidates[m].said.is_after(candidates[n].said) and own_names <= words[m]
        ]
        outdated_by[n] = max(newer, key=lambda m: answers[m], default=None)
        if not newer:
            outdated[n] = 0.0
    return ListReadings(answers, outdated, outdated_by, is_read)


@dataclass(frozen=True, slots=True)
class StateView:
    """The state model's view of the candidates of one question, one entry for each candidate.

    `best` is the sentence nearest to the question, None for a passage without one; `newness` is how new it is among
    those that are near the question, from 0 to 1.
    """

    best: list[AttributedSentence | None]
    similarity: Floats
    asserts: Floats
    newness: Floats

    @property
    def states_slot(self) -> Floats:
        """The probability that each candidate asserts a value of the slot that the question asks for."""
        if not len(self.similarity):
            return self.similarity
        distance = (self.similarity - self.similarity.max() + NEAR_DISTANCE) / NEAR_SOFTNESS
        nearness = 1.0 / (1.0 + np.exp(-np.clip(distance, -30, 30)))
        return np.asarray(nearness * (self.similarity > MIN_SIMILARITY) * self.asserts, np.float32)


def compare_states(
    question: QuestionState, candidates: Sequence[StateCandidate], names: frozenset[str] = frozenset()
) -> StateView:
    """Compare the candidates' sentences with the question.

    `names` are those in the question: a sentence that lacks a name which another sentence contains is about something
    else.
    """
    count = len(candidates)
    best: list[AttributedSentence | None] = []
    similarity, asserts = np.zeros(count, np.float32), np.zeros(count, np.float32)
    for n, candidate in enumerate(candidates):
        scores = [
            float(assertion.state.slot @ question.slot) + 0.1 * assertion.state.asserts
            for assertion in candidate.assertions
        ]
        best.append(candidate.assertions[int(np.argmax(scores))] if scores else None)
        chosen = best[-1]
        if chosen is not None:
            similarity[n], asserts[n] = float(chosen.state.slot @ question.slot), chosen.state.asserts
    similarity *= np.array([_holds_names(sentence, best, names) for sentence in best], np.float32)
    return StateView(best, similarity, asserts, _compute_newness(best, similarity))


def _holds_names(
    sentence: AttributedSentence | None, sentences: Sequence[AttributedSentence | None], names: frozenset[str]
) -> bool:
    """Return whether a sentence contains all names of the question that any of the sentences contain."""
    if not names or sentence is None:
        return True
    found_names = names & frozenset().union(*(other.tokens for other in sentences if other is not None))
    return found_names <= sentence.tokens


def _compute_newness(best: Sequence[AttributedSentence | None], similarity: Floats) -> Floats:
    """Return how new each candidate is among those near the question: 1 for the newest, 0 for those far from it."""
    newness = np.zeros(len(best), np.float32)
    if not len(best):
        return newness
    bound = float(similarity.max()) - 0.2
    near_times = [
        (sentence.at_ms, n) for n, sentence in enumerate(best) if sentence is not None and similarity[n] >= bound
    ]
    moments = sorted({at for at, _ in near_times})
    for at, n in near_times:
        newness[n] = (moments.index(at) + 1) / len(moments)
    return newness


def compute_state_features(
    question: QuestionState, view: StateView, readings: ListReadings, certainty_range: CertaintyRange
) -> Floats:
    """Return the features of each candidate in the order of STATE_FEATURES."""
    asks = question.asks_current, question.asks[QuestionTarget.PAST], question.asks[QuestionTarget.LIST]
    current, past, several = map(certainty_range.certainty, asks)
    asks_state = STATE_CERTAINTY.certainty(1.0 - question.asks[QuestionTarget.NO_STATE])
    states = view.states_slot
    # Turns of an assistant or of an untrusted source have no sentences here, so they state nothing.
    answers = readings.answers * np.array([entry is not None for entry in view.best], np.float32)
    odds = readings.is_read * np.array([log_odds(entry) - log_odds(0.0) for entry in answers.tolist()], np.float32)
    return np.column_stack(
        [
            current * states,
            past * view.newness,
            past * states,
            several * states,
            asks_state * answers,
            asks_state * odds,
            asks_state * readings.outdated,
            past * answers,
        ]
    ).astype(np.float32)


def log_odds(probability: float) -> float:
    """Return a probability as bounded log-odds, scaled for the logistic models."""
    probability = min(0.99, max(0.01, probability))
    return math.log(probability / (1 - probability)) / 4


EARLIER_FEATURES = (
    "states the slot",
    "the newer states the slot",
    "similarity",
    "similarity of the newer",
    "current",
    "both near",
    "words of the question in the older one only",
    "words of the question in the newer one only",
    "other names",
    "same speaker",
    "outdated",
    "answers",
    "the newer answers",
    "not read",
    "chance to answer, log-odds",
    "chance of the newer to answer, log-odds",
)
ANSWER_FEATURES = (
    "relevance",
    "passage",
    "similarity",
    "states the slot",
    "current",
    "current × similarity",
    "no state",
    "share of the best",
    "answers",
    "answers, log-odds",
    "not read",
)
"""What decides whether a candidate answers a question at all."""


def compute_earlier_features(
    question: QuestionState, words: frozenset[str], view: StateView, readings: ListReadings, chances: Floats
) -> Floats:
    """Return, in the order of EARLIER_FEATURES, the evidence that each candidate is an earlier value of the slot asked
    for; all zeros if nothing replaces it. `words` are the question's: one that only the older sentence contains may
    name another owner or entity. `chances` are the probabilities that the candidates answer at all: what does not
    answer replaces nothing."""
    states, rows = view.states_slot, np.zeros((len(view.best), len(EARLIER_FEATURES)), np.float32)
    for n, newer in enumerate(readings.outdated_by):
        old, new = view.best[n], view.best[newer] if newer is not None else None
        if newer is None or old is None or new is None:
            continue
        count = max(1, len(words))
        rows[n] = (
            states[n],
            states[newer],
            view.similarity[n],
            view.similarity[newer],
            question.asks_current,
            min(float(view.similarity[n]), float(view.similarity[newer])),
            len((words & old.words) - new.words) / count,
            len((words & new.words) - old.words) / count,
            float(bool(old.names - new.names - new.words) and bool(new.names - old.names - old.words)),
            float(old.speaker == new.speaker),
            readings.outdated[n],
            readings.answers[n],
            readings.answers[newer],
            1.0 - readings.is_read[n],
            log_odds(float(chances[n])),
            log_odds(float(chances[newer])),
        )
    return rows


def compute_answer_features(
    question: QuestionState, view: StateView, readings: ListReadings, terms: Sequence[Mapping[str, float]]
) -> Floats:
    """Return the features of each candidate in the order of ANSWER_FEATURES; `terms` are those of its relevance."""
    relevance = np.array([max(0.0, sum(candidate_terms.values())) for candidate_terms in terms])
    passage = np.array([candidate_terms.get("passage", 0.0) for candidate_terms in terms])
    current, no_state, count = question.asks_current, question.asks[QuestionTarget.NO_STATE], len(terms)
    return np.column_stack(
        [
            relevance,
            passage,
            view.similarity,
            view.states_slot,
            np.full(count, current),
            current * view.similarity,
            np.full(count, no_state),
            relevance / max(1e-6, float(relevance.max(initial=0.0))),
            readings.answers,
            [log_odds(probability) if probability else 0.0 for probability in readings.answers.tolist()],
            1.0 - readings.is_read,
        ]
    ).astype(np.float32)
