"""Train the pair model.

Usage: python -m training.train_pairs START OUT.pt [--steps N] [--seed N] [--rate R]

START is a trained state network on the transformer (.pt), whose layers the pair model begins with, or an exported pair
model (.onnx) to go on with.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from training.import_weights import read_exported_weights
from training.loop import save_network, seed_torch, train_network
from training.network import MINILM_LAYERS, MINILM_WIDTH
from training.pair_examples import RELATIONS, TextPair, sources
from training.pair_network import PairNetwork
from training.train import MODELS
from training.trunk import StateCache, open_trunk

LONGEST = 72
"""Maximum number of word pieces of a text."""
FIRST_WORD = 1000
"""Word pieces below this number are punctuation, letters and other signs."""
MIX = {
    "groups": 30,
    "chat statements": 14,
    "chat questions": 16,
    "slots": 14,
    "events": 4,
    "projects": 6,
    "snippets": 10,
    "strangers": 4,
}
"""How many pairs of each source are in a batch."""
SHARES = {"keeps": 3.0, "replaces": 2.0, "ends": 0.6, "repeats": 0.8, "answers": 1.5, "other": 2.0}
"""How often each label is drawn within a source; most of what people say replaces nothing and answers nothing."""


class PairCache:
    """Trunk states and word pieces of texts."""

    def __init__(self) -> None:
        self._trunk = open_trunk("minilm", MODELS)
        self._states = StateCache(self._trunk, longest=LONGEST)
        self._ids: dict[str, list[int]] = {}

    def states(self, text: str) -> np.ndarray:
        return self._states[text].states

    def ids(self, text: str) -> list[int]:
        if text not in self._ids:
            self._ids[text] = [0, *map(int, self._trunk.tokens(text).first(LONGEST).ids), 0]
        return self._ids[text]


def collate(pairs: Sequence[TextPair], cache: PairCache) -> tuple[Tensor, Tensor, Tensor]:
    rows = []
    for pair in pairs:
        first, second = cache.ids(pair.first), cache.ids(pair.second)
        in_first, in_second = set(first), set(second)
        kinds = [int(piece >= FIRST_WORD and piece in in_second) for piece in first]
        kinds += [2 + int(piece >= FIRST_WORD and piece in in_first) for piece in second]
        rows.append((np.concatenate((cache.states(pair.first), cache.states(pair.second))), kinds))
    length = max(len(kinds) for _, kinds in rows)
    states = np.zeros((len(rows), length, rows[0][0].shape[1]), np.float32)
    marks, keep = np.zeros((len(rows), length), np.int64), np.zeros((len(rows), length), np.float32)
    for row, (values, kinds) in enumerate(rows):
        states[row, : len(kinds)], marks[row, : len(kinds)], keep[row, : len(kinds)] = values, kinds, 1.0
    return torch.from_numpy(states), torch.from_numpy(marks), torch.from_numpy(keep)


def run(network: PairNetwork, pairs: Sequence[TextPair], cache: PairCache, parts: int = 4) -> Tensor:
    """Return the outputs for the pairs; pairs of similar length are run together."""
    order = sorted(range(len(pairs)), key=lambda n: len(cache.ids(pairs[n].first)) + len(cache.ids(pairs[n].second)))
    chunks = np.array_split(np.array(order), min(parts, len(order)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = torch.cat([network(*collate([pairs[n] for n in chunk], cache)) for chunk in chunks]).float()
    return outputs[torch.from_numpy(np.argsort(np.concatenate(chunks)))]


def loss(outputs: Tensor, pairs: Sequence[TextPair]) -> Tensor:
    statements = [n for n, pair in enumerate(pairs) if pair.relation]
    questions = [n for n, pair in enumerate(pairs) if pair.answers is not None]
    requests = [n for n, pair in enumerate(pairs) if pair.forgets is not None]
    wanted = torch.tensor([RELATIONS.index(pairs[n].relation) for n in statements])
    total = F.cross_entropy(outputs[statements][:, :4], wanted, label_smoothing=0.02)
    if questions:
        answers = torch.tensor([float(pairs[n].answers is True) for n in questions])
        total = total + 0.6 * F.binary_cross_entropy_with_logits(outputs[questions, 4], answers)
    if requests:
        forgets = torch.tensor([float(pairs[n].forgets is True) for n in requests])
        total = total + 0.4 * F.binary_cross_entropy_with_logits(outputs[requests, 5], forgets)
    return total


def report(network: PairNetwork, judged: dict[str, list[TextPair]], cache: PairCache) -> None:
    network.eval()
    draw = random.Random(1)
    with torch.no_grad():
        for name, pairs in judged.items():
            if not pairs:
                continue
            chosen = draw.sample(pairs, min(1200, len(pairs)))
            outputs = run(network, chosen, cache, parts=24)
            relations = outputs[:, :4].softmax(-1)
            line = []
            known = [n for n, pair in enumerate(chosen) if pair.relation]
            if known:
                line.append(
                    _bounds(
                        "replaces",
                        (relations[known, 0] + relations[known, 1]).numpy(),
                        np.array([chosen[n].relation in {"replaces", "ends"} for n in known]),
                    )
                )
            for label, column in (("answers", 4), ("forgets", 5)):
                known = [n for n, pair in enumerate(chosen) if getattr(pair, label) is not None]
                if known:
                    wanted = np.array([getattr(chosen[n], label) for n in known])
                    line.append(_bounds(label, torch.sigmoid(outputs[known, column]).numpy(), wanted))
            print("  ", name, "; ".join(line), flush=True)
    network.train()


def _bounds(name: str, chances: np.ndarray, wanted: np.ndarray) -> str:
    parts = [f"{name} ({wanted.sum()} of {len(wanted)})"]
    for bound in (0.5, 0.9, 0.97):
        given = chances >= bound
        right = (given & wanted).sum()
        parts.append(f"at {bound}: P {right / max(1, given.sum()):.3f} R {right / max(1, wanted.sum()):.3f}")
    return " ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("start", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1.0, help="times the usual learning rates")
    options = parser.parse_args()
    seed_torch(options.seed)
    training, judged = sources(held_out=False), sources(held_out=True)
    print({name: len(pairs) for name, pairs in training.items()}, flush=True)
    cache, network = PairCache(), start_network(options.start)

    def step_losses() -> Iterator[dict[str, Tensor]]:
        for batch in draw_batches(training, options.seed):
            yield {"pairs": loss(run(network, batch, cache), batch)}

    def judge() -> None:
        report(network, judged, cache)
        save_network(network, options.out)

    train_network(network, step_losses(), options.steps, (2.2e-4 * options.rate, 5e-4 * options.rate), 300, judge)


def start_network(path: Path) -> PairNetwork:
    """Return a pair network that begins with the layers of a trained state network, or an exported pair network."""
    if path.suffix == ".onnx":
        network = PairNetwork(MINILM_WIDTH, MINILM_LAYERS)
        network.load_state_dict(read_exported_weights(path, network))
        return network
    saved = torch.load(path, map_location="cpu")
    network = PairNetwork(saved["width"], saved["layers"], saved["heads"])
    own = {name: weight for name, weight in saved["weights"].items() if name.startswith("layers.")}
    network.layers.load_state_dict({name.removeprefix("layers."): weight for name, weight in own.items()})
    return network


def draw_batches(training: dict[str, list[TextPair]], seed: int) -> Iterator[list[TextPair]]:
    """Draw batches for ever: of each source as many as MIX says, of each label as often as SHARES says."""
    draw = random.Random(seed)
    balanced = {name: _by_label(pairs) for name, pairs in training.items() if pairs}
    while True:
        batch = []
        for name, labels in balanced.items():
            kinds = sorted(labels)
            shares = [SHARES[kind] for kind in kinds]
            batch += [draw.choice(labels[kind]) for kind in draw.choices(kinds, shares, k=MIX[name])]
        yield batch


def _by_label(pairs: Sequence[TextPair]) -> dict[str, list[TextPair]]:
    labels: dict[str, list[TextPair]] = defaultdict(list)
    for pair in pairs:
        labels[pair.relation or ("answers" if pair.answers or pair.forgets else "other")].append(pair)
    return dict(labels)


if __name__ == "__main__":
    main()
