"""Prompts for the language model: batches of turns, instructions, and the schemas of its answers.

The system message never changes, so that servers with a prompt cache read it once; the data comes last. Every string
and list of an answer is bounded, because a small model would not stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from lamina.capture.change.nomination import Line
from lamina.capture.found import Said
from lamina.models.chat import Message, system, user
from lamina.models.fence import DATA_ONLY, fenced, harmless
from lamina.text.roles import is_assistant
from lamina.text.sentences import sentences

MOST_TURNS = 50
"""How many turns or parts of turns are shown in one call."""
MOST_STATEMENTS = 10
MOST_PAIRS = 12
"""How many candidate pairs are asked about in one call, control pairs included."""

Day = Annotated[str, Field(max_length=10)]
"""YYYY-MM-DD, or empty if the words name no day."""


class ModelStatement(BaseModel):
    """One statement as the model returns it; unchecked."""

    quote: str = Field(max_length=240)
    content: str = Field(max_length=220)
    subject: str = Field(max_length=60)
    attribute: str = Field(max_length=40)
    value: str = Field(max_length=80)
    date: Day


class ModelStatements(BaseModel):
    """All statements of one call."""

    statements: list[ModelStatement] = Field(max_length=MOST_STATEMENTS)


class PairAnswer(BaseModel):
    """Whether the second sentence of one pair changes what the first one says."""

    pair: int = Field(ge=1, le=MOST_PAIRS)
    is_change: bool


class PairAnswers(BaseModel):
    """The answers of one call; a pair without an answer is no change."""

    answers: list[PairAnswer] = Field(max_length=MOST_PAIRS)


RUN_CHARS = 6000
"""With the instructions and the answer this fits into a context window of 4,096 tokens, the default of many servers."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn, or a part of a long one, as the model sees it."""

    said: Said
    text: str


def runs(turns: Sequence[Said], most: int = RUN_CHARS) -> Iterator[list[Shown]]:
    """Yield the turns in order, so many characters at a time; a longer turn is split between sentences."""
    batch: list[Shown] = []
    for part in (Shown(turn, text) for turn in turns for text in _pieces(turn.text, most)):
        if batch and (len(batch) == MOST_TURNS or sum(len(entry.text) for entry in batch) + len(part.text) > most):
            yield batch
            batch = []
        batch.append(part)
    if batch:
        yield batch


def _pieces(text: str, most: int) -> Iterator[str]:
    if len(text) <= most:
        yield from [text] if text.strip() else []
        return
    start = 0
    for _, end in (*sentences(text), (len(text), len(text))):
        while end - start > most:
            yield text[start : start + most]
            start += most
        if end == len(text) or end - start > most // 2:
            if text[start:end].strip():
                yield text[start:end]
            start = end


_CONTEXT_CHARS = 400
_LINE_CHARS = 300

_EXTRACT = f"""\
You extract statements from a conversation for a long-term memory. {DATA_ONLY}
Each line of the data is one turn: its label, the speaker, the day and the words. Lines labelled "context" only help to
understand the others; take no statement from them.

Return the statements that the turns make. An empty list is a good answer.
quote: the exact words of one turn that make the statement, copied letter by letter.
content: the statement as one complete sentence in the language of the turn, understandable alone: names instead of
pronouns, the words of the quote otherwise, nothing that was not said. Keep "not", "if", "might" and the like.
subject: whom or what it is about; the speaker's name for "I".
attribute, value: which property of the subject it tells and its value, such as "employer" and "Acme"; the value in
the words of the quote. Both empty where there is none.
date: YYYY-MM-DD, the day since when it holds, worked out from the day of the turn; empty where the words name no time.
Leave out greetings, questions, jokes, guesses and what is only imagined."""

_COMPARE = f"""\
You compare pairs of sentences for a long-term memory. {DATA_ONLY}
Each line of the data is one pair: its number, an earlier sentence and a later one, each with its speaker and day.

For each pair say whether the later sentence shows that what the earlier one says is no longer so. Both must be about
the same person or thing and the same property, and cannot both be true now: another home, job, date, number or plan.
More of the same, another occasion, another person or thing, an opinion or a mood is no change.
pair: the number of the pair. is_change: true or false. Answer once for each pair."""


def extraction_prompt(shown: Sequence[Shown], before: Sequence[Said]) -> list[Message]:
    """Return the messages that ask for the statements of some turns."""
    lines = [_turn("context", turn, harmless(turn.text, _CONTEXT_CHARS)) for turn in before]
    for part in shown:
        is_context = is_assistant(part.said.speaker)
        words = harmless(part.text, _CONTEXT_CHARS if is_context else None)
        lines.append(_turn("context" if is_context else "turn", part.said, words))
    return [system(_EXTRACT), user(fenced(lines))]


def comparison_prompt(pairs: Sequence[tuple[Line, Line]]) -> list[Message]:
    """Return the messages that ask, for each pair of sentences, whether the second one changes the first."""
    lines = [f"pair {n} | earlier: {_sentence(old)} | later: {_sentence(new)}" for n, (old, new) in enumerate(pairs, 1)]
    return [system(_COMPARE), user(fenced(lines))]


def _turn(label: str, said: Said, words: str) -> str:
    return f"{label} | {_who(said.speaker)} | {_day(said.at)} | {words}"


def _sentence(line: Line) -> str:
    words = harmless(line.text, _LINE_CHARS).replace("|", "/")
    return f"{_who(line.speaker)}, {_day(line.at)}: {words}"


def _who(speaker: str | None) -> str:
    return harmless(speaker or "unknown speaker", 60).replace("|", "/")


def _day(at: datetime) -> str:
    return f"{at:%A %Y-%m-%d}"
