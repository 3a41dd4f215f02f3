"""A cluster in a chat model's words: every sentence names the statements it rests on, and says nothing they do not."""

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
    """One sentence as the model gives it."""

    text: str = Field(min_length=1, max_length=300)
    statements: list[Annotated[int, Field(ge=1, le=LINES)]] = Field(min_length=1, max_length=LINES)


class Summary(BaseModel):
    """A few sentences; nothing of them is believed before it is checked."""

    sentences: list[Sentence] = Field(min_length=1, max_length=4)


def summed_up(members: Sequence[Atom], chat: Chat) -> str:
    """What the members say together, each sentence with the ids it rests on; ModelError where it says anything else."""
    shown = distinct(members)[:LINES]
    summary = chat.ask(_asking(shown), Summary, most_tokens=_TOKENS).value
    return "\n".join(_checked(sentence, shown, chat.model) for sentence in summary.sentences)


def _asking(shown: Sequence[Atom]) -> list[Message]:
    lines = [
        f"{n} | {harmless(each.subject or 'nobody in particular', 80).replace('|', '/')} | "
        f"{each.observed_at:%Y-%m-%d} | {harmless(each.content, LINE_CHARS)}"
        for n, each in enumerate(shown, 1)
    ]
    return [system(_RULES), user(f"{fenced(lines)}\n\n{_TASK}")]


def _checked(sentence: Sentence, shown: Sequence[Atom], model: str) -> str:
    words, numbers = seen(sentence.text), dict.fromkeys(sentence.statements)
    if max(numbers) > len(shown):
        raise ModelError(
            f"{model} cites statement {max(numbers)} of {len(shown)}; dream again, or without a chat model"
        )
    cited = [shown[n - 1] for n in numbers]
    if not words or not is_borne_out(words, [f"{each.subject} {each.content}" for each in cited], _days(cited)):
        raise ModelError(f"{model} says what its sources do not say; dream again, or without a chat model")
    return f"{words} {' '.join(f'[{each.id}]' for each in cited)}"


def _days(cited: Sequence[Atom]) -> list[date]:
    return [atom.observed_at.date() for atom in cited]
