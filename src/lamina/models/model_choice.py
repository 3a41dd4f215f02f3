"""Chooses the embedding models for a setting. Nothing is loaded until it is used."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lamina.errors import InvalidInput
from lamina.models.embedder import CachingEmbedder, Embedder
from lamina.models.encoding_worker import RecomputedStates
from lamina.models.model_files import MINILM, MODEL_FILES, ModelStore
from lamina.models.reranker import Reranker
from lamina.models.sentence_state_encoder import StateEncoder

EMBEDDER_SETTINGS = "auto, light, none, minilm, openai:MODEL, fastembed:NAME or sentence-transformers:NAME"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The models to use; `missing_hint` is a hint to print once if a better model could be installed;
    `recomputed_states` caches the token states that were computed on demand."""

    light: Embedder | None = None
    primary: Embedder | None = None
    missing_hint: str = ""
    reranker: Reranker | None = None
    state_encoder: StateEncoder | None = None
    recomputed_states: RecomputedStates = field(default_factory=RecomputedStates, repr=False, compare=False)


def choose_embedders(
    setting: str,
    models_dir: Path,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dimensions: int | None = None,
    token_bits: int = 1,
) -> ModelChoice:
    """Return the embedding models for a setting; the transformer stores its token states with `token_bits` bits per
    dimension.

    The other parameters are for openai:MODEL; without `dimensions` the model is asked for its own. Raises InvalidInput
    for an unknown setting.
    """
    family, _, name = setting.partition(":")
    match family, name:
        case ["auto", ""]:
            return _choose_automatically(ModelStore(models_dir), token_bits)
        case ["none", ""]:
            return ModelChoice()
        case ["light", ""]:
            return ModelChoice(_load_light())
        case ["minilm", ""]:
            return ModelChoice(_load_light(), _require_minilm(ModelStore(models_dir), token_bits))
        case ("openai", name) if name:
            return ModelChoice(_load_light(), _connect_endpoint(name, base_url, api_key, dimensions))
        case (("fastembed" | "sentence-transformers"), name) if name:
            return ModelChoice(_load_light(), _load_library(family, name))
        case _:
            raise InvalidInput(f"unknown embedder {setting!r}; choose one of {EMBEDDER_SETTINGS}")


def _choose_automatically(store: ModelStore, token_bits: int) -> ModelChoice:
    if _has_minilm(store):
        return ModelChoice(_load_light(), _load_minilm(store.folder, token_bits))
    return ModelChoice(
        _load_light(),
        missing_hint=f"recall works without {MINILM} and finds more with it: `lamina models download` gets it"
        " once (24 MB)",
    )


def _require_minilm(store: ModelStore, token_bits: int) -> Embedder:
    for file in MODEL_FILES[MINILM]:
        store.require(file)
    return _load_minilm(store.folder, token_bits)


def _has_minilm(store: ModelStore) -> bool:
    return all(store.has(file) for file in MODEL_FILES[MINILM])


@cache
def _load_light() -> Embedder | None:
    from lamina.models.light_embedder import load_word_llama

    words = load_word_llama()
    return CachingEmbedder(words) if words else None


@cache
def _load_minilm(folder: Path, token_bits: int) -> Embedder:
    from lamina.models.minilm import MiniLM

    return CachingEmbedder(MiniLM(ModelStore(folder), token_bits))


def _connect_endpoint(name: str, base_url: str | None, api_key: str | None, dimensions: int | None) -> Embedder:
    from lamina.models.external_embedder import connect_embedder

    if not base_url:
        raise InvalidInput(f"openai:{name} needs the address of its endpoint, such as http://127.0.0.1:8080/v1")
    return CachingEmbedder(connect_embedder(base_url, name, api_key, dimensions=dimensions))


def _load_library(family: str, name: str) -> Embedder:
    from lamina.models.external_embedder import load_fastembed, load_sentence_transformers

    return CachingEmbedder(load_fastembed(name) if family == "fastembed" else load_sentence_transformers(name))


def choose_state_model(setting: str, embedder: str, models_dir: Path) -> StateEncoder | None:
    """Return the state model for an embedding model: on the transformer if its files are installed, else on static
    vectors."""
    if setting == "off" or embedder == "none":
        return None
    store = ModelStore(models_dir)
    if embedder != "light" and _has_minilm(store):
        return _load_transformer_states(store.folder)
    return _load_light_states()


@cache
def _load_transformer_states(folder: Path) -> StateEncoder:
    from lamina.models.list_reader import ListReader
    from lamina.models.pair_model import PairModel
    from lamina.models.state_model import MiniLmTrunk, StateModel

    trunk = MiniLmTrunk(folder)
    return StateEncoder(StateModel(trunk), PairModel(trunk), ListReader(trunk))


@cache
def _load_light_states() -> StateEncoder | None:
    from lamina.models.light_embedder import load_word_llama
    from lamina.models.list_reader import ListReader
    from lamina.models.state_model import LightTrunk, StateModel

    words = load_word_llama()
    if words is None:
        return None
    trunk = LightTrunk(words)
    return StateEncoder(StateModel(trunk), lists=ListReader(trunk))
