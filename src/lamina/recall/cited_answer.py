"""A cited answer from the hits of a recall, or "Not known.". A language model writes the text; lamina checks the
citations and does the arithmetic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, localcontext
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from lamina.atom.atom import AtomId
from lamina.errors import InvalidInput
from lamina.models.chat import MOST_TOKENS, Chat, Message, system_message, user_message
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise, strip_invisible
from lamina.recall.recall_result import Hit, Recall
from lamina.text.normal_form import normal_form

_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_UNITS = re.compile(r"^[^\d+\-.]{0,4}|[^\d.]{0,12}$")
_MAX_ARGUMENT_LENGTH = 40
_SUM_DIGITS = 3 * _MAX_ARGUMENT_LENGTH


class ArithmeticTool(StrEnum):
    """A computation that a model can request."""

    DAYS_BETWEEN = "days_between"
    MONTHS_BETWEEN = "months_between"
    YEARS_BETWEEN = "years_between"
    DAYS_AFTER = "days_after"
    SUM = "sum"
    COUNT = "count"


def run_tool(tool: ArithmeticTool, arguments: Sequence[str]) -> str:
    """Return the result of a tool for its arguments. Raises InvalidInput if it cannot take them."""
    match tool:
        case ArithmeticTool.DAYS_BETWEEN:
            first, last = _parse_two_days(arguments)
            return str((last - first).days)
        case ArithmeticTool.MONTHS_BETWEEN:
            return str(months_between(*_parse_two_days(arguments)))
        case ArithmeticTool.YEARS_BETWEEN:
            return str(int(months_between(*_parse_two_days(arguments)) / 12))
        case ArithmeticTool.DAYS_AFTER:
            return _compute_days_after(arguments).isoformat()
        case ArithmeticTool.SUM:
            return format_sum([parse_number(argument) for argument in _require_arguments(arguments)])
        case ArithmeticTool.COUNT:
            return str(
                len(dict.fromkeys(" ".join(argument.casefold().split()) for argument in _require_arguments(arguments)))
            )


def months_between(first: date, last: date) -> int:
    """Return the number of whole months between two days; negative if the second day is earlier."""
    if last < first:
        return -months_between(last, first)
    months = (last.year - first.year) * 12 + last.month - first.month
    return months - (last.day < first.day and not _is_month_end(last))


def parse_number(text: str) -> Decimal:
    """Return the number that a text stands for, without a currency sign or unit. Raises InvalidInput if it is no
    number."""
    digits = _UNITS.sub("", text.strip()) if len(text) <= _MAX_ARGUMENT_LENGTH else ""
    if not digits.isascii() or not _NUMBER.fullmatch(digits):
        raise InvalidInput(f"{text[:_MAX_ARGUMENT_LENGTH]!r} is not a number")
    return Decimal(digits.replace(",", ""))


def format_sum(numbers: Sequence[Decimal]) -> str:
    """Return the exact sum as a decimal text."""
    with localcontext(prec=_SUM_DIGITS):
        return f"{sum(numbers, Decimal(0)):f}"


def parse_day(text: str) -> date:
    """Return the day that a text names as YYYY-MM-DD. Raises InvalidInput if it is no date."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidInput(f"{text[:_MAX_ARGUMENT_LENGTH]!r} is not a date such as 2026-03-14") from error


def _parse_two_days(arguments: Sequence[str]) -> tuple[date, date]:
    if len(arguments) != 2:
        raise InvalidInput(f"two dates are needed, {len(arguments)} given")
    return parse_day(arguments[0]), parse_day(arguments[1])


def _compute_days_after(arguments: Sequence[str]) -> date:
    if len(arguments) != 2:
        raise InvalidInput(f"a date and a number of days are needed, {len(arguments)} given")
    try:
        return parse_day(arguments[0]) + timedelta(days=int(parse_number(arguments[1])))
    except OverflowError as error:
        raise InvalidInput("that day lies outside the years 1 to 9999") from error


def _require_arguments(arguments: Sequence[str]) -> Sequence[str]:
    if not arguments:
        raise InvalidInput("at least one argument is needed, none given")
    return arguments


def _is_month_end(day: date) -> bool:
    return day == date.max or (day + timedelta(days=1)).day == 1


