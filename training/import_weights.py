"""Read the weights of an exported network back, so that training can go on with what ships.

Linear layers are stored as eight-bit integers with one scale a column; they come back with that rounding.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

PREFIX = "network."
PRODUCTS = frozenset({"MatMul", "MatMulInteger"})


def read_exported_weights(path: Path, network: nn.Module) -> dict[str, Tensor]:
    """Return the weights of every parameter of a network from its ONNX file; ValueError if a matrix is not found."""
    graph = onnx.load(str(path)).graph
    stored = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    producer = {output: node for node in graph.node for output in node.output}
    bases = {name.removesuffix("_quantized") for name in stored}
    values = {base: _dequantise(base, stored) for base in bases if f"{base}_scale" in stored or base in stored}
    weights = {name.removeprefix(PREFIX): array for name, array in values.items() if name.startswith(PREFIX)}
    without_bias = {node.input[1].removesuffix("_quantized") for node in graph.node if node.op_type in PRODUCTS}
    for node in graph.node:
        biases = [name for name in node.input if name.startswith(PREFIX) and name.endswith(".bias")]
        if node.op_type == "Add" and biases:
            base = _find_matrix(next(name for name in node.input if name not in biases), producer)
            if base in values:
                weights[f"{biases[0].removeprefix(PREFIX).removesuffix('.bias')}.weight"] = values[base].T
                without_bias.discard(base)
    result: dict[str, Tensor] = {}
    for name, expected in network.state_dict().items():
        array = weights.get(name)
        if array is None and expected.ndim < 2:
            array = expected.numpy()  # what only training uses is not exported
        if array is None:
            found = [
                values[base].T for base in without_bias if values.get(base, np.empty(0)).shape[::-1] == expected.shape
            ]
            if len(found) != 1:
                raise ValueError(f"{path} has {len(found)} matrices of the shape of {name}")
            array = found[0]
        result[name] = torch.from_numpy(np.array(array, np.float32)).reshape(expected.shape)
    return result


def _find_matrix(product: str, producer: dict[str, onnx.NodeProto]) -> str | None:
    """Return the name of the matrix that a value is the product with, through the nodes that undo its quantisation."""
    pending = [product]
    while pending:
        node = producer.get(pending.pop())
        if node is not None and node.op_type in PRODUCTS:
            return str(node.input[1]).removesuffix("_quantized")
        if node is not None and node.op_type in {"Mul", "Cast"}:
            pending += node.input
    return None


def _dequantise(base: str, stored: dict[str, np.ndarray]) -> np.ndarray:
    """Return a weight as it is stored, or from its integers, scale and zero point."""
    if base in stored:
        return stored[base]
    whole = stored[f"{base}_quantized"].astype(np.float32) - stored[f"{base}_zero_point"].astype(np.float32)
    return whole * stored[f"{base}_scale"].astype(np.float32)
