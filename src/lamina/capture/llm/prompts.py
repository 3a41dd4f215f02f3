"""Prompts for the language model: batches of turns, instructions, and the schemas of its answers.

The system message never changes, so that servers with a prompt cache read it once; the data comes last. Every string
and list of an answer is bounded, because a small model would not stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from lamina.atom.atom import RelationName
from lamina.atom.kinds import EXTRACTED_KINDS
from lamina.atom.passage import is_assistant
from lamina.capture.change.change_nomination import SentenceLine
from lamina.capture.extractors import CapturedTurn, StoredStatement
from lamina.models.chat import Message, system_message, user_message
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise
from lamina.text.sentences import find_sentences

MAX_TURNS = 50
"""How many turns or parts of turns are shown in one call."""
MAX_STATEMENTS = 10
MAX_PAIRS = 12
"""How many candidate pairs are asked about in one call, control pairs included."""

DayText = Annotated[str, Field(max_length=10)]
"""YYYY-MM-DD, or empty if the words name no day."""


STATED_RELATIONS = (
    RelationName.CONTRADICTS,
    RelationName.SUPPORTS,
    RelationName.SUPERSEDES,
    RelationName.CAUSED_BY,
    RelationName.DEPENDS_ON,
    RelationName.PART_OF,
    RelationName.IMPLEMENTS,
)
"""The relations that a language model may draw."""


# Without a schema a server may answer with other words: then a word is lost, not the whole answer.
KindName = Annotated[
    str,
    BeforeValidator(lambda text: text if text in EXTRACTED_KINDS else "fact"),
    Field(json_schema_extra={"enum": [*EXTRACTED_KINDS]}),
]
RelationText = Annotated[
    str,
    BeforeValidator(lambda text: text if text in STATED_RELATIONS else ""),
    Field(json_schema_extra={"enum": ["", *STATED_RELATIONS]}),
]
"""The name of a relation, or empty if there is none."""


class ModelStatement(BaseModel):
    """One statement as the model returns it; unchecked."""

    quote: str = Field(max_length=240)
    content: str = Field(max_length=220)
    subject: str = Field(max_length=60)
    attribute: str = Field(max_length=40)
    value: str = Field(max_length=80)
    date: DayText
    kind: KindName = "fact"
    relation: RelationText = ""
    target: str = Field(max_length=14, default="")


class ModelStatements(BaseModel):
    """All statements of one call."""

    statements: list[ModelStatement] = Field(max_length=MAX_STATEMENTS)


class PairAnswer(BaseModel):
    """An answer on one pair: whether the second sentence changes what the first one says."""

    pair: int = Field(ge=1, le=MAX_PAIRS)
    is_change: bool


class PairAnswers(BaseModel):
    """The answers of one call; a pair without an answer is no change."""

    answers: list[PairAnswer] = Field(max_length=MAX_PAIRS)


MAX_BATCH_CHARS = 6000
"""With the instructions and the answer this fits into a context window of 4,096 tokens, the default of many servers."""


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """A turn, or a part of a long one, as the model sees it."""

    turn: CapturedTurn
    text: str


def batch_turns(turns: Sequence[CapturedTurn], max_chars: int = MAX_BATCH_CHARS) -> Iterator[list[PromptTurn]]:
    """Yield the turns in order, so many characters at a time; a longer turn is split between sentences."""
    batch: list[PromptTurn] = []
    for part in (PromptTurn(turn, text) for turn in turns for text in _split_text(turn.text, max_chars)):
        if batch and (len(batch) == MAX_TURNS or sum(len(entry.text) for entry in batch) + len(part.text) > max_chars):
            yield batch
            batch = []
        batch.append(part)
    if batch:
        yield batch


def _split_text(text: str, max_chars: int) -> Iterator[str]:
    if len(text) <= max_chars:
        yield from [text] if text.strip() else []
        return
    start = 0
    for _, end in (*find_sentences(text), (len(text), len(text))):
        while end - start > max_chars:
            yield text[start : start + max_chars]
            start += max_chars
        if end == len(text) or end - start > max_chars // 2:
            if text[start:end].strip():
                yield text[start:end]
            start = end


_CONTEXT_CHARS = 400
_SENTENCE_CHARS = 300
_STORED_CHARS = 160

_EXTRACTION_INSTRUCTIONS = f"""\
You extract statements from a conversation for a long-term memory. {DATA_ONLY}
Each line of the data is one turn: its label, the speaker, the day and the words. Lines labelled "context" only help to
understand the others, and lines labelled "memory" are stored statements; take no statement from either.

