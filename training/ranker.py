"""Fit the read-time ranker: how much the state features add to a passage's relevance."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from lamina.models.list_reader import ListReader
from lamina.models.state_model import QuestionState, QuestionTarget, SentenceState, StateModel
from lamina.states.attributed_sentence import find_names, make_assertions
from lamina.states.current_state_ranking import (
    STATE_FEATURES,
    CertaintyRange,
    ListReadings,
    SaidAt,
    StateCandidate,
    StateView,
    compare_states,
    compute_state_features,
    prepare_texts,
    read_candidates_together,
)


@dataclass
class Record:
    """A question asked through the engine with its hits and their state model outputs."""

    row: dict
    question: QuestionState
    view: StateView
    close: ListReadings
    relevance: np.ndarray
    features: np.ndarray


def load_records(path: Path, model: StateModel, reader: ListReader | None, gate: CertaintyRange) -> list[Record]:
    texts: dict[str, Sequence[SentenceState]] = {}

    def read(text: str) -> Sequence[SentenceState]:
        if text not in texts:
            texts[text] = model.read(text)
        return texts[text]

    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["hits"]:
            continue
        question = model.ask(row["question"])
        hit_texts = prepare_texts([(hit["text"], hit["speaker"] or "") for hit in row["hits"]])
        candidates = [
            StateCandidate(
                hit["relevance"],
                make_assertions(
                    hit["text"], read(hit["text"]), hit["speaker"] or "", int(hit["at"] * 1000), hit["session"]
                ),
                text,
                SaidAt(int(hit["at"] * 1000)),
            )
            for hit, text in zip(row["hits"], hit_texts, strict=True)
        ]
        names = find_names(row["question"])
        view = compare_states(question, candidates, names)
        close = read_candidates_together(row["question"], question, candidates, view, reader, gate, names)
        relevance = np.array([hit["relevance"] for hit in row["hits"]], np.float32)
        records.append(
            Record(row, question, view, close, relevance, compute_state_features(question, view, close, gate))
        )
    return records


def wanted(row: dict) -> np.ndarray:
    """Return which hits answer: for a current or past value only the first gold turn, otherwise all gold turns."""
    if "good" in row:
        return np.array(row["good"], bool)
    gold = row["gold"][:1] if row["kind"] in {"current", "yesno", "past", "first"} else row["gold"]
    return np.array([hit["turn"] in gold for hit in row["hits"]])


def fit(records: list[Record], *, ridge: float = 3e-3, steps: int = 400) -> tuple[np.ndarray, float]:
    """Return the weight of each feature in units of relevance, by softmax over each question's candidates.

    Questions that ask for no state are left out: their features are near zero, and nothing is learnt from them but how
    sharp relevance is.
    """
    records = [record for record in records if record.question.asks[QuestionTarget.NO_STATE] <= 0.5]
    scale = np.concatenate([record.features for record in records]).std(0) + 1e-3
    weights = torch.zeros(len(STATE_FEATURES), requires_grad=True)
    sharpness = torch.tensor(2.5, requires_grad=True)
    longest = max(len(record.relevance) for record in records)
    x = np.zeros((len(records), longest, len(STATE_FEATURES)), np.float32)
    base, mask, gold = (
        np.zeros((len(records), longest), np.float32),
        np.zeros((len(records), longest), bool),
        np.zeros((len(records), longest), np.float32),
    )
    for n, source_record in enumerate(records):
        size = len(source_record.relevance)
        x[n, :size], base[n, :size], mask[n, :size] = source_record.features / scale, source_record.relevance, True
        gold[n, :size] = wanted(source_record.row)
    keep = gold.sum(1) > 0
    x, base, mask, gold = (torch.from_numpy(array[keep]) for array in (x, base, mask, gold))
    optimiser = torch.optim.Adam([weights, sharpness], lr=0.03)
    for _ in range(steps):
        logits = torch.exp(sharpness) * (base + x @ weights)
        logits = logits.masked_fill(~mask, -1e4)
        loss = -torch.log((logits.softmax(1) * gold).sum(1) + 1e-9).mean() + ridge * (weights**2).sum() * 50
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return weights.detach().numpy() / scale, float(torch.exp(sharpness.detach()))


def report(name: str, records: list[Record], weights: np.ndarray | None) -> None:
    """Print how often the first hit answers, by kind of question."""
    right, count = defaultdict[str, int](int), defaultdict[str, int](int)
    for record in records:
        gold = wanted(record.row)
        if not record.row["gold"]:
            continue
        score = record.relevance + (record.features @ weights if weights is not None else 0)
        count[record.row["kind"]] += 1
        right[record.row["kind"]] += bool(gold[int(np.argmax(score))])
    shares = {kind: f"{right[kind]}/{count[kind]}" for kind in sorted(count)}
    print(f"{name}: {sum(right.values())}/{sum(count.values())}", shares)


def fit_ranker(training: list[Record], held_out: list[Record]) -> list[float]:
    """Return the weights of the features, and print how often the first hit answers with and without them."""
    weights, sharpness = fit(training)
    for name, records in (("ranker chats", training), ("held-out people", held_out)):
        report(f"{name}, engine alone", records, None)
        report(f"{name}, with the ranker", records, weights)
    print({name: round(float(value), 3) for name, value in zip(STATE_FEATURES, weights)}, round(sharpness, 1))
    return [round(float(weight), 5) for weight in weights]
