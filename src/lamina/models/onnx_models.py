"""Sessions of onnxruntime, and the weights that are part of the package."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from lamina.models.errors import ModelMissing


def read_weights(name: str) -> bytes:
    """Return a file of weights that `make train` wrote."""
    return (files("lamina.models") / "weights" / name).read_bytes()


@cache
def open_weights(name: str) -> Any:
    """Return the session of a file of weights, one for the whole process."""
    return open_session(read_weights(name))


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
