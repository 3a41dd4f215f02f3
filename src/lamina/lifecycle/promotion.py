"""Rising and falling through the layers. Use lifts a memory; only a person lowers one."""

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
    """The layer an atom has earned, as high as it comes at once; a pin, a run and a review leave it where it is."""
    if why := _bound(atom):
        return keep(why)
    leaves = _leaves_working(atom, signals, moment.now)
    if atom.layer is Layer.WORKING and not leaves:
        return keep("still at work")
    lifted = _earns_more(atom, signals, moment.now)
    if lifted:
        return Decision(action=Action.PROMOTE, why=lifted, layer=home(atom))
    if leaves:
        return Decision(action=Action.PROMOTE, why=leaves, layer=Layer.EPISODIC)
    return keep("not used or important enough")


def home(atom: Atom) -> Layer:
    """Where an atom of its kind lives once it has proved itself."""
    own = traits(atom.kind).layer
    return own if own in LASTING else Layer.SEMANTIC


def raised(atom: Atom) -> Decision:
    """One layer up, because a person says so."""
    match atom.layer:
        case Layer.WORKING:
            return Decision(action=Action.PROMOTE, why="by hand", layer=Layer.EPISODIC)
        case Layer.EPISODIC:
            return Decision(action=Action.PROMOTE, why="by hand", layer=home(atom))
        case _:
            return keep(f"{atom.layer} is as high as it goes")


def lowered(atom: Atom) -> Decision:
    """One layer down, because a person says so; only a run has use for working memory."""
    if atom.layer in LASTING:
        return Decision(action=Action.DEMOTE, why="by hand", layer=Layer.EPISODIC)
    return keep(f"{atom.layer} is as low as it goes")


def _bound(atom: Atom) -> str | None:
    if atom.pinned:
        return "pinned"
    if atom.status is not Status.ACTIVE:
        return f"{atom.status}: only what is active rises"
    if atom.layer is Layer.WORKING and atom.run_id:
        return "its run is not over"
    if atom.layer in LASTING:
        return f"{atom.layer} already"
    if atom.is_segment or traits(atom.kind).lists:
        return "words as they were said stay what they are; what they state rises"
    return None


def _leaves_working(atom: Atom, signals: Signals, now: datetime) -> str | None:
    if atom.layer is not Layer.WORKING:
        return None
    if signals.many >= WORKING_USES:
        return f"used {signals.many} times"
    return "half an hour old, and no run" if now - recorded(atom) >= WORKING_FOR else None


def _earns_more(atom: Atom, signals: Signals, now: datetime) -> str | None:
    """Why an episode rises further; what leaves working memory is judged as the episode it becomes."""
    if signals.many < PROMOTE_USES:
        return None
    score = effective_importance(atom.with_(layer=Layer.EPISODIC), signals, now)
    return f"importance {score:.2f} after {signals.many} uses" if score >= PROMOTE_AT else None
