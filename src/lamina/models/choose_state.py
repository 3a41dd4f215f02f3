"""Which state model a memory works with: the one on the transformer, the one on static vectors, or none."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from lamina.models.files import MINILM, MODEL_FILES, ModelStore
from lamina.models.light import WordLlama, light_files
from lamina.models.state_model import StateModel
from lamina.models.state_trunk import LightTrunk, MiniLmTrunk

_TRANSFORMER_WEIGHTS, _LIGHT_WEIGHTS = "state_minilm.onnx", "state_light.onnx"


def choose_state_model(embedder: str, models_dir: Path) -> StateModel | None:
    """Return the best state model whose files are there; None where there is none or `embedder` is "none".

    "light" stays with static vectors, so that nothing depends on files that were downloaded.
    """
    if embedder == "none" or find_spec("onnxruntime") is None:
        return None
    store = ModelStore(models_dir)
    has_transformer = embedder != "light" and all(store.has(file) for file in MODEL_FILES[MINILM])
    if has_transformer and _has_weights(_TRANSFORMER_WEIGHTS):
        return _on_transformer(store.folder)
    return _on_static_vectors() if light_files() and _has_weights(_LIGHT_WEIGHTS) else None


def _has_weights(name: str) -> bool:
    return (files("lamina.models") / "weights" / name).is_file()


@cache
def _on_transformer(folder: Path) -> StateModel:
    """One for the whole process: its weights are read once."""
    return StateModel.on_transformer(MiniLmTrunk.open(folder))


@cache
def _on_static_vectors() -> StateModel:
    return StateModel.on_static_vectors(LightTrunk(WordLlama()))
