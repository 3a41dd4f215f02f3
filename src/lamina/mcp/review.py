"""The tool of review: pending items, and the decisions of a person.

An agent that does not speak for a person may only list; the memory refuses the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from lamina.documents.atom import quotes_of
from lamina.documents.inbox import VerbDocument
from lamina.errors import InvalidInput
from lamina.mcp.answers import Reviewed, Waiting, written
from lamina.mcp.arguments import ReviewArguments, unfitting
from lamina.mcp.told import Told, told_inbox, told_receipt

if TYPE_CHECKING:
    from lamina.capture.receipt import Receipt
    from lamina.memory import Memory
    from lamina.review.waiting import Item


_TAKEN = {
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


def review(memory: Memory, asked: ReviewArguments) -> Told:
    """List the pending items, or apply a person's decision."""
    unfitting(
        asked,
        ("action", "reason", *_TAKEN[asked.action]),
        "see the tool's description for the arguments of each action",
    )
    if asked.action == "list":
        return _listed(memory, asked)
    receipts = _decided(memory, asked)
    document = Reviewed(waiting=memory.review.count(), items=[], decisions=[written(receipt) for receipt in receipts])
    return Told("\n".join(told_receipt(receipt) for receipt in receipts), document)


def _listed(memory: Memory, asked: ReviewArguments) -> Told:
    items = memory.review.list(asked.source, kind=asked.kind, limit=asked.limit)
    waiting = memory.review.count(asked.source, kind=asked.kind)
    document = Reviewed(waiting=waiting, items=[_waiting(memory, item) for item in items], decisions=[])
    return Told(told_inbox(items, waiting), document)


def _waiting(memory: Memory, item: Item) -> Waiting:
    return Waiting(
        kind=item.kind.value,
        ids=list(item.ids),
        text=item.text,
        reason=item.reason,
        verbs=[VerbDocument(verb=verb, does=does) for verb, does in item.verbs],
        quotes=[quote for atom in item.atoms for quote in quotes_of(memory, atom)],
    )


def _decided(memory: Memory, asked: ReviewArguments) -> list[Receipt]:
    reason = {"reason": asked.reason} if asked.reason is not None else {}
    if asked.id is not None and asked.source is not None:
        raise InvalidInput("give id for one item or source for everything from it, not both")
    match asked.action:
        case "confirm" if asked.source is not None:
            return memory.review.approve_source(asked.source, **reason)
        case "reject" if asked.source is not None:
            return memory.review.reject_source(asked.source, **reason)
        case "confirm":
            return [memory.review.confirm(_id(asked), **reason)]
        case "reject":
            return [memory.review.reject(_id(asked), **reason)]
        case "edit":
            fields = {"value": asked.value} if asked.value is not None else {}
            return [memory.review.edit(_id(asked), _content(asked), **reason, **fields)]
        case "keep":
            return [memory.review.keep_a(_id(asked), _other(asked), **reason)]
        case "both":
            return [memory.review.both_valid(_id(asked), _other(asked), **reason)]
        case "merge":
            fields = {"value": asked.value} if asked.value is not None else {}
            return [memory.review.merge(_id(asked), _other(asked), _content(asked), **reason, **fields)]
        case "later":
            note = {"note": asked.reason} if asked.reason is not None else {}
            return [memory.review.need_more(_id(asked), _other(asked), **note)]
        case "list":
            raise InvalidInput("list is not a decision")
        case _:
            assert_never(asked.action)


def _id(asked: ReviewArguments) -> str:
    return _given(asked, asked.id, "id")


def _other(asked: ReviewArguments) -> str:
    return _given(asked, asked.other, "other")


def _content(asked: ReviewArguments) -> str:
    return _given(asked, asked.content, "content")


def _given(asked: ReviewArguments, value: str | None, name: str) -> str:
    if value is None:
        raise InvalidInput(f"action {asked.action} needs {name}; action list shows the pending items")
    return value
