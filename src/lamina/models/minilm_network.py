"""The transformer all-MiniLM-L6-v2 on onnxruntime: word pieces in, their states out.

The embedder reads the states of the last layer, the state model those of the middle layer, the list reader both. One
run returns both, so a text passes through the transformer once.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.models.chunks import MAX_CHUNK_PIECES
from lamina.models.errors import ModelMissing
from lamina.models.model_files import MINILM_TOKENIZER, MINILM_WEIGHTS, ModelStore
from lamina.models.tokeniser import Tokeniser
from lamina.vectors.levels import Floats

DIMENSIONS = 384
CACHED_TEXTS = 256
"""Chunks whose states are cached: at most 52 MB. Longer texts, such as long questions, are not cached."""
MIDDLE_LAYER = b"/encoder/layer.2/output/LayerNorm/Add_1_output_0"
"""The output of the third of six layers."""


class LayerStates(NamedTuple):
    """The states of word pieces after the third and after the last layer, with [CLS] in front and [SEP] behind."""

    middle: Floats
    last: Floats


class MiniLmNetwork:
    """Computes token states and caches the last results. Loaded at first use; threads may share it."""

    def __init__(self, store: ModelStore) -> None:
        self._store, self._lock = store, Lock()
        self._states: OrderedDict[bytes, LayerStates] = OrderedDict()

    @property
    def tokeniser(self) -> Tokeniser:
        """The tokenizer, loaded at first use."""
        with self._lock:
            return self._tokeniser

    def states(self, ids: NDArray[np.int64]) -> LayerStates:
        """Return the states of word pieces. Raises ModelMissing if the files are not installed."""
        key = ids.tobytes()
        with self._lock:
            cached = self._states.get(key)
            if cached is not None:
                self._states.move_to_end(key)
                return cached
            session, cls, sep = self._session, self._cls, self._sep
        row = np.concatenate(([cls], ids, [sep]))[None, :]
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        outputs = [np.asarray(output[0], np.float32) for output in session.run(None, inputs)]
        states = LayerStates(middle=outputs[1], last=outputs[0])
        for state in states:
            state.setflags(write=False)
        if len(ids) > MAX_CHUNK_PIECES:
            return states
        with self._lock:
            self._states[key] = states
            while len(self._states) > CACHED_TEXTS:
                self._states.popitem(last=False)
        return states

    @cached_property
    def _tokeniser(self) -> Tokeniser:
        return Tokeniser(self._store.require(MINILM_TOKENIZER))

    @cached_property
    def _session(self) -> Any:
        return open_session(add_output(self._store.require(MINILM_WEIGHTS).read_bytes(), MIDDLE_LAYER))

    @cached_property
    def _cls(self) -> int:
        return self._tokeniser.id_of("[CLS]")

    @cached_property
    def _sep(self) -> int:
        return self._tokeniser.id_of("[SEP]")


@cache
def open_network(folder: Path) -> MiniLmNetwork:
    """Return the network of a models folder, one for the whole process."""
    return MiniLmNetwork(ModelStore(folder))


def add_output(model: bytes, name: bytes) -> bytes:
    """Return an ONNX model with one more output, the tensor of that name.

    Concatenated protobuf messages are merged: a second message appended to the first adds to its repeated fields, so
    the graph gains an output and the rest stays as it is.
    """
    graph_field, output_field, name_field, type_field = 7, 12, 1, 2
    float_tensor = _encode_field(1, b"\x08\x01")
    output = _encode_field(name_field, name) + _encode_field(type_field, float_tensor)
    return model + _encode_field(graph_field, _encode_field(output_field, output))


def _encode_field(number: int, body: bytes) -> bytes:
    """Encode a protobuf field of variable length; its number and size must fit into one byte each."""
    assert len(body) < 128
    return bytes([number << 3 | 2, len(body)]) + body


def open_session(model: bytes) -> Any:
    """Return an onnxruntime session on one thread: sums keep their order, and threads of a busy machine do not wait for
    each other. Raises ModelMissing without onnxruntime."""
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ModuleNotFoundError as error:
        raise ModelMissing("the package onnxruntime is not installed; `pip install onnxruntime`") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
