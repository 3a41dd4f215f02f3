"""Decide what ageing does to one atom: expire it, archive or revive it, and move it between storage tiers.

Archived atoms stay searchable on request. The thresholds of the tiers are far apart, so that atoms do not move to and
fro. A second run at the same time changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, kind_traits
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.lifecycle.ageing_decision import AgeingAction, AgeingDecision, StorageTier, keep_unchanged
from lamina.lifecycle.ageing_time import AgeingTime, days_since
from lamina.lifecycle.heat import heat_inputs
from lamina.lifecycle.importance import effective_importance
from lamina.lifecycle.promotion import decide_promotion
from lamina.lifecycle.retention import DEFAULT_MODE, PERMANENT_LAYERS, RetentionMode, retention
from lamina.lifecycle.signals import AgeingSignals, Verification, changed_at, last_touched_at, recorded_at, verification

IDLE_DAYS_ABOVE = 90.0
RETENTION_BELOW = 0.15
IMPORTANCE_BELOW = 0.3
"""Of the effective importance: an event that was never used falls below it unless it began with more than 0.6."""
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
        reason=f"{idle:.0f} days without use, importance {effective_importance(atom, signals, moment.active_now):.2f}, "
        f"used {signals.total_uses} times",
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
    if days_since(_last_attention_at(atom, signals), now) <= IDLE_DAYS_ABOVE:
        return "recent enough"
    importance = effective_importance(atom, signals, now)
    if importance >= IMPORTANCE_BELOW:
        return f"importance {importance:.2f}"
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


SPECULATIVE_TERM = timedelta(days=30)
RESOLVED_TERM = timedelta(days=90)


def decide_expiry(atom: Atom, signals: AgeingSignals, moment: AgeingTime) -> AgeingDecision:
    """Decide whether an atom has expired."""
    if atom.pinned:
        return keep_unchanged("pinned")
    if atom.status not in RECALL_WEIGHT:
        return keep_unchanged(f"{atom.status}: a person or a successor decides")
    due = expiry_due(atom, signals)
    if due is None:
        return keep_unchanged("has no expiry date")
    expires_at, reason = due
    if moment.active_now < expires_at:
        return keep_unchanged(f"{reason}, but not before {expires_at:%Y-%m-%d}")
    return AgeingDecision(action=AgeingAction.EXPIRE, reason=reason, status=Status.TOMBSTONED)


def expiry_due(atom: Atom, signals: AgeingSignals) -> tuple[datetime, str] | None:
    """Return when an atom expires, and why; None if it has no term."""
    terms = _guess_term(atom, signals), _resolved_commitment_term(atom, signals), _explicit_term(atom, signals)
    return min(filter(None, terms), default=None)


def is_unconfirmed_guess(atom: Atom, signals: AgeingSignals) -> bool:
    """Return whether it is a guess that neither a person nor a second source has confirmed."""
    return atom.confidence_tier == "speculative" and signals.confirmations <= 0 and signals.reviewed_at is None


def _guess_term(atom: Atom, signals: AgeingSignals) -> tuple[datetime, str] | None:
    if not is_unconfirmed_guess(atom, signals):
        return None
    return atom.expires_at or recorded_at(atom) + SPECULATIVE_TERM, "an unconfirmed guess"


def _resolved_commitment_term(atom: Atom, signals: AgeingSignals) -> tuple[datetime, str] | None:
    if atom.kind != "commitment" or not atom.resolved:
        return None
    touched_at = max(changed_at(atom, signals), last_touched_at(atom, signals))
    return max(touched_at, signals.reviewed_at or touched_at) + RESOLVED_TERM, "a commitment resolved long ago"


def _explicit_term(atom: Atom, signals: AgeingSignals) -> tuple[datetime, str] | None:
    """Return the atom's expiry date; not for a confirmed guess, or if a person reviewed the atom after that date."""
    if atom.expires_at is None or atom.confidence_tier == "speculative":
        return None
    if signals.reviewed_at is not None and signals.reviewed_at >= atom.expires_at:
        return None
    return atom.expires_at, "by its expiry date"


