"""Train the pair model on lists of texts for questions, pairs of statements, and requests to forget.

Usage: python -m training.train_pairs OUT.pt [--steps N] [--seed N]
"""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lamina.models.files import MINILM_WEIGHTS
from lamina.models.minilm_network import open_network
from lamina.models.pair_model import PairText, TokenRows, WordPieces, question_rows, token_kinds, word_pieces
from training.network import load_upper_layers
from training.pair_examples import RELATIONS, Pair, sources
from training.pair_network import PairNetwork
from training.question_lists import QuestionList, question_lists
from training.train import MODELS

MIX = {"groups": 26, "chat statements": 20, "slots": 8, "projects": 4, "snippets": 10, "strangers": 2}
"""How many pairs of each source are in a batch."""
LISTS = {"chats": 7, "unknown": 2, "groups": 3}
"""How many questions of each source are in a batch."""
LIST_SIZE = 9
SHARES = {"keeps": 3.0, "replaces": 2.0, "ends": 0.6, "repeats": 0.8, "forgets": 1.5, "other": 2.0}
"""How often each label is drawn within a source; most of what people say replaces nothing."""
RELATION, ANSWERS, FORGETS = slice(0, 4), 4, 5
"""The columns of the network's output."""

Input = tuple[PairText, PairText, bool]
"""Two texts, and whether the first is a question, whose states are exact."""


class RowCache:
    """The token states of texts, computed once."""

    def __init__(self) -> None:
        self._network = open_network(MODELS)
        self._questions: dict[str, TokenRows] = {}
        self._pieces: dict[str, WordPieces] = {}

    def pair(self, pair: Input) -> tuple[TokenRows, TokenRows]:
        first = self._question(pair[0].text) if pair[2] else self._statement(pair[0])
        vector = first.states.mean(axis=0)
        return first.around(vector), self._statement(pair[1]).around(vector)

    def _question(self, text: str) -> TokenRows:
        if text not in self._questions:
            self._questions[text] = question_rows(text, self._network)
        return self._questions[text]

    def _statement(self, text: PairText) -> TokenRows:
        if text.text not in self._pieces:
            self._pieces[text.text] = word_pieces(text, self._network)
        return self._pieces[text.text].part(text)


def collate(pairs: Sequence[Input], cache: RowCache) -> tuple[Tensor, Tensor, Tensor]:
    rows = [cache.pair(pair) for pair in pairs]
    length, width = max(len(one.ids) + len(other.ids) for one, other in rows), rows[0][0].states.shape[1]
    states = np.zeros((len(rows), length, width), np.float32)
    kinds, keep = np.zeros((len(rows), length), np.int64), np.zeros((len(rows), length), np.float32)
    for row, (one, other) in enumerate(rows):
        size = len(one.ids) + len(other.ids)
        states[row, :size] = np.concatenate((one.states, other.states))
        kinds[row, :size], keep[row, :size] = token_kinds(one, other), 1.0
    return torch.from_numpy(states), torch.from_numpy(kinds), torch.from_numpy(keep)