NOT_KNOWN = "Not known."
MAX_NOTES = 12
MAX_ROUNDS = 2
"""One call with tools on offer, and one more with the result of a tool."""
_MAX_NOTE_LENGTH = 800
_LABEL = re.compile(r"\s*\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")
_UNKNOWN_ANSWER = re.compile(
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
    """An answer as the model gives it, or the arithmetic that it asks for first."""

    known: bool
    text: str = Field(max_length=1200)
    cites: list[Annotated[int, Field(ge=1, le=MAX_NOTES)]] = Field(max_length=MAX_NOTES)
    tool: Literal["none", "days_between", "months_between", "years_between", "days_after", "sum", "count"]
    arguments: list[Annotated[str, Field(max_length=60)]] = Field(max_length=20)


@dataclass(frozen=True, slots=True)
class ArithmeticStep:
    """A computation that an answer rests on."""

    tool: ArithmeticTool
    arguments: tuple[str, ...]
    result: str

    def __str__(self) -> str:
        return f"{self.tool}({', '.join(self.arguments)}) = {self.result}"


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer with the atoms it rests on. `labels` maps the numbers in the text to atoms. `reason` says why nothing
    is known, if nothing is."""

    question: str
    text: str
    is_known: bool
    cited: tuple[AtomId, ...] = ()
    labels: tuple[tuple[int, AtomId], ...] = ()
    steps: tuple[ArithmeticStep, ...] = ()
    reason: str = ""
    recall_id: str = ""
    model: str = ""
    tokens: int = 0


def answer_question(
    question: str, recall: Recall, chat: Chat, now: datetime, *, most_tokens: int = MOST_TOKENS
) -> CitedAnswer:
    """Answer a question from the hits of its recall. Without relevant hits the model is not called. Raises ModelError
    if the model fails."""
    hits = recall.relevant[:MAX_NOTES]
    if not hits:
        return CitedAnswer(question, NOT_KNOWN, False, reason="no relevant memory was found", recall_id=recall.id)
    messages = _build_messages(question, hits, now)
    steps: list[ArithmeticStep] = []
    tokens = 0
    for n in range(MAX_ROUNDS):
        reply = chat.ask(messages, AnswerGiven, most_tokens=most_tokens)
        reply_value, tokens = reply.value, tokens + reply.tokens_in + reply.tokens_out
        if reply_value.tool == "none" or n == MAX_ROUNDS - 1:
            break
        tool_result = _run_tool_step(ArithmeticTool(reply_value.tool), reply_value.arguments, steps)
        messages = [
            *messages[:-1],
            user_message(f"{messages[-1].content}\n\n{tool_result} Now give the answer; tool is none."),
        ]
    text, labels, why = _check_citations(reply_value, hits)
    return CitedAnswer(
        question,
        text,
        not why,
        tuple(dict.fromkeys(atom for _, atom in labels)),
        labels,
        tuple(steps),
        why,
        recall.id,
        chat.model,
        tokens,
    )


def _build_messages(question: str, hits: Sequence[Hit], now: datetime) -> list[Message]:
    """Return the prompt: the rules, the hits as numbered notes, the date and the question."""
    notes = [_format_note(n, hit) for n, hit in enumerate(hits, 1)]
    task = f"Today is {now:%A %Y-%m-%d}. The question: {sanitise(question, _MAX_NOTE_LENGTH)}"
    return [system_message(_RULES), user_message(f"{fence_data(notes)}\n\n{task}")]


def _format_note(n: int, hit: Hit) -> str:
    """Format one hit as a numbered note on one line."""
    day = (hit.passage.at or hit.atom.observed_at).date().isoformat()
    marks = "; ".join(sanitise(mark, 80) for mark in (str(hit.atom.status), *hit.marks) if mark != "active")
    speaker = f"{sanitise(hit.passage.speaker, 60)}: " if hit.passage.speaker else ""
    return f"[{n}] {day}{f' ({marks})' if marks else ''} {speaker}{sanitise(hit.text, _MAX_NOTE_LENGTH)}"


def _run_tool_step(tool: ArithmeticTool, arguments: Sequence[str], steps: list[ArithmeticStep]) -> str:
    """Run a tool and return the sentence for the model about its result; on success the step is appended to `steps`."""
    try:
        result = run_tool(tool, arguments)
    except InvalidInput as error:
        return f"{tool} could not be worked out: {sanitise(str(error), 120)}."
    steps.append(ArithmeticStep(tool, tuple(arguments), result))
    return f"Worked out: {sanitise(str(steps[-1]), 400)}."


def _check_citations(given: AnswerGiven, hits: Sequence[Hit]) -> tuple[str, tuple[tuple[int, AtomId], ...], str]:
    """Return the text with only labels that were shown, the atoms of these labels, and the reason why nothing is known,
    if so."""
    text = strip_invisible(_LABEL.sub(lambda label: _keep_shown_labels(label, len(hits)), given.text))
    if not given.known or not normal_form(_LABEL.sub("", text)) or _UNKNOWN_ANSWER.match(text):
        return NOT_KNOWN, (), "the memories found do not answer the question"
    in_text = [int(number) for label in _LABEL.findall(text) for number in label.split(",")]
    cites = list(dict.fromkeys([*in_text, *(cite for cite in given.cites if cite <= len(hits))]))
    if not cites:
        return NOT_KNOWN, (), "the model cited no memory for its answer"
    missing = "".join(f"[{cite}]" for cite in cites if cite not in in_text)
    return f"{text} {missing}".rstrip(), tuple((cite, hits[cite - 1].atom.id) for cite in cites), ""


def _keep_shown_labels(label: re.Match[str], note_count: int) -> str:
    """Return those numbers of a label that belong to a note, as labels again."""
    valid = [number for number in map(int, label[1].split(",")) if 1 <= number <= note_count]
    return "".join(f" [{number}]" for number in valid[:1]) + "".join(f"[{number}]" for number in valid[1:])
