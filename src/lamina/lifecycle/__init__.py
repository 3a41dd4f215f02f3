"""Compute how memories age, as pure functions of an atom, its signals and the time: no store, no disk, no clock.

Importance, retention and heat are computed when they are read and never stored. Decisions say what should happen and
why; other packages carry them out.
"""

from lamina.lifecycle.ageing import decide_ageing, update_signals
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.archival import decide_archival
from lamina.lifecycle.base_level import activation, base_level
from lamina.lifecycle.decision import AgeingAction, AgeingDecision, StorageTier
from lamina.lifecycle.expiry import decide_expiry
from lamina.lifecycle.half_life import half_life_days
from lamina.lifecycle.heat import decay, heat
from lamina.lifecycle.importance import ImportanceFactor, effective_importance, importance_factors
from lamina.lifecycle.lifecycle_state import LifecycleState, lifecycle_state, lifecycle_weight
from lamina.lifecycle.mass_change_check import reason_to_hold
from lamina.lifecycle.promotion import decide_manual_demotion, decide_manual_promotion, decide_promotion
from lamina.lifecycle.retention import RetentionMode, retention
from lamina.lifecycle.signals import AgeingSignals, from_counters
from lamina.lifecycle.storage_tier import decide_tier, tier_value
from lamina.lifecycle.success_rate import success_rate
from lamina.lifecycle.verification import Verification, verification

__all__ = [
    "AgeingAction",
    "AgeingDecision",
    "AgeingSignals",
    "AgeingTime",
    "ImportanceFactor",
    "LifecycleState",
    "RetentionMode",
    "StorageTier",
    "Verification",
    "activation",
    "base_level",
    "decay",
    "decide_ageing",
    "decide_archival",
    "decide_expiry",
    "decide_manual_demotion",
    "decide_manual_promotion",
    "decide_promotion",
    "decide_tier",
    "effective_importance",
    "from_counters",
    "half_life_days",
    "heat",
    "importance_factors",
    "lifecycle_state",
    "lifecycle_weight",
    "reason_to_hold",
    "retention",
    "success_rate",
    "tier_value",
    "update_signals",
    "verification",
]
