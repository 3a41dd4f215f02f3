"""Train the reader.

Usage: python -m training.train_reader minilm|light OUT.pt [--start READER.pt] [--steps N] [--seed N]
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lamina.models.list_reader import (
    ANSWER_CLASSES,
    FORGET_CLASSES,
    MATCH_COUNT,
    MAX_PIECES,
    RELATION_CLASSES,
    TASKS,
    EncodedPieces,
    build_inputs,
    encode_pieces,
)
from lamina.models.model_files import MINILM_WEIGHTS
from training.examples import is_ranker_chat, load_chats
from training.export import load_reader
from training.groups import load_groups, load_snippets
from training.name_swaps import NameSwaps
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
from training.trunk import open_trunk

MIX = {
    "people": 8,
    "chats": 4,
    "group questions": 4,
    "slot questions": 8,
    "group statements": 5,
    "chat statements": 3,
    "slot statements": 2,
    "project statements": 1,
    "requests": 1,
}
"""How many lists of each source are in a batch."""
COPIES = 1
"""Copies of each chat with other names and numbers; a question is drawn from the chat itself as often as from these."""
VALUE_WEIGHT = 4.0
"""Weight of a word piece of a value relative to other word pieces."""
LONG_CHAT = 60
"""Number of turns from which on a chat counts as a person's year."""
JUDGED, MOST_JUDGED = 14, 1000
"""Candidates of a list by which the reader is judged, and lists of one source."""
CLASS_WEIGHTS = {"question": (0.5, 1.0, 1.0), "statement": (1.0, 1.0, 0.8, 0.8), "request": (1.0, 1.0)}


class ListCache:
    """Word pieces and trunk states of texts, each computed once."""

    def __init__(self, trunk: str) -> None:
        self.trunk = open_trunk(trunk, MODELS)
        self._pieces: dict[str, EncodedPieces] = {}
        self._places: dict[tuple[str, str], list[int]] = {}

    def places(self, text: str, value: str) -> list[int]:
        """Return the positions of a value's word pieces in its text, [] if it is not there."""
        if (text, value) not in self._places:
            start = text.lower().find(value.lower()) if value else -1
            spans = self.trunk.tokens(text).first(MAX_PIECES).spans if start >= 0 else ()
            inside = [n for n, (a, b) in enumerate(spans, 1) if a < start + len(value) and b > start]
            self._places[text, value] = inside
        return self._places[text, value]

    def __getitem__(self, text: str) -> EncodedPieces:
        if text not in self._pieces:
            self._pieces[text] = encode_pieces(text, self.trunk)
        return self._pieces[text]


