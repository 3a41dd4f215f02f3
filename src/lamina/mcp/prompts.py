"""Prompts a person may choose in their host: put what is known before a model, or go through the inbox with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lamina.errors import InvalidInput
from lamina.mcp.arguments import LONGEST_QUESTION, RecallArguments, ReviewArguments
from lamina.mcp.listing import RECALL_CONTEXT, REVIEW_INBOX
from lamina.mcp.read import recall
from lamina.mcp.review import review

if TYPE_CHECKING:
    from lamina.memory import Memory

Given = Mapping[str, str]

_ITEMS = 20


def prompt(memory: Memory, name: str, given: Given) -> str:
    """The text of a prompt, or InvalidInput where there is none of that name."""
    make = _TEXTS.get(name)
    if make is None:
        raise InvalidInput(f"there is no such prompt; there are {', '.join(_TEXTS)}")
    return make(memory, given)


def _recall_context(memory: Memory, given: Given) -> str:
    question = given.get("question", "").strip()
    if not question or len(question.encode(errors="replace")) > LONGEST_QUESTION:
        raise InvalidInput("question: say what the context is for, in up to 4 KiB")
    told = recall(memory, RecallArguments(question=question)).text
    return (
        f"{told}\n\nThis is what the memory holds on the question I am about to ask. Use what fits, name the ids you "
        "rely on, and say so where it is disputed or where nothing is known."
    )


def _review_inbox(memory: Memory, given: Given) -> str:
    told = review(memory, ReviewArguments(limit=_ITEMS)).text
    return (
        f"{told}\n\nGo through these with me one by one: say in a sentence what each is and what confirming it would "
        "do, then wait for my decision. Carry it out with the review tool only after I said it; if that is refused, "
        "tell me the `lamina review` command instead."
    )


_TEXTS: dict[str, Callable[[Memory, Given], str]] = {RECALL_CONTEXT: _recall_context, REVIEW_INBOX: _review_inbox}
