"""Chooses the embedding models for a setting. Nothing is loaded until it is used."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lamina.errors import InvalidInput
from lamina.models.cache import CachedQuestions
from lamina.models.embedder import Embedder
from lamina.models.files import MINILM, MODEL_FILES, ModelStore
from lamina.models.reranker import Reranker
from lamina.models.state_encoder import StateEncoder
from lamina.models.thaw import Thawed

SETTINGS = "auto, light, none, minilm, openai:MODEL, fastembed:NAME or sentence-transformers:NAME"


@dataclass(frozen=True, slots=True)
class Choice:
    """The models to use; `missing_hint` is a hint to print once if a better model could be installed;
    `recomputed_states` caches the token states that were computed on demand."""

    light: Embedder | None = None
    primary: Embedder | None = None
    missing: str = ""
    reranker: Reranker | None = None
    state: StateEncoder | None = None
    thawed: Thawed = field(default_factory=Thawed, repr=False, compare=False)


def choose(
    setting: str,
    models_dir: Path,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dimensions: int | None = None,
    token_bits: int = 1,
) -> Choice:
    """Return the embedding models for a setting; the transformer stores its token states with `token_bits` bits per
    dimension.

    The other parameters are for openai:MODEL; without `dimensions` the model is asked for its own. Raises InvalidInput
    for an unknown setting.
    """
    family, _, name = setting.partition(":")
    match family, name:
        case ["auto", ""]:
            return _automatic(ModelStore(models_dir), token_bits)
        case ["none", ""]:
            return Choice()
        case ["light", ""]:
            return Choice(_light())
        case ["minilm", ""]:
            return Choice(_light(), _demanded(ModelStore(models_dir), token_bits))
        case ("openai", name) if name:
            return Choice(_light(), _endpoint(name, base_url, api_key, dimensions))
        case (("fastembed" | "sentence-transformers"), name) if name:
            return Choice(_light(), _library(family, name))
        case _:
            raise InvalidInput(f"unknown embedder {setting!r}; choose one of {SETTINGS}")


def _automatic(store: ModelStore, token_bits: int) -> Choice:
    if _present(store):
        return Choice(_light(), _minilm(store.folder, token_bits))
    return Choice(
        _light(),
        missing=f"recall works without {MINILM} and finds more with it: `lamina models download` gets it once (24 MB)",
    )


def _demanded(store: ModelStore, token_bits: int) -> Embedder:
    for file in MODEL_FILES[MINILM]:
        store.find(file)
    return _minilm(store.folder, token_bits)


def _present(store: ModelStore) -> bool:
    return all(store.has(file) for file in MODEL_FILES[MINILM])


@cache
def _light() -> Embedder | None:
    """Return the light model, one for the whole process, so that its table is read once."""
    from lamina.models.light import WordLlama, light_files

    return CachedQuestions(WordLlama()) if light_files() else None


@cache
def _minilm(folder: Path, token_bits: int) -> Embedder:
    from lamina.models.minilm import MiniLM

    return CachedQuestions(MiniLM(ModelStore(folder), token_bits))


def _endpoint(name: str, base_url: str | None, api_key: str | None, dimensions: int | None) -> Embedder:
    from lamina.models.remote import remote

    if not base_url:
        raise InvalidInput(f"openai:{name} needs the address of its endpoint, such as http://127.0.0.1:8080/v1")
    return CachedQuestions(remote(base_url, name, api_key, dimensions=dimensions))


def _library(family: str, name: str) -> Embedder:
    from lamina.models.local import fastembed, sentence_transformers

    return CachedQuestions(fastembed(name) if family == "fastembed" else sentence_transformers(name))


def choose_state_model(setting: str, embedder: str, models_dir: Path) -> StateEncoder | None:
    """Return the state model for an embedding model: on the transformer if its files are installed, else on static
    vectors."""
    if setting == "off" or embedder == "none":
        return None
    store = ModelStore(models_dir)
    if embedder != "light" and _present(store):
        return _transformer_states(store.folder)
    return _light_states()


@cache
def _transformer_states(folder: Path) -> StateEncoder:
    from lamina.models.list_reader import ListReader
    from lamina.models.pair_model import PairModel
    from lamina.models.state_model import StateModel
    from lamina.models.state_trunk import MiniLmTrunk

    trunk = MiniLmTrunk(folder)
    return StateEncoder(StateModel.on_transformer(trunk), PairModel(trunk), ListReader.on_transformer(trunk))


@cache
def _light_states() -> StateEncoder | None:
    from lamina.models.light import WordLlama, light_files
    from lamina.models.list_reader import ListReader
    from lamina.models.state_model import StateModel
    from lamina.models.state_trunk import LightTrunk

    if not light_files():
        return None
    trunk = LightTrunk(WordLlama())
    return StateEncoder(StateModel.on_static_vectors(trunk), lists=ListReader.on_static_vectors(trunk))
