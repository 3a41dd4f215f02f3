"""Selects the models that a recall can use now: those that have encoded every passage it may find."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lamina.atom.provenance import Scope
from lamina.logs import summarise_error
from lamina.models.embedder import CONTEXTUAL, Embedder, TokenStates
from lamina.models.encoding_worker import RecomputedStates, encode_up_to
from lamina.models.errors import ModelError
from lamina.models.model_choice import ModelChoice
from lamina.models.sentence_state_encoder import StateEncoder
from lamina.recall.scoring_profiles import (
    DENSE_PROFILE,
    LIGHT_PROFILE,
    TEXT_PROFILE,
    TRANSFORMER_PROFILE,
    ScoringProfile,
)
from lamina.store.base import Store
from lamina.store.passages import PassageStatistics

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

    `recomputed_states` computes the token states of passages that are stored without them; what the state
    model reads in a passage is stored as the token states of `state_encoder`.
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

    @property
    def embedders(self) -> tuple[Embedder, ...]:
        """The models that are used."""
        return tuple(model for model in (self.main, self.light, self.state_encoder) if model is not None)

    @property
    def token_state_models(self) -> tuple[str, ...]:
        """The ids of the models whose stored token states recall reads: to compare tokens, and for the state model."""
        models = (self.token_state_model, self.state_encoder)
        return tuple(dict.fromkeys(model.model.id for model in models if model is not None))

    def have_encoded_all(self, summary: PassageStatistics) -> bool:
        """Return whether the models have encoded every passage."""
        return all(summary.encoded[model.model.id] == summary.count for model in self.embedders)

    def encode_question(self, question: str) -> None:
        """Encode the question with every model; they cache it, so that the search does not wait for them."""
        for embedder in self.embedders:
            embedder.encode_question(question)

    @property
    def name(self) -> str:
        """The id of the main model, or "text"."""
        return self.main.model.id if self.main is not None else "text"


def prepare_models(
    question: str, store: Store, scopes: Sequence[Scope], choice: ModelChoice, summary: PassageStatistics
) -> SelectedModels:
    """Encode a few passages that are missing, select the models, and encode the question with them.

    A primary model that cannot be reached is left out.
    """
    try:
        selected = _select_models(choice, _encode_missing(store, scopes, choice, summary))
        selected.encode_question(question)
        return selected
    except ModelError as error:
        if choice.primary is None:
            raise
        logger.warning("recall does without %s: %s", choice.primary.model.id, summarise_error(error))
        return prepare_models(question, store, scopes, replace(choice, primary=None), summary)


def read_summary(store: Store, scopes: Sequence[Scope], choice: ModelChoice) -> PassageStatistics:
    """Return the speakers, and how many passages there are and each of the models has encoded."""
    return store.passages.statistics(scopes, [embedder.model.id for embedder in _embedders_of(choice)])


def _encode_missing(
    store: Store, scopes: Sequence[Scope], choice: ModelChoice, summary: PassageStatistics
) -> PassageStatistics:
    """Encode the passages that a model has not encoded, if they are few, and return the summary after that."""
    is_changed = False
    for embedder in _embedders_of(choice):
        missing = summary.count - summary.encoded[embedder.model.id]
        if 0 < missing <= ENCODED_WHILE_WAITING[embedder.model.states]:
            encode_up_to(store, embedder, missing, scopes)
            is_changed = True
    return read_summary(store, scopes, choice) if is_changed else summary


def _select_models(choice: ModelChoice, summary: PassageStatistics) -> SelectedModels:
    """Return the best complete models: a model that has encoded only some passages would favour those."""

    def is_complete(embedder: Embedder | None) -> bool:
        return embedder is not None and summary.encoded[embedder.model.id] == summary.count

    light = choice.light if is_complete(choice.light) else None
    state = choice.state_encoder if is_complete(choice.state_encoder) else None
    if choice.primary is not None and is_complete(choice.primary):
        profile = TRANSFORMER_PROFILE if choice.primary.model.states in CONTEXTUAL else DENSE_PROFILE
        return SelectedModels(profile, choice.primary, light, choice.recomputed_states, state)
    return (
        SelectedModels(LIGHT_PROFILE, light, recomputed_states=choice.recomputed_states, state_encoder=state)
        if light is not None
        else SelectedModels(TEXT_PROFILE)
    )


def _embedders_of(choice: ModelChoice) -> list[Embedder]:
    return [model for model in (choice.light, choice.state_encoder, choice.primary) if model is not None]
