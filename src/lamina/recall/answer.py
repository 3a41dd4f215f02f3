"""A cited answer over what was recalled, or an honest "not known". The model chooses words; it decides nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from lamina.atom.identity import AtomId
from lamina.errors import InvalidInput
from lamina.models.chat import MOST_TOKENS, Chat, Message, system, user
from lamina.models.fence import DATA_ONLY, fenced, harmless, seen
from lamina.recall.answer_tools import Tool, work_out
from lamina.recall.hit import Hit, Recall
from lamina.text.normal import normal_form

NOT_KNOWN = "Not known."
SHOWN = 12
ROUNDS = 2
"""Once with tools on offer, and once more with what a tool gave."""
_LONGEST = 800
_LABEL = re.compile(r"\s*\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")
_DOES_NOT_KNOW = re.compile(
    r"""\W*(?: not\ known | unknown | (?:i|we)\ (?:do\ not|don[’']t)\ know
    | (?:i|we)\ (?:have|do\ not\ have|don[’']t\ have)\ (?:no\ |any\ )?(?:information|memory|record|notes?)
    | (?:there(?:\ is|[’']s)\ )?no\ (?:information|mention|record)
    | the\ notes\ (?:do\ not|don[’']t) | (?:it\ )?(?:cannot|can[’']t)\ be\ (?:answered|determined) )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_RULES = f"""\
You answer a question from notes of a memory, and from nothing else. {DATA_ONLY}
Each note begins with its label, such as [1], then the day it was written, then marks, then its words.
known: false if the notes do not answer; then leave text empty. text: a short answer in the language of the question,
with the labels of the notes it rests on, such as [1]. cites: the numbers of those labels. Where notes disagree, the
later one counts. "Last week" in a note is told from that note's day.
tool: do no arithmetic yourself. days_between, months_between and years_between take two dates YYYY-MM-DD; days_after
takes a date and a number of days; sum takes numbers; count takes the different things to be counted. Then put what they
take in arguments and leave text empty: you are told the result. Else tool is none."""


class AnswerGiven(BaseModel):
    """An answer as the model gives it, or the arithmetic it wants done first."""

    known: bool
    text: str = Field(max_length=1200)
    cites: list[Annotated[int, Field(ge=1, le=SHOWN)]] = Field(max_length=SHOWN)
    tool: Literal["none", "days_between", "months_between", "years_between", "days_after", "sum", "count"]
    arguments: list[Annotated[str, Field(max_length=60)]] = Field(max_length=20)


@dataclass(frozen=True, slots=True)
class Step:
    """Arithmetic that an answer rests on."""

    tool: Tool
    arguments: tuple[str, ...]
    result: str

    def __str__(self) -> str:
        return f"{self.tool}({', '.join(self.arguments)}) = {self.result}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known, with the atoms it rests on; `labels` are the numbers in the text and the atoms they stand for.

    `why` says why nothing is known where that is so.
    """

    question: str
    text: str
    known: bool
    cited: tuple[AtomId, ...] = ()
    labels: tuple[tuple[int, AtomId], ...] = ()
    steps: tuple[Step, ...] = ()
    why: str = ""
    recall_id: str = ""
    model: str = ""
    tokens: int = 0


def answer(question: str, recalled: Recall, chat: Chat, now: datetime, *, most_tokens: int = MOST_TOKENS) -> Answer:
    """The answer to a question from what was recalled for it; the model is not asked where nothing relevant was."""
    hits = recalled.relevant[:SHOWN]
    if not hits:
        return Answer(question, NOT_KNOWN, False, why="nothing relevant is remembered", recall_id=recalled.id)
    messages = _messages(question, hits, now)
    steps: list[Step] = []
    tokens = 0
    for n in range(ROUNDS):
        reply = chat.ask(messages, AnswerGiven, most_tokens=most_tokens)
        given, tokens = reply.value, tokens + reply.tokens_in + reply.tokens_out
        if given.tool == "none" or n == ROUNDS - 1:
            break
        told = _worked_out(Tool(given.tool), given.arguments, steps)
        messages = [*messages[:-1], user(f"{messages[-1].content}\n\n{told} Now give the answer; tool is none.")]
    text, labels, why = _cited(given, hits)
    return Answer(
        question,
        text,
        not why,
        tuple(dict.fromkeys(atom for _, atom in labels)),
        labels,
        tuple(steps),
        why,
        recalled.id,
        chat.model,
        tokens,
    )


def _messages(question: str, hits: Sequence[Hit], now: datetime) -> list[Message]:
    notes = [_note(n, hit) for n, hit in enumerate(hits, 1)]
    asked = f"Today is {now:%A %Y-%m-%d}. The question: {harmless(question, _LONGEST)}"
    return [system(_RULES), user(f"{fenced(notes)}\n\n{asked}")]


def _note(n: int, hit: Hit) -> str:
    written = (hit.passage.at or hit.atom.observed_at).date().isoformat()
    marks = "; ".join(harmless(mark, 80) for mark in (str(hit.atom.status), *hit.marks) if mark != "active")
    who = f"{harmless(hit.passage.speaker, 60)}: " if hit.passage.speaker else ""
    return f"[{n}] {written}{f' ({marks})' if marks else ''} {who}{harmless(hit.text, _LONGEST)}"


def _worked_out(tool: Tool, arguments: Sequence[str], steps: list[Step]) -> str:
    """What is told of the arithmetic that was asked for; steps gains it where it could be done."""
    try:
        result = work_out(tool, arguments)
    except InvalidInput as error:
        return f"{tool} could not be worked out: {harmless(str(error), 120)}."
    steps.append(Step(tool, tuple(arguments), result))
    return f"Worked out: {harmless(str(steps[-1]), 400)}."


def _cited(given: AnswerGiven, hits: Sequence[Hit]) -> tuple[str, tuple[tuple[int, AtomId], ...], str]:
    """The text with only labels that were shown, what they stand for, and why nothing is known if so."""
    text = seen(_LABEL.sub(lambda found: _kept(found, len(hits)), given.text))
    if not given.known or not normal_form(_LABEL.sub("", text)) or _DOES_NOT_KNOW.match(text):
        return NOT_KNOWN, (), "what is remembered does not answer it"
    in_text = [int(each) for found in _LABEL.findall(text) for each in found.split(",")]
    cites = list(dict.fromkeys([*in_text, *(cite for cite in given.cites if cite <= len(hits))]))
    if not cites:
        return NOT_KNOWN, (), "the model named nothing that its answer rests on"
    missing = "".join(f"[{cite}]" for cite in cites if cite not in in_text)
    return f"{text} {missing}".rstrip(), tuple((cite, hits[cite - 1].atom.id) for cite in cites), ""


def _kept(found: re.Match[str], shown: int) -> str:
    valid = [each for each in map(int, found[1].split(",")) if 1 <= each <= shown]
    return "".join(f" [{each}]" for each in valid[:1]) + "".join(f"[{each}]" for each in valid[1:])