COOL_AFTER_DAYS = 14.0
COOL_THRESHOLD, WARM_THRESHOLD = 0.35, 0.70
CORRECTION_BONUS, CONFIRMED_BONUS = 0.08, 0.05


def tier_value(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return how much an atom is worth keeping in fast storage, from 0 to 1."""
    values = heat_inputs(atom, signals, now)
    score = (
        0.24 * values.confidence
        + 0.26 * values.access
        + 0.20 * values.recency
        + 0.20 * values.importance
        + 0.10 * values.feedback
    )
    score += CORRECTION_BONUS if atom.kind == "correction" else 0.0
    score += CONFIRMED_BONUS if verification(atom, signals) is Verification.USER_CONFIRMED else 0.0
    return min(1.0, max(0.0, score - 0.5 * values.penalty))


def decide_tier(atom: Atom, signals: AgeingSignals, moment: AgeingTime, tier: StorageTier) -> AgeingDecision:
    """Decide the tier of an atom, given its current tier."""
    if atom.pinned or atom.durability is Durability.CORE:
        return _move_to(StorageTier.HOT, tier, "pinned" if atom.pinned else "core")
    if atom.status is Status.ARCHIVED:
        return _move_to(StorageTier.COLD, tier, "archived")
    if atom.status not in RECALL_WEIGHT:
        return keep_unchanged(f"{atom.status}: not in normal recall")
    value, age = tier_value(atom, signals, moment.active_now), days_since(changed_at(atom, signals), moment.active_now)
    if value >= WARM_THRESHOLD:
        return _move_to(StorageTier.HOT, tier, f"value {value:.2f} ≥ {WARM_THRESHOLD:.2f}")
    if value <= COOL_THRESHOLD and age >= COOL_AFTER_DAYS:
        return _move_to(StorageTier.COLD, tier, f"value {value:.2f} ≤ {COOL_THRESHOLD:.2f} after {age:.0f} days")
    return keep_unchanged(f"value {value:.2f} does not change the tier")


def _move_to(target: StorageTier, tier: StorageTier, why: str) -> AgeingDecision:
    if target is tier:
        return keep_unchanged(f"{tier} already: {why}")
    return AgeingDecision(
        action=AgeingAction.WARM if target is StorageTier.HOT else AgeingAction.COOL, reason=why, tier=target
    )


AgeingStep: TypeAlias = Callable[[Atom, AgeingSignals, AgeingTime], AgeingDecision]


def decide_ageing(
    atom: Atom,
    signals: AgeingSignals,
    moment: AgeingTime,
    tier: StorageTier = StorageTier.HOT,
    mode: RetentionMode = DEFAULT_MODE,
) -> tuple[AgeingDecision, ...]:
    """Return what should happen to an atom: expire, else archive or revive; then promote; then move between tiers."""
    decisions = list[AgeingDecision]()
    steps: tuple[AgeingStep, ...] = (decide_expiry, partial(decide_archival, mode=mode), decide_promotion)
    for decide in steps:
        decision = decide(atom, signals, moment)
        if decision:
            decisions.append(decision)
            atom, signals = decision.apply_to(atom), update_signals(signals, decision, moment)
    tier_decision = decide_tier(atom, signals, moment, tier)
    return (*decisions, tier_decision) if tier_decision else tuple(decisions)


def update_signals(signals: AgeingSignals, decision: AgeingDecision, moment: AgeingTime) -> AgeingSignals:
    """Return the signals after a decision: set or clear the time at which maintenance archived the atom."""
    match decision.action:
        case AgeingAction.ARCHIVE:
            return replace(signals, archived_at=moment.now)
        case AgeingAction.REVIVE:
            return replace(signals, archived_at=None)
        case _:
            return signals
