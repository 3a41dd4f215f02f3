"""Change nominations: a language model says yes or no to candidate pairs of sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from lamina.atom.atom import Evidence
from lamina.capture.change.nomination import Line, Nomination, Nominations
from lamina.capture.llm.persons import persons_in
from lamina.capture.llm.prompts import MOST_PAIRS, PairAnswers, comparison_prompt
from lamina.capture.llm.support import content_words, stands_in
from lamina.models.chat import Chat
from lamina.text.analyse import analyse
from lamina.text.normal import normal_form
from lamina.text.roles import is_role

MOST_TOKENS = 400
MOST_YES = 0.5
"""A model that calls a larger share of the pairs changes is not believed: most of what people say changes nothing."""
_FEW = 3
_DAY = datetime(2024, 3, 4, tzinfo=UTC)


def _control(text: str, speaker: str) -> Line:
    return Line(Evidence("", 1, 0, len(text)), text, speaker, _DAY)


CONTROLS = (
    ((_control("I live in Rome.", "Kim"), _control("I moved from Rome to Oslo.", "Kim")), True),
    ((_control("Our kettle is blue.", "Kim"), _control("The train leaves at nine.", "Kim")), False),
)
"""Pairs with known answers, asked first in each call. A model that fails them is not believed about the others."""

Agrees = Callable[[str, str], bool]


class ChatNominator:
    """Asks a language model which candidate pairs are changes; one is sure only if `confirms_change` agrees."""

    def __init__(self, chat: Chat, agrees: Agrees | None = None) -> None:
        self._chat, self._confirms_change = chat, agrees

    def nominate(self, earlier: Sequence[Line], new: Sequence[Line]) -> Nominations:
        """Return the changes among the candidate pairs; ModelError if the model gives no answer."""
        pairs = candidate_pairs(earlier, new)
        if not pairs:
            return Nominations()
        shown_pairs = [*(pair for pair, _ in CONTROLS), *pairs]
        reply = self._chat.ask(comparison_prompt(shown_pairs), PairAnswers, most_tokens=MOST_TOKENS)
        changes = tuple(self._nomination(*pairs[n]) for n in _changes(reply.value, len(shown_pairs)))
        return Nominations(changes, len(pairs), reply.calls)

    def _nomination(self, old: Line, new: Line) -> Nomination:
        is_sure = self._confirms_change is not None and self._confirms_change(old.text, new.text)
        old_value, new_value = _differing(old.text, new.text), _differing(new.text, old.text)
        return Nomination(new.place, old.place, old_value, new_value, is_sure=is_sure)


def candidate_pairs(earlier: Sequence[Line], new: Sequence[Line]) -> list[tuple[Line, Line]]:
    """Return the pairs worth asking about: of one owner, in different words, those that share most words first."""
    lines = [*earlier, *new]
    ranked: list[tuple[float, int, tuple[Line, Line]]] = []
    for n, later in enumerate(lines[len(earlier) :], len(earlier)):
        for older in lines[:n]:
            if _has_one_owner(older, later) and normal_form(older.text) != normal_form(later.text):
                ranked.append((-_likeness(older, later), n, (older, later)))
    ranked.sort(key=lambda entry: entry[:2])
    return [pair for _, _, pair in ranked[: MOST_PAIRS - len(CONTROLS)]]


def _changes(answers: PairAnswers, asked: int) -> Iterator[int]:
    """Yield the indexes of the pairs called a change; none if the model failed a control or says yes to most."""
    answer_of: dict[int, bool] = {}
    for answer in answers.answers:
        answer_of[answer.pair] = answer.is_change and answer_of.get(answer.pair, True)
    if any(answer_of.get(n, False) is not expected for n, (_, expected) in enumerate(CONTROLS, 1)):
        return
    pairs = range(len(CONTROLS) + 1, asked + 1)
    changes = [n for n in pairs if answer_of.get(n, False)]
    if len(pairs) < _FEW or len(changes) <= MOST_YES * len(pairs):
        yield from (n - len(CONTROLS) - 1 for n in changes)


def _likeness(old: Line, new: Line) -> float:
    old_words, new_words = content_words(old.text), content_words(new.text)
    return len(old_words & new_words) / max(1, min(len(old_words), len(new_words)))


def _has_one_owner(old: Line, new: Line) -> bool:
    """Return whether both sentences may be about one person: one speaker, or the new one names the earlier speaker."""
    old_persons, new_persons = persons_in(old.text), persons_in(new.text)
    if not old.speaker or not new.speaker or is_role(old.speaker) or is_role(new.speaker):
        return old_persons.is_subject == new_persons.is_subject or not (old_persons.third or new_persons.third)
    is_same_speaker = normal_form(old.speaker) == normal_form(new.speaker)
    return is_same_speaker or any(stands_in(name, new.text) for name in old.speaker.split())


def _differing(text: str, other: str) -> str:
    """Return the words of a text that the other lacks; all of them if there are none."""
    other_tokens = set(analyse(other))
    words = [word for word in text.split() if not set(analyse(word)) <= other_tokens]
    return " ".join(words) or text
