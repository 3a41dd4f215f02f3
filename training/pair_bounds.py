"""Choose from which probability on the pair model is believed, on people, groups and snippets it never saw.

Usage: python -m training.pair_bounds BOUNDS.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from lamina.models.pair_model import PairModel
from lamina.text.analyse import content_words
from training.groups import load_groups, load_snippets
from training.pair_examples import Pair, chat_statement_pairs, group_pairs, snippet_pairs
from training.train import MODELS
from training.trunk import open_trunk

SURE_PRECISION, FORGET_PRECISION = 0.99, 0.9


def main() -> None:
    model = PairModel(open_trunk("minilm", MODELS))
    talk = [pair for pair in chat_statement_pairs(True, unrelated=1.0) if _share_words(pair)]
    groups = [pair for group in load_groups(held_out=True) for pair in group_pairs(group) if pair.relation]
    requests = [pair for each in load_snippets(held_out=True) for pair in snippet_pairs(each)]
    bounds = {}
    chances, labels = [], []
    for name, pairs in (("held-out people", talk), ("held-out groups", groups)):
        own = np.array([model.read(pair.first, pair.second).outdates for pair in pairs])
        wanted = np.array([pair.relation in {"replaces", "ends"} for pair in pairs])
        _report(name, own, wanted)
        chances.append(own)
        labels.append(wanted)
    bounds["sure"] = lowest_bound(np.concatenate(chances), np.concatenate(labels), SURE_PRECISION)
    forgets = np.array([model.read(pair.first, pair.second).forgets for pair in requests])
    meant = np.array([bool(pair.forgets) for pair in requests])
    _report("held-out snippets", forgets, meant)
    bounds["forgets"] = lowest_bound(forgets, meant, FORGET_PRECISION)
    print(bounds)
    Path(sys.argv[1]).write_text(json.dumps(bounds, indent=1) + "\n")


def lowest_bound(chances: np.ndarray, labels: np.ndarray, precision: float) -> float:
    """Return the lowest probability from which on so many of all that is given are right."""
    order = np.argsort(-chances)
    shares = np.cumsum(labels[order]) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(shares >= precision)
    return round(float(chances[order[good[-1]]]), 4) if len(good) else 0.9999


def _share_words(pair: Pair) -> bool:
    return bool(set(content_words(pair.first)) & set(content_words(pair.second)))


def _report(name: str, chances: np.ndarray, labels: np.ndarray) -> None:
    print(f"{name}: {len(labels)} pairs, {int(labels.sum())} right")
    for bound in (0.5, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99):
        given = chances >= bound
        right = (given & labels).sum()
        shares = f"precision {right / max(1, given.sum()):.3f}, recall {right / max(1, labels.sum()):.3f}"
        print(f"  at {bound}: {given.sum()} given, {shares}")


if __name__ == "__main__":
    main()
