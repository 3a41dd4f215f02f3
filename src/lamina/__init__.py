"""Local-first long-term memory for AI agents and the people who work with them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.atom import (
        Atom,
        AtomId,
        Evidence,
        Origin,
        Passage,
        Relation,
        RelationName,
        Scope,
        Signals,
        Status,
        passages_of,
    )
    from lamina.capture.receipt import Outcome, Receipt, Result
    from lamina.clock import Clock, FixedClock, SystemClock
    from lamina.errors import (
        ClaimTaken,
        Erased,
        InvalidInput,
        InvalidScope,
        LaminaError,
        NotFound,
        Refused,
        StaleRevision,
        StoreBusy,
        StoreError,
        StoreTooNew,
        TransitionRefused,
        UndoRefused,
    )
    from lamina.memory import Memory
    from lamina.memory import open_memory as open
    from lamina.recall import Hit, PlanContext, Recall
    from lamina.review import Diagnosis, Group, History, Item, Pair, Proposed, Review, Transition
    from lamina.review.erase import ErasureReceipt
    from lamina.settings import Settings
    from lamina.working.block import Block
    from lamina.working.run import Run

__version__ = "0.1.0"

__all__ = [
    "Atom",
    "AtomId",
    "Block",
    "ClaimTaken",
    "Clock",
    "Diagnosis",
    "Erased",
    "ErasureReceipt",
    "Evidence",
    "FixedClock",
    "Group",
    "History",
    "Hit",
    "InvalidInput",
    "InvalidScope",
    "Item",
    "LaminaError",
    "Memory",
    "NotFound",
    "Origin",
    "Outcome",
    "Pair",
    "Passage",
    "PlanContext",
    "Proposed",
    "Recall",
    "Receipt",
    "Refused",
    "Relation",
    "RelationName",
    "Result",
    "Review",
    "Run",
    "Scope",
    "Settings",
    "Signals",
    "StaleRevision",
    "Status",
    "StoreBusy",
    "StoreError",
    "StoreTooNew",
    "SystemClock",
    "Transition",
    "TransitionRefused",
    "UndoRefused",
    "open",
    "passages_of",
]


_PUBLIC_MODULES = (
    "lamina.errors",
    "lamina.clock",
    "lamina.settings",
    "lamina.atom",
    "lamina.capture.receipt",
    "lamina.working.run",
    "lamina.working.block",
    "lamina.recall",
    "lamina.review",
    "lamina.review.erase",
    "lamina.memory",
)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import a public name at its first use, so that `lamina --help` does not load the engine."""
        for module_name in _PUBLIC_MODULES if name in __all__ else ():
            value = getattr(import_module(module_name), "open_memory" if name == "open" else name, None)
            if value is not None:
                globals()[name] = value
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
