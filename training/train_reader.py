"""Train the reader.

Usage: python -m training.train_reader minilm|light OUT.pt [--start READER.pt] [--steps N] [--seed N]
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lamina.models.list_reader import ANSWER_CLASSES, FORGET_CLASSES, MATCH_COUNT, RELATION_CLASSES, TASKS, build_inputs
from lamina.models.model_files import MINILM_WEIGHTS
from training.examples import load_chats
from training.export import load_reader
from training.groups import load_groups, load_snippets
from training.list_sampler import ListCache, ListSampler, PieceVectors, prepare_batches
from training.loop import save_network, seed_torch, train_network
from training.network import load_upper_layers
from training.pair_examples import chat_statement_pairs, group_pairs
from training.reader_network import ReaderNetwork
from training.reading_lists import (
    ANSWERING,
    NONE,
    OUTDATED,
    ChatLists,
    ReadingList,
    SlotLists,
    group_question_lists,
    statement_lists,
)
from training.request_lists import draw_request_list, find_strangers, snippet_requests
from training.train import MODELS

VALUE_WEIGHT = 4.0
"""Weight of a word piece of a value relative to other word pieces."""
JUDGED, MOST_JUDGED = 14, 1000
"""Candidates of a list by which the reader is judged, and lists of one source."""
CLASS_WEIGHTS = {"question": (0.5, 1.0, 1.0), "statement": (1.0, 1.0, 0.8, 0.8), "request": (1.0, 1.0)}


def collate(lists: Sequence[ReadingList], cache: ListCache) -> tuple[Tensor, ...]:
    rows = [
        build_inputs(reading_list.task, cache[reading_list.first], [cache[text] for text in reading_list.candidates])
        for reading_list in lists
    ]
    length, most = max(len(row["states"]) for row in rows), max(len(reading_list.candidates) for reading_list in lists)
    states = np.zeros((len(rows), length, rows[0]["states"].shape[1]), np.float32)
    kinds, keep = np.zeros((len(rows), length), np.int64), np.zeros((len(rows), length), np.float32)
    inside, ages = np.zeros((len(rows), most, length), np.float32), np.zeros((len(rows), most), np.int64)
    matches = np.zeros((len(rows), most, MATCH_COUNT), np.float32)
    for n, row in enumerate(rows):
        tokens, count = len(row["states"]), len(row["ages"])
        states[n, :tokens], kinds[n, :tokens], keep[n, :tokens] = row["states"], row["kinds"], 1.0
        inside[n, :count, :tokens], ages[n, :count], matches[n, :count] = row["inside"], row["ages"], row["matches"]
    task = np.array([row["task"][0] for row in rows])
    return tuple(map(torch.from_numpy, (states, kinds, inside, ages, matches, task, keep)))


class Reading(NamedTuple):
    """The network's reading of one list: the classes of its candidates, whether each alone states what is asked for,
    and whether each piece belongs to the value."""

    classes: Tensor
    alone: Tensor
    spot: Tensor


def run(network: ReaderNetwork, lists: Sequence[ReadingList], cache: ListCache, parts: int = 5) -> list[Reading]:
    """Run the network on the lists; those of similar length are run together."""
    sizes = [
        sum(len(cache[text].ids) for text in (reading_list.first, *reading_list.candidates)) for reading_list in lists
    ]
    outputs: dict[int, Reading] = {}
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for chunk in np.array_split(np.argsort(sizes), min(parts, len(lists))):
            rows, alone, spot = (output.float() for output in network(*collate([lists[n] for n in chunk], cache)))
            for place, n in enumerate(chunk):
                count = len(lists[n].candidates)
                outputs[int(n)] = Reading(rows[place, :count], alone[place, :count], spot[place])
    return [outputs[n] for n in range(len(lists))]


def classes_of(task: str, rows: Tensor) -> Tensor:
    """Return the outputs that belong to a task."""
    start = {"question": 0, "statement": len(ANSWER_CLASSES), "request": len(ANSWER_CLASSES) + len(RELATION_CLASSES)}[
        task
    ]
    size = {"question": len(ANSWER_CLASSES), "statement": len(RELATION_CLASSES), "request": len(FORGET_CLASSES)}[task]
    return rows[:, start : start + size]


def loss(outputs: Sequence[Reading], lists: Sequence[ReadingList], cache: ListCache) -> dict[str, Tensor]:
    losses: dict[str, Tensor] = {}
    for task in TASKS:
        chosen = [n for n, item in enumerate(lists) if item.task == task]
        rows = torch.cat([classes_of(task, outputs[n].classes) for n in chosen])
        labels = torch.tensor([-100 if label is None else label for n in chosen for label in lists[n].labels])
        weights = torch.tensor(CLASS_WEIGHTS[task])
        losses[task] = F.cross_entropy(rows, labels, weight=weights, ignore_index=-100, label_smoothing=0.02)
    stated = [
        (outputs[n].alone[place], float(label != NONE))
        for n, item in enumerate(lists)
        if item.task == "question"
        for place, label in enumerate(item.labels)
        if label is not None
    ]
    alone = torch.stack([row for row, _ in stated])
    losses["alone"] = 0.5 * F.binary_cross_entropy_with_logits(alone, torch.tensor([label for _, label in stated]))
    questions = [(outputs[n], item) for n, item in enumerate(lists) if item.task == "question"]
    losses["first"] = _first_loss([(reading.classes, item) for reading, item in questions])
    losses["value"] = 0.5 * _value_loss([(reading.spot, item) for reading, item in questions], cache)
    return losses


def _value_loss(questions: Sequence[tuple[Tensor, ReadingList]], cache: ListCache) -> Tensor:
    """The pieces that state the value asked for stand out from all others; candidates whose value is not known are left
    out."""
    logits, targets = [], []
    for spot, item in questions:
        start = len(cache[item.first].ids)
        for text, label, value in zip(
            item.candidates, item.labels, item.values or ("",) * len(item.labels), strict=True
        ):
            count = len(cache[text].ids)
            places = cache.places(text, value) if label not in (None, NONE) else []
            if label == NONE or places:
                target = torch.zeros(count)
                target[places] = 1.0
                logits.append(spot[start : start + count])
                targets.append(target)
            start += count
    target = torch.cat(targets)
    return F.binary_cross_entropy_with_logits(torch.cat(logits), target, weight=1.0 + (VALUE_WEIGHT - 1.0) * target)


def _first_loss(questions: Sequence[tuple[Tensor, ReadingList]]) -> Tensor:
    """Return the loss of ranking an answering candidate first, or "nothing known" if none answers."""
    losses = []
    for rows, item in questions:
        logits = rows[:, : len(ANSWER_CLASSES)]
        scores = logits[:, ANSWERING] - torch.logsumexp(logits[:, [NONE, OUTDATED]], 1)
        scores = torch.cat([scores, torch.zeros(1)])
        gold = torch.tensor([label == ANSWERING for label in item.labels] + [ANSWERING not in item.labels])
        known = torch.tensor([label is not None for label in item.labels] + [True])
        scores = scores.masked_fill(~known, -1e4)
        losses.append(torch.logsumexp(scores, 0) - torch.logsumexp(scores[gold], 0))
    return torch.stack(losses).mean()


def judged_lists(vectors: PieceVectors) -> dict[str, list[ReadingList]]:
    """Return the lists of people, groups and snippets that nothing is trained on."""
    draw = random.Random(4)
    chats, groups = [chat for chat in load_chats(held_out=True) if chat.questions], load_groups(held_out=True)
    slots, strangers = SlotLists("tune"), find_strangers(chats)
    lists = {
        "questions": [
            chat_lists.whole(n, JUDGED)
            for chat in chats
            for chat_lists in [ChatLists(chat, vectors)]
            for n in range(len(chat.questions))
        ],
        "group questions": [
            reading_list for group in groups for reading_list in group_question_lists(group.lines, draw)
        ],
        "slot questions": [slots.draw(draw) for _ in range(MOST_JUDGED)],
        "group statements": statement_lists([p for g in groups for p in group_pairs(g)], 1, most=3),
        "chat statements": statement_lists(chat_statement_pairs(load_chats(held_out=True)), 1, most=3),
        "requests": [
            draw_request_list(r, strangers, draw)
            for r in snippet_requests(load_snippets(held_out=True))
            for _ in range(3)
        ],
    }
    return {name: draw.sample(some, min(MOST_JUDGED, len(some))) for name, some in lists.items()}


@torch.no_grad()
def report(network: ReaderNetwork, judged: dict[str, list[ReadingList]], cache: ListCache) -> None:
    network.eval()
    for name, lists in judged.items():
        outputs = [one for n in range(0, len(lists), 60) for one in run(network, lists[n : n + 60], cache)]
        task = lists[0].task
        chances = [classes_of(task, reading.classes).softmax(1).numpy() for reading in outputs]
        if task == "question":
            print(f"  {name}: {_question_report(lists, chances)}", flush=True)
        else:
            flat, labels = np.concatenate(chances), np.array([label for item in lists for label in item.labels])
            given = flat[:, 0] + flat[:, 1] if task == "statement" else flat[:, 1]
            wanted = labels < 2 if task == "statement" else labels == 1
            print(f"  {name}: {_bounds(given, wanted)}", flush=True)
    network.train()


def _question_report(lists: Sequence[ReadingList], chances: Sequence[np.ndarray]) -> str:
    right, count, silent = defaultdict[str, int](int), defaultdict[str, int](int), defaultdict[str, int](int)
    outdated, is_outdated = [], []
    for item, rows in zip(lists, chances, strict=True):
        answered = ANSWERING in item.labels
        if item.kind == "unknown" or answered:
            count[item.kind] += 1
            right[item.kind] += item.kind != "unknown" and item.labels[int(rows[:, ANSWERING].argmax())] == ANSWERING
            silent[item.kind] += rows[:, ANSWERING].max() < 0.5
        if item.kind in {"current", "yesno"}:
            outdated += rows[:, OUTDATED].tolist()
            is_outdated += [label == OUTDATED for label in item.labels]
    shares = {kind: f"{right[kind]}/{count[kind]} silent {silent[kind]}" for kind in sorted(count)}
    return f"{shares}; outdated {_bounds(np.array(outdated), np.array(is_outdated))}"


def _bounds(chances: np.ndarray, wanted: np.ndarray) -> str:
    parts = [f"({wanted.sum()} of {len(wanted)})"]
    for bound in (0.5, 0.9, 0.97):
        given = chances >= bound
        right = (given & wanted).sum()
        parts.append(f"at {bound}: P {right / max(1, given.sum()):.3f} R {right / max(1, wanted.sum()):.3f}")
    return " ".join(parts)


def start_network(trunk: str, path: Path | None) -> ReaderNetwork:
    """Return a reader that goes on from a saved one, or begins anew: with the transformer's upper layers, or with none
    on static vectors."""
    if path is not None:
        return load_reader(path).train()
    if trunk == "light":
        return ReaderNetwork(256, 2, heads=8)
    network = ReaderNetwork(384, 3)
    load_upper_layers(network, MODELS / MINILM_WEIGHTS.sha256)
    return network


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trunk", choices=["minilm", "light"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--start", type=Path, help="a trained reader to go on with")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1.0, help="times the usual learning rate, to go on with a reader")
    options = parser.parse_args()
    seed_torch(options.seed)
    cache = ListCache(options.trunk)
    vectors = PieceVectors(cache)
    sampler, judged = ListSampler(vectors, options.seed), judged_lists(vectors)
    network = start_network(options.trunk, options.start)

    def step_losses() -> Iterator[dict[str, Tensor]]:
        for lists in prepare_batches(sampler, cache, options.steps):
            yield loss(run(network, lists, cache), lists, cache)

    def judge() -> None:
        save_network(network, options.out)
        report(network, judged, cache)

    train_network(network, step_losses(), options.steps, (2.5e-4 * options.rate, 1e-3 * options.rate), 500, judge)


if __name__ == "__main__":
    main()
