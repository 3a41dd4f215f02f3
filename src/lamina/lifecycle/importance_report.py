"""Report how much an atom matters and why: the factors of its importance, what is left of it, and what ageing does."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.lifecycle.ageing import decide_archival, decide_expiry
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.heat import heat
from lamina.lifecycle.importance import ImportanceFactor, effective_importance, importance_factors
from lamina.lifecycle.promotion import decide_promotion
from lamina.lifecycle.retention import RetentionMode, half_life_days, retention
from lamina.lifecycle.signals import AgeingSignals
from lamina.lifecycle.standing import lifecycle_state


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceReport:
    """The effective importance of an atom, which is the sum of its factors, and its ageing at the same moment.

    `half_life_days` is infinite if it does not fade; `ageing` names what the age step of a dream would do with it, with
    the reason: for expiry, archival and promotion.
    """

    importance: float
    factors: tuple[ImportanceFactor, ...]
    retention: float
    half_life_days: float
    heat: float
    state: str
    ageing: tuple[tuple[str, str], ...]


def report_importance(atom: Atom, signals: AgeingSignals, moment: AgeingTime, mode: RetentionMode) -> ImportanceReport:
    """Return the report of an atom at a time."""
    now = moment.now
    decisions = {
        "expiry": decide_expiry(atom, signals, moment),
        "archival": decide_archival(atom, signals, moment, mode),
        "promotion": decide_promotion(atom, signals, moment),
    }
    return ImportanceReport(
        importance=effective_importance(atom, signals, now),
        factors=importance_factors(atom, signals, now),
        retention=retention(atom, signals, now, mode),
        half_life_days=half_life_days(atom, signals),
        heat=heat(atom, signals, now),
        state=lifecycle_state(atom, signals, now).value,
        ageing=tuple((name, f"{decision.action}: {decision.reason}") for name, decision in decisions.items()),
    )
