"""Compute how memories age, as pure functions of an atom, its signals and the time: no store, no disk, no clock.

Importance, retention and heat are computed when they are read and never stored. Decisions say what should happen and
why; other packages carry them out.
"""

from lamina.lifecycle.ageing import age, noted
from lamina.lifecycle.archival import archival
from lamina.lifecycle.base_level import activation, base_level
from lamina.lifecycle.decision import Action, Decision, StorageTier
from lamina.lifecycle.expiry import expiry
from lamina.lifecycle.guard import held
from lamina.lifecycle.half_life import half_life_days
from lamina.lifecycle.heat import decay, heat
from lamina.lifecycle.importance import Factor, effective_importance, explain
from lamina.lifecycle.lifecycle_state import LifecycleState, lifecycle_state, lifecycle_weight
from lamina.lifecycle.moment import Moment
from lamina.lifecycle.promotion import lowered, promotion, raised
from lamina.lifecycle.retention import Mode, retention
from lamina.lifecycle.signals import Signals, from_counted
from lamina.lifecycle.storage_tier import route, tier_value
from lamina.lifecycle.verification import Verification, verification
from lamina.lifecycle.worth import worth

__all__ = [
    "Action",
    "Decision",
    "Factor",
    "LifecycleState",
    "Mode",
    "Moment",
    "Signals",
    "StorageTier",
    "Verification",
    "activation",
    "age",
    "archival",
    "base_level",
    "decay",
    "effective_importance",
    "expiry",
    "explain",
    "from_counted",
    "half_life_days",
    "heat",
    "held",
    "lifecycle_state",
    "lifecycle_weight",
    "lowered",
    "noted",
    "promotion",
    "raised",
    "retention",
    "route",
    "tier_value",
    "verification",
    "worth",
]
