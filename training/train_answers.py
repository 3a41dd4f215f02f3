"""Train the answer model on lists of texts for questions.

Usage: python -m training.train_answers OUT.pt [--steps N] [--seed N]
"""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lamina.models.answer_model import (
    CONTEXT,
    NO_ROWS,
    SHORT,
    TokenRows,
    WordPieces,
    question_rows,
    token_kinds,
    word_pieces,
)
from lamina.models.files import MINILM_WEIGHTS
from lamina.models.minilm_network import open_network
from lamina.models.pair_text import PairText
from training.network import load_upper_layers
from training.pair_network import PairNetwork
from training.question_lists import QuestionList, question_lists
from training.train import MODELS

LISTS = {"chats": 9, "unknown": 2, "groups": 3}
"""How many questions of each source are in a batch."""
LIST_SIZE = 9
WITHOUT_CONTEXT = 0.2
"""The share of the texts that are read without what was said before them."""

Asked = tuple[str, PairText]


class RowCache:
    """The token states of texts, computed once."""

    def __init__(self) -> None:
        self._network = open_network(MODELS)
        self._questions: dict[str, TokenRows] = {}
        self._pieces: dict[str, WordPieces] = {}

    def rows(self, asked: Asked) -> tuple[TokenRows, TokenRows, TokenRows]:
        question, passage = self._question(asked[0]), self._text(asked[1])
        passage = passage.around(question.states.mean(axis=0))
        before = asked[1].before
        has_context = before is not None and 0 < len(passage.ids) <= SHORT
        return question, self._text(before).last(CONTEXT) if has_context else NO_ROWS, passage

    def _question(self, text: str) -> TokenRows:
        if text not in self._questions:
            self._questions[text] = question_rows(text, self._network)
        return self._questions[text]

    def _text(self, text: PairText) -> TokenRows:
        if text.text not in self._pieces:
            self._pieces[text.text] = word_pieces(text, self._network)
        return self._pieces[text.text].part(text)


def collate(rows: Sequence[tuple[TokenRows, TokenRows, TokenRows]]) -> tuple[Tensor, Tensor, Tensor]:
    sizes = [sum(len(part.ids) for part in row) for row in rows]
    states = np.zeros((len(rows), max(sizes), rows[0][0].states.shape[1]), np.float32)
    kinds, keep = np.zeros(states.shape[:2], np.int64), np.zeros(states.shape[:2], np.float32)
    for n, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        states[n, :size] = np.concatenate([part.states for part in row])
        kinds[n, :size], keep[n, :size] = token_kinds(*row), 1.0
    return torch.from_numpy(states), torch.from_numpy(kinds), torch.from_numpy(keep)


def run(network: PairNetwork, asked: Sequence[Asked], cache: RowCache, parts: int = 5) -> Tensor:
    """Return the output for each question and text; those of like length are run together."""
    rows = [cache.rows(each) for each in asked]
    order = sorted(range(len(rows)), key=lambda n: sum(len(part.ids) for part in rows[n]))
    chunks = np.array_split(np.array(order), min(parts, len(order)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = torch.cat([network(*collate([rows[n] for n in chunk])) for chunk in chunks]).float()[:, 0]
    return outputs[torch.from_numpy(np.argsort(np.concatenate(chunks)))]


def list_loss(outputs: Tensor, labels: Sequence[list[bool]]) -> Tensor:
    """Each text answers or not; within a list one that answers must come first."""
    wanted = torch.tensor([each for right in labels for each in right], dtype=torch.float32)
    total = F.binary_cross_entropy_with_logits(outputs, wanted)
    ranked, at = [], 0
    for right in labels:
        if any(right):
            shares = outputs[at : at + len(right)].softmax(0)
            ranked.append(-torch.log((shares * wanted[at : at + len(right)]).sum() + 1e-9))
        at += len(right)
    return total + 0.5 * torch.stack(ranked).mean()


class Batches:
    """Draws training batches."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        lists = question_lists(held_out=False)
        self._lists = {
            "chats": [each for each in lists["chats"] if each.answers],
            "unknown": [each for each in lists["chats"] if not each.answers],
            "groups": lists["groups"],
        }
        print({name: len(each) for name, each in self._lists.items()}, flush=True)

    def draw(self) -> tuple[list[Asked], list[list[bool]]]:
        asked, labels = [], []
        for name, count in LISTS.items():
            for each in self._draw.sample(self._lists[name], count):
                texts, right = each.draw(self._draw, LIST_SIZE)
                asked += [(each.question, self._cut(text)) for text in texts]
                labels.append(right)
        return asked, labels

    def _cut(self, text: PairText) -> PairText:
        return replace(text, before=None) if self._draw.random() < WITHOUT_CONTEXT else text


def report(network: PairNetwork, lists: dict[str, list[QuestionList]], cache: RowCache) -> None:
    network.eval()
    with torch.no_grad():
        for name, some in lists.items():
            print("  ", name, _judged(network, random.Random(2).sample(some, min(250, len(some))), cache), flush=True)
    network.train()


def _judged(network: PairNetwork, lists: Sequence[QuestionList], cache: RowCache) -> str:
    draw, first, count, chances, wanted = random.Random(3), 0, 0, [], []
    for each in lists:
        texts, right = each.draw(draw, 14)
        scores = run(network, [(each.question, text) for text in texts], cache, parts=1)
        count, first = count + any(right), first + (any(right) and right[int(scores.argmax())])
        chances += torch.sigmoid(scores).tolist()
        wanted += right
    return f"first {first} of {count}; {bounds('answers', np.array(chances), np.array(wanted))}"


def bounds(name: str, chances: np.ndarray, wanted: np.ndarray) -> str:
    """Return precision and recall at three bounds as text."""
    parts = [f"{name} ({wanted.sum()} of {len(wanted)})"]
    for bound in (0.5, 0.9, 0.97):
        given = chances >= bound
        right = (given & wanted).sum()
        parts.append(f"at {bound}: P {right / max(1, given.sum()):.3f} R {right / max(1, wanted.sum()):.3f}")
    return " ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    batches, cache, judged = Batches(options.seed), RowCache(), question_lists(held_out=True)
    network = PairNetwork(384, 2, 12, kinds=8, outputs=1)
    load_upper_layers(network, MODELS / MINILM_WEIGHTS.sha256)
    upper = list(network.layers.parameters())
    known = {id(each) for each in upper}
    heads = [each for each in network.parameters() if id(each) not in known]
    optimiser = torch.optim.AdamW([{"params": upper, "lr": 2.2e-4}, {"params": heads, "lr": 6e-4}], weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min(1.0, (step + 1) / 30) * max(0.03, 0.5 * (1 + math.cos(math.pi * step / options.steps))),
    )
    began, total = time.monotonic(), 0.0
    for step in range(1, options.steps + 1):
        asked, labels = batches.draw()
        loss = list_loss(run(network, asked, cache), labels)
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
