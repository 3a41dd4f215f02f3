"""Train the reader.

Usage: python -m training.train_reader START.pt OUT.pt [--steps N] [--seed N]

START.pt is a trained state network on the transformer, whose layers the reader begins with; "none": the transformer's.
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
from lamina.models.list_reader import ANSWERS, FORGETS, MATCHES, RELATIONS, TASKS, Pieces, list_inputs, pieces_of
from training.examples import is_ranker_chat, load_chats
from training.groups import load_groups, load_snippets
from training.network import load_upper_layers
from training.pair_examples import chat_statement_pairs, group_pairs, project_pairs, slot_pairs, stranger_pairs
from training.reader_network import ReaderNetwork
from training.reading_lists import (
    ANSWERING,
    NONE,
    OUTDATED,
    ChatLists,
    ReadingList,
    SlotLists,
    chat_request_lists,
    group_question_lists,
    request_lists,
    statement_lists,
)
from training.train import MODELS
from training.trunk import Vectors, open_trunk

MIX = {"people": 7, "chats": 4, "group questions": 4, "slot questions": 8, "group statements": 2, "chat statements": 1,
       "slot statements": 1, "project statements": 1, "requests": 1}  # fmt: skip
"""How many lists of each source are in a batch."""
LONG_CHAT = 60
"""Turns from which on a chat counts as a person's year."""
JUDGED, MOST_JUDGED = 14, 1000
"""Candidates of a list by which the reader is judged, and lists of one source."""
CLASS_WEIGHTS = {"question": (0.5, 1.0, 1.0), "statement": (1.0, 1.0, 0.8, 0.8), "request": (1.0, 1.0)}


class ListCache:
    """Word pieces and trunk states of texts."""

    def __init__(self) -> None:
        self.trunk = open_trunk("minilm", MODELS)
        self._pieces: dict[str, Pieces] = {}

    def __getitem__(self, text: str) -> Pieces:
        if text not in self._pieces:
            self._pieces[text] = pieces_of(text, self.trunk)
        return self._pieces[text]


def collate(lists: Sequence[ReadingList], cache: ListCache) -> tuple[Tensor, ...]:
    rows = [list_inputs(each.task, cache[each.first], [cache[text] for text in each.candidates]) for each in lists]
    length, most = max(len(row["states"]) for row in rows), max(len(each.candidates) for each in lists)
    states = np.zeros((len(rows), length, rows[0]["states"].shape[1]), np.float32)
    kinds, keep = np.zeros((len(rows), length), np.int64), np.zeros((len(rows), length), np.float32)
    inside, ages = np.zeros((len(rows), most, length), np.float32), np.zeros((len(rows), most), np.int64)
    matches = np.zeros((len(rows), most, MATCHES), np.float32)
    for n, row in enumerate(rows):
        tokens, count = len(row["states"]), len(row["ages"])
        states[n, :tokens], kinds[n, :tokens], keep[n, :tokens] = row["states"], row["kinds"], 1.0
        inside[n, :count, :tokens], ages[n, :count], matches[n, :count] = row["inside"], row["ages"], row["matches"]
    task = np.array([row["task"][0] for row in rows])
    return tuple(map(torch.from_numpy, (states, kinds, inside, ages, matches, task, keep)))


def run(network: ReaderNetwork, lists: Sequence[ReadingList], cache: ListCache, parts: int = 5) -> list[Tensor]:
    """Return the classes of each list's candidates and, last, what each is alone; lists of like length are run
    together."""
    sizes = [sum(len(cache[text].ids) for text in (each.first, *each.candidates)) for each in lists]
    outputs: dict[int, Tensor] = {}
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for chunk in np.array_split(np.argsort(sizes), min(parts, len(lists))):
            rows, alone = network(*collate([lists[n] for n in chunk], cache))
            rows = torch.cat([rows, alone[..., None]], -1).float()
            outputs |= {int(n): rows[place, : len(lists[n].candidates)] for place, n in enumerate(chunk)}
    return [outputs[n] for n in range(len(lists))]


def classes_of(task: str, rows: Tensor) -> Tensor:
    """The outputs that belong to a task."""
    start = {"question": 0, "statement": len(ANSWERS), "request": len(ANSWERS) + len(RELATIONS)}[task]
    size = {"question": len(ANSWERS), "statement": len(RELATIONS), "request": len(FORGETS)}[task]
    return rows[:, start : start + size]


