"""Lists for the reader to learn from: one text and candidates, oldest first, with what each is to the text.

A question comes with turns of its chat that a search would find, asked at its end or at an earlier moment; a statement
with earlier statements. Lists of requests to forget are in request_lists.py.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from lamina.models.list_reader import ANSWER_CLASSES, FORGET_CLASSES, RELATION_CLASSES
from lamina.states.current_state_ranking import add_speaker
from lamina.text.analyser import content_tokens
from lamina.text.normal_form import normal_form
from training.chat_format import AnnotatedChat, Fact, Question, Turn
from training.examples import chat_texts, without_speaker
from training.pair_examples import TextPair
from training.slot_sentences import SlotSentence, slot_sentences
from training.trunk import TextVectors

NONE, ANSWERING, OUTDATED = range(len(ANSWER_CLASSES))
CURRENT_KINDS = frozenset({"current", "yesno"})
PAST_KINDS = frozenset({"past", "first"})
MEANT = len(FORGET_CLASSES) - 1
NAMED_SPEAKER = 0.15
"""How often the turns of a chat are read with the speaker's name in front, as if several people spoke."""
CLEAR_MARGIN = 0.08
"""A question asks for the slot whose name is nearer to it than the next one's by this much."""


@dataclass(frozen=True, slots=True)
class ReadingList:
    """Candidates, oldest first, and the class of each; None where it is not known. `values` are the words of each
    candidate that state the value asked for, "" where there are none or it is not known which."""

    task: str
    first: str
    candidates: tuple[str, ...]
    labels: tuple[int | None, ...]
    kind: str = ""
    values: tuple[str, ...] = ()


