"""The state model in torch: layers over the trunk's token states, one pooled vector per sentence, small heads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.examples import ASKS, MOODS, REQUESTS

MINILM_WIDTH, MINILM_LAYERS = 384, 3
"""The width of the transformer, and how many of its upper layers the networks have."""


class Outputs(NamedTuple):
    slot: Tensor
    mood: Tensor
    own: Tensor
    many: Tensor
    requests: Tensor
    ask: Tensor
    tokens: Tensor


class TransformerLayer(nn.Module):
    """A transformer layer with BERT's layout, written out so that export gives plain matrix products."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.out, self.norm1 = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down, self.norm2 = (
            nn.Linear(width, inner),
            nn.Linear(inner, width),
            nn.LayerNorm(width, eps=1e-12),
        )
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """`keep` is 1 for what is seen, by all tokens (texts, tokens), by each (texts, tokens, tokens), or
        by each in every head (texts, heads, tokens, tokens)."""
        batch, length, width = x.shape
        size = width // self.heads
        seen = keep[:, None, None, :] if keep.dim() == 2 else keep[:, None] if keep.dim() == 3 else keep

        def split(t: Tensor) -> Tensor:
            return t.view(batch, length, self.heads, size).transpose(1, 2)

        scores = split(self.query(x)) @ split(self.key(x)).transpose(2, 3) / size**0.5
        weights = (scores + (1.0 - seen) * -1e4).softmax(-1)
        mixed = (weights @ split(self.value(x))).transpose(1, 2).reshape(batch, length, width)
        x = self.norm1(x + self.dropout(self.out(mixed)))
        return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Pool(nn.Module):
    """Pools a sentence: the mean of its tokens and two learned weightings of them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden, self.weight = nn.Linear(width, 128), nn.Linear(128, 2)

    def forward(self, x: Tensor, inside: Tensor) -> Tensor:
        """`x`: (texts, tokens, width) gathered by sentence; `inside`: (sentences, tokens)."""
        scores = self.weight(torch.tanh(self.hidden(x))) + (1.0 - inside[..., None]) * -1e4
        pools = torch.einsum("std,stk->skd", x, scores.softmax(1)).flatten(1)
        mean = (x * inside[..., None]).sum(1) / inside.sum(1, keepdim=True)
        return torch.cat([pools, mean], -1)


class StateNetwork(nn.Module):
    def __init__(self, width: int, layers: int, heads: int = 12) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.ModuleList(TransformerLayer(width, heads, 4 * width) for _ in range(layers))
        self.slot_pool, self.class_pool = Pool(width), Pool(width)
        self.slot_skip = nn.Linear(width, width, bias=False)
        self.slot_mix = nn.Linear(3 * width, width, bias=False)
        nn.init.eye_(self.slot_skip.weight)
        nn.init.zeros_(self.slot_mix.weight)
        self.hidden = nn.Linear(3 * width, 256)
        self.heads = nn.Linear(256, len(MOODS) + 2 + len(REQUESTS) + len(ASKS))
        self.request_pool = Pool(width)
        self.request_hidden, self.request_out = nn.Linear(3 * width, 128), nn.Linear(128, len(REQUESTS))
        self.token_hidden, self.token_out = nn.Linear(width, 128), nn.Linear(128, 3)
        self.dropout = nn.Dropout(0.1)
        self.scale = nn.Parameter(torch.tensor([12.0, -6.0]))

    def forward(self, states: Tensor, keep: Tensor, inside: Tensor, owner: Tensor) -> Outputs:
        """Encode and read sentences: `inside` marks the tokens of each in its text, whose number is in `owner`."""
        return self.read(self.encode(states, keep), inside, owner)

    def encode(self, states: Tensor, keep: Tensor) -> Tensor:
        """Run the layers; texts of similar length are best encoded together."""
        for layer in self.layers:
            states = layer(states, keep)
        return states

    def read(self, x: Tensor, inside: Tensor, owner: Tensor) -> Outputs:
        """Pool each sentence and apply the heads."""
        tokens = self.token_out(F.gelu(self.token_hidden(x)))
        x = x[owner]
        pooled = self.slot_pool(x, inside)
        slot = self.slot_skip(pooled[:, -self.width :]) + self.slot_mix(self.dropout(pooled))
        classes = self.heads(self.dropout(F.gelu(self.hidden(self.dropout(self.class_pool(x, inside))))))
        mood, own, many, _, ask = classes.split([len(MOODS), 1, 1, len(REQUESTS), len(ASKS)], -1)
        requests = self.read_requests(x, inside)
        return Outputs(F.normalize(slot, dim=-1), mood, own[:, 0], many[:, 0], requests, ask, tokens)

    def read_requests(self, x: Tensor, inside: Tensor) -> Tensor:
        """Return for each sentence whether it asks to forget or not to keep something, or contains a secret."""
        pooled = self.dropout(self.request_pool(x, inside))
        return self.request_out(self.dropout(F.gelu(self.request_hidden(pooled))))


def load_upper_layers(network: StateNetwork, weights: Path) -> None:
    """Start from the transformer's own upper layers, dequantised from its eight-bit file."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(weights)).graph
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    layers: dict[str, np.ndarray] = {name: value for name, value in arrays.items() if name.startswith("encoder.layer.")}
    for node in graph.node:
        match = re.match(r"/encoder/layer\.(\d)/(.*)/MatMul_output", node.output[0])
        if node.op_type == "MatMulInteger" and match and node.input[1].startswith("onnx::"):
            base = node.input[1][: -len("_quantized")]
            values = arrays[base + "_quantized"].astype(np.float32) - arrays[base + "_zero_point"].astype(np.float32)
            name = f"encoder.layer.{match[1]}.{match[2].replace('/', '.')}.weight"
            layers[name] = (values * arrays[base + "_scale"]).T.copy()
    parts = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "out": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "up": "intermediate.dense",
        "down": "output.dense",
        "norm2": "output.LayerNorm",
    }
    first = 6 - len(network.layers)
    with torch.no_grad():
        for number, layer in enumerate(network.layers, first):
            for ours, theirs in parts.items():
                module = getattr(layer, ours)
                module.weight.copy_(torch.tensor(layers[f"encoder.layer.{number}.{theirs}.weight"]))
                module.bias.copy_(torch.tensor(layers[f"encoder.layer.{number}.{theirs}.bias"]))