def loss(outputs: Sequence[Tensor], lists: Sequence[ReadingList]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for task in TASKS:
        chosen = [n for n, each in enumerate(lists) if each.task == task]
        rows = torch.cat([classes_of(task, outputs[n]) for n in chosen])
        labels = torch.tensor([-100 if label is None else label for n in chosen for label in lists[n].labels])
        weights = torch.tensor(CLASS_WEIGHTS[task])
        found[task] = F.cross_entropy(rows, labels, weight=weights, ignore_index=-100, label_smoothing=0.02)
    stated = [(outputs[n][place, -1], float(label != NONE)) for n, each in enumerate(lists) if each.task == "question"
              for place, label in enumerate(each.labels) if label is not None]  # fmt: skip
    alone = torch.stack([row for row, _ in stated])
    found["alone"] = 0.5 * F.binary_cross_entropy_with_logits(alone, torch.tensor([label for _, label in stated]))
    found["first"] = 0.5 * _first_loss([(outputs[n], each) for n, each in enumerate(lists) if each.task == "question"])
    return found


def _first_loss(questions: Sequence[tuple[Tensor, ReadingList]]) -> Tensor:
    """An answering candidate leads, or "nothing known" where none answers."""
    losses = []
    for rows, each in questions:
        logits = rows[:, : len(ANSWERS)]
        scores = logits[:, ANSWERING] - torch.logsumexp(logits[:, [NONE, OUTDATED]], 1)
        scores = torch.cat([scores, torch.zeros(1)])
        gold = torch.tensor([label == ANSWERING for label in each.labels] + [ANSWERING not in each.labels])
        known = torch.tensor([label is not None for label in each.labels] + [True])
        scores = scores.masked_fill(~known, -1e4)
        losses.append(torch.logsumexp(scores, 0) - torch.logsumexp(scores[gold], 0))
    return torch.stack(losses).mean()


class ListSampler:
    """Draws training lists of every source."""

    def __init__(self, vectors: Vectors, seed: int) -> None:
        self._draw = random.Random(seed)
        chats = [chat for chat in load_chats() if not is_ranker_chat(chat)]
        filler = [turn.text for chat in chats for turn in chat.turns if not turn.facts and not turn.requests]
        lists = [ChatLists(chat, vectors, filler) for chat in chats if chat.questions]
        self._questions: dict[str, list[tuple[ChatLists, int]]] = {"people": [], "chats": []}
        for each in lists:
            source = "people" if len(each.chat.turns) >= LONG_CHAT else "chats"
            self._questions[source] += [(each, number) for number in range(len(each.chat.questions))]
        groups = load_groups()
        slots = list(slot_pairs("train", 20000, 3))
        self._groups, self._slot_lists = groups, SlotLists("train")
        self._fixed = {
            "group statements": statement_lists([p for g in groups for p in group_pairs(g)], seed),
            "chat statements": statement_lists(chat_statement_pairs(False), seed),
            "slot statements": statement_lists([*slots, *stranger_pairs(groups)], seed),
            "project statements": statement_lists(project_pairs(False), seed),
            "requests": [*request_lists(load_snippets()),
                         *(each for chat in chats for each in chat_request_lists(chat, self._draw))],
        }  # fmt: skip
        self._changing = {name: [each for each in some if set(each.labels) != {RELATIONS.index("keeps")}]
                          for name, some in self._fixed.items() if name.endswith("statements")}  # fmt: skip
        print({name: len(each) for name, each in (self._questions | self._fixed).items()}, flush=True)

    def batch(self) -> list[ReadingList]:
        draw, found = self._draw, []
        for name in ("people", "chats"):
            for chat, number in draw.choices(self._questions[name], k=MIX[name]):
                found.append(chat.draw(number, draw))
        for group in draw.choices(self._groups, k=MIX["group questions"]):
            found += draw.sample(some := list(group_question_lists(group.lines, draw)), min(1, len(some)))
        found += [self._slot_lists.draw(draw) for _ in range(MIX["slot questions"])]
        for name, some in self._fixed.items():
            for _ in range(MIX[name]):
                changing = self._changing.get(name)
                found.append(draw.choice(changing if changing and draw.random() < 0.6 else some))
        return [each for each in found if each.candidates]


def judged_lists(vectors: Vectors) -> dict[str, list[ReadingList]]:
    """The lists of people, groups and snippets that nothing is trained on."""
    draw = random.Random(4)
    chats, groups = [chat for chat in load_chats(held_out=True) if chat.questions], load_groups(held_out=True)
    slots = SlotLists("tune")
    lists = {
        "questions": [made.whole(n, JUDGED) for chat in chats for made in [ChatLists(chat, vectors)]
                      for n in range(len(chat.questions))],
        "group questions": [each for group in groups for each in group_question_lists(group.lines, draw)],
        "slot questions": [slots.draw(draw) for _ in range(MOST_JUDGED)],
        "group statements": statement_lists([p for g in groups for p in group_pairs(g)], 1, most=3),
        "chat statements": statement_lists(chat_statement_pairs(True), 1, most=3),
        "requests": list(request_lists(load_snippets(held_out=True))),
    }  # fmt: skip
    return {name: draw.sample(some, min(MOST_JUDGED, len(some))) for name, some in lists.items()}


@torch.no_grad()
def report(network: ReaderNetwork, judged: dict[str, list[ReadingList]], cache: ListCache) -> None:
    network.eval()
    for name, lists in judged.items():
        outputs = [row for n in range(0, len(lists), 60) for row in run(network, lists[n : n + 60], cache)]
        task = lists[0].task
        chances = [classes_of(task, rows).softmax(1).numpy() for rows in outputs]
        if task == "question":
            print(f"  {name}: {_question_report(lists, chances)}", flush=True)
        else:
            flat, labels = np.concatenate(chances), np.array([label for each in lists for label in each.labels])
            given = flat[:, 0] + flat[:, 1] if task == "statement" else flat[:, 1]
            wanted = labels < 2 if task == "statement" else labels == 1
            print(f"  {name}: {_bounds(given, wanted)}", flush=True)
    network.train()


def _question_report(lists: Sequence[ReadingList], chances: Sequence[np.ndarray]) -> str:
    right, count, silent = defaultdict(int), defaultdict(int), defaultdict(int)
    outdated, is_outdated = [], []
    for each, rows in zip(lists, chances, strict=True):
        answered = ANSWERING in each.labels
        if each.kind == "unknown" or answered:
            count[each.kind] += 1
            right[each.kind] += each.kind != "unknown" and each.labels[int(rows[:, ANSWERING].argmax())] == ANSWERING
            silent[each.kind] += rows[:, ANSWERING].max() < 0.5
        if each.kind in {"current", "yesno"}:
            outdated += rows[:, OUTDATED].tolist()
            is_outdated += [label == OUTDATED for label in each.labels]
    shown = {kind: f"{right[kind]}/{count[kind]} silent {silent[kind]}" for kind in sorted(count)}
    return f"{shown}; outdated {_bounds(np.array(outdated), np.array(is_outdated))}"


def _bounds(chances: np.ndarray, wanted: np.ndarray) -> str:
    parts = [f"({wanted.sum()} of {len(wanted)})"]
    for bound in (0.5, 0.9, 0.97):
        given = chances >= bound
        right = (given & wanted).sum()
        parts.append(f"at {bound}: P {right / max(1, given.sum()):.3f} R {right / max(1, wanted.sum()):.3f}")
    return " ".join(parts)


def start_network(path: str) -> ReaderNetwork:
    """A reader that begins with the layers of a state network, or of the transformer."""
    if path == "none":
        network = ReaderNetwork(384, 3)
        load_upper_layers(network, MODELS / MINILM_WEIGHTS.sha256)
        return network
    saved = torch.load(path, map_location="cpu")
    network = ReaderNetwork(saved["width"], saved["layers"], saved["heads"])
    if "compare.0.query.weight" in saved["weights"]:
        network.load_state_dict(saved["weights"], strict=False)
        return network
    layers = {name: each for name, each in saved["weights"].items() if name.startswith("layers.")}
    network.layers.load_state_dict({name.removeprefix("layers."): each for name, each in layers.items()})
    return network


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("start")
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1.0, help="times the usual learning rate, to go on with a reader")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    cache = ListCache()
    vectors = Vectors(cache.trunk)
    sampler, judged = ListSampler(vectors, options.seed), judged_lists(vectors)
    network = start_network(options.start)
    layers = list(network.layers.parameters())
    known = {id(each) for each in layers}
    heads = [each for each in network.parameters() if id(each) not in known]
    optimiser = torch.optim.AdamW(
        [{"params": layers, "lr": 2.5e-4 * options.rate}, {"params": heads, "lr": 1e-3 * options.rate}],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min(1.0, (step + 1) / 30) * max(0.03, 0.5 * (1 + math.cos(math.pi * step / options.steps))),
    )
    began, totals = time.monotonic(), defaultdict(float)
    for step in range(1, options.steps + 1):
        lists = sampler.batch()
        parts = loss(run(network, lists, cache), lists)
        optimiser.zero_grad()
        sum(parts.values()).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        for name, value in parts.items():
            totals[name] += float(value.detach()) / 25
        if step % 25 == 0:
            shown = {name: round(value, 3) for name, value in totals.items()}
            print(f"step {step} of {options.steps}, {time.monotonic() - began:.0f} s", shown, flush=True)
            totals.clear()
        if step % 400 == 0 or step == options.steps:
            torch.save({"width": network.width, "layers": len(network.layers), "heads": network.layers[0].heads,
                        "weights": network.state_dict()}, options.out)  # fmt: skip
            report(network, judged, cache)


if __name__ == "__main__":
    main()