class ChatLists:
    """The reading lists of one chat's questions."""

    def __init__(self, chat: AnnotatedChat, vectors: TextVectors, filler: Sequence[str] = ()) -> None:
        self.chat, self._vectors, self._filler = chat, vectors, filler
        forgotten = {target for turn in chat.turns for request in turn.requests for target in request.targets}
        self._turns = [turn for turn in chat.turns if not turn.requests and turn.number not in forgotten]
        self._slots = [
            slots[0] if slots else self._likely_slot(question)
            for question, (_, slots) in zip(chat.questions, chat_texts(chat).questions, strict=True)
        ]

    @cached_property
    def _words(self) -> dict[int, frozenset[str]]:
        return {turn.number: frozenset(content_tokens(turn.text)) for turn in self._turns}

    @cached_property
    def _rarity(self) -> dict[str, float]:
        counts = Counter(word for words in self._words.values() for word in words)
        return {word: math.log(1 + len(self._words) / count) for word, count in counts.items()}

    @cached_property
    def _facts(self) -> dict[str, dict[int, Fact]]:
        """Return the current values stated, by slot and turn."""
        facts: dict[str, dict[int, Fact]] = defaultdict(dict)
        for turn in self._turns:
            for fact in turn.facts:
                if fact.is_current:
                    facts[f"{self.chat.id}:{fact.owner.lower()}/{fact.attribute.lower()}"][turn.number] = fact
        return facts

    def _likely_slot(self, question: Question) -> str | None:
        """Return the slot that a question asks for if its answer states several: the one whose name is nearest."""
        if question.kind not in CURRENT_KINDS or not question.gold:
            return None
        stated = [slot for slot, turns in self._facts.items() if question.gold[0] in turns]
        vector, words = self._vectors[question.text], set(content_tokens(question.text))
        scores = []
        for slot in stated:
            name = slot.partition(":")[2].removeprefix("me/").replace("/", " ")
            shared = len(words & set(content_tokens(name)))
            scores.append((float(vector @ self._vectors[name]) + 0.2 * shared, slot))
        scores.sort(reverse=True)
        is_clear = scores and (len(scores) == 1 or scores[0][0] >= scores[1][0] + CLEAR_MARGIN)
        return scores[0][1] if is_clear else None

    def draw(self, number: int, draw: random.Random) -> ReadingList:
        """Return a list for a question, asked at the end or at an earlier moment, with some of what a search finds."""
        question, slot = self.chat.questions[number], self._slots[number]
        last = self._turns[-1].number
        stated = self._facts.get(slot or "", {})
        if question.kind in CURRENT_KINDS and stated and draw.random() < 0.5:
            last = draw.choice([turn.number for turn in self._turns])
        elif question.gold and draw.random() < 0.3:
            last = draw.choice([turn.number for turn in self._turns if turn.number >= max(question.gold)] or [last])
        count = draw.randint(2, 10)
        labels = self._labels(question, stated, last)
        turns = [turn for turn in self._turns if turn.number <= last]
        near = {turn.number: value + draw.gauss(0, 0.08) for turn, value in self._nearness(question.text, turns)}
        for turn_number, label in labels.items():
            if turn_number in near and label != NONE and draw.random() < 0.85:
                near[turn_number] += 1.0
        chosen = sorted(sorted(near, key=near.__getitem__, reverse=True)[:count])
        return self._list(question, chosen, labels, stated, draw)

    def whole(self, number: int, count: int) -> ReadingList:
        """Return the list of a question asked at the end, with the nearest turns."""
        question, slot = self.chat.questions[number], self._slots[number]
        stated = self._facts.get(slot or "", {})
        labels = self._labels(question, stated, self._turns[-1].number)
        near = {turn.number: value for turn, value in self._nearness(question.text, self._turns)}
        chosen = sorted(sorted(near, key=near.__getitem__, reverse=True)[:count])
        return self._list(question, chosen, labels, stated, None)

    def outdated(self, question: str) -> set[int] | None:
        """Return the turns that state an earlier value of what a question asks for; None where that is not known."""
        number = next(n for n, candidate in enumerate(self.chat.questions) if candidate.text == question)
        annotated, slot = self.chat.questions[number], self._slots[number]
        if annotated.kind not in CURRENT_KINDS or slot is None or not annotated.gold:
            return None
        labels = self._labels(annotated, self._facts.get(slot, {}), self._turns[-1].number)
        return {n for n, label in labels.items() if label == OUTDATED}

    def _list(
        self,
        question: Question,
        chosen: Sequence[int],
        labels: dict[int, int | None],
        stated: dict[int, Fact],
        draw: random.Random | None,
    ) -> ReadingList:
        texts = {turn.number: turn.text for turn in self._turns}
        values = {n: fact.value for n, fact in stated.items() if labels.get(n, NONE) not in (NONE, None)}
        rows: list[tuple[str, int | None, str]] = [(texts[n], labels.get(n, NONE), values.get(n, "")) for n in chosen]
        if draw is not None and self._filler:
            for text in draw.sample(self._filler, draw.randint(0, 2)):
                rows.insert(draw.randint(0, len(rows)), (text, NONE, ""))
        if draw is not None and draw.random() < NAMED_SPEAKER:
            name = self.chat.speaker
            rows = [
                (add_speaker(text, name) if without_speaker(text) == text else text, label, value)
                for text, label, value in rows
            ]
        candidates, kinds, spans = zip(*rows, strict=True) if rows else ((), (), ())
        return ReadingList("question", question.text, candidates, kinds, question.kind, spans)

    def _nearness(self, question: str, turns: Sequence[Turn]) -> Iterator[tuple[Turn, float]]:
        """Yield the similarity of each turn to a question by vectors and rare words, as a search would compute it."""
        tokens, vector = frozenset(content_tokens(question)), self._vectors[question]
        known = sum(self._rarity.get(word, 0.0) for word in tokens) or 1.0
        for turn in turns:
            shared = sum(self._rarity[word] for word in tokens & self._words[turn.number]) / known
            yield turn, float(vector @ self._vectors[turn.text]) + 0.6 * shared

    def _labels(self, question: Question, stated: dict[int, Fact], last: int) -> dict[int, int | None]:
        """Return the classes of the turns up to a moment; NONE for those left out."""
        if question.kind == "unknown":
            return {}
        if question.kind in PAST_KINDS:
            return dict.fromkeys(question.gold[1:], None) | {question.gold[0]: ANSWERING} if question.gold else {}
        if question.kind not in CURRENT_KINDS:
            return dict.fromkeys(question.gold, ANSWERING)
        there = {n: fact for n, fact in stated.items() if n <= last}
        if not question.gold:
            return {}
        if question.gold[0] not in stated:
            akin = {n for turns in self._facts.values() if question.gold[0] in turns for n in turns}
            return dict.fromkeys([*akin, *question.gold], None) | {n: ANSWERING for n in question.gold[:1] if n <= last}
        if not there:
            return {}
        return _current_labels(there)


