"""Prompts that a person may choose in a host: recall context for a question, or review the inbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lamina.documents.argument_types import MAX_QUESTION_BYTES
from lamina.errors import InvalidInput
from lamina.mcp.catalogue import RECALL_CONTEXT, REVIEW_INBOX
from lamina.mcp.read_tools import recall
from lamina.mcp.review_tool import review
from lamina.mcp.tool_arguments import RecallArguments, ReviewArguments

if TYPE_CHECKING:
    from lamina.memory import Memory

PromptArguments = Mapping[str, str]

_MAX_ITEMS = 20


def render_prompt(memory: Memory, name: str, arguments: PromptArguments) -> str:
    """Return the text of a prompt; InvalidInput if there is none with this name."""
    build = _PROMPT_BUILDERS.get(name)
    if build is None:
        raise InvalidInput(f"unknown prompt; there are {', '.join(_PROMPT_BUILDERS)}")
    return build(memory, arguments)


def _recall_context(memory: Memory, arguments: PromptArguments) -> str:
    question = arguments.get("question", "").strip()
    if not question or len(question.encode(errors="replace")) > MAX_QUESTION_BYTES:
        raise InvalidInput("question: say what the context is for, in up to 4 KiB")
    text = recall(memory, RecallArguments(question=question)).text
    return (
        f"{text}\n\nThis is what is known about the question I am about to ask. Use what fits, name the ids you "
        "rely on, and say so if it is disputed or if nothing is known."
    )


def _review_inbox(memory: Memory, arguments: PromptArguments) -> str:
    text = review(memory, ReviewArguments(limit=_MAX_ITEMS)).text
    return (
        f"{text}\n\nReview these with me one by one: say in a sentence what each is and what confirming it would "
        "do, then wait for my decision. Apply it with the review tool only after I decided; if that is refused, "
        "tell me the `lamina review` command instead."
    )


_PROMPT_BUILDERS: dict[str, Callable[[Memory, PromptArguments], str]] = {
    RECALL_CONTEXT: _recall_context,
    REVIEW_INBOX: _review_inbox,
}
