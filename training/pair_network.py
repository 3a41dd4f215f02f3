"""The pair model and the answer model in torch: layers over the token states of two texts together."""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.network import Layer, Pool


class PairNetwork(nn.Module):
    """Reads two texts jointly; each token has a kind: in which text it stands and whether the other text holds it."""

    def __init__(self, width: int, layers: int, heads: int, kinds: int, outputs: int) -> None:
        super().__init__()
        self.width = width
        self.kinds = nn.Embedding(kinds, width)
        nn.init.normal_(self.kinds.weight, std=0.03)
        self.layers = nn.ModuleList(Layer(width, heads, 4 * width) for _ in range(layers))
        self.pool = Pool(width)
        self.hidden = nn.Linear(3 * width + 2 * width, 256)
        self.out = nn.Linear(256, outputs)
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: Tensor, kinds: Tensor, keep: Tensor) -> Tensor:
        x = states + self.kinds(kinds)
        for layer in self.layers:
            x = layer(x, keep)
        first = ((kinds < 2).float() * keep)[..., None]
        second = (((kinds >= 2) & (kinds < 6)).float() * keep)[..., None]
        mean_first = (x * first).sum(1) / first.sum(1).clamp(min=1)
        mean_second = (x * second).sum(1) / second.sum(1).clamp(min=1)
        pooled = torch.cat([self.pool(x, keep), mean_first * mean_second, (mean_first - mean_second).abs()], -1)
        return self.out(self.dropout(F.gelu(self.hidden(self.dropout(pooled)))))

    @classmethod
    def load(cls, path: Path) -> PairNetwork:
        """Return a network that `save` wrote, ready to be run."""
        saved = torch.load(path, map_location="cpu")
        network = cls(*saved["shape"])
        network.load_state_dict(saved["weights"])
        return network.eval()

    def save(self, path: Path) -> None:
        """Write the network to a file."""
        shape = self.width, len(self.layers), self.layers[0].heads, self.kinds.num_embeddings, self.out.out_features
        torch.save({"shape": shape, "weights": self.state_dict()}, path)
