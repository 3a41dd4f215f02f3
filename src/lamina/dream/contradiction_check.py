"""Asks a chat model whether later sentences contradict a statement. Its answer alone only creates a pair for review."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from lamina.atom.atom import Atom
from lamina.capture.llm.quote_support import occurs_in
from lamina.dream.counter_evidence import LaterSentence
from lamina.models.chat import Chat, Message, system_message, user_message
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise
from lamina.text.normal_form import normal_form

MAX_LINES = 12
_MAX_CHARS = 400
_MAX_TOKENS = 600
_RULES = f"""\
You check whether what a memory holds is still so. {DATA_ONLY} The first line of the data is the statement; each line
after it was said later: its number, who said it, the day, and the words."""
_TASK = """\
Task: does any of the numbered lines contradict the statement, so that both cannot be so now? None is a good answer, and
the usual one. More of the same, another occasion or another thing contradicts nothing.
line: its number. was: the words of the statement that no longer hold. now: the words of the line that say so. Both are
copied letter by letter, as few as possible."""

_Quote = Annotated[str, Field(max_length=120)]


class ContradictingLine(BaseModel):
    """One line that contradicts the statement, as the model returns it."""

    line: int = Field(ge=1, le=MAX_LINES)
    was: _Quote
    now: _Quote


class Doubts(BaseModel):
    """Every line that contradicts the statement."""

    contradictions: list[ContradictingLine] = Field(max_length=4)


def find_contradictions(chat: Chat, statement: Atom, candidates: Sequence[LaterSentence]) -> list[LaterSentence]:
    """Return the later sentences that contradict a statement, as the model says and quotes; ModelError if it fails."""
    recent = list(candidates)[-MAX_LINES:]
    answer = chat.ask(_build_prompt(statement, recent), Doubts, most_tokens=_MAX_TOKENS).value.contradictions
    contradicting = {
        answer_line.line - 1
        for answer_line in answer
        if answer_line.line <= len(recent) and _is_quoted(answer_line, statement, recent)
    }
    return [recent[n] for n in sorted(contradicting)]


def _is_quoted(answer: ContradictingLine, statement: Atom, candidates: Sequence[LaterSentence]) -> bool:
    quoted = occurs_in(answer.was, statement.content) and occurs_in(answer.now, candidates[answer.line - 1].text)
    return quoted and normal_form(answer.was) != normal_form(answer.now)


def _build_prompt(statement: Atom, candidates: Sequence[LaterSentence]) -> list[Message]:
    lines = [f"statement | {sanitise(statement.content, _MAX_CHARS)}"]
    for n, candidate in enumerate(candidates, 1):
        speaker = sanitise(candidate.speaker or "somebody", 60).replace("|", "/")
        lines.append(f"{n} | {speaker} | {candidate.at:%Y-%m-%d} | {sanitise(candidate.text, _MAX_CHARS)}")
    return [system_message(_RULES), user_message(f"{fence_data(lines)}\n\n{_TASK}")]