def run(network: PairNetwork, pairs: Sequence[Input], cache: RowCache, parts: int = 5) -> Tensor:
    """Return the outputs for the pairs; pairs of like length are run together."""
    order = sorted(range(len(pairs)), key=lambda n: sum(len(each.ids) for each in cache.pair(pairs[n])))
    chunks = np.array_split(np.array(order), min(parts, len(order)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = torch.cat([network(*collate([pairs[n] for n in chunk], cache)) for chunk in chunks]).float()
    return outputs[torch.from_numpy(np.argsort(np.concatenate(chunks)))]


def pair_loss(outputs: Tensor, pairs: Sequence[Pair]) -> Tensor:
    statements = [n for n, pair in enumerate(pairs) if pair.relation]
    requests = [n for n, pair in enumerate(pairs) if pair.forgets is not None]
    wanted = torch.tensor([RELATIONS.index(pairs[n].relation) for n in statements])
    total = F.cross_entropy(outputs[statements][:, RELATION], wanted, label_smoothing=0.02)
    forgets = torch.tensor([float(pairs[n].forgets) for n in requests])
    return total + 0.4 * F.binary_cross_entropy_with_logits(outputs[requests, FORGETS], forgets)


def list_loss(outputs: Tensor, labels: Sequence[list[bool]]) -> Tensor:
    """Each text answers or not; within a list one that answers must come first."""
    wanted = torch.tensor([each for right in labels for each in right], dtype=torch.float32)
    total = F.binary_cross_entropy_with_logits(outputs[:, ANSWERS], wanted)
    ranked, at = [], 0
    for right in labels:
        if any(right):
            shares = outputs[at : at + len(right), ANSWERS].softmax(0)
            ranked.append(-torch.log((shares * wanted[at : at + len(right)]).sum() + 1e-9))
        at += len(right)
    return total + 0.5 * torch.stack(ranked).mean()


class Batches:
    """Draws training batches."""

    def __init__(self, seed: int, *, everyone: bool) -> None:
        self._draw = random.Random(seed)
        self._pairs = {name: _by_label(pairs) for name, pairs in sources(held_out=False).items() if pairs}
        lists = question_lists(held_out=False, everyone=everyone)
        self._lists = {
            "chats": [each for each in lists["chats"] if each.answers],
            "unknown": [each for each in lists["chats"] if not each.answers],
            "groups": lists["groups"],
        }
        counts = {name: sum(map(len, labels.values())) for name, labels in self._pairs.items()}
        print(counts, {name: len(each) for name, each in self._lists.items()}, flush=True)

    def draw(self) -> tuple[list[Pair], list[Input], list[list[bool]]]:
        draw, pairs = self._draw, []
        for name, labels in self._pairs.items():
            kinds = sorted(labels)
            shares = [SHARES[kind] for kind in kinds]
            pairs += [draw.choice(labels[kind]) for kind in draw.choices(kinds, shares, k=MIX[name])]
        asked, labels = [], []
        for name, count in LISTS.items():
            for each in draw.sample(self._lists[name], count):
                texts, right = each.draw(draw, LIST_SIZE)
                asked += [(PairText(each.question), text, True) for text in texts]
                labels.append(right)
        return pairs, asked, labels


def report(network: PairNetwork, pairs: dict[str, list[Pair]], lists: dict, cache: RowCache) -> None:
    network.eval()
    with torch.no_grad():
        for name, some in pairs.items():
            chosen = random.Random(1).sample(some, min(800, len(some)))
            if chosen:
                outputs = run(network, [(each.first, each.second, False) for each in chosen], cache, parts=16)
                print("  ", name, _judged(outputs, chosen), flush=True)
        for name, some in lists.items():
            print("  ", name, _judged_lists(network, random.Random(2).sample(some, min(250, len(some))), cache))
    network.train()


def _judged(outputs: Tensor, pairs: Sequence[Pair]) -> str:
    if pairs[0].forgets is not None:
        wanted = np.array([pair.forgets for pair in pairs])
        return _bounds("forgets", torch.sigmoid(outputs[:, FORGETS]).numpy(), wanted)
    chances = outputs[:, RELATION].softmax(-1)[:, :2].sum(1).numpy()
    return _bounds("replaces", chances, np.array([pair.relation in {"replaces", "ends"} for pair in pairs]))


def _judged_lists(network: PairNetwork, lists: Sequence[QuestionList], cache: RowCache) -> str:
    draw, first, count, chances, wanted = random.Random(3), 0, 0, [], []
    for each in lists:
        texts, right = each.draw(draw, 14)
        asked = [(PairText(each.question), text, True) for text in texts]
        scores = run(network, asked, cache, parts=1)[:, ANSWERS]
        count, first = count + any(right), first + (any(right) and right[int(scores.argmax())])
        chances += torch.sigmoid(scores).tolist()
        wanted += right
    return f"first {first} of {count}; {_bounds('answers', np.array(chances), np.array(wanted))}"


def _bounds(name: str, chances: np.ndarray, wanted: np.ndarray) -> str:
    parts = [f"{name} ({wanted.sum()} of {len(wanted)})"]
    for bound in (0.5, 0.9, 0.97):
        given = chances >= bound
        right = (given & wanted).sum()
        parts.append(f"at {bound}: P {right / max(1, given.sum()):.3f} R {right / max(1, wanted.sum()):.3f}")
    return " ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=2400)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--everyone", action="store_true", help="train on the questions of the ranker's chats too")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    batches, cache = Batches(options.seed, everyone=options.everyone), RowCache()
    judged = sources(held_out=True), question_lists(held_out=True)
    network = PairNetwork(384, options.layers)
    load_upper_layers(network, MODELS / MINILM_WEIGHTS.sha256)
    upper = list(network.layers.parameters())
    known = {id(each) for each in upper}
    heads = [each for each in network.parameters() if id(each) not in known]
    optimiser = torch.optim.AdamW([{"params": upper, "lr": 2.2e-4}, {"params": heads, "lr": 6e-4}], weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min(1.0, (step + 1) / 30) * max(0.03, 0.5 * (1 + math.cos(math.pi * step / options.steps))),
    )
    began, total = time.monotonic(), np.zeros(2)
    for step in range(1, options.steps + 1):
        pairs, asked, labels = batches.draw()
        outputs = run(network, [*((each.first, each.second, False) for each in pairs), *asked], cache)
        losses = pair_loss(outputs[: len(pairs)], pairs), list_loss(outputs[len(pairs) :], labels)
        optimiser.zero_grad()
        sum(losses).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        total += [float(each.detach()) / 25 for each in losses]
        if step % 25 == 0:
            print(
                f"step {step} of {options.steps}, {time.monotonic() - began:.0f} s, loss {total.round(3)}", flush=True
            )
            total[:] = 0
        if step % 400 == 0 or step == options.steps:
            report(network, *judged, cache)
            torch.save({"width": network.width, "layers": len(network.layers), "heads": network.layers[0].heads,
                        "weights": network.state_dict()}, options.out)  # fmt: skip


def _by_label(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    labels: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        labels[pair.relation or ("forgets" if pair.forgets else "other")].append(pair)
    return dict(labels)


if __name__ == "__main__":
    main()