Return the statements that the turns make. An empty list is a good answer.
quote: the exact words of one turn that make the statement, copied letter by letter.
content: the statement as one complete sentence in the language of the turn, understandable alone: names instead of
pronouns, the words of the quote otherwise, nothing that was not said. Keep "not", "if", "might" and the like.
subject: whom or what it is about; the speaker's name for "I".
attribute, value: which property of the subject it tells and its value, such as "employer" and "Acme"; the value in
the words of the quote. Both empty where there is none.
date: YYYY-MM-DD, the day since when it holds, worked out from the day of the turn; empty where the words name no time.
kind: preference (what somebody prefers), interest (what somebody is interested in), user_request (what the user asks to
be done), decision, entity (what a named person, product or company is), summary (a summary that is given), interaction
(how the conversation is held), else fact.
relation, target: what the words say it is to another statement: contradicts, supports, supersedes (it is no longer so),
caused_by, depends_on, part_of, implements. target: "memory 2" for that line, or "statement 1" for the first one of your
answer. Both empty where the words say no such thing.
Leave out greetings, questions, jokes, guesses and what is only imagined."""

_COMPARISON_INSTRUCTIONS = f"""\
You compare pairs of sentences for a long-term memory. {DATA_ONLY}
Each line of the data is one pair: its number, an earlier sentence and a later one, each with its speaker and day.

For each pair say whether the later sentence shows that what the earlier one says is no longer so. Both must be about
the same person or thing and the same property, and cannot both be true now: another home, job, date, number or plan.
More of the same, another occasion, another person or thing, an opinion or a mood is no change.
pair: the number of the pair. is_change: true or false. Answer once for each pair."""


def extraction_prompt(
    prompt_turns: Sequence[PromptTurn],
    before: Sequence[CapturedTurn],
    stored: Sequence[StoredStatement] = (),
    guidelines: Sequence[str] = (),
) -> list[Message]:
    """Return the messages that ask for the statements of some turns, and for their relations to stored ones.

    The model is asked to follow the guidelines of the memory.
    """
    lines = [f"memory {n} | {sanitise(known.content, _STORED_CHARS)}" for n, known in enumerate(stored, 1)]
    lines += [_format_turn("context", turn, sanitise(turn.text, _CONTEXT_CHARS)) for turn in before]
    for part in prompt_turns:
        is_context = is_assistant(part.turn.speaker)
        words = sanitise(part.text, _CONTEXT_CHARS if is_context else None)
        lines.append(_format_turn("context" if is_context else "turn", part.turn, words))
    data = fence_data(lines)
    if guidelines:
        rules = "\n".join(f"- {sanitise(line)}" for line in guidelines)
        data = f"Guidelines for the statements of this memory:\n{rules}\n\n{data}"
    return [system_message(_EXTRACTION_INSTRUCTIONS), user_message(data)]


def comparison_prompt(pairs: Sequence[tuple[SentenceLine, SentenceLine]]) -> list[Message]:
    """Return the messages that ask, for each pair of sentences, whether the second one changes the first."""
    lines = [
        f"pair {n} | earlier: {_format_sentence(old)} | later: {_format_sentence(new)}"
        for n, (old, new) in enumerate(pairs, 1)
    ]
    return [system_message(_COMPARISON_INSTRUCTIONS), user_message(fence_data(lines))]


def _format_turn(label: str, turn: CapturedTurn, words: str) -> str:
    return f"{label} | {_format_speaker(turn.speaker)} | {_format_day(turn.at)} | {words}"


def _format_sentence(line: SentenceLine) -> str:
    words = sanitise(line.text, _SENTENCE_CHARS).replace("|", "/")
    return f"{_format_speaker(line.speaker)}, {_format_day(line.at)}: {words}"


def _format_speaker(speaker: str | None) -> str:
    return sanitise(speaker or "unknown speaker", 60).replace("|", "/")


def _format_day(at: datetime) -> str:
    return f"{at:%A %Y-%m-%d}"
