"""Archive memories that are old, unimportant and unused, and revive them when they are used. Archived ones are still
searched."""

from __future__ import annotations

from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.kinds import traits
from lamina.atom.status import Status
from lamina.lifecycle.decision import Action, Decision, keep
from lamina.lifecycle.half_life import LASTING
from lamina.lifecycle.moment import Moment, days_since
from lamina.lifecycle.retention import DEFAULT, Mode, retention
from lamina.lifecycle.signals import Signals, last_touch

OLDER_DAYS = 90.0
RETENTION_BELOW = 0.15
IMPORTANCE_BELOW = 0.3
USES_BELOW = 3


def archival(atom: Atom, signals: Signals, moment: Moment, mode: Mode = DEFAULT) -> Decision:
    """Decide whether to archive an atom, or to revive an archived one."""
    if atom.status is Status.ARCHIVED:
        return _revival(atom, signals, moment, mode)
    if atom.status is not Status.ACTIVE:
        return keep(f"{atom.status}: a person or a successor decides")
    if reason := _spared(atom, signals, moment.lived, mode):
        return keep(reason)
    idle = days_since(_last_word(atom, signals), moment.lived)
    return Decision(
        action=Action.ARCHIVE,
        why=f"{idle:.0f} days without use, importance {atom.importance:.2f}, used {signals.many} times",
        status=Status.ARCHIVED,
    )


def _spared(atom: Atom, signals: Signals, now: datetime, mode: Mode) -> str | None:
    """Return why an atom is not archived; None if nothing speaks against it."""
    if atom.pinned:
        return "pinned"
    if atom.layer in LASTING:
        return f"{atom.layer} memories are not archived"
    if atom.run_id or traits(atom.kind).lists:
        return "belongs to a run or a list"
    if traits(atom.kind).protected:
        return f"{atom.kind} is protected"
    if signals.many >= USES_BELOW:
        return f"used {signals.many} times"
    if atom.importance >= IMPORTANCE_BELOW:
        return f"importance {atom.importance:.2f}"
    if days_since(_last_word(atom, signals), now) <= OLDER_DAYS:
        return "recent enough"
    remaining = retention(atom, signals, now, mode)
    return f"retention {remaining:.2f}" if remaining >= RETENTION_BELOW else None


def _revival(atom: Atom, signals: Signals, moment: Moment, mode: Mode) -> Decision:
    """Revive an atom that was used after maintenance archived it; what a person archived, only a person revives."""
    archived_at, last_use = signals.archived_at, signals.last_use
    if atom.pinned or archived_at is None:
        return keep("archived by a person, who can restore it")
    if last_use is None or last_use <= archived_at:
        return keep("not used since it was archived")
    if _spared(atom.with_(status=Status.ACTIVE), signals, moment.lived, mode) is None:
        return keep("would be archived again")
    return Decision(action=Action.REVIVE, why="used since it was archived", status=Status.ACTIVE)


def _last_word(atom: Atom, signals: Signals) -> datetime:
    """Return when the atom was last recorded, used or reviewed."""
    touched_at = last_touch(atom, signals)
    return max(touched_at, signals.reviewed_at or touched_at)