def _current_labels(stated: dict[int, Fact]) -> dict[int, int | None]:
    """Of turns that state one slot: those with the newest value answer, those with another value are outdated; where
    several values stand beside each other, only those that were replaced."""
    value = {n: normal_form(fact.value) for n, fact in stated.items()}
    newest = max(stated)
    if any(fact.adds for fact in stated.values()):
        replaced = {n for fact in stated.values() for n in [*fact.replaces, *fact.corrects]}
        return {n: OUTDATED if n in replaced and n != newest else ANSWERING for n in stated}
    same = {newest}
    for n in sorted(stated, reverse=True):
        fact = stated[n]
        if n in same:
            same |= set(fact.repeats)
            if value[n] != value[newest]:
                value[n] = value[newest]
    return {n: ANSWERING if n in same or value[n] == value[newest] else OUTDATED for n in stated}


def statement_lists(pairs: Iterable[TextPair], seed: int, most: int = 5) -> list[ReadingList]:
    """Return lists of statements: pairs with the same later statement are read together."""
    draw = random.Random(seed)
    by_later: dict[str, list[TextPair]] = defaultdict(list)
    for pair in pairs:
        if pair.relation:
            by_later[pair.second].append(pair)
    lists = []
    for later, together in by_later.items():
        draw.shuffle(together)
        for start in range(0, len(together), most):
            some = together[start : start + most]
            labels = tuple(RELATION_CLASSES.index(pair.relation or "") for pair in some)
            lists.append(ReadingList("statement", later, tuple(pair.first for pair in some), labels))
    return lists


def group_question_lists(lines: dict[str, list[str]], draw: random.Random) -> Iterator[ReadingList]:
    """Return lists of a group's questions: the old value alone answers; beside a newer one it is outdated."""
    others = [
        text
        for label in ("owner", "thing", "aspect", "plan", "maybe", "quote", "event", "talk")
        for text in lines.get(label, [])
    ]
    newer = lines.get("new", []) + lines.get("corrects", [])
    for question in lines.get("ask", []):
        for new in [None, *draw.sample(newer, min(2, len(newer)))]:
            rows = [(text, NONE) for text in draw.sample(others, min(len(others), draw.randint(1, 5)))]
            rows.append((lines["old"][0], OUTDATED if new else ANSWERING))
            draw.shuffle(rows)
            if new:
                place = rows.index((lines["old"][0], OUTDATED))
                rows.insert(draw.randint(place + 1, len(rows)), (new, ANSWERING))
            texts, labels = zip(*rows, strict=True)
            yield ReadingList("question", question, texts, labels, "current")
    for question in lines.get("askother", []):
        rows = [(text, NONE) for text in [lines["old"][0], *newer[:1], *lines.get("talk", [])[:2]]]
        texts, labels = zip(*rows, strict=True)
        yield ReadingList("question", question, texts, labels, "unknown")


class SlotLists:
    """Draws lists of filled templates: one or two values of a slot among other owners, remarks and other slots."""

    def __init__(self, split: str) -> None:
        self._by_slot: dict[str, dict[str, dict[str, list[SlotSentence]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )
        for sentence in slot_sentences():
            if sentence.split == split:
                self._by_slot[sentence.slot][sentence.slot_id][sentence.role].append(sentence)
        self._asked = [
            (name, slot_id)
            for name, ids in self._by_slot.items()
            for slot_id, roles in ids.items()
            if roles["question"] and len(roles["assert"]) > 1
        ]
        self._asserts = [role for ids in self._by_slot.values() for roles in ids.values() for role in roles["assert"]]

    def draw(self, draw: random.Random) -> ReadingList:
        """Return one list; a third of them hold a single value."""
        name, slot_id = draw.choice(self._asked)
        roles = self._by_slot[name][slot_id]
        old, new = draw.sample(roles["assert"], 2)
        rows: list[tuple[str, int | None, str]] = [(old.text, ANSWERING, old.value)]
        if draw.random() < 0.67 and (old.value or old.text).lower() != (new.value or new.text).lower():
            first = ANSWERING if old.is_many else OUTDATED
            rows = [(old.text, first, old.value), (new.text, ANSWERING, new.value)]
        others = [example.text for example in draw.sample(self._asserts, 2) if example.slot != name]
        others += [example.text for example in draw.sample(roles["negative"], min(1, len(roles["negative"])))]
        ids = [other for other in self._by_slot[name] if other != slot_id and self._by_slot[name][other]["assert"]]
        if ids:
            others.append(draw.choice(self._by_slot[name][draw.choice(ids)]["assert"]).text)
        for text in draw.sample(others, draw.randint(0, len(others))):
            rows.insert(draw.randint(0, len(rows)), (text, NONE, ""))
        question = draw.choice(roles["question"]).text
        texts, labels, values = zip(*rows, strict=True)
        return ReadingList("question", question, texts, labels, "current", values)
