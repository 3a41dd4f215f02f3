"""Archive memories that are old, unimportant and unused, and revive them when they are used. Archived ones are still
searched."""

from __future__ import annotations

from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.kinds import kind_traits
from lamina.atom.status import Status
from lamina.lifecycle.ageing_time import AgeingTime, days_since
from lamina.lifecycle.decision import AgeingAction, AgeingDecision, keep_unchanged
from lamina.lifecycle.half_life import PERMANENT_LAYERS
from lamina.lifecycle.retention import DEFAULT_MODE, RetentionMode, retention
from lamina.lifecycle.signals import AgeingSignals, last_touched_at

IDLE_DAYS_ABOVE = 90.0
RETENTION_BELOW = 0.15
IMPORTANCE_BELOW = 0.3
USES_BELOW = 3


def decide_archival(
    atom: Atom, signals: AgeingSignals, moment: AgeingTime, mode: RetentionMode = DEFAULT_MODE
) -> AgeingDecision:
    """Decide whether to archive an atom, or to revive an archived one."""
    if atom.status is Status.ARCHIVED:
        return _decide_revival(atom, signals, moment, mode)
    if atom.status is not Status.ACTIVE:
        return keep_unchanged(f"{atom.status}: a person or a successor decides")
    if reason := _reason_to_keep(atom, signals, moment.active_now, mode):
        return keep_unchanged(reason)
    idle = days_since(_last_attention_at(atom, signals), moment.active_now)
    return AgeingDecision(
        action=AgeingAction.ARCHIVE,
        reason=f"{idle:.0f} days without use, importance {atom.importance:.2f}, used {signals.total_uses} times",
        status=Status.ARCHIVED,
    )


def _reason_to_keep(atom: Atom, signals: AgeingSignals, now: datetime, mode: RetentionMode) -> str | None:
    """Return why an atom is not archived; None if nothing speaks against it."""
    if atom.pinned:
        return "pinned"
    if atom.layer in PERMANENT_LAYERS:
        return f"{atom.layer} memories are not archived"
    if atom.run_id or kind_traits(atom.kind).is_listing:
        return "belongs to a run or a list"
    if kind_traits(atom.kind).is_protected:
        return f"{atom.kind} is protected"
    if signals.total_uses >= USES_BELOW:
        return f"used {signals.total_uses} times"
    if atom.importance >= IMPORTANCE_BELOW:
        return f"importance {atom.importance:.2f}"
    if days_since(_last_attention_at(atom, signals), now) <= IDLE_DAYS_ABOVE:
        return "recent enough"
    remaining = retention(atom, signals, now, mode)
    return f"retention {remaining:.2f}" if remaining >= RETENTION_BELOW else None


def _decide_revival(atom: Atom, signals: AgeingSignals, moment: AgeingTime, mode: RetentionMode) -> AgeingDecision:
    """Revive an atom that was used after maintenance archived it; what a person archived, only a person revives."""
    archived_at, last_use = signals.archived_at, signals.last_use
    if atom.pinned or archived_at is None:
        return keep_unchanged("archived by a person, who can restore it")
    if last_use is None or last_use <= archived_at:
        return keep_unchanged("not used since it was archived")
    if _reason_to_keep(atom.with_(status=Status.ACTIVE), signals, moment.active_now, mode) is None:
        return keep_unchanged("would be archived again")
    return AgeingDecision(action=AgeingAction.REVIVE, reason="used since it was archived", status=Status.ACTIVE)


def _last_attention_at(atom: Atom, signals: AgeingSignals) -> datetime:
    """Return when the atom was last recorded, used or reviewed."""
    touched_at = last_touched_at(atom, signals)
    return max(touched_at, signals.reviewed_at or touched_at)
