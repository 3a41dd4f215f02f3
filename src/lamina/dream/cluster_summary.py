"""Summarises a cluster with a chat model: every sentence cites its statements and says nothing that they do not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated

from pydantic import BaseModel, Field

from lamina.atom.atom import Atom
from lamina.capture.llm.quote_support import has_only_known_names
from lamina.dream.synthesis import LINE_CHARS, MAX_LINES, distinct_statements
from lamina.models.chat import Chat, Message, system_message, user_message
from lamina.models.errors import ModelError
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise, strip_invisible

_MAX_TOKENS = 1024

_RULES = f"""\
You sum up statements of a memory. {DATA_ONLY} Each line of the data is one statement: its number, whom or what it is
about, the day, and the words."""

_TASK = """\
Task: say in one to four short sentences what the statements say together, in their language. What they have in common
comes first. Leave out what does not matter, and add nothing: no guess, no advice, no name or number that is not there.
text: the sentence, without any number of a statement in it.
statements: the numbers of the statements it rests on, at least one."""


class SummarySentence(BaseModel):
    """One sentence as the model returns it."""

    text: str = Field(min_length=1, max_length=300)
    statements: list[Annotated[int, Field(ge=1, le=MAX_LINES)]] = Field(min_length=1, max_length=MAX_LINES)


class Summary(BaseModel):
    """A few sentences; each is checked before it is used."""

    sentences: list[SummarySentence] = Field(min_length=1, max_length=4)


def summarise_cluster(members: Sequence[Atom], chat: Chat) -> str:
    """Return a summary of the members, each sentence with the ids it cites; ModelError if one is not supported."""
    statements = distinct_statements(members)[:MAX_LINES]
    summary = chat.ask(_build_prompt(statements), Summary, most_tokens=_MAX_TOKENS).value
    return "\n".join(_checked_sentence(sentence, statements, chat.model) for sentence in summary.sentences)


def _build_prompt(statements: Sequence[Atom]) -> list[Message]:
    lines = [
        f"{n} | {sanitise(statement.subject or 'nobody in particular', 80).replace('|', '/')} | "
        f"{statement.observed_at:%Y-%m-%d} | {sanitise(statement.content, LINE_CHARS)}"
        for n, statement in enumerate(statements, 1)
    ]
    return [system_message(_RULES), user_message(f"{fence_data(lines)}\n\n{_TASK}")]


def _checked_sentence(sentence: SummarySentence, statements: Sequence[Atom], model: str) -> str:
    text, numbers = strip_invisible(sentence.text), dict.fromkeys(sentence.statements)
    if max(numbers) > len(statements):
        raise ModelError(
            f"{model} cites statement {max(numbers)} of {len(statements)}; run the dream again, or without a chat model"
        )
    cited = [statements[n - 1] for n in numbers]
    if not text or not has_only_known_names(
        text, [f"{statement.subject} {statement.content}" for statement in cited], _observed_days(cited)
    ):
        raise ModelError(f"{model} says what its sources do not say; run the dream again, or without a chat model")
    return f"{text} {' '.join(f'[{statement.id}]' for statement in cited)}"


def _observed_days(cited: Sequence[Atom]) -> list[date]:
    return [atom.observed_at.date() for atom in cited]
