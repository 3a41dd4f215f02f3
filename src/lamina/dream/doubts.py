"""A chat model that is asked whether newer lines contradict a statement. Its word alone only makes somebody ask."""

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
    """One line that speaks against the statement, as the model gives it."""

    line: int = Field(ge=1, le=MOST_LINES)
    was: _Quote
    now: _Quote


class Doubts(BaseModel):
    """Every line that speaks against the statement."""

    contradictions: list[Against] = Field(max_length=4)


def doubted_by(chat: Chat, belief: Atom, lines: Sequence[Line]) -> list[Line]:
    """The newest of the lines that, as the model says and quotes, contradict a statement; a ModelError if it fails."""
    shown = list(lines)[-MOST_LINES:]
    answer = chat.ask(_asking(belief, shown), Doubts, most_tokens=_MOST_TOKENS).value.contradictions
    named = {
        against.line - 1 for against in answer if against.line <= len(shown) and _is_quoted(against, belief, shown)
    }
    return [shown[n] for n in sorted(named)]


def _is_quoted(said: Against, belief: Atom, shown: Sequence[Line]) -> bool:
    quoted = stands_in(said.was, belief.content) and stands_in(said.now, shown[said.line - 1].text)
    return quoted and normal_form(said.was) != normal_form(said.now)


def _asking(belief: Atom, shown: Sequence[Line]) -> list[Message]:
    told = [f"statement | {harmless(belief.content, _MOST_CHARS)}"]
    for n, each in enumerate(shown, 1):
        who = harmless(each.speaker or "somebody", 60).replace("|", "/")
        told.append(f"{n} | {who} | {each.at:%Y-%m-%d} | {harmless(each.text, _MOST_CHARS)}")
    return [system(_RULES), user(f"{fenced(told)}\n\n{_TASK}")]
