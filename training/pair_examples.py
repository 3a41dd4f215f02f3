"""Labelled pairs of texts: does the second replace, repeat or keep the first, answer it, or ask to forget it?"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.chat_format import AnnotatedChat
from training.examples import chat_texts, is_ranker_chat, load_chats
from training.groups import STATES_SLOT, SentenceGroup, Snippet, is_held_out, load_groups, load_snippets
from training.slot_sentences import event_sentences, slot_sentences

RELATIONS = ("replaces", "ends", "repeats", "keeps")
PAIRS = Path(__file__).parent / "data" / "pairs"


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts with one label: `relation` of two statements, `answers` of a question, `forgets` of a request."""

    first: str
    second: str
    relation: str | None = None
    answers: bool | None = None
    forgets: bool | None = None


def group_pairs(group: SentenceGroup) -> Iterator[TextPair]:
    lines = group.lines
    replaced_by = {"new": "replaces", "corrects": "replaces", "ends": "ends", "same": "repeats"}
    for label, sentences in lines.items():
        if label in {"old", "ask", "askother"}:
            continue
        for text in sentences:
            relation = replaced_by.get(label, "keeps")
            yield TextPair(group.old, text, relation)
            if label == "new":
                yield TextPair(text, group.old, "replaces")
                for same in lines.get("same", []):
                    yield TextPair(same, text, "replaces")
            elif label not in replaced_by:
                for new in lines.get("new", [])[:2]:
                    yield TextPair(new, text, "keeps")
                    if label != "adds":
                        yield TextPair(text, new, "keeps")
                if label != "adds":
                    yield TextPair(text, group.old, "keeps")
    for question in lines.get("ask", []):
        for label, sentences in lines.items():
            if label in STATES_SLOT:
                yield from (TextPair(question, text, answers=True) for text in sentences)
            elif label not in {"adds", "ask", "askother", "past"}:
                yield from (TextPair(question, text, answers=False) for text in sentences)
    for question in lines.get("askother", []):
        for label in ("old", "new", "same", "talk", "event", "plan"):
            yield from (TextPair(question, text, answers=False) for text in lines.get(label, []))


def snippet_pairs(snippet: Snippet) -> Iterator[TextPair]:
    for place, turn in enumerate(snippet.turns):
        for earlier in snippet.turns[:place]:
            is_target = turn.target is not None and snippet.turns[turn.target] is earlier
            yield TextPair(earlier.text, turn.text, forgets=is_target)


def _chats(held_out: bool) -> list[AnnotatedChat]:
    """Return the chats to train on, without the ranker's, or those held out."""
    return [chat for chat in load_chats(held_out=held_out) if held_out or not is_ranker_chat(chat)]


def chat_statement_pairs(chats: Iterable[AnnotatedChat], unrelated: float = 0.12) -> Iterator[TextPair]:
    """Return pairs of one chat: all that share a slot, labelled by its annotations, and a share of the others."""
    draw = random.Random(5)
    for chat in chats:
        labelled = chat_texts(chat)
        facts = {turn.number: turn.facts for turn in chat.turns}
        rows = [
            (number, text.text[sentence.start : sentence.end], sentence)
            for number, text in labelled.turns.items()
            for sentence in text.sentences
            if not text.requests
        ]
        for place, (number, new, new_sentence) in enumerate(rows):
            for old_number, old, old_sentence in rows[:place]:
                if old_number == number or not old_sentence.slots or new == old:
                    continue
                shared = set(old_sentence.slots) & set(new_sentence.slots)
                if not shared:
                    if new_sentence.mood is not None and draw.random() < unrelated:
                        yield TextPair(old, new, "keeps")
                    continue
                names = {slot.partition(":")[2] for slot in shared}
                relations = set()
                for fact in facts[number]:
                    if f"{fact.owner.lower()}/{fact.attribute.lower()}" in names and fact.is_current:
                        ended = fact.value.lower() in {"no", "none", "ended"}
                        if old_number in fact.replaces + fact.corrects:
                            relations.add("ends" if ended else "replaces")
                        elif old_number in fact.repeats:
                            relations.add("repeats")
                        elif fact.adds:
                            relations.add("keeps")
                if len(relations) == 1 and len(old_sentence.slots) <= 2:
                    yield TextPair(old, new, relations.pop())


