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


def read_exported_weights(path: Path, network: nn.Module) -> dict[str, Tensor]:
    """Return the weights of every parameter of a network from its ONNX file; ValueError if one is not found."""
    graph = onnx.load(str(path)).graph
    stored = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    producer = {output: node for node in graph.node for output in node.output}
    weights = {name.removeprefix(PREFIX): values for name, values in stored.items() if name.startswith(PREFIX)}
    weights |= {
        name.removesuffix("_quantized"): _dequantise(name.removesuffix("_quantized"), stored, PREFIX)
        for name in list(weights)
        if name.endswith("_quantized")
    }
    for node in graph.node:
        biases = [name for name in node.input if name.startswith(PREFIX) and name.endswith(".bias")]
        if node.op_type == "Add" and biases:
            product = next(name for name in node.input if name not in biases)
            matrix = _find_matrix(product, producer, stored)
            if matrix is not None:
                weights[f"{biases[0].removeprefix(PREFIX).removesuffix('.bias')}.weight"] = matrix.T
    result: dict[str, Tensor] = {}
    for name, expected in network.state_dict().items():
        if name not in weights:
            weights[name] = _find_by_shape(tuple(expected.shape), graph, stored, producer, name)
        result[name] = torch.from_numpy(np.array(weights[name], np.float32)).reshape(expected.shape)
    return result


def _find_matrix(product: str, producer: dict[str, onnx.NodeProto], stored: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return the matrix that a value is the product with, through the nodes that undo its quantisation."""
    pending = [product]
    while pending:
        node = producer.get(pending.pop())
        if node is None or node.op_type not in {"Mul", "Cast", "MatMulInteger", "MatMul"}:
            continue
        if node.op_type in {"MatMul", "MatMulInteger"}:
            base = node.input[1].removesuffix("_quantized")
            return stored[base] if base in stored else _dequantise(base, stored) if f"{base}_scale" in stored else None
        pending += node.input
    return None


def _dequantise(base: str, stored: dict[str, np.ndarray], prefix: str = "") -> np.ndarray:
    scale, zero = stored[f"{prefix}{base}_scale"], stored[f"{prefix}{base}_zero_point"]
    whole = stored[f"{prefix}{base}_quantized"].astype(np.float32) - zero.astype(np.float32)
    return whole * scale.astype(np.float32)


def _find_by_shape(
    shape: tuple[int, ...],
    graph: onnx.GraphProto,
    stored: dict[str, np.ndarray],
    producer: dict[str, onnx.NodeProto],
    name: str,
) -> np.ndarray:
    """Return the only matrix without a bias that has a parameter's shape."""
    followed = {
        source for node in graph.node if node.op_type == "Add" for source in node.input if source.startswith(PREFIX)
    }
    found = [
        matrix.T
        for node in graph.node
        if node.op_type in {"MatMulInteger", "MatMul"} and not followed & set(node.output)
        for matrix in [_find_matrix(node.output[0], producer, stored)]
        if matrix is not None and matrix.T.shape == shape
    ]
    if len(found) != 1:
        raise ValueError(f"{len(found)} matrices of the shape of {name} in the exported network")
    return found[0]
