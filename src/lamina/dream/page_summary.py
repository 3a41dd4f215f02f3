"""Summarises the lines of a page with a chat model. A sentence is kept only if the lines it cites support it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from lamina.capture.llm.quotes import has_only_known_names
from lamina.dream.entity_page_text import PageLine, happened_at, render_line
from lamina.models.chat import Chat, Message, system_message, user_message
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise
from lamina.text.normal_form import comparison_form, normal_form

MAX_LINES = 120
_LINE_CHARS = 300
_MIN_SENTENCES, _MAX_SENTENCES, _MAX_CONDENSED = 2, 4, 16
_NEGATION_WORDS = "not no none never nobody nothing nowhere neither nor without hardly barely stop stopped quit"
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
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
    lines: list[Annotated[int, Field(ge=1, le=MAX_LINES)]] = Field(min_length=1, max_length=8)


class ShortCard(BaseModel):
    """A card in a few sentences."""

    sentences: list[ShortSentence] = Field(min_length=_MIN_SENTENCES, max_length=_MAX_SENTENCES)


class Condensed(BaseModel):
    """Many lines in fewer."""

    sentences: list[ShortSentence] = Field(min_length=_MIN_SENTENCES, max_length=_MAX_CONDENSED)


def summarise_page(chat: Chat, name: str, lines: Sequence[PageLine]) -> list[str]:
    """Return a model's summary of the lines in two to four sentences, as lines of a page; unsupported ones are dropped.

    ModelError if the answer does not have the requested form.
    """
    return list(
        _supported_lines(chat.ask(_build_prompt(name, lines, _MAX_SENTENCES), ShortCard).value.sentences, name, lines)
    )


def condense_lines(chat: Chat, name: str, lines: Sequence[PageLine]) -> list[str]:
    """Return a longer summary of many lines; otherwise like `summarise_page`."""
    return list(
        _supported_lines(chat.ask(_build_prompt(name, lines, _MAX_CONDENSED), Condensed).value.sentences, name, lines)
    )


def _build_prompt(name: str, lines: Sequence[PageLine], max_sentences: int) -> list[Message]:
    described = (f"{happened_at(row.source):%Y-%m-%d} | {sanitise(row.text, _LINE_CHARS)}" for row in lines[:MAX_LINES])
    data = fence_data(f"{n} | {line}" for n, line in enumerate(described, 1))
    return [
        system_message(_RULES),
        user_message(f"{data}\n\n{_TASK.format(name=sanitise(name, 60), fewest=_MIN_SENTENCES, most=max_sentences)}"),
    ]


def _supported_lines(sentences: Sequence[ShortSentence], name: str, lines: Sequence[PageLine]) -> Iterator[str]:
    numbered = lines[:MAX_LINES]
    for sentence in sentences:
        cited = [numbered[n - 1] for n in dict.fromkeys(sentence.lines) if n <= len(numbered)]
        text = sanitise(sentence.text)
        if cited and normal_form(text) and _is_supported(text, name, cited):
            yield render_line(text, *(line.source for line in cited))


def _is_supported(text: str, name: str, cited: Sequence[PageLine]) -> bool:
    """Return whether every name and number is in the cited lines, and the sentence is negated exactly if they are."""
    texts = [*(line.text for line in cited), *(line.source.content for line in cited)]
    context_texts = [name, *texts, *(line.source.subject for line in cited)]
    is_source_negated = any(_is_negated(source_text) for source_text in texts)
    days = [happened_at(line.source).date() for line in cited]
    return is_source_negated == _is_negated(text) and has_only_known_names(text, context_texts, days)


def _is_negated(text: str) -> bool:
    return not _NEGATIONS.isdisjoint(comparison_form(text).signs)
