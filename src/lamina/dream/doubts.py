"""Asks a chat model whether later sentences contradict a statement. Its answer alone only creates a pair for review."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from lamina.atom.atom import Atom
from lamina.capture.llm.support import stands_in
from lamina.dream.newer import Line
from lamina.models.chat import Chat, Message, system, user
from lamina.models.fence import DATA_ONLY, fenced, harmless
from lamina.text.normal import normal_form

MOST_LINES = 12
_MOST_CHARS = 400
_MOST_TOKENS = 600
_RULES = f"""\
You check whether what a memory holds is still so. {DATA_ONLY} The first line of the data is the statement; each line
after it was said later: its number, who said it, the day, and the words."""
_TASK = """\
Task: does any of the numbered lines contradict the statement, so that both cannot be so now? None is a good answer, and
the usual one. More of the same, another occasion or another thing contradicts nothing.
line: its number. was: the words of the statement that no longer hold. now: the words of the line that say so. Both are
copied letter by letter, as few as possible."""

_Quote = Annotated[str, Field(max_length=120)]


class Against(BaseModel):
    """One line that contradicts the statement, as the model returns it."""

    line: int = Field(ge=1, le=MOST_LINES)
    was: _Quote
    now: _Quote


class Doubts(BaseModel):
    """Every line that contradicts the statement."""

    contradictions: list[Against] = Field(max_length=4)


def doubted_by(chat: Chat, belief: Atom, lines: Sequence[Line]) -> list[Line]:
    """Return the later sentences that contradict a statement, as the model says and quotes; ModelError if it fails."""
    recent = list(lines)[-MOST_LINES:]
    answer = chat.ask(_asking(belief, recent), Doubts, most_tokens=_MOST_TOKENS).value.contradictions
    contradicting = {
        answer_line.line - 1
        for answer_line in answer
        if answer_line.line <= len(recent) and _is_quoted(answer_line, belief, recent)
    }
    return [recent[n] for n in sorted(contradicting)]


def _is_quoted(said: Against, belief: Atom, shown: Sequence[Line]) -> bool:
    quoted = stands_in(said.was, belief.content) and stands_in(said.now, shown[said.line - 1].text)
    return quoted and normal_form(said.was) != normal_form(said.now)


def _asking(belief: Atom, shown: Sequence[Line]) -> list[Message]:
    lines = [f"statement | {harmless(belief.content, _MOST_CHARS)}"]
    for n, candidate in enumerate(shown, 1):
        speaker = harmless(candidate.speaker or "somebody", 60).replace("|", "/")
        lines.append(f"{n} | {speaker} | {candidate.at:%Y-%m-%d} | {harmless(candidate.text, _MOST_CHARS)}")
    return [system(_RULES), user(f"{fenced(lines)}\n\n{_TASK}")]
