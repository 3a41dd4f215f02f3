"""Move memories between layers. Use promotes a memory; only a person demotes one."""

from __future__ import annotations

from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer, traits
from lamina.atom.status import Status
from lamina.lifecycle.decision import Action, Decision, keep
from lamina.lifecycle.half_life import LASTING
from lamina.lifecycle.importance import effective_importance
from lamina.lifecycle.moment import Moment
from lamina.lifecycle.signals import Signals, recorded

WORKING_FOR = timedelta(minutes=30)
WORKING_USES = 2
PROMOTE_AT, PROMOTE_USES = 0.7, 5


def promotion(atom: Atom, signals: Signals, moment: Moment) -> Decision:
    """Decide which layer an atom has earned; a pinned, running or pending one stays where it is."""
    if reason := _bound(atom):
        return keep(reason)
    leaving_reason = _leaves_working(atom, signals, moment.now)
    if atom.layer is Layer.WORKING and not leaving_reason:
        return keep("still in working memory")
    promotion_reason = _earns_more(atom, signals, moment.now)
    if promotion_reason:
        return Decision(action=Action.PROMOTE, why=promotion_reason, layer=home(atom))
    if leaving_reason:
        return Decision(action=Action.PROMOTE, why=leaving_reason, layer=Layer.EPISODIC)
    return keep("not used or important enough")


def home(atom: Atom) -> Layer:
    """Return the permanent layer of an atom's kind."""
    layer = traits(atom.kind).layer
    return layer if layer in LASTING else Layer.SEMANTIC


def raised(atom: Atom) -> Decision:
    """Promote by one layer, because a person asked for it."""
    match atom.layer:
        case Layer.WORKING:
            return Decision(action=Action.PROMOTE, why="by hand", layer=Layer.EPISODIC)
        case Layer.EPISODIC:
            return Decision(action=Action.PROMOTE, why="by hand", layer=home(atom))
        case _:
            return keep(f"{atom.layer} is the highest layer")


def lowered(atom: Atom) -> Decision:
    """Demote by one layer, because a person asked for it; only runs use working memory."""
    if atom.layer in LASTING:
        return Decision(action=Action.DEMOTE, why="by hand", layer=Layer.EPISODIC)
    return keep(f"{atom.layer} is the lowest layer")


def _bound(atom: Atom) -> str | None:
    if atom.pinned:
        return "pinned"
    if atom.status is not Status.ACTIVE:
        return f"{atom.status}: only active memories are promoted"
    if atom.layer is Layer.WORKING and atom.run_id:
        return "its run is still open"
    if atom.layer in LASTING:
        return f"{atom.layer} already"
    if atom.is_segment or traits(atom.kind).lists:
        return "verbatim text is not promoted; the statements extracted from it are"
    return None


def _leaves_working(atom: Atom, signals: Signals, now: datetime) -> str | None:
    if atom.layer is not Layer.WORKING:
        return None
    if signals.many >= WORKING_USES:
        return f"used {signals.many} times"
    return "older than half an hour and not part of a run" if now - recorded(atom) >= WORKING_FOR else None


def _earns_more(atom: Atom, signals: Signals, now: datetime) -> str | None:
    """Return why an episode is promoted; one that leaves working memory is judged as the episode it becomes."""
    if signals.many < PROMOTE_USES:
        return None
    score = effective_importance(atom.with_(layer=Layer.EPISODIC), signals, now)
    return f"importance {score:.2f} after {signals.many} uses" if score >= PROMOTE_AT else None
