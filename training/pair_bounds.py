"""Choose from which values on the models are believed where words are withheld or labelled, on what they were never
trained on.

Usage: python -m training.pair_bounds BOUNDS.json
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from lamina.models.list_reader import ListReader
from lamina.models.pair_model import PairModel
from lamina.models.state_model import MiniLmTrunk, StateModel
from lamina.states.fitted_decisions import ReplacementBounds
from lamina.states.replacement_verdict import ReplacementCertainty, judge_replacements
from lamina.states.sentence_models import StateReader
from lamina.text.analyser import content_tokens
from training.examples import load_chats
from training.groups import load_groups, load_snippets
from training.pair_examples import TextPair, chat_statement_pairs, group_pairs
from training.reading_lists import MEANT, ReadingList
from training.request_lists import draw_request_list, find_strangers, snippet_requests
from training.train import MODELS

SAME_SLOT, LIKELY_SLOT = 0.6, 0.4
CHANCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99)
NEVER, FEWEST = 1.01, 20
SURE_PRECISION, LIKELY_PRECISION, FORGET_PRECISION = 0.89, 0.85, 0.93
"""Of what is given on held-out talk and groups together. Groups are written to be confused: in ordinary talk more is
right (README.md)."""


def main() -> None:
    trunk = MiniLmTrunk(MODELS)
    lists, pairs = ListReader(trunk), PairModel(trunk)
    reader = StateReader(StateModel(trunk), pairs, lists)
    talk = [pair for pair in chat_statement_pairs(load_chats(held_out=True), unrelated=1.0) if _share_words(pair)]
    groups = [pair for group in load_groups(held_out=True) for pair in group_pairs(group) if pair.relation]
    bounds = ReplacementBounds(
        sure=NEVER, same_slot=SAME_SLOT, likely=NEVER, likely_slot=LIKELY_SLOT, forgets=0, forgets_named=0
    )
    for grade, certainty, wanted_precision in (
        ("sure", ReplacementCertainty.SURE, SURE_PRECISION),
        ("likely", ReplacementCertainty.LIKELY, LIKELY_PRECISION),
    ):
        anyway = replace(bounds, **{grade: 0.0})
        sets = {"held-out people": talk, "held-out groups": groups}
        figures = {key: _chances(texts, reader, pairs, anyway, certainty) for key, texts in sets.items()}
        for key, (chances, wanted) in figures.items():
            _report(f"{key}, {grade}", chances, wanted)
        chances, wanted = (np.concatenate(parts) for parts in zip(*figures.values(), strict=True))
        bounds = replace(bounds, **{grade: lowest_bound(chances, wanted, wanted_precision)})
    draw, strangers = random.Random(4), find_strangers(load_chats(held_out=True))
    requests = [
        draw_request_list(request, strangers, draw)
        for request in snippet_requests(load_snippets(held_out=True))
        for _ in range(3)
    ]
    best = [_read_best(request, lists) for request in requests]
    chances, is_target, is_named = (np.array(column) for column in zip(*best, strict=True))
    for name, chosen in (("forgets", np.ones(len(best), bool)), ("forgets_named", is_named)):
        _report(f"held-out snippets, {name}", chances[chosen], is_target[chosen])
        bounds = replace(bounds, **{name: lowest_bound(chances[chosen], is_target[chosen], FORGET_PRECISION)})
    print(bounds)
    Path(sys.argv[1]).write_text(json.dumps(asdict(bounds), indent=1) + "\n")


def _read_best(request: ReadingList, lists: ListReader) -> tuple[float, bool, bool]:
    """Return the probability of the statement that a request most likely means, whether it does, and whether they share
    words."""
    chances = lists.forgets(request.first, request.candidates)
    best = int(np.argmax(chances))
    shares_words = bool(set(content_tokens(request.first)) & set(content_tokens(request.candidates[best])))
    return chances[best], request.labels[best] == MEANT, shares_words


def _chances(
    pairs: Sequence[TextPair],
    reader: StateReader,
    model: PairModel,
    anyway: ReplacementBounds,
    certainty: ReplacementCertainty,
) -> tuple[np.ndarray, np.ndarray]:
    """Return how surely each pair is seen as a replacement, 0 where a condition besides forbids it, and which are."""
    chances = []
    for pair in pairs:
        is_allowed = judge_replacements(pair.second, [pair.first], reader, anyway)[0] >= certainty
        chances.append(model.read(pair.first, pair.second).outdates if is_allowed else 0.0)
    return np.array(chances), np.array([pair.relation in {"replaces", "ends"} for pair in pairs])


def lowest_bound(chances: np.ndarray, labels: np.ndarray, precision: float) -> float:
    """Return the lowest bound from which on so many of what is given are right, of at least FEWEST; NEVER if there is
    none."""
    for bound in CHANCES:
        given = chances >= bound
        if given.sum() >= FEWEST and labels[given].mean() >= precision:
            return bound
    return NEVER


def _share_words(pair: TextPair) -> bool:
    return bool(set(content_tokens(pair.first)) & set(content_tokens(pair.second)))


def _report(name: str, chances: np.ndarray, labels: np.ndarray) -> None:
    print(f"{name}: {len(labels)} pairs, {int(labels.sum())} right")
    for bound in CHANCES:
        given = chances >= bound
        right = (given & labels).sum()
        shares = f"precision {right / max(1, given.sum()):.3f}, recall {right / max(1, labels.sum()):.3f}"
        print(f"  from {bound}: {given.sum()} given, {shares}")


if __name__ == "__main__":
    main()
