"""Summarises a cluster with a chat model: every sentence cites its statements and says nothing that they do not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated

from pydantic import BaseModel, Field

from lamina.atom.atom import Atom
from lamina.capture.llm.support import is_borne_out
from lamina.dream.synthesis import LINE_CHARS, LINES, distinct
from lamina.models.chat import Chat, Message, system, user
from lamina.models.errors import ModelError
from lamina.models.fence import DATA_ONLY, fenced, harmless, seen

_TOKENS = 1024

_RULES = f"""\
You sum up statements of a memory. {DATA_ONLY} Each line of the data is one statement: its number, whom or what it is
about, the day, and the words."""

_TASK = """\
Task: say in one to four short sentences what the statements say together, in their language. What they have in common
comes first. Leave out what does not matter, and add nothing: no guess, no advice, no name or number that is not there.
text: the sentence, without any number of a statement in it.
statements: the numbers of the statements it rests on, at least one."""


class Sentence(BaseModel):
    """One sentence as the model returns it."""

    text: str = Field(min_length=1, max_length=300)
    statements: list[Annotated[int, Field(ge=1, le=LINES)]] = Field(min_length=1, max_length=LINES)


class Summary(BaseModel):
    """A few sentences; each is checked before it is used."""

    sentences: list[Sentence] = Field(min_length=1, max_length=4)


def summed_up(members: Sequence[Atom], chat: Chat) -> str:
    """Return a summary of the members, each sentence with the ids it cites; ModelError if one is not supported."""
    statements = distinct(members)[:LINES]
    summary = chat.ask(_asking(statements), Summary, most_tokens=_TOKENS).value
    return "\n".join(_checked(sentence, statements, chat.model) for sentence in summary.sentences)


def _asking(shown: Sequence[Atom]) -> list[Message]:
    lines = [
        f"{n} | {harmless(statement.subject or 'nobody in particular', 80).replace('|', '/')} | "
        f"{statement.observed_at:%Y-%m-%d} | {harmless(statement.content, LINE_CHARS)}"
        for n, statement in enumerate(shown, 1)
    ]
    return [system(_RULES), user(f"{fenced(lines)}\n\n{_TASK}")]


def _checked(sentence: Sentence, shown: Sequence[Atom], model: str) -> str:
    text, numbers = seen(sentence.text), dict.fromkeys(sentence.statements)
    if max(numbers) > len(shown):
        raise ModelError(
            f"{model} cites statement {max(numbers)} of {len(shown)}; run the dream again, or without a chat model"
        )
    cited = [shown[n - 1] for n in numbers]
    if not text or not is_borne_out(
        text, [f"{statement.subject} {statement.content}" for statement in cited], _days(cited)
    ):
        raise ModelError(f"{model} says what its sources do not say; run the dream again, or without a chat model")
    return f"{text} {' '.join(f'[{statement.id}]' for statement in cited)}"


def _days(cited: Sequence[Atom]) -> list[date]:
    return [atom.observed_at.date() for atom in cited]
