"""Context for a plan: a few memories of each layer that a planner needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.kinds import Layer
from lamina.recall.context_packing import ContextItem, TokenCounter, pack_context
from lamina.recall.hit import Hit, bundled_token_counter

HITS_PER_LAYER = 3
PLAN_LAYERS = (Layer.PROFILE, Layer.PROCEDURAL, Layer.SEMANTIC)


@dataclass(frozen=True, slots=True)
class PlanContext:
    """Memories about the user, about how such tasks are done, and about the facts; at most three hits of each."""

    goal: str
    profile: tuple[Hit, ...]
    procedural: tuple[Hit, ...]
    semantic: tuple[Hit, ...]

    def text(self, budget: int = 2000, *, count: TokenCounter | None = None) -> str:
        """Return all of it as fenced text in sections for an agent."""
        hits = (*self.profile, *self.procedural, *self.semantic)
        return pack_context(
            [ContextItem(hit.atom, hit.passage, hit.text, hit.notes) for hit in hits],
            budget,
            count=count or bundled_token_counter(),
        )


def build_plan_context(goal: str, hits: Sequence[Hit]) -> PlanContext:
    """Return the best hits of each layer."""
    return PlanContext(goal, *(_best_of_layer(hits, layer) for layer in PLAN_LAYERS))


def _best_of_layer(hits: Sequence[Hit], layer: Layer) -> tuple[Hit, ...]:
    return tuple(hit for hit in hits if hit.atom.layer is layer and not hit.atom.is_segment)[:HITS_PER_LAYER]
