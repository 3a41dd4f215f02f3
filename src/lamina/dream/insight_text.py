"""Writes the text of an insight: from a template, or with a chat model that cites both sides and adds no name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field

from lamina.atom.atom import Atom
from lamina.capture.llm.quote_support import has_only_known_names
from lamina.models.chat import Chat, system_message, user_message
from lamina.models.errors import ModelError
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise
from lamina.text.normal_form import one_line

MAX_LINES = 6
_MAX_CHARS = 240
_MAX_TOKENS = 300
_RULES = f"You look for what two things have to do with each other. {DATA_ONLY} Each line of the data is one statement."
_TASK = """\
Task: say in one sentence what the first and the second name may have to do with each other, naming both, and only with
what the numbered lines say. cites: the numbers of the lines it rests on, at least one about each."""

NamedStatements: TypeAlias = tuple[str, Sequence[Atom]]
"""A name and the statements about it that are nearest to the other name."""


class Insight(BaseModel):
    """A sentence as the model returns it."""

    sentence: str = Field(min_length=1, max_length=_MAX_CHARS)
    cites: list[Annotated[int, Field(ge=1, le=MAX_LINES)]] = Field(max_length=MAX_LINES)


def write_from_template(side_a: NamedStatements, side_b: NamedStatements) -> str:
    """Return a sentence that two names may be related, with the best statement of each."""
    quotes = " / ".join(f"{_shorten(atoms[0].content)} [{atoms[0].id}]" for _, atoms in (side_a, side_b))
    return f"{side_a[0]} and {side_b[0]} may have to do with each other: {quotes}"


def write_with_model(chat: Chat, side_a: NamedStatements, side_b: NamedStatements) -> str:
    """Return a model's sentence with its citations; ModelError if it cites one side only or adds a name."""
    statements = [*side_a[1], *side_b[1]]
    numbered = [f"{n} | {sanitise(statement.content, _MAX_CHARS)}" for n, statement in enumerate(statements, 1)]
    names = [f"first name | {sanitise(side_a[0], 60)}", f"second name | {sanitise(side_b[0], 60)}"]
    messages = [system_message(_RULES), user_message(f"{fence_data([*names, *numbered])}\n\n{_TASK}")]
    reply = chat.ask(messages, Insight, most_tokens=_MAX_TOKENS).value
    cited, first = sorted({n for n in reply.cites if n <= len(statements)}), len(side_a[1])
    cites_both = any(n <= first for n in cited) and any(n > first for n in cited)
    texts = [*(statement.content for statement in statements), side_a[0], side_b[0]]
    if not cites_both or not has_only_known_names(reply.sentence, texts, ()):
        raise ModelError(
            "the chat model's insight is not supported by the statements it was given; run the dream again"
        )
    return f"{one_line(reply.sentence)} {' '.join(f'[{statements[n - 1].id}]' for n in cited)}"


def _shorten(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _MAX_CHARS else f"{line[: _MAX_CHARS - 1].rstrip()}…"
