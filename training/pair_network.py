"""The pair model in torch: layers over the trunk states of two texts together, three small heads."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.network import Pool, TransformerLayer
from training.pair_examples import RELATIONS


class PairNetwork(nn.Module):
    """Reads two texts jointly. `kind` of a token: 0 or 1 in the first text, 2 or 3 in the second; odd if the other text
    holds the same word piece."""

    def __init__(self, width: int, layers: int, heads: int = 12) -> None:
        super().__init__()
        self.width = width
        self.kinds = nn.Embedding(4, width)
        nn.init.normal_(self.kinds.weight, std=0.03)
        self.layers = nn.ModuleList(TransformerLayer(width, heads, 4 * width) for _ in range(layers))
        self.pool = Pool(width)
        self.hidden = nn.Linear(3 * width + 2 * width, 256)
        self.out = nn.Linear(256, len(RELATIONS) + 2)
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: Tensor, kinds: Tensor, keep: Tensor) -> Tensor:
        x = states + self.kinds(kinds)
        for layer in self.layers:
            x = layer(x, keep)
        first = ((kinds < 2).float() * keep)[..., None]
        second = ((kinds >= 2).float() * keep)[..., None]
        mean_first = (x * first).sum(1) / first.sum(1)
        mean_second = (x * second).sum(1) / second.sum(1)
        pooled = torch.cat([self.pool(x, keep), mean_first * mean_second, (mean_first - mean_second).abs()], -1)
        return self.out(self.dropout(F.gelu(self.hidden(self.dropout(pooled)))))
