"""The whole of ageing for one atom, in order. Deciding twice at one clock decides nothing the second time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from lamina.atom.atom import Atom
from lamina.lifecycle.archival import archival
from lamina.lifecycle.decision import Action, Decision, StorageTier
from lamina.lifecycle.expiry import expiry
from lamina.lifecycle.moment import Moment
from lamina.lifecycle.promotion import promotion
from lamina.lifecycle.retention import DEFAULT, Mode
from lamina.lifecycle.signals import Signals
from lamina.lifecycle.storage_tier import route

Step: TypeAlias = Callable[[Atom, Signals, Moment], Decision]


def age(
    atom: Atom, signals: Signals, moment: Moment, tier: StorageTier = StorageTier.HOT, mode: Mode = DEFAULT
) -> tuple[Decision, ...]:
    """What should happen to an atom: it expires, or is archived or revived; then it rises; then it warms or cools."""
    taken = list[Decision]()
    steps: tuple[Step, ...] = (expiry, partial(archival, mode=mode), promotion)
    for decide in steps:
        decision = decide(atom, signals, moment)
        if decision:
            taken.append(decision)
            atom, signals = decision.applied(atom), noted(signals, decision, moment)
    routed = route(atom, signals, moment, tier)
    return (*taken, routed) if routed else tuple(taken)


def noted(signals: Signals, decision: Decision, moment: Moment) -> Signals:
    """The signals after a step: when maintenance archived it, or that it no longer is."""
    match decision.action:
        case Action.ARCHIVE:
            return replace(signals, archived_at=moment.now)
        case Action.REVIVE:
            return replace(signals, archived_at=None)
        case _:
            return signals
