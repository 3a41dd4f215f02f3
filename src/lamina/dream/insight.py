"""Writes the text of an insight: from a template, or with a chat model that cites both sides and adds no name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field

from lamina.atom.atom import Atom
from lamina.capture.llm.support import is_borne_out
from lamina.models.chat import Chat, system, user
from lamina.models.errors import ModelError
from lamina.models.fence import DATA_ONLY, fenced, harmless
from lamina.text.normal import one_line

MOST_LINES = 6
_MOST_CHARS = 240
_MOST_TOKENS = 300
_RULES = f"You look for what two things have to do with each other. {DATA_ONLY} Each line of the data is one statement."
_TASK = """\
Task: say in one sentence what the first and the second name may have to do with each other, naming both, and only with
what the numbered lines say. cites: the numbers of the lines it rests on, at least one about each."""

Told: TypeAlias = tuple[str, Sequence[Atom]]
"""A name and the statements about it that are nearest to the other name."""


class Insight(BaseModel):
    """A sentence as the model returns it."""

    sentence: str = Field(min_length=1, max_length=_MOST_CHARS)
    cites: list[Annotated[int, Field(ge=1, le=MOST_LINES)]] = Field(max_length=MOST_LINES)


def told_by_template(one: Told, other: Told) -> str:
    """Return a sentence that two names may be related, with the best statement of each."""
    quotes = " / ".join(f"{_short(atoms[0].content)} [{atoms[0].id}]" for _, atoms in (one, other))
    return f"{one[0]} and {other[0]} may have to do with each other: {quotes}"


def written(chat: Chat, one: Told, other: Told) -> str:
    """Return a model's sentence with its citations; ModelError if it cites one side only or adds a name."""
    statements = [*one[1], *other[1]]
    numbered = [f"{n} | {harmless(statement.content, _MOST_CHARS)}" for n, statement in enumerate(statements, 1)]
    names = [f"first name | {harmless(one[0], 60)}", f"second name | {harmless(other[0], 60)}"]
    messages = [system(_RULES), user(f"{fenced([*names, *numbered])}\n\n{_TASK}")]
    reply = chat.ask(messages, Insight, most_tokens=_MOST_TOKENS).value
    cited, first = sorted({n for n in reply.cites if n <= len(statements)}), len(one[1])
    cites_both = any(n <= first for n in cited) and any(n > first for n in cited)
    texts = [*(statement.content for statement in statements), one[0], other[0]]
    if not cites_both or not is_borne_out(reply.sentence, texts, ()):
        raise ModelError(
            "the chat model's insight is not supported by the statements it was given; run the dream again"
        )
    return f"{one_line(reply.sentence)} {' '.join(f'[{statements[n - 1].id}]' for n in cited)}"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _MOST_CHARS else f"{line[: _MOST_CHARS - 1].rstrip()}…"
