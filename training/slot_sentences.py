"""Fill the slot templates: sentences and questions about the same attribute with many values and owners."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data" / "slots"
TIMES = (
    "last week",
    "last month",
    "last weekend",
    "last Monday",
    "last Friday",
    "last year",
    "last summer",
    "last quarter",
    "last sprint",
    "yesterday",
    "two days ago",
    "two weeks ago",
    "a month ago",
    "a while ago",
    "three months ago",
    "in January",
    "in March",
    "in May",
    "in June",
    "in October",
    "in 2024",
    "in the spring",
    "in the autumn",
    "on Monday",
    "on Thursday",
    "on Saturday",
    "on 3 May",
    "on the 12th",
    "over the weekend",
    "over Easter",
    "this morning",
    "this week",
    "this month",
    "this spring",
    "at the start of the year",
    "after the holidays",
)
"""When a change or an event was, for `{t}` (and `{T}` at the start of a sentence) in a template."""
_MARKED_VALUE = re.compile(r"\[\[(.*?)\]\]")


@dataclass(frozen=True, slots=True)
class SlotSentence:
    """One filled template. `role` is assert, question or negative; `style` says how it asserts or why it does not."""

    slot: str
    slot_id: str
    has_entity: bool
    is_many: bool
    split: str
    role: str
    style: str
    text: str
    span: tuple[int, int] | None

    @property
    def value(self) -> str:
        """Return the words that state the value, "" if they are not marked."""
        return self.text[slice(*self.span)] if self.span else ""


def read_jsonl(name: str) -> list[dict]:
    path = DATA / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def slot_sentences(seed: int = 11) -> list[SlotSentence]:
    """Return every slot's sentences; the same seed gives the same sentences."""
    draw = random.Random(seed)
    wraps = json.loads((DATA / "wraps.json").read_text(encoding="utf-8"))
    sentences: dict[tuple[str, str], SlotSentence] = {}
    for slot in [slot for name in ("slots", "more_slots", "dated_slots") for slot in read_jsonl(f"{name}.jsonl")]:
        for sentence in _fill_slot(slot, draw, wraps):
            sentences.setdefault((sentence.slot_id, sentence.text), sentence)
    for quad in read_jsonl("quads.jsonl"):
        for sentence in _from_quad(quad):
            sentences[sentence.slot_id, sentence.text] = sentence
    return list(sentences.values())


def event_sentences(split: str, seed: int = 12) -> dict[str, list[str]]:
    """Return sentences about things that happened, by kind of event; a later one of a kind replaces no earlier one."""
    draw = random.Random(seed)
    return {
        event["event"]: [
            _fill(_dated(template, draw), value, "", "")[0]
            for template in event["templates"]
            for value in event["values"]
        ]
        for event in read_jsonl("events.jsonl")
        if event["split"] == split
    }


def _fill_slot(slot: dict, draw: random.Random, wraps: dict) -> Iterator[SlotSentence]:
    entities, values = slot["entities"] or [""], slot["values"] or [""]

    def make(role: str, style: str, text: str, span: tuple[int, int] | None, entity: str) -> SlotSentence:
        slot_id = f"{slot['slot']}|{entity}" if entity else slot["slot"]
        return SlotSentence(
            slot["slot"], slot_id, bool(entity), slot["card"] == "many", slot["split"], role, style, text, span
        )

    for template in slot["assertions"]:
        for entity in entities:
            if entity and "{e}" not in template["text"] and draw.random() < 0.5:
                continue
            count = (2 if slot["entities"] else 5) if slot["values"] else 2
            for value in draw.sample(values, min(count, len(values))):
                old = draw.choice([other for other in values if other != value] or [""])
                text, span = _fill(_dated(template["text"], draw), value, old, entity)
                if draw.random() < 0.35:
                    text, span = _wrap(text, span, draw, wraps)
                yield make("assert", template["style"], text, span, entity)
    for question in slot["questions"]:
        for entity in entities:
            text, _ = _fill(question, draw.choice(values), "", entity)
            yield make("question", "question", text, None, entity)
    for negative in slot["negatives"]:
        for entity in entities if "{e}" in negative["text"] else entities[:1]:
            for value in draw.sample(values, min(2, len(values))):
                text, _ = _fill(_dated(negative["text"], draw), value, draw.choice(values), entity)
                if draw.random() < 0.25:
                    text, _ = _wrap(text, None, draw, wraps)
                yield make("negative", negative["kind"], text, None, entity)


def _dated(template: str, draw: random.Random) -> str:
    """Fill in when it was."""
    if "{t}" not in template and "{T}" not in template:
        return template
    time = draw.choice(TIMES)
    return template.replace("{t}", time).replace("{T}", time[0].upper() + time[1:])


def _from_quad(quad: dict) -> Iterator[SlotSentence]:
    def make(role: str, style: str, text: str, span: list[int] | None) -> SlotSentence:
        bounds = (span[0], span[1]) if span else None
        return SlotSentence(quad["id"], quad["id"], False, False, quad["split"], role, style, text, bounds)

    yield make("assert", "state", quad["old"], quad["old_span"])
    yield make("assert", "implied", quad["new"], quad["new_span"])
    yield make("question", "question", quad["question"], None)
    yield make("negative", "remark", quad["negative"], None)


def _fill(template: str, value: str, old: str, entity: str) -> tuple[str, tuple[int, int] | None]:
    text = template.replace("{e}", entity).replace("{o}", old)
    if marked := _MARKED_VALUE.search(text):
        start, value = marked.start(), marked[1]
        return text[:start] + value + text[marked.end() :], (start, start + len(value))
    start = text.find("{v}")
    if start < 0:
        return text, None
    if re.match(r"(the|an?) ", value) and re.search(r"\b(the|my|an?|her|his|old) $", text[:start]):
        value = re.sub(r"^(the|an?) ", "", value)
    if re.search(r"(?:^| )a $", text[:start]) and value[:1].lower() in tuple("aeio"):
        text, start = text[: start - 1] + "n " + text[start:], start + 1
    return text.replace("{v}", value), (start, start + len(value))


def _wrap(
    text: str, span: tuple[int, int] | None, draw: random.Random, wraps: dict
) -> tuple[str, tuple[int, int] | None]:
    prefix = draw.choice(wraps["prefix"]) if draw.random() < 0.5 else ""
    suffix = draw.choice(wraps["suffix"]) if draw.random() < 0.6 else ""
    if text.endswith("?"):
        suffix = ""
    elif suffix and suffix[0] in ",.!":
        text = text.rstrip(".!?")
    elif suffix:
        suffix = " " + suffix
    shift = len(prefix)
    return prefix + text + suffix, (span[0] + shift, span[1] + shift) if span else None
