"""Train the pair model on pairs of statements and requests to forget.

Usage: python -m training.train_pairs OUT.pt [--steps N] [--seed N]
"""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lamina.models.files import MINILM_WEIGHTS
from lamina.models.minilm_network import open_network
from lamina.models.pair_model import LONGEST, token_kinds
from training.network import load_upper_layers
from training.pair_examples import RELATIONS, Pair, by_label, sources
from training.pair_network import PairNetwork
from training.train import MODELS
from training.train_answers import bounds

MIX = {"groups": 36, "chat statements": 24, "slots": 12, "projects": 6, "snippets": 12, "strangers": 4}
"""How many pairs of each source are in a batch."""


SHARES = {"keeps": 3.0, "replaces": 2.0, "ends": 0.6, "repeats": 0.8, "forgets": 1.5, "other": 2.0}
"""How often each label is drawn within a source; most of what people say replaces nothing."""


class StateCache:
    """The word pieces and middle states of texts, computed once."""

    def __init__(self) -> None:
        self._network = open_network(MODELS)
        self._texts: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def text(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        if text not in self._texts:
            ids = self._network.tokeniser.encode(text).first(LONGEST).ids
            states = self._network.states(ids).middle.astype(np.float16)
            self._texts[text] = np.concatenate(([0], ids, [0])), states
        return self._texts[text]


def collate(pairs: Sequence[Pair], cache: StateCache) -> tuple[Tensor, Tensor, Tensor]:
    rows = [(cache.text(pair.first.words), cache.text(pair.second.words)) for pair in pairs]
    length, width = max(len(one[0]) + len(other[0]) for one, other in rows), rows[0][0][1].shape[1]
    states = np.zeros((len(rows), length, width), np.float32)
    kinds, keep = np.zeros((len(rows), length), np.int64), np.zeros((len(rows), length), np.float32)
    for row, ((ids, values), (other_ids, other_values)) in enumerate(rows):
        size = len(ids) + len(other_ids)
        states[row, :size] = np.concatenate((values, other_values))
        kinds[row, :size], keep[row, :size] = token_kinds(ids, other_ids), 1.0
    return torch.from_numpy(states), torch.from_numpy(kinds), torch.from_numpy(keep)


def run(network: PairNetwork, pairs: Sequence[Pair], cache: StateCache, parts: int = 4) -> Tensor:
    """Return the outputs for the pairs; pairs of like length are run together."""
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n].first.words) + len(pairs[n].second.words))
    chunks = np.array_split(np.array(order), min(parts, len(order)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = torch.cat([network(*collate([pairs[n] for n in chunk], cache)) for chunk in chunks]).float()
    return outputs[torch.from_numpy(np.argsort(np.concatenate(chunks)))]


def pair_loss(outputs: Tensor, pairs: Sequence[Pair]) -> Tensor:
    statements = [n for n, pair in enumerate(pairs) if pair.relation]
    requests = [n for n, pair in enumerate(pairs) if pair.forgets is not None]
    wanted = torch.tensor([RELATIONS.index(pairs[n].relation) for n in statements])
    total = F.cross_entropy(outputs[statements][:, :4], wanted, label_smoothing=0.02)
    forgets = torch.tensor([float(pairs[n].forgets) for n in requests])
    return total + 0.4 * F.binary_cross_entropy_with_logits(outputs[requests, 4], forgets)


def report(network: PairNetwork, judged: dict[str, list[Pair]], cache: StateCache) -> None:
    network.eval()
    with torch.no_grad():
        for name, pairs in judged.items():
            chosen = random.Random(1).sample(pairs, min(800, len(pairs)))
            if chosen:
                print("  ", name, _judged(run(network, chosen, cache, parts=16), chosen), flush=True)
    network.train()


def _judged(outputs: Tensor, pairs: Sequence[Pair]) -> str:
    if pairs[0].forgets is not None:
        wanted = np.array([pair.forgets for pair in pairs])
        return bounds("forgets", torch.sigmoid(outputs[:, 4]).numpy(), wanted)
    chances = outputs[:, :4].softmax(-1)[:, :2].sum(1).numpy()
    return bounds("replaces", chances, np.array([pair.relation in {"replaces", "ends"} for pair in pairs]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    draw = random.Random(options.seed)
    training, judged = sources(held_out=False), sources(held_out=True)
    print({name: len(pairs) for name, pairs in training.items()}, flush=True)
    balanced = {name: by_label(pairs) for name, pairs in training.items() if pairs}
    cache = StateCache()
    network = PairNetwork(384, 3, 12, kinds=4, outputs=5)
    load_upper_layers(network, MODELS / MINILM_WEIGHTS.sha256)
    upper = list(network.layers.parameters())
    known = {id(each) for each in upper}
    heads = [each for each in network.parameters() if id(each) not in known]
    optimiser = torch.optim.AdamW([{"params": upper, "lr": 2.2e-4}, {"params": heads, "lr": 5e-4}], weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min(1.0, (step + 1) / 30) * max(0.03, 0.5 * (1 + math.cos(math.pi * step / options.steps))),
    )
    began, total = time.monotonic(), 0.0
    for step in range(1, options.steps + 1):
        batch = []
        for name, labels in balanced.items():
            kinds = sorted(labels)
            shares = [SHARES[kind] for kind in kinds]
            batch += [draw.choice(labels[kind]) for kind in draw.choices(kinds, shares, k=MIX[name])]
        loss = pair_loss(run(network, batch, cache), batch)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        total += float(loss.detach()) / 25
        if step % 25 == 0:
            print(f"step {step} of {options.steps}, {time.monotonic() - began:.0f} s, loss {total:.3f}", flush=True)
            total = 0.0
        if step % 300 == 0 or step == options.steps:
            report(network, judged, cache)
            network.save(options.out)


if __name__ == "__main__":
    main()
