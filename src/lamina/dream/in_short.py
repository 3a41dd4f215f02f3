"""Summarises the lines of a page with a chat model. A sentence is kept only if the lines it cites support it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from lamina.capture.llm.support import is_borne_out
from lamina.dream.entity_card import Row, happened_at, listed
from lamina.models.chat import Chat, Message, system, user
from lamina.models.fence import DATA_ONLY, fenced, harmless
from lamina.text.alike import form_of
from lamina.text.normal import normal_form

MOST_LINES = 120
_LINE_CHARS = 300
_FEWEST, _MOST, _MANY = 2, 4, 16
_DENYING = "not no none never nobody nothing nowhere neither nor without hardly barely stop stopped quit"
_DENIALS = frozenset(_DENYING.split())
_RULES = f"""\
You keep a memory that says nothing but what people said. {DATA_ONLY} Each line of the data is one statement: its
number, the day, and the words."""
_TASK = """\
Task: sum up what the lines say of {name}, in {fewest} to {most} plain sentences, the most important first.
text: one complete sentence with names instead of pronouns and nothing that no line says; names and numbers copied
letter by letter. lines: the numbers of the lines it rests on."""


class ShortSentence(BaseModel):
    """One sentence as the model returns it, with the lines it cites."""

    text: str = Field(max_length=300)
    lines: list[Annotated[int, Field(ge=1, le=MOST_LINES)]] = Field(min_length=1, max_length=8)


class ShortCard(BaseModel):
    """A card in a few sentences."""

    sentences: list[ShortSentence] = Field(min_length=_FEWEST, max_length=_MOST)


class Condensed(BaseModel):
    """Many lines in fewer."""

    sentences: list[ShortSentence] = Field(min_length=_FEWEST, max_length=_MANY)


def in_short(chat: Chat, name: str, rows: Sequence[Row]) -> list[str]:
    """Return a model's summary of the lines in two to four sentences, as lines of a page; unsupported ones are dropped.

    ModelError if the answer does not have the requested form.
    """
    return list(_checked(chat.ask(_asked(name, rows, _MOST), ShortCard).value.sentences, name, rows))


def condensed(chat: Chat, name: str, rows: Sequence[Row]) -> list[str]:
    """Return a longer summary of many lines; otherwise like `summarise_page`."""
    return list(_checked(chat.ask(_asked(name, rows, _MANY), Condensed).value.sentences, name, rows))


def _asked(name: str, rows: Sequence[Row], most: int) -> list[Message]:
    described = (f"{happened_at(row.source):%Y-%m-%d} | {harmless(row.text, _LINE_CHARS)}" for row in rows[:MOST_LINES])
    data = fenced(f"{n} | {line}" for n, line in enumerate(described, 1))
    return [system(_RULES), user(f"{data}\n\n{_TASK.format(name=harmless(name, 60), fewest=_FEWEST, most=most)}")]


def _checked(sentences: Sequence[ShortSentence], name: str, rows: Sequence[Row]) -> Iterator[str]:
    numbered = rows[:MOST_LINES]
    for sentence in sentences:
        cited = [numbered[n - 1] for n in dict.fromkeys(sentence.lines) if n <= len(numbered)]
        text = harmless(sentence.text)
        if cited and normal_form(text) and _is_true_to(text, name, cited):
            yield listed(text, *(line.source for line in cited))


def _is_true_to(text: str, name: str, cited: Sequence[Row]) -> bool:
    """Return whether every name and number is in the cited lines, and the sentence is negated exactly if they are."""
    texts = [*(line.text for line in cited), *(line.source.content for line in cited)]
    context_texts = [name, *texts, *(line.source.subject for line in cited)]
    is_source_negated = any(_denies(source_text) for source_text in texts)
    days = [happened_at(line.source).date() for line in cited]
    return is_source_negated == _denies(text) and is_borne_out(text, context_texts, days)


def _denies(text: str) -> bool:
    return not _DENIALS.isdisjoint(form_of(text).signs)
