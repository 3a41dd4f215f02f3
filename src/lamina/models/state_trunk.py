"""The token states that the state model reads: the lower half of the transformer, or static vectors without it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lamina.models.errors import ModelMissing
from lamina.models.files import MINILM_TOKENIZER, MINILM_WEIGHTS, ModelStore
from lamina.models.light import WordLlama
from lamina.models.tokeniser import Tokeniser, Tokens
from lamina.vectors.levels import Floats

CUT = b"/encoder/layer.2/output/LayerNorm/Add_1_output_0"
"""The output of the third of six layers: above it the state model has layers of its own."""
_UPPER_LAYERS = (b"/encoder/layer.3/", b"/encoder/layer.4/", b"/encoder/layer.5/")
_LAST_OUTPUT = b"last_hidden_state"


class Trunk(Protocol):
    """Turns a text into token states; the first and the last row belong to no word."""

    @property
    def dimensions(self) -> int:
        """The width of a state."""

    def tokens(self, text: str) -> Tokens:
        """Return the word pieces of a text."""

    def states(self, ids: NDArray[np.int64]) -> Floats:
        """Return the state of every word piece, with one row in front and one behind for the special tokens."""


class MiniLmTrunk:
    """Layers 1 to 3 of all-MiniLM-L6-v2. Loaded at first use; threads may share it."""

    dimensions = 384

    def __init__(self, store: ModelStore) -> None:
        self._store, self._lock = store, Lock()

    @classmethod
    def open(cls, folder: Path) -> MiniLmTrunk:
        """Return the trunk of a models folder."""
        return cls(ModelStore(folder))

    def tokens(self, text: str) -> Tokens:
        return self._network.tokeniser.encode(text)

    def states(self, ids: NDArray[np.int64]) -> Floats:
        return self._network.states(ids)

    @property
    def _network(self) -> _LowerHalf:
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> _LowerHalf:
        return _LowerHalf(self._store.find(MINILM_TOKENIZER), self._store.find(MINILM_WEIGHTS))


class _LowerHalf:
    def __init__(self, tokenizer: Path, weights: Path) -> None:
        self.tokeniser = Tokeniser(tokenizer)
        self._session = open_session(lower_half(weights.read_bytes()))
        self._first, self._last = self.tokeniser.id_of("[CLS]"), self.tokeniser.id_of("[SEP]")

    def states(self, ids: NDArray[np.int64]) -> Floats:
        row = np.concatenate(([self._first], ids, [self._last]))[None, :]
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        return np.asarray(self._session.run(None, inputs)[0][0], np.float32)


class LightTrunk:
    """Static vectors of word pieces, for machines without the transformer's files."""

    dimensions = 256

    def __init__(self, words: WordLlama) -> None:
        self._words = words

    def tokens(self, text: str) -> Tokens:
        return self._words.tokens(text)

    def states(self, ids: NDArray[np.int64]) -> Floats:
        edge = np.zeros((1, self.dimensions), np.float32)
        return np.concatenate((edge, self._words.piece_vectors(ids), edge))


def open_session(model: bytes) -> Any:
    """Return an onnxruntime session on one thread, so that sums keep their order and results do not vary."""
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ModuleNotFoundError as error:
        raise ModelMissing("the package onnxruntime is not installed; `pip install onnxruntime`") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def lower_half(model: bytes) -> bytes:
    """Return an ONNX model cut after its third layer.

    onnxruntime runs every node of a graph whatever output is asked for, so the upper layers are taken out of the file's
    bytes: a protobuf message is a list of numbered fields, and only the fields that go are looked into.
    """
    graph_field, node_field, output_field = 7, 1, 12
    parts: list[bytes] = []
    for number, raw, body in _fields(model):
        if number != graph_field:
            parts.append(raw)
            continue
        graph = b"".join(
            raw
            for number, raw, body in _fields(body)
            if number != output_field and not (number == node_field and _is_upper(body))
        )
        float_tensor = _field(2, _field(1, b"\x08\x01"))
        parts.append(_field(graph_field, graph + _field(output_field, _field(1, CUT) + float_tensor)))
    return b"".join(parts)


def _is_upper(node: bytes) -> bool:
    output_names = [body for number, _, body in _fields(node) if number == 2]
    return any(name.startswith(_UPPER_LAYERS) or name == _LAST_OUTPUT for name in output_names)


def _fields(message: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number, the whole bytes and the content of each field of a protobuf message."""
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        match key & 7:
            case 0:
                body_start = at
                _, at = _varint(message, at)
            case 1:
                body_start, at = at, at + 8
            case 2:
                size, body_start = _varint(message, at)
                at = body_start + size
            case 5:
                body_start, at = at, at + 4
            case kind:
                raise ValueError(f"not a protobuf message: wire type {kind}")
        yield key >> 3, message[start:at], message[body_start:at]


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _field(number: int, body: bytes) -> bytes:
    return _to_varint(number << 3 | 2) + _to_varint(len(body)) + body


def _to_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])
