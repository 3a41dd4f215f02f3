"""Lists of texts for one question each: those that answer it and those that do not, the hard ones most of all."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lamina.models.pair_text import PairText
from lamina.recall.speaker_names import find_speakers, remove_speakers
from lamina.text.analyse import content_words
from training.examples import Chat, ChatTexts, chat_texts, is_ranker_chat, load_chats, speaker_of, without_speaker
from training.groups import STATES_SLOT, Group, load_groups


@dataclass(frozen=True, slots=True)
class QuestionList:
    """A question with texts that answer it, now or earlier, and texts that do not, each with how likely it is drawn."""

    question: str
    answers: tuple[PairText, ...]
    others: tuple[PairText, ...]
    weights: tuple[float, ...]
    kind: str

    def draw(self, draw: random.Random, size: int) -> tuple[list[PairText], list[bool]]:
        """Return up to `size` texts, at most a third of them answers, and which of them answer."""
        right = draw.sample(self.answers, min(len(self.answers), max(1, size // 3)))
        chosen = sorted(range(len(self.others)), key=lambda n: draw.random() ** (1 / self.weights[n]), reverse=True)[
            : size - len(right)
        ]
        return [*right, *(self.others[n] for n in chosen)], [True] * len(right) + [False] * len(chosen)


def chat_lists(*, held_out: bool, foreign: Sequence[str], everyone: bool = False) -> list[QuestionList]:
    """Return the questions of the chats with their turns and some turns of other chats."""
    draw = random.Random(6)
    lists = []
    for chat in load_chats(held_out=held_out):
        if held_out or everyone or not is_ranker_chat(chat):
            lists += _lists_of(chat, foreign, draw)
    return lists


def _lists_of(chat: Chat, foreign: Sequence[str], draw: random.Random) -> list[QuestionList]:
    """The questions as recall reads them: without the names of speakers, whose own turns are told apart."""
    labelled = chat_texts(chat)
    speakers = {turn.number: speaker_of(turn, chat) for turn in chat.turns}
    before = _said_before(chat, labelled)
    lists = []
    for question, (text, slots) in zip(chat.questions, labelled.questions, strict=True):
        named = find_speakers(text.text, set(speakers.values()))
        right, others = [], []
        for number, turn in labelled.turns.items():
            states = any(set(slots) & set(each.slots) for each in turn.sentences)
            passage = PairText(turn.text, is_named=speakers[number] in named, before=before.get(number))
            if number in question.gold or states:
                right.append(passage)
            elif not (question.gold and slots and any(each.is_soft for each in turn.sentences)):
                others.append(passage)
        others += [PairText(each, is_named=bool(named)) for each in draw.sample(foreign, 6)]
        if others:
            lists.append(_list(remove_speakers(text.text, named), right, others, question.kind))
    return lists


def _said_before(chat: Chat, labelled: ChatTexts) -> dict[int, PairText]:
    """What was said just before each turn, in the same session."""
    return {
        turn.number: PairText(labelled.turns[earlier.number].text)
        for earlier, turn in pairwise(chat.turns)
        if earlier.session == turn.session
    }


def group_lists(groups: Sequence[Group]) -> list[QuestionList]:
    """Return the questions of the groups with the sentences that answer them and those that only look like it."""
    draw = random.Random(7)
    lists = []
    for group in groups:
        foreign = [PairText(draw.choice(groups).old) for _ in range(4)]
        states = [PairText(text) for label in STATES_SLOT for text in group.lines.get(label, [])]
        near = [
            PairText(text)
            for label in ("owner", "thing", "aspect", "talk", "event", "quote", "maybe")
            for text in group.lines.get(label, [])
        ]
        lists += [_list(each, states, near + foreign, "current") for each in group.lines.get("ask", [])]
        plain = [*states, *(PairText(text) for label in ("talk", "event") for text in group.lines.get(label, []))]
        lists += [_list(each, [], plain + foreign, "unknown") for each in group.lines.get("askother", [])]
    return lists


def _list(question: str, right: Sequence[PairText], others: Sequence[PairText], kind: str) -> QuestionList:
    words = frozenset(content_words(question))
    others = [each for each in others if each not in right]
    weights = tuple(1.0 + 2.5 * len(words & frozenset(content_words(each.text))) + each.is_named for each in others)
    return QuestionList(question, tuple(dict.fromkeys(right)), tuple(others), weights, kind)


def question_lists(*, held_out: bool, everyone: bool = False) -> dict[str, list[QuestionList]]:
    """Return the lists of each source."""
    foreign = [
        without_speaker(turn.text)
        for chat in load_chats(held_out=held_out)
        for turn in chat.turns
        if not turn.facts and not turn.requests
    ]
    return {
        "chats": chat_lists(held_out=held_out, foreign=foreign, everyone=everyone),
        "groups": group_lists(load_groups(held_out=held_out)),
    }
