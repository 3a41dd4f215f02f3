"""Selects the models that a recall can use now: those that have encoded every passage it may find."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lamina.atom.scope import Scope
from lamina.logs import wordless
from lamina.models.choose import Choice
from lamina.models.embedder import CONTEXTUAL, Embedder, TokenStates
from lamina.models.encode import encode_some
from lamina.models.errors import ModelError
from lamina.models.state_encoder import StateEncoder
from lamina.models.thaw import Thawed
from lamina.recall.recipe import DENSE, FULL, LIGHT, TEXT, Recipe
from lamina.store.base import Store

logger = logging.getLogger(__name__)

AT_ONCE = {
    TokenStates.PIECES: 2000,
    TokenStates.SIGNS: 32,
    TokenStates.NIBBLES: 32,
    TokenStates.NONE: 64,
    TokenStates.SENTENCES: 64,
}
"""How many passages are encoded while the caller waits for the answer; about a quarter of a second."""


@dataclass(frozen=True, slots=True)
class Lens:
    """The model whose vectors are searched, the one whose token states are compared, and the scoring profile that fits
    them.

    `recomputed_states` computes the token states of passages that are stored without them.
    """

    recipe: Recipe
    main: Embedder | None = None
    light: Embedder | None = None
    thawed: Thawed = field(default_factory=Thawed, repr=False, compare=False)
    state: StateEncoder | None = None

    @property
    def states(self) -> Embedder | None:
        """The model whose token states are compared."""
        if self.main is not None and self.main.model.states is not TokenStates.NONE:
            return self.main
        return self.light

    def is_whole(self, store: Store, scopes: Sequence[Scope]) -> bool:
        """Return whether the models have encoded every passage of these scopes."""
        models = [embedder.model.id for embedder in (self.main, self.light, self.state) if embedder is not None]
        covered = [store.encodings.coverage(model, scopes) for model in models]
        return all(encoded == total for encoded, total in covered)

    def read(self, meant: str) -> None:
        """Let every model read the question, before the store is locked."""
        for embedder in (self.main, self.light, self.state):
            if embedder is not None:
                embedder.question(meant)

    @property
    def name(self) -> str:
        """The id of the main model, or "text"."""
        return self.main.model.id if self.main is not None else "text"


def look(meant: str, store: Store, scopes: Sequence[Scope], choice: Choice) -> Lens:
    """Select the models for a question and let them read it. A primary model that cannot be reached is left out."""
    try:
        selected = lens(store, scopes, choice)
        selected.read(meant)
        return selected
    except ModelError as error:
        if choice.primary is None:
            raise
        logger.warning("recall does without %s: %s", choice.primary.model.id, wordless(error))
        return look(meant, store, scopes, replace(choice, primary=None))


def lens(store: Store, scopes: Sequence[Scope], choice: Choice) -> Lens:
    """Return the best complete models: a model that has encoded only some passages would favour those."""
    light = choice.light if choice.light is not None and _is_complete(store, scopes, choice.light) else None
    state = choice.state if choice.state is not None and _is_complete(store, scopes, choice.state) else None
    if choice.primary is not None and _is_complete(store, scopes, choice.primary):
        recipe = FULL if choice.primary.model.states in CONTEXTUAL else DENSE
        return Lens(recipe, choice.primary, light, choice.thawed, state)
    return Lens(LIGHT, light, thawed=choice.thawed, state=state) if light is not None else Lens(TEXT)


def _is_complete(store: Store, scopes: Sequence[Scope], embedder: Embedder) -> bool:
    """Return whether a model has encoded every passage of these scopes; a few missing ones are encoded now."""
    encoded, total = store.encodings.coverage(embedder.model.id, scopes)
    if 0 < total - encoded <= AT_ONCE[embedder.model.states]:
        encode_some(store, embedder, total - encoded, scopes)
        encoded, total = store.encodings.coverage(embedder.model.id, scopes)
    return encoded == total