class PieceVectors:
    """Return one vector per text, the mean over its word pieces."""

    def __init__(self, cache: ListCache) -> None:
        self._cache = cache
        self._vectors: dict[str, np.ndarray] = {}

    def __getitem__(self, text: str) -> np.ndarray:
        if text not in self._vectors:
            mean = self._cache[text].meanings.astype(np.float32).mean(0)
            self._vectors[text] = mean / max(1e-9, float(np.linalg.norm(mean)))
        return self._vectors[text]


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
    """What the network says of one list: the classes of its candidates, whether each alone states what is asked for,
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
            rows, alone, spot = (each.float() for each in network(*collate([lists[n] for n in chunk], cache)))
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
    found: dict[str, Tensor] = {}
    for task in TASKS:
        chosen = [n for n, each in enumerate(lists) if each.task == task]
        rows = torch.cat([classes_of(task, outputs[n].classes) for n in chosen])
        labels = torch.tensor([-100 if label is None else label for n in chosen for label in lists[n].labels])
        weights = torch.tensor(CLASS_WEIGHTS[task])
        found[task] = F.cross_entropy(rows, labels, weight=weights, ignore_index=-100, label_smoothing=0.02)
    stated = [
        (outputs[n].alone[place], float(label != NONE))
        for n, each in enumerate(lists)
        if each.task == "question"
        for place, label in enumerate(each.labels)
        if label is not None
    ]
    alone = torch.stack([row for row, _ in stated])
    found["alone"] = 0.5 * F.binary_cross_entropy_with_logits(alone, torch.tensor([label for _, label in stated]))
    questions = [(outputs[n], each) for n, each in enumerate(lists) if each.task == "question"]
    found["first"] = _first_loss([(reading.classes, each) for reading, each in questions])
    found["value"] = 0.5 * _value_loss([(reading.spot, each) for reading, each in questions], cache)
    return found


def _value_loss(questions: Sequence[tuple[Tensor, ReadingList]], cache: ListCache) -> Tensor:
    """The pieces that state the value asked for stand out from all others; candidates whose value is not known are left
    out."""
    logits, targets = [], []
    for spot, each in questions:
        start = len(cache[each.first].ids)
        for text, label, value in zip(
            each.candidates, each.labels, each.values or ("",) * len(each.labels), strict=True
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
    for rows, each in questions:
        logits = rows[:, : len(ANSWER_CLASSES)]
        scores = logits[:, ANSWERING] - torch.logsumexp(logits[:, [NONE, OUTDATED]], 1)
        scores = torch.cat([scores, torch.zeros(1)])
        gold = torch.tensor([label == ANSWERING for label in each.labels] + [ANSWERING not in each.labels])
        known = torch.tensor([label is not None for label in each.labels] + [True])
        scores = scores.masked_fill(~known, -1e4)
        losses.append(torch.logsumexp(scores, 0) - torch.logsumexp(scores[gold], 0))
    return torch.stack(losses).mean()


class ListSampler:
    """Draws training lists of every source."""

    def __init__(self, vectors: PieceVectors, seed: int) -> None:
        self._draw = random.Random(seed)
        chats = [chat for chat in load_chats() if not is_ranker_chat(chat)]
        filler = [turn.text for chat in chats for turn in chat.turns if not turn.facts and not turn.requests]
        swaps = NameSwaps(chats)
        copied = [[swaps.copy(chat, self._draw) for _ in range(COPIES)] for chat in chats]
        self._questions: dict[str, list[tuple[list[ChatLists], int]]] = {"people": [], "chats": []}
        for chat, copies in zip(chats, copied, strict=True):
            lists = [ChatLists(each, vectors, filler) for each in [chat] * COPIES + copies]
            source = "people" if len(chat.turns) >= LONG_CHAT else "chats"
            self._questions[source] += [(lists, number) for number in range(len(chat.questions))]
        groups = load_groups()
        slots = list(slot_pairs("train", 20000, 3))
        self._groups, self._slot_lists = groups, SlotLists("train")
        self._fixed = {
            "group statements": statement_lists([p for g in groups for p in group_pairs(g)], seed),
            "chat statements": statement_lists(chat_statement_pairs([*chats, *itertools.chain(*copied)]), seed),
            "slot statements": statement_lists([*slots, *stranger_pairs(groups)], seed),
            "project statements": statement_lists(project_pairs(False), seed),
            "requests": [
                *request_lists(load_snippets()),
                *(reading_list for chat in chats for reading_list in chat_request_lists(chat, self._draw)),
            ],
        }
        self._changing = {
            name: [each for each in some if set(each.labels) != {RELATION_CLASSES.index("keeps")}]
            for name, some in self._fixed.items()
            if name.endswith("statements")
        }
        print({name: len(each) for name, each in (self._questions | self._fixed).items()}, flush=True)

    def batch(self) -> list[ReadingList]:
        draw, found = self._draw, []
        for name in ("people", "chats"):
            for copies, number in draw.choices(self._questions[name], k=MIX[name]):
                found.append(draw.choice(copies).draw(number, draw))
        for group in draw.choices(self._groups, k=MIX["group questions"]):
            found += draw.sample(some := list(group_question_lists(group.lines, draw)), min(1, len(some)))
        found += [self._slot_lists.draw(draw) for _ in range(MIX["slot questions"])]
        for name, some in self._fixed.items():
            for _ in range(MIX[name]):
                changing = self._changing.get(name)
                found.append(draw.choice(changing if changing and draw.random() < 0.6 else some))
        return [each for each in found if each.candidates]


def prepare_batches(sampler: ListSampler, cache: ListCache, count: int) -> Iterator[list[ReadingList]]:
    """Yield batches whose texts are encoded, prepared in a separate thread a few ahead of the training step."""

    def prepare() -> list[ReadingList]:
        lists = sampler.batch()
        for each in lists:
            for text in (each.first, *each.candidates):
                cache[text]
        return lists

    with ThreadPoolExecutor(max_workers=1) as thread:
        ahead = deque(thread.submit(prepare) for _ in range(4))
        for _ in range(count):
            yield ahead.popleft().result()
            ahead.append(thread.submit(prepare))


def judged_lists(vectors: PieceVectors) -> dict[str, list[ReadingList]]:
    """Return the lists of people, groups and snippets that nothing is trained on."""
    draw = random.Random(4)
    chats, groups = [chat for chat in load_chats(held_out=True) if chat.questions], load_groups(held_out=True)
    slots = SlotLists("tune")
    lists = {
        "questions": [
            made.whole(n, JUDGED)
            for chat in chats
            for made in [ChatLists(chat, vectors)]
            for n in range(len(chat.questions))
        ],
        "group questions": [
            reading_list for group in groups for reading_list in group_question_lists(group.lines, draw)
        ],
        "slot questions": [slots.draw(draw) for _ in range(MOST_JUDGED)],
        "group statements": statement_lists([p for g in groups for p in group_pairs(g)], 1, most=3),
        "chat statements": statement_lists(chat_statement_pairs(load_chats(held_out=True)), 1, most=3),
        "requests": list(request_lists(load_snippets(held_out=True))),
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
    torch.manual_seed(options.seed)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    cache = ListCache(options.trunk)
    vectors = PieceVectors(cache)
    sampler, judged = ListSampler(vectors, options.seed), judged_lists(vectors)
    network = start_network(options.trunk, options.start)
    layers = list(network.layers.parameters())
    known = {id(layer) for layer in layers}
    heads = [parameter for parameter in network.parameters() if id(parameter) not in known]
    optimiser = torch.optim.AdamW(
        [{"params": layers, "lr": 2.5e-4 * options.rate}, {"params": heads, "lr": 1e-3 * options.rate}],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min(1.0, (step + 1) / 30) * max(0.03, 0.5 * (1 + math.cos(math.pi * step / options.steps))),
    )
    batches = prepare_batches(sampler, cache, options.steps)
    began, totals = time.monotonic(), defaultdict(float)
    for step in range(1, options.steps + 1):
        lists = next(batches)
        parts = loss(run(network, lists, cache), lists, cache)
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
        if step % 500 == 0 or step == options.steps:
            torch.save(
                {
                    "width": network.width,
                    "layers": len(network.layers),
                    "heads": network.layers[0].heads,
                    "weights": network.state_dict(),
                },
                options.out,
            )
            report(network, judged, cache)


if __name__ == "__main__":
    main()
