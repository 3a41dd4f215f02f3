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
"""A model that calls more of several pairs a change is not believed: most of what people say changes nothing."""
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
    """Asks a language model which candidate pairs are changes. A nomination is sure only where `agrees` says so too."""

    def __init__(self, chat: Chat, agrees: Agrees | None = None) -> None:
        self._chat, self._agrees = chat, agrees

    def nominate(self, earlier: Sequence[Line], new: Sequence[Line]) -> Nominations:
        """Return the changes among the candidate pairs; a ModelError where the model gives no answer."""
        pairs = candidate_pairs(earlier, new)
        if not pairs:
            return Nominations()
        asked = [*(pair for pair, _ in CONTROLS), *pairs]
        reply = self._chat.ask(comparison_prompt(asked), PairAnswers, most_tokens=MOST_TOKENS)
        changes = tuple(self._nomination(*pairs[n]) for n in _changes(reply.value, len(asked)))
        return Nominations(changes, len(pairs), reply.calls)

    def _nomination(self, old: Line, new: Line) -> Nomination:
        is_sure = self._agrees is not None and self._agrees(old.text, new.text)
        was, now = _differing(old.text, new.text), _differing(new.text, old.text)
        return Nomination(new.place, old.place, was, now, is_sure=is_sure)


def candidate_pairs(earlier: Sequence[Line], new: Sequence[Line]) -> list[tuple[Line, Line]]:
    """Return the pairs worth asking about: of one owner, in different words, those that share most words first."""
    lines = [*earlier, *new]
    found: list[tuple[float, int, tuple[Line, Line]]] = []
    for n, later in enumerate(lines[len(earlier) :], len(earlier)):
        for older in lines[:n]:
            if _has_one_owner(older, later) and normal_form(older.text) != normal_form(later.text):
                found.append((-_likeness(older, later), n, (older, later)))
    found.sort(key=lambda each: each[:2])
    return [pair for _, _, pair in found[: MOST_PAIRS - len(CONTROLS)]]


def _changes(answers: PairAnswers, asked: int) -> Iterator[int]:
    """Yield the places of the pairs called a change; none where the model failed a control or says yes to most."""
    said: dict[int, bool] = {}
    for answer in answers.answers:
        said[answer.pair] = answer.is_change and said.get(answer.pair, True)
    if any(said.get(n, False) is not expected for n, (_, expected) in enumerate(CONTROLS, 1)):
        return
    pairs = range(len(CONTROLS) + 1, asked + 1)
    changes = [n for n in pairs if said.get(n, False)]
    if len(pairs) < _FEW or len(changes) <= MOST_YES * len(pairs):
        yield from (n - len(CONTROLS) - 1 for n in changes)


def _likeness(old: Line, new: Line) -> float:
    one, other = content_words(old.text), content_words(new.text)
    return len(one & other) / max(1, min(len(one), len(other)))


def _has_one_owner(old: Line, new: Line) -> bool:
    """Return whether both lines may be about one person: one speaker, or the new line names who spoke before."""
    own, other = persons_in(old.text), persons_in(new.text)
    if not old.speaker or not new.speaker or is_role(old.speaker) or is_role(new.speaker):
        return own.is_subject == other.is_subject or not (own.third or other.third)
    same = normal_form(old.speaker) == normal_form(new.speaker)
    return same or any(stands_in(name, new.text) for name in old.speaker.split())


def _differing(text: str, other: str) -> str:
    """Return the words of a text that the other lacks; all of them where there are none."""
    known = set(analyse(other))
    words = [word for word in text.split() if not set(analyse(word)) <= known]
    return " ".join(words) or text