def chat_question_pairs(held_out: bool) -> Iterator[TextPair]:
    """Return questions with turns that answer them, earlier values of the slot, and turns that do not answer."""
    draw = random.Random(6)
    for chat in _chats(held_out):
        labelled = chat_texts(chat)
        for question, (text, slots) in zip(chat.questions, labelled.questions, strict=True):
            for number, turn in labelled.turns.items():
                states = any(set(slots) & set(sentence.slots) for sentence in turn.sentences)
                if number in question.gold or states:
                    yield TextPair(text.text, turn.text, answers=True)
                elif any(sentence.is_soft for sentence in turn.sentences) and not turn.requests:
                    continue
                elif draw.random() < (0.5 if question.kind == "unknown" else 0.25):
                    yield TextPair(text.text, turn.text, answers=False)


def slot_pairs(split: str, count: int, seed: int) -> Iterator[TextPair]:
    """Return pairs of filled templates: another value, the same value, another owner, remarks, questions."""
    draw = random.Random(seed)
    by_slot: dict[str, dict[str, dict[str, list]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for sentence in slot_sentences():
        if sentence.split == split:
            by_slot[sentence.slot][sentence.slot_id][sentence.role].append(sentence)
    names = sorted(by_slot)

    while count > 0:
        name = draw.choice(names)
        ids = sorted(by_slot[name])
        slot_id = draw.choice(ids)
        items = by_slot[name][slot_id]
        if len(items["assert"]) < 2:
            continue
        old, new = draw.sample(items["assert"], 2)
        kind = draw.random()
        count -= 1
        if kind < 0.4:
            if old.span and new.span and old.value.lower() == new.value.lower():
                yield TextPair(old.text, new.text, "repeats")
            elif old.is_many:
                if new.style != "cue":
                    yield TextPair(old.text, new.text, "keeps")
            else:
                yield TextPair(old.text, new.text, "replaces")
        elif kind < 0.6 and len(ids) > 1:
            other = draw.choice([atom_id for atom_id in ids if atom_id != slot_id])
            if by_slot[name][other]["assert"]:
                yield TextPair(old.text, draw.choice(by_slot[name][other]["assert"]).text, "keeps")
        elif kind < 0.75 and items["negative"]:
            yield TextPair(old.text, draw.choice(items["negative"]).text, "keeps")
        elif kind < 0.9 and items["question"]:
            question = draw.choice(items["question"])
            if draw.random() < 0.5:
                yield TextPair(question.text, old.text, answers=True)
            elif len(ids) > 1:
                other = draw.choice([atom_id for atom_id in ids if atom_id != slot_id])
                if by_slot[name][other]["assert"]:
                    yield TextPair(question.text, draw.choice(by_slot[name][other]["assert"]).text, answers=False)
        else:
            other_slot = by_slot[draw.choice(names)]
            texts = [role.text for roles in other_slot.values() for role in roles["assert"]]
            if other_slot is not by_slot[name] and texts:
                yield TextPair(old.text, draw.choice(texts), "keeps")


def event_pairs(split: str, count: int, seed: int) -> Iterator[TextPair]:
    """Return pairs of events of one kind: the later one keeps the earlier one."""
    draw = random.Random(seed)
    kinds = event_sentences(split)
    for _ in range(count):
        first, second = draw.sample(kinds[draw.choice(sorted(kinds))], 2)
        yield TextPair(first, second, "keeps")


def project_pairs(held_out: bool) -> Iterator[TextPair]:
    for path in sorted(PAIRS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if is_held_out(row["old"]) == held_out:
                yield TextPair(row["old"], row["new"], "replaces" if row["same"] else "keeps")


def sources(*, held_out: bool) -> dict[str, list[TextPair]]:
    """Return the pairs of each source."""
    groups = load_groups(held_out=held_out)
    return {
        "groups": [pair for group in groups for pair in group_pairs(group)],
        "snippets": [pair for snippet in load_snippets(held_out=held_out) for pair in snippet_pairs(snippet)],
        "chat statements": list(chat_statement_pairs(_chats(held_out))),
        "chat questions": list(chat_question_pairs(held_out)),
        "slots": list(slot_pairs("tune" if held_out else "train", 1500 if held_out else 20000, 3)),
        "events": list(event_pairs("tune" if held_out else "train", 300 if held_out else 2000, 3)),
        "projects": list(project_pairs(held_out)),
        "strangers": list(stranger_pairs(groups)),
    }


def stranger_pairs(groups: Sequence[SentenceGroup]) -> Iterator[TextPair]:
    """Return pairs of sentences and questions of different groups."""
    draw = random.Random(9)
    groups = [group for group in groups if "new" in group.lines]
    for group in groups:
        for other in draw.sample(groups, min(3, len(groups))):
            if other is not group:
                yield TextPair(group.old, draw.choice(other.lines["new"]), "keeps")
                for question in group.lines.get("ask", [])[:1]:
                    yield TextPair(question, draw.choice(other.lines["new"]), answers=False)
