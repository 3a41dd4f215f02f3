"""The tool of review: pending items, and the decisions of a person.

An agent that does not speak for a person may only list; the memory refuses the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, assert_never

from pydantic import Field

from lamina.documents.atom import QuoteDocument, load_quotes
from lamina.documents.json_document import JsonDocument
from lamina.documents.pending_items import ItemSummary, VerbDocument, verb_documents
from lamina.documents.receipt import WriteResult, brief_receipt
from lamina.errors import InvalidInput
from lamina.mcp.result_text import ToolResult, inbox_text, receipt_text
from lamina.mcp.tool_arguments import ReviewArguments, reject_unused_arguments

if TYPE_CHECKING:
    from lamina.capture.receipt import Receipt
    from lamina.memory import Memory
    from lamina.review.pending_items import Item


_ACTION_ARGUMENTS = {
    "list": ("source", "kind", "limit"),
    "confirm": ("id", "source"),
    "reject": ("id", "source"),
    "edit": ("id", "content", "value"),
    "keep": ("id", "other"),
    "both": ("id", "other"),
    "later": ("id", "other"),
    "merge": ("id", "other", "content", "value"),
}
"""The arguments of each action beside the reason."""


class PendingItem(ItemSummary):
    """One pending item: its text, why it is pending, and what each decision would do."""

    verbs: Annotated[
        list[VerbDocument], Field(description="`keep A --over B` is action keep with id A and other B, and so on.")
    ]
    quotes: Annotated[list[QuoteDocument], Field(description="The text it rests on.")]


class ReviewResult(JsonDocument):
    """The pending items, for list; the decisions, for other actions."""

    waiting: Annotated[int, Field(description="The number of pending items that match.")]
    items: list[PendingItem]
    decisions: list[WriteResult]


def review(memory: Memory, arguments: ReviewArguments) -> ToolResult:
    """List the pending items, or apply a person's decision."""
    reject_unused_arguments(
        arguments,
        ("action", "reason", *_ACTION_ARGUMENTS[arguments.action]),
        "see the tool's description for the arguments of each action",
    )
    if arguments.action == "list":
        return _list_items(memory, arguments)
    receipts = _apply_decision(memory, arguments)
    document = ReviewResult(
        waiting=memory.review.count(), items=[], decisions=[brief_receipt(receipt) for receipt in receipts]
    )
    return ToolResult("\n".join(receipt_text(receipt) for receipt in receipts), document)


def _list_items(memory: Memory, arguments: ReviewArguments) -> ToolResult:
    items = memory.review.list(arguments.source, kind=arguments.kind, limit=arguments.limit)
    waiting = memory.review.count(arguments.source, kind=arguments.kind)
    document = ReviewResult(waiting=waiting, items=[_pending_item(memory, item) for item in items], decisions=[])
    return ToolResult(inbox_text(items, waiting), document)


def _pending_item(memory: Memory, item: Item) -> PendingItem:
    quotes = [quote for atom in item.atoms for quote in load_quotes(memory, atom)]
    return PendingItem.of(item, verbs=verb_documents(item), quotes=quotes)


def _apply_decision(memory: Memory, arguments: ReviewArguments) -> list[Receipt]:
    reason = {"reason": arguments.reason} if arguments.reason is not None else {}
    fields: dict[str, Any] = arguments.given_fields("action", "id", "other", "content", "source", "kind", "limit")
    if arguments.id is not None and arguments.source is not None:
        raise InvalidInput("give id for one item or source for everything from it, not both")
    match arguments.action:
        case "confirm" if arguments.source is not None:
            return memory.review.approve_source(arguments.source, **reason)
        case "reject" if arguments.source is not None:
            return memory.review.reject_source(arguments.source, **reason)
        case "confirm":
            return [memory.review.confirm(_require(arguments, "id"), **reason)]
        case "reject":
            return [memory.review.reject(_require(arguments, "id"), **reason)]
        case "edit":
            return [memory.review.edit(_require(arguments, "id"), _require(arguments, "content"), **fields)]
        case "keep":
            return [memory.review.keep_a(_require(arguments, "id"), _require(arguments, "other"), **reason)]
        case "both":
            return [memory.review.both_valid(_require(arguments, "id"), _require(arguments, "other"), **reason)]
        case "merge":
            return [
                memory.review.merge(
                    _require(arguments, "id"), _require(arguments, "other"), _require(arguments, "content"), **fields
                )
            ]
        case "later":
            note = {"note": arguments.reason} if arguments.reason is not None else {}
            return [memory.review.need_more(_require(arguments, "id"), _require(arguments, "other"), **note)]
        case "list":
            raise InvalidInput("list is not a decision")
        case _:
            assert_never(arguments.action)


def _require(arguments: ReviewArguments, name: str) -> str:
    value: str | None = getattr(arguments, name)
    if value is None:
        raise InvalidInput(f"action {arguments.action} needs {name}; action list shows the pending items")
    return value
