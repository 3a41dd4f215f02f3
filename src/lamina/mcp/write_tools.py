"""The tools that write."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, assert_never

from lamina.documents.receipt import change_document
from lamina.errors import InvalidInput
from lamina.mcp.arguments import (
    CaptureArguments,
    FeedbackArguments,
    ForgetArguments,
    RelateArguments,
    RememberArguments,
    ReviseArguments,
    reject_unused_arguments,
)
from lamina.mcp.result_documents import AtomQuality, ChangeResult, FeedbackResult, brief_atom, write_result
from lamina.mcp.result_text import ToolResult, change_text, receipt_text
from lamina.text.timestamps import parse_time

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.memory import Memory

_FIELDS = ("subject", "attribute", "value", "kind", "tags", "valid_from", "valid_until", "confidence", "importance")
_ACTION_ARGUMENTS = {"text": ("content", *_FIELDS), "status": ("status",)}
"""The arguments of each action of revise beside the atom and the reason."""
_ACTION_VERBS = {
    "text": "revised",
    "status": "moved",
    "pin": "pinned",
    "unpin": "unpinned",
    "promote": "promoted",
    "demote": "demoted",
    "resolve": "resolved",
}


def capture(memory: Memory, arguments: CaptureArguments) -> ToolResult:
    """Store text verbatim and extract statements from it."""
    if (arguments.words is None) == (arguments.turns is None):
        raise InvalidInput("give either words or turns")
    turns = [turn.model_dump(exclude_none=True) for turn in arguments.turns or ()]
    receipt = memory.capture(
        turns if arguments.words is None else arguments.words,
        session_id=arguments.session_id,
        source_id=arguments.source_id,
        observed_at=_parse_observed_at(arguments.observed_at),
        origin=arguments.origin,
        private=arguments.private,
        key=arguments.key,
        wait=arguments.wait,
    )
    return ToolResult(receipt_text(receipt), write_result(receipt))


def remember(memory: Memory, arguments: RememberArguments) -> ToolResult:
    """Write one explicit statement, compared with existing statements."""
    fields = arguments.model_dump(exclude_unset=True, exclude={"content", "origin", "private", "reason", "key"})
    receipt = memory.remember(
        arguments.content,
        origin=arguments.origin,
        private=arguments.private,
        reason=arguments.reason,
        key=arguments.key,
        **_without_none(fields),
    )
    return ToolResult(receipt_text(receipt), write_result(receipt))


def feedback(memory: Memory, arguments: FeedbackArguments) -> ToolResult:
    """Record feedback on an answer."""
    updated_ids = memory.feedback(arguments.recall_id, arguments.cited, arguments.verdict)
    signals = [(atom_id, memory.signals(atom_id)) for atom_id in updated_ids]
    qualities = [
        AtomQuality(id=atom_id, quality=counters.quality_score, uses=counters.recall_count)
        for atom_id, counters in signals
    ]
    document = FeedbackResult(recall_id=arguments.recall_id, verdict=arguments.verdict, learnt=qualities)
    return ToolResult(_feedback_text(memory, arguments, qualities), document)


def _feedback_text(memory: Memory, arguments: FeedbackArguments, qualities: list[AtomQuality]) -> str:
    """Return the quality of each cited atom, and how many were recalled but not cited."""
    if not qualities:
        reason = "this recall had feedback before" if arguments.cited else "nothing was cited"
        return f"{reason}, so nothing changed"
    cited = {memory.get(atom_id).id for atom_id in arguments.cited}
    lines = [f"{atom.id}: quality {atom.quality:g}, uses {atom.uses}" for atom in qualities if atom.id in cited]
    others = len(qualities) - len(lines)
    lines += [f"recalled but not cited, so ranked a little lower next time: {others}"] if others else []
    return "\n".join(lines)


def revise(memory: Memory, arguments: ReviseArguments) -> ToolResult:
    """Change one thing about an atom; the earlier version is kept."""
    reject_unused_arguments(
        arguments,
        ("id", "action", "reason", *_ACTION_ARGUMENTS.get(arguments.action, ())),
        "call revise once for each change",
    )
    before = memory.get(arguments.id)
    return _change_result(memory, before, _apply_revision(memory, arguments), _ACTION_VERBS[arguments.action])


def _apply_revision(memory: Memory, arguments: ReviseArguments) -> Atom:
    match arguments.action:
        case "text":
            fields = _without_none({name: getattr(arguments, name) for name in _FIELDS})
            if arguments.content is None and not fields:
                raise InvalidInput("action text needs content or a field such as value or valid_until")
            return memory.revise(arguments.id, arguments.content, reason=arguments.reason, **fields)
        case "status":
            if arguments.status is None:
                raise InvalidInput("action status needs status")
            return memory.update_status(arguments.id, arguments.status, arguments.reason)
        case "pin":
            return memory.pin(arguments.id, arguments.reason)
        case "unpin":
            return memory.unpin(arguments.id, arguments.reason)
        case "promote":
            return memory.promote(arguments.id, arguments.reason)
        case "demote":
            return memory.demote(arguments.id, arguments.reason)
        case "resolve":
            return memory.resolve(arguments.id, arguments.reason)
        case _:
            assert_never(arguments.action)


def forget(memory: Memory, arguments: ForgetArguments) -> ToolResult:
    """Tombstone an atom, so that recall no longer finds it."""
    before = memory.get(arguments.id)
    return _change_result(memory, before, memory.forget(arguments.id, arguments.reason), "forgotten")


def relate(memory: Memory, arguments: RelateArguments) -> ToolResult:
    """Link two atoms."""
    before = memory.get(arguments.a)
    return _change_result(
        memory, before, memory.relate(arguments.a, arguments.relation, arguments.b, arguments.confidence), "linked"
    )


def _change_result(memory: Memory, before: Atom, after: Atom, action: str) -> ToolResult:
    commit = change_document(memory, after).commit if after.revision != before.revision else None
    document = ChangeResult(commit=commit, atom=brief_atom(after, memory.path_of(after.id)))
    return ToolResult(change_text(after, commit, action), document)


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value: for an agent, null and missing are the same."""
    return {name: value for name, value in fields.items() if value is not None}


def _parse_observed_at(text: str | None) -> datetime | None:
    try:
        return parse_time(text) if text is not None else None
    except ValueError as error:
        raise InvalidInput("observed_at is not a time; write 2026-11-15 or 2026-11-15T09:00Z") from error
