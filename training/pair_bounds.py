"""Choose from where on the models are believed where words are withheld, on what they were never trained on.

Usage: python -m training.pair_bounds BOUNDS.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lamina.models.list_reader import ListReader
from lamina.models.pair_model import PairModel
from lamina.models.state_model import StateModel
from lamina.states.decisions import PairBounds
from lamina.states.state_reader import StateReader
from lamina.states.sure_replacement import surely_replaces
from lamina.text.analyse import content_words
from training.groups import load_groups, load_snippets
from training.pair_examples import Pair, chat_statement_pairs, group_pairs
from training.reading_lists import MEANT, request_lists
from training.train import MODELS
from training.trunk import open_trunk

SAME_SLOT = 0.6
SURE, FORGETS = (0.9, 0.95, 0.97, 0.98, 0.99), (0.6, 0.7, 0.8, 0.9, 0.95)
SURE_PRECISION, FORGET_PRECISION = 0.89, 0.9
"""Groups are written to be confused: in ordinary talk far more of what is given is right (README.md)."""


def main() -> None:
    trunk = open_trunk("minilm", MODELS)
    model = PairModel(trunk)
    reader = StateReader(StateModel(trunk, "state_minilm.onnx"), model)
    talk = [pair for pair in chat_statement_pairs(True, unrelated=1.0) if _share_words(pair)]
    groups = [pair for group in load_groups(held_out=True) for pair in group_pairs(group) if pair.relation]
    statements = [*talk, *groups]
    wanted = np.array([pair.relation in {"replaces", "ends"} for pair in statements])
    anyway = PairBounds(sure=0.0, same_slot=SAME_SLOT, forgets=0.0)
    chances = np.array([
        model.read(pair.first, pair.second).outdates
        if surely_replaces(pair.second, pair.first, reader, anyway) else 0.0
        for pair in statements
    ])  # fmt: skip
    _report("held-out people", chances[: len(talk)], wanted[: len(talk)], SURE)
    _report("held-out groups", chances[len(talk) :], wanted[len(talk) :], SURE)
    requests, lists = list(request_lists(load_snippets(held_out=True))), ListReader(trunk)
    forgets = np.array([chance for each in requests for chance in lists.forgets(each.first, each.candidates)])
    meant = np.array([label == MEANT for each in requests for label in each.labels])
    _report("held-out snippets", forgets, meant, FORGETS)
    bounds = {
        "sure": lowest_bound(chances, wanted, SURE, SURE_PRECISION), "same_slot": SAME_SLOT,
        "forgets": lowest_bound(forgets, meant, FORGETS, FORGET_PRECISION),
    }  # fmt: skip
    print(bounds)
    Path(sys.argv[1]).write_text(json.dumps(bounds, indent=1) + "\n")


def lowest_bound(chances: np.ndarray, labels: np.ndarray, bounds: Sequence[float], precision: float) -> float:
    """Return the lowest bound from which on so many of what is given are right; the highest if none is enough."""
    good = (each for each in bounds if labels[chances >= each].mean() >= precision)
    return next(good, bounds[-1])


def _share_words(pair: Pair) -> bool:
    return bool(set(content_words(pair.first)) & set(content_words(pair.second)))


def _report(name: str, chances: np.ndarray, labels: np.ndarray, bounds: Sequence[float]) -> None:
    print(f"{name}: {len(labels)} pairs, {int(labels.sum())} right")
    for bound in bounds:
        given = chances >= bound
        right = (given & labels).sum()
        shares = f"precision {right / max(1, given.sum()):.3f}, recall {right / max(1, labels.sum()):.3f}"
        print(f"  from {bound}: {given.sum()} given, {shares}")


if __name__ == "__main__":
    main()
