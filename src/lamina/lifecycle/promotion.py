"""Move memories between layers. Use promotes a memory; only a person demotes one."""

from __future__ import annotations

from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer, kind_traits
from lamina.atom.status import Status
from lamina.lifecycle.ageing_decision import AgeingAction, AgeingDecision, keep_unchanged
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.importance import effective_importance
from lamina.lifecycle.retention import PERMANENT_LAYERS
from lamina.lifecycle.signals import AgeingSignals, recorded_at

WORKING_TERM = timedelta(minutes=30)
WORKING_USES = 2
PROMOTE_AT, PROMOTE_USES = 0.7, 5


def decide_promotion(atom: Atom, signals: AgeingSignals, moment: AgeingTime) -> AgeingDecision:
    """Decide which layer an atom has earned; a pinned, running or pending one stays where it is."""
    if reason := _reason_to_stay(atom):
        return keep_unchanged(reason)
    leaving_reason = _reason_to_leave_working(atom, signals, moment.now)
    if atom.layer is Layer.WORKING and not leaving_reason:
        return keep_unchanged("still in working memory")
    promotion_reason = _reason_to_promote(atom, signals, moment.now)
    if promotion_reason:
        return AgeingDecision(action=AgeingAction.PROMOTE, reason=promotion_reason, layer=home_layer(atom))
    if leaving_reason:
        return AgeingDecision(action=AgeingAction.PROMOTE, reason=leaving_reason, layer=Layer.EPISODIC)
    return keep_unchanged("not used or important enough")


def home_layer(atom: Atom) -> Layer:
    """Return the permanent layer of an atom's kind."""
    layer = kind_traits(atom.kind).layer
    return layer if layer in PERMANENT_LAYERS else Layer.SEMANTIC


def decide_manual_promotion(atom: Atom) -> AgeingDecision:
    """Promote by one layer, on a person's request."""
    match atom.layer:
        case Layer.WORKING:
            return AgeingDecision(action=AgeingAction.PROMOTE, reason="by hand", layer=Layer.EPISODIC)
        case Layer.EPISODIC:
            return AgeingDecision(action=AgeingAction.PROMOTE, reason="by hand", layer=home_layer(atom))
        case _:
            return keep_unchanged(f"{atom.layer} is the highest layer")


def decide_manual_demotion(atom: Atom) -> AgeingDecision:
    """Demote by one layer, on a person's request; only runs use working memory."""
    if atom.layer in PERMANENT_LAYERS:
        return AgeingDecision(action=AgeingAction.DEMOTE, reason="by hand", layer=Layer.EPISODIC)
    return keep_unchanged(f"{atom.layer} is the lowest layer")


def _reason_to_stay(atom: Atom) -> str | None:
    if atom.pinned:
        return "pinned"
    if atom.status is not Status.ACTIVE:
        return f"{atom.status}: only active memories are promoted"
    if atom.layer is Layer.WORKING and atom.run_id:
        return "its run is still open"
    if atom.layer in PERMANENT_LAYERS:
        return f"{atom.layer} already"
    if atom.is_segment or kind_traits(atom.kind).is_listing:
        return "verbatim text is not promoted; the statements extracted from it are"
    return None


def _reason_to_leave_working(atom: Atom, signals: AgeingSignals, now: datetime) -> str | None:
    if atom.layer is not Layer.WORKING:
        return None
    if signals.total_uses >= WORKING_USES:
        return f"used {signals.total_uses} times"
    return "older than half an hour and not part of a run" if now - recorded_at(atom) >= WORKING_TERM else None


def _reason_to_promote(atom: Atom, signals: AgeingSignals, now: datetime) -> str | None:
    """Return why an episode is promoted; one that leaves working memory is judged as the episode it becomes."""
    if signals.total_uses < PROMOTE_USES:
        return None
    score = effective_importance(atom.with_(layer=Layer.EPISODIC), signals, now)
    return f"importance {score:.2f} after {signals.total_uses} uses" if score >= PROMOTE_AT else None
