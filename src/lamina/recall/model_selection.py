"""Selects the models that a recall can use now: those that have encoded every passage it may find."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lamina.atom.scope import Scope
from lamina.logs import summarise_error
from lamina.models.embedder import CONTEXTUAL, Embedder, TokenStates
from lamina.models.encoding_worker import encode_up_to
from lamina.models.errors import ModelError
from lamina.models.model_choice import ModelChoice
from lamina.models.recomputed_states import RecomputedStates
from lamina.models.state_encoder import StateEncoder
from lamina.recall.scoring_profiles import (
    DENSE_PROFILE,
    LIGHT_PROFILE,
    TEXT_PROFILE,
    TRANSFORMER_PROFILE,
    ScoringProfile,
)
from lamina.store.base import Store

logger = logging.getLogger(__name__)

ENCODED_WHILE_WAITING = {
    TokenStates.PIECES: 2000,
    TokenStates.SIGNS: 32,
    TokenStates.NIBBLES: 32,
    TokenStates.NONE: 64,
    TokenStates.SENTENCES: 64,
}
"""How many passages are encoded while the caller waits for the answer; about a quarter of a second."""


@dataclass(frozen=True, slots=True)
class SelectedModels:
    """The model whose vectors are searched, the one whose token states are compared, and the scoring profile that fits
    them.

    `recomputed_states` computes the token states of passages that are stored without them.
    """

    profile: ScoringProfile
    main: Embedder | None = None
    light: Embedder | None = None
    recomputed_states: RecomputedStates = field(default_factory=RecomputedStates, repr=False, compare=False)
    state_encoder: StateEncoder | None = None

    @property
    def token_state_model(self) -> Embedder | None:
        """The model whose token states are compared."""
        if self.main is not None and self.main.model.states is not TokenStates.NONE:
            return self.main
        return self.light

    def cover_all_passages(self, store: Store, scopes: Sequence[Scope]) -> bool:
        """Return whether the models have encoded every passage of these scopes."""
        models = [embedder.model.id for embedder in (self.main, self.light, self.state_encoder) if embedder is not None]
        covered = [store.encodings.coverage(model, scopes) for model in models]
        return all(encoded == total for encoded, total in covered)

    def read_question(self, question: str) -> None:
        """Let every model read the question, before the store is locked."""
        for embedder in (self.main, self.light, self.state_encoder):
            if embedder is not None:
                embedder.encode_question(question)

    @property
    def name(self) -> str:
        """The id of the main model, or "text"."""
        return self.main.model.id if self.main is not None else "text"


def select_models_for(question: str, store: Store, scopes: Sequence[Scope], choice: ModelChoice) -> SelectedModels:
    """Select the models for a question and let them read it. A primary model that cannot be reached is left out."""
    try:
        selected = select_models(store, scopes, choice)
        selected.read_question(question)
        return selected
    except ModelError as error:
        if choice.primary is None:
            raise
        logger.warning("recall does without %s: %s", choice.primary.model.id, summarise_error(error))
        return select_models_for(question, store, scopes, replace(choice, primary=None))


def select_models(store: Store, scopes: Sequence[Scope], choice: ModelChoice) -> SelectedModels:
    """Return the best complete models: a model that has encoded only some passages would favour those."""
    light = choice.light if choice.light is not None and _is_complete(store, scopes, choice.light) else None
    state = (
        choice.state_encoder
        if choice.state_encoder is not None and _is_complete(store, scopes, choice.state_encoder)
        else None
    )
    if choice.primary is not None and _is_complete(store, scopes, choice.primary):
        recipe = TRANSFORMER_PROFILE if choice.primary.model.states in CONTEXTUAL else DENSE_PROFILE
        return SelectedModels(recipe, choice.primary, light, choice.recomputed_states, state)
    return (
        SelectedModels(LIGHT_PROFILE, light, recomputed_states=choice.recomputed_states, state_encoder=state)
        if light is not None
        else SelectedModels(TEXT_PROFILE)
    )


def _is_complete(store: Store, scopes: Sequence[Scope], embedder: Embedder) -> bool:
    """Return whether a model has encoded every passage of these scopes; a few missing ones are encoded now."""
    encoded, total = store.encodings.coverage(embedder.model.id, scopes)
    if 0 < total - encoded <= ENCODED_WHILE_WAITING[embedder.model.states]:
        encode_up_to(store, embedder, total - encoded, scopes)
        encoded, total = store.encodings.coverage(embedder.model.id, scopes)
    return encoded == total
