"""Laying aside what is old, unimportant and unused, and taking it back once it is used. Archived is still searched."""

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
    """Whether an atom is archived, or comes back from there."""
    if atom.status is Status.ARCHIVED:
        return _revival(atom, signals, moment, mode)
    if atom.status is not Status.ACTIVE:
        return keep(f"{atom.status}: a person or a successor decides")
    if why := _spared(atom, signals, moment.lived, mode):
        return keep(why)
    idle = days_since(_last_word(atom, signals), moment.lived)
    return Decision(
        action=Action.ARCHIVE,
        why=f"{idle:.0f} days without use, importance {atom.importance:.2f}, used {signals.many} times",
        status=Status.ARCHIVED,
    )


def _spared(atom: Atom, signals: Signals, now: datetime, mode: Mode) -> str | None:
    """Why it stays, if it does."""
    if atom.pinned:
        return "pinned"
    if atom.layer in LASTING:
        return f"{atom.layer} memories are not archived"
    if atom.run_id or traits(atom.kind).lists:
        return "kept for what it belongs to"
    if traits(atom.kind).protected:
        return f"{atom.kind} is protected"
    if signals.many >= USES_BELOW:
        return f"used {signals.many} times"
    if atom.importance >= IMPORTANCE_BELOW:
        return f"importance {atom.importance:.2f}"
    if days_since(_last_word(atom, signals), now) <= OLDER_DAYS:
        return "recent enough"
    left = retention(atom, signals, now, mode)
    return f"retention {left:.2f}" if left >= RETENTION_BELOW else None


def _revival(atom: Atom, signals: Signals, moment: Moment, mode: Mode) -> Decision:
    """Back where it was used after maintenance had archived it; what a person archived, a person brings back."""
    since, used = signals.archived_at, signals.last_use
    if atom.pinned or since is None:
        return keep("a person brings it back")
    if used is None or used <= since:
        return keep("not used since it was archived")
    if _spared(atom.with_(status=Status.ACTIVE), signals, moment.lived, mode) is None:
        return keep("would be archived again")
    return Decision(action=Action.REVIVE, why="used since it was archived", status=Status.ACTIVE)


def _last_word(atom: Atom, signals: Signals) -> datetime:
    """When somebody last recorded, used or reviewed it."""
    touched = last_touch(atom, signals)
    return max(touched, signals.reviewed_at or touched)
