"""The tools that write."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from lamina.documents.atom import BriefAtom, brief_atom
from lamina.documents.json_document import JsonDocument
from lamina.documents.receipt import CommitId, brief_receipt, commit_of
from lamina.errors import InvalidInput
from lamina.mcp.result_text import ToolResult, change_text, receipt_text
from lamina.mcp.tool_arguments import (
    CaptureArguments,
    FeedbackArguments,
    ForgetArguments,
    RelateArguments,
    RememberArguments,
    ReviseArguments,
    reject_unused_arguments,
)

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.memory import Memory

_TEXT_ARGUMENTS = set(ReviseArguments.model_fields) - {"id", "action", "status", "reason"}
_ACTION_ARGUMENTS = {"text": _TEXT_ARGUMENTS, "status": {"status"}}
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


class AtomQuality(JsonDocument):
    """An atom's quality and use count."""

    id: str
    quality: float
    uses: int


class FeedbackResult(JsonDocument):
    """The atoms that learned from the feedback; none if the recall had feedback before, or nothing was cited."""

    recall_id: str
    verdict: str
    learnt: list[AtomQuality]


class ChangeResult(JsonDocument):
    """One atom after a change, and the commit that made it."""

    commit: CommitId
    atom: BriefAtom


def capture(memory: Memory, arguments: CaptureArguments) -> ToolResult:
    """Store text verbatim and extract statements from it."""
    if (arguments.words is None) == (arguments.turns is None):
        raise InvalidInput("give either words or turns")
    words = arguments.words if arguments.words is not None else [turn.given_fields() for turn in arguments.turns or ()]
    receipt = memory.capture(words, **arguments.given_fields("words", "turns"))
    return ToolResult(receipt_text(receipt), brief_receipt(receipt))


def remember(memory: Memory, arguments: RememberArguments) -> ToolResult:
    """Write one explicit statement, compared with existing statements."""
    receipt = memory.remember(**arguments.given_fields())
    return ToolResult(receipt_text(receipt), brief_receipt(receipt))


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
            fields = arguments.given_fields("id", "action", "reason")
            if not fields:
                raise InvalidInput("action text needs content or a field such as value or valid_until")
            return memory.revise(arguments.id, **fields, reason=arguments.reason)
        case "status":
            if arguments.status is None:
                raise InvalidInput("action status needs status")
            return memory.update_status(arguments.id, arguments.status, arguments.reason)
        case "pin":
            return memory.pin(arguments.id, arguments.reason)
        case "unpin":
            return memory.unpin(arguments.id, arguments.reason)
        case "promote":
            return memory.upkeep.promote(arguments.id, arguments.reason)
        case "demote":
            return memory.upkeep.demote(arguments.id, arguments.reason)
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
    commit = commit_of(memory, after) if after.revision != before.revision else None
    document = ChangeResult(commit=commit, atom=brief_atom(after, memory.path_of(after.id)))
    return ToolResult(change_text(after, commit, action), document)
