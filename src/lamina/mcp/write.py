"""The tools that write."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, assert_never

from lamina.documents.receipt import change_document
from lamina.errors import InvalidInput
from lamina.mcp.answers import Changed, FeedbackTaken, Learnt, brief_atom, written
from lamina.mcp.arguments import (
    CaptureArguments,
    FeedbackArguments,
    ForgetArguments,
    RelateArguments,
    RememberArguments,
    ReviseArguments,
    unfitting,
)
from lamina.mcp.told import Told, told_change, told_receipt
from lamina.text.times import parse_time

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.memory import Memory

_FIELDS = ("subject", "attribute", "value", "kind", "tags", "valid_from", "valid_until", "confidence", "importance")
_TAKEN = {"text": ("content", *_FIELDS), "status": ("status",)}
"""The arguments of each action of revise beside the atom and the reason."""
_DONE = {
    "text": "revised",
    "status": "moved",
    "pin": "pinned",
    "unpin": "unpinned",
    "promote": "promoted",
    "demote": "demoted",
    "resolve": "resolved",
}


def capture(memory: Memory, asked: CaptureArguments) -> Told:
    """Store text verbatim and extract statements from it."""
    if (asked.words is None) == (asked.turns is None):
        raise InvalidInput("give either words or turns")
    turns = [turn.model_dump(exclude_none=True) for turn in asked.turns or ()]
    receipt = memory.capture(
        turns if asked.words is None else asked.words,
        session_id=asked.session_id,
        source_id=asked.source_id,
        observed_at=_moment(asked.observed_at),
        origin=asked.origin,
        private=asked.private,
        key=asked.key,
        wait=asked.wait,
    )
    return Told(told_receipt(receipt), written(receipt))


def remember(memory: Memory, asked: RememberArguments) -> Told:
    """Write one explicit statement, compared with existing statements."""
    fields = asked.model_dump(exclude_unset=True, exclude={"content", "origin", "private", "reason", "key"})
    receipt = memory.remember(
        asked.content, origin=asked.origin, private=asked.private, reason=asked.reason, key=asked.key, **_set(fields)
    )
    return Told(told_receipt(receipt), written(receipt))


def feedback(memory: Memory, asked: FeedbackArguments) -> Told:
    """Record feedback on an answer."""
    updated_ids = memory.feedback(asked.recall_id, asked.cited, asked.verdict)
    signals = [(atom_id, memory.signals(atom_id)) for atom_id in updated_ids]
    qualities = [
        Learnt(id=atom_id, quality=counters.quality_score, uses=counters.recall_count) for atom_id, counters in signals
    ]
    document = FeedbackTaken(recall_id=asked.recall_id, verdict=asked.verdict, learnt=qualities)
    return Told(_told_feedback(memory, asked, qualities), document)


def _told_feedback(memory: Memory, asked: FeedbackArguments, learnt: list[Learnt]) -> str:
    """Return the quality of each cited atom, and how many were recalled but not cited."""
    if not learnt:
        reason = "this recall had feedback before" if asked.cited else "nothing was cited"
        return f"{reason}, so nothing changed"
    cited = {memory.get(atom_id).id for atom_id in asked.cited}
    lines = [f"{atom.id}: quality {atom.quality:g}, uses {atom.uses}" for atom in learnt if atom.id in cited]
    others = len(learnt) - len(lines)
    lines += [f"recalled but not cited, so ranked a little lower next time: {others}"] if others else []
    return "\n".join(lines)


def revise(memory: Memory, asked: ReviseArguments) -> Told:
    """Change one thing about an atom; the earlier version is kept."""
    unfitting(asked, ("id", "action", "reason", *_TAKEN.get(asked.action, ())), "call revise once for each change")
    before = memory.get(asked.id)
    return _changed(memory, before, _revised(memory, asked), _DONE[asked.action])


def _revised(memory: Memory, asked: ReviseArguments) -> Atom:
    match asked.action:
        case "text":
            fields = _set({name: getattr(asked, name) for name in _FIELDS})
            if asked.content is None and not fields:
                raise InvalidInput("action text needs content or a field such as value or valid_until")
            return memory.revise(asked.id, asked.content, reason=asked.reason, **fields)
        case "status":
            if asked.status is None:
                raise InvalidInput("action status needs status")
            return memory.update_status(asked.id, asked.status, asked.reason)
        case "pin":
            return memory.pin(asked.id, asked.reason)
        case "unpin":
            return memory.unpin(asked.id, asked.reason)
        case "promote":
            return memory.promote(asked.id, asked.reason)
        case "demote":
            return memory.demote(asked.id, asked.reason)
        case "resolve":
            return memory.resolve(asked.id, asked.reason)
        case _:
            assert_never(asked.action)


def forget(memory: Memory, asked: ForgetArguments) -> Told:
    """Tombstone an atom, so that recall no longer finds it."""
    before = memory.get(asked.id)
    return _changed(memory, before, memory.forget(asked.id, asked.reason), "forgotten")


def relate(memory: Memory, asked: RelateArguments) -> Told:
    """Link two atoms."""
    before = memory.get(asked.a)
    return _changed(memory, before, memory.relate(asked.a, asked.relation, asked.b, asked.confidence), "linked")


def _changed(memory: Memory, before: Atom, after: Atom, what: str) -> Told:
    commit = change_document(memory, after).commit if after.revision != before.revision else None
    document = Changed(commit=commit, atom=brief_atom(after, memory.path_of(after.id)))
    return Told(told_change(after, commit, what), document)


def _set(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value: for an agent, null and missing are the same."""
    return {name: value for name, value in fields.items() if value is not None}


def _moment(text: str | None) -> datetime | None:
    try:
        return parse_time(text) if text is not None else None
    except ValueError as error:
        raise InvalidInput("observed_at is not a time; write 2026-11-15 or 2026-11-15T09:00Z") from error
