"""Change nominations: a language model says yes or no to candidate pairs of sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from lamina.atom.atom import Evidence
from lamina.atom.passage import is_role
from lamina.capture.change.change_nomination import Nomination, Nominations, SentenceLine
from lamina.capture.llm.grammatical_person import find_pronoun_persons
from lamina.capture.llm.prompts import MAX_PAIRS, PairAnswers, comparison_prompt
from lamina.capture.llm.quotes import content_words, occurs_in
from lamina.models.chat import Chat
from lamina.text.analyser import analyse
from lamina.text.normal_form import normal_form

MAX_TOKENS = 400
MAX_CHANGE_SHARE = 0.5
"""A model that calls a larger share of the pairs changes is not believed: most of what people say changes nothing."""
_MIN_PAIRS = 3
_DAY = datetime(2024, 3, 4, tzinfo=UTC)


def _control_line(text: str, speaker: str) -> SentenceLine:
    return SentenceLine(Evidence("", 1, 0, len(text)), text, speaker, _DAY)


CONTROL_PAIRS = (
    ((_control_line("I live in Rome.", "Kim"), _control_line("I moved from Rome to Oslo.", "Kim")), True),
    ((_control_line("Our kettle is blue.", "Kim"), _control_line("The train leaves at nine.", "Kim")), False),
)
"""Pairs with known answers, asked first in each call. A model that fails them is not believed about the others."""

ChangeCheck = Callable[[str, str], bool]


class ChatNominator:
    """Asks a language model which candidate pairs are changes; one is sure only if `confirms_change` agrees."""

    def __init__(self, chat: Chat, confirms_change: ChangeCheck | None = None) -> None:
        self._chat, self._confirms_change = chat, confirms_change

    def nominate(self, earlier: Sequence[SentenceLine], new: Sequence[SentenceLine]) -> Nominations:
        """Return the changes among the candidate pairs; ModelError if the model gives no answer."""
        pairs = select_candidate_pairs(earlier, new)
        if not pairs:
            return Nominations()
        shown_pairs = [*(pair for pair, _ in CONTROL_PAIRS), *pairs]
        reply = self._chat.ask(comparison_prompt(shown_pairs), PairAnswers, most_tokens=MAX_TOKENS)
        changes = tuple(self._nomination(*pairs[n]) for n in _select_changes(reply.value, len(shown_pairs)))
        return Nominations(changes, len(pairs), reply.calls)

    def _nomination(self, old: SentenceLine, new: SentenceLine) -> Nomination:
        is_sure = self._confirms_change is not None and self._confirms_change(old.text, new.text)
        old_value, new_value = _differing_words(old.text, new.text), _differing_words(new.text, old.text)
        return Nomination(new.evidence, old.evidence, old_value, new_value, is_sure=is_sure)


def select_candidate_pairs(
    earlier: Sequence[SentenceLine], new: Sequence[SentenceLine]
) -> list[tuple[SentenceLine, SentenceLine]]:
    """Return the pairs worth asking about: of one owner, in different words, those that share most words first."""
    lines = [*earlier, *new]
    ranked: list[tuple[float, int, tuple[SentenceLine, SentenceLine]]] = []
    for n, later in enumerate(lines[len(earlier) :], len(earlier)):
        for older in lines[:n]:
            if _may_share_owner(older, later) and normal_form(older.text) != normal_form(later.text):
                ranked.append((-_word_overlap(older, later), n, (older, later)))
    ranked.sort(key=lambda entry: entry[:2])
    return [pair for _, _, pair in ranked[: MAX_PAIRS - len(CONTROL_PAIRS)]]


def _select_changes(answers: PairAnswers, pair_count: int) -> Iterator[int]:
    """Yield the indexes of the pairs called a change; none if the model failed a control or says yes to most."""
    answer_of: dict[int, bool] = {}
    for answer in answers.answers:
        answer_of[answer.pair] = answer.is_change and answer_of.get(answer.pair, True)
    if any(answer_of.get(n, False) is not expected for n, (_, expected) in enumerate(CONTROL_PAIRS, 1)):
        return
    pairs = range(len(CONTROL_PAIRS) + 1, pair_count + 1)
    changes = [n for n in pairs if answer_of.get(n, False)]
    if len(pairs) < _MIN_PAIRS or len(changes) <= MAX_CHANGE_SHARE * len(pairs):
        yield from (n - len(CONTROL_PAIRS) - 1 for n in changes)


def _word_overlap(old: SentenceLine, new: SentenceLine) -> float:
    old_words, new_words = content_words(old.text), content_words(new.text)
    return len(old_words & new_words) / max(1, min(len(old_words), len(new_words)))


def _may_share_owner(old: SentenceLine, new: SentenceLine) -> bool:
    """Return whether both sentences may be about one person: one speaker, or the new one names the earlier speaker."""
    old_persons, new_persons = find_pronoun_persons(old.text), find_pronoun_persons(new.text)
    if not old.speaker or not new.speaker or is_role(old.speaker) or is_role(new.speaker):
        return old_persons.has_first_subject == new_persons.has_first_subject or not (
            old_persons.has_third or new_persons.has_third
        )
    is_same_speaker = normal_form(old.speaker) == normal_form(new.speaker)
    return is_same_speaker or any(occurs_in(name, new.text) for name in old.speaker.split())


def _differing_words(text: str, other: str) -> str:
    """Return the words of a text that the other lacks; all of them if there are none."""
    other_tokens = set(analyse(other))
    words = [word for word in text.split() if not set(analyse(word)) <= other_tokens]
    return " ".join(words) or text
