"""The list reader in torch: layers over the trunk states of a text and its candidates, one row of classes for each."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lamina.models.list_reader import CLASS_COUNT, MATCH_COUNT, MAX_CANDIDATES, TASKS
from training.network import TransformerLayer

SET_WIDTH, SET_LAYERS, SET_HEADS, ORDER = 192, 2, 4, 5


class ReaderNetwork(nn.Module):
    """Candidates are read beside the first text, each apart from the others until the last layer; then small layers
    over one vector a candidate compare them, half of their heads seeing only the candidate itself and newer ones.

    `kinds` of a token: 0 in the first text, 1 in a candidate, 2 in a candidate if the first text holds it too.
    """

    def __init__(self, width: int, layers: int, heads: int = 12) -> None:
        super().__init__()
        self.width = width
        self.kinds, self.tasks = (nn.Embedding(count, width) for count in (3, len(TASKS)))
        for embedding in (self.kinds, self.tasks):
            nn.init.normal_(embedding.weight, std=0.03)
        self.layers = nn.ModuleList(TransformerLayer(width, heads, 4 * width) for _ in range(layers))
        self.weigh_hidden, self.weigh = nn.Linear(width, 128), nn.Linear(128, 2)
        self.spot = nn.Linear(width, 1)
        self.hidden, self.hidden_norm = nn.Linear(6 * width, SET_WIDTH), nn.LayerNorm(SET_WIDTH)
        self.matches, self.strength = nn.Linear(MATCH_COUNT, SET_WIDTH), nn.Linear(1, SET_WIDTH)
        self.ages = nn.Embedding(MAX_CANDIDATES, SET_WIDTH)
        nn.init.normal_(self.ages.weight, std=0.3)
        self.compare = nn.ModuleList(TransformerLayer(SET_WIDTH, SET_HEADS, 2 * SET_WIDTH) for _ in range(SET_LAYERS))
        self.out, self.alone = nn.Linear(2 * SET_WIDTH + MATCH_COUNT, CLASS_COUNT), nn.Linear(SET_WIDTH, 1)
        self.order = nn.Linear(ORDER, CLASS_COUNT, bias=False)
        nn.init.zeros_(self.order.weight)
        with torch.no_grad():
            self.order.weight[0, 0], self.order.weight[1, 4], self.order.weight[2, 3] = -1.0, 2.0, 2.0
        self.dropout = nn.Dropout(0.1)

    def forward(
        self, states: Tensor, kinds: Tensor, inside: Tensor, ages: Tensor, matches: Tensor, task: Tensor, keep: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return (lists, candidates, classes), whether each candidate taken alone states what is asked for, and
        whether each token belongs to the value; `inside` (lists, candidates, tokens) marks each candidate's tokens."""
        of_first = keep - inside.sum(1)
        apart = torch.matmul(inside.transpose(1, 2), inside) + of_first[:, None, :]
        x = states + self.kinds(kinds) + self.tasks(task)[:, None, :]
        for layer in self.layers[:-1]:
            x = layer(x, apart)
        x = self.layers[-1](x, keep)
        spot = self.spot(x)[..., 0]
        of_value = spot[:, None] + (1.0 - inside) * -1e4
        pooled = self.hidden(self.dropout(self._pool(x, inside, of_first, of_value)))
        strongest = of_value.amax(-1, keepdim=True).clamp(min=-20.0)
        single = self.hidden_norm(pooled + self.matches(4.0 * matches) + self.strength(0.3 * strongest))
        together = single + self.ages(ages)
        seen = self._seen(inside.sum(-1).clamp(max=1.0), ages)
        for layer in self.compare:
            together = layer(together, seen)
        alone = self.alone(F.gelu(single))[..., 0]
        present = inside.sum(-1).clamp(max=1.0)
        classes = self.out(self.dropout(torch.cat([single, together, matches], -1)))
        return classes + self.order(self._in_order(alone.float().sigmoid() * present, ages)), alone, spot

    @staticmethod
    def _in_order(stated: Tensor, ages: Tensor) -> Tensor:
        """Return how surely each candidate states what is asked for, and how surely a newer and an older one do."""
        is_newer = (ages[:, None, :] < ages[:, :, None]).to(stated.dtype)
        is_older = (ages[:, None, :] > ages[:, :, None]).to(stated.dtype)
        newer, older = ((weights * stated[:, None, :]).amax(-1) for weights in (is_newer, is_older))
        return torch.stack([stated, newer, older, stated * newer, stated * (1.0 - newer)], -1)

    @staticmethod
    def _seen(present: Tensor, ages: Tensor) -> Tensor:
        """Return which candidates each one attends to, (lists, heads, candidates, candidates)."""
        newer = (ages[:, None, :] <= ages[:, :, None]).to(present.dtype) * present[:, None, :]
        every = torch.ones_like(newer) * present[:, None, :]
        return torch.stack([newer] * (SET_HEADS // 2) + [every] * (SET_HEADS // 2), 1)

    def _pool(self, x: Tensor, inside: Tensor, of_first: Tensor, of_value: Tensor) -> Tensor:
        scores = self.weigh(torch.tanh(self.weigh_hidden(x))).transpose(1, 2)[:, None]
        weights = (scores + (1.0 - inside[:, :, None]) * -1e4).softmax(-1)
        pools = torch.matmul(weights.flatten(1, 2), x).reshape(inside.shape[0], inside.shape[1], 2 * self.width)
        mean = torch.matmul(inside, x) / inside.sum(-1, keepdim=True).clamp(min=1.0)
        first = torch.matmul(of_first[:, None, :], x) / of_first.sum(-1)[:, None, None]
        value = torch.matmul(of_value.softmax(-1), x)
        return torch.cat([pools, mean, first * mean, (first - mean).abs(), value], -1)
