"""Learn the weights of capture/change/meaning.py from pairs of sentences, and print them.

    python scripts/learn_slots.py scripts/pairs/*.jsonl [--talk TALK.jsonl…] [--held-out PAIRS.jsonl…]

A line of PAIRS: {"old": …, "new": …, "same": true, "old_value": …, "new_value": …}; where "same" is false the old
sentence still holds. A line of TALK: {"speaker": …, "text": …, "session": …}, of conversations in which hardly anything
is ever replaced: whatever two sentences of it share is an example against. What is held out is only scored.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lamina.capture.change.items import Item
from lamina.capture.change.links import comparable, may_overtake
from lamina.capture.change.meaning import NAMES, fillings
from lamina.capture.change.told import Told, tellings
from lamina.models.sense import alike
from lamina.text.normal import one_line
from lamina.text.sentences import sentences

ROUNDS = 5
POSITIVE, TALK = 3.0, 0.3
"""What a pair that was replaced counts, and what one of mere talk does."""
RIDGE = 1.0
LOOKED_AT = 40
Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """Two sentences: what speaks for each pair of values, and which of those pairs are right; none where nothing was
    replaced."""

    old: str
    new: str
    rows: Rows
    right: tuple[int, ...]
    same: bool
    weight: float


def main() -> None:
    """Learn from what is given, and say how well what is held out is told."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", type=Path)
    parser.add_argument("--talk", nargs="*", type=Path, default=[])
    parser.add_argument("--held-out", nargs="*", type=Path, default=[])
    given = parser.parse_args()
    pairs = [each for path in given.pairs for each in read_pairs(path)]
    talk = [each for path in given.talk for each in read_talk(path)]
    weights = learn([*pairs, *talk[::2]])
    for name, found in (("learned from", pairs), ("talk held out", talk[1::2])):
        report(name, found, weights)
    for path in given.held_out:
        report(path.name, list(read_pairs(path)), weights)
    told = [f"    {weight:.3f},  # {name}" for name, weight in zip(NAMES, weights[1:], strict=True)]
    sys.stdout.write("\n".join([f"BIAS = {weights[0]:.3f}", "WEIGHTS = (", *told, ")", ""]))


def read_pairs(path: Path) -> Iterator[Example]:
    """The examples of a file of pairs that can be compared at all."""
    for line in path.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        rows: list[tuple[float, ...]] = []
        right: list[int] = []
        for old in tellings(one_line(told["old"]), guess=True):
            for new in _last_tellings(told["new"]):
                if may_overtake(new) and comparable(old, new, near=True):
                    for each in fillings(old, new, alike):
                        text = new.words if each.new[-1].end > len(new.text) else new.text
                        if told["same"] and _is(each.old, old.text, told["old_value"]) and _is(
                            each.new, text, told["new_value"]
                        ):  # fmt: skip
                            right.append(len(rows))
                        rows.append((1.0, *each.features))
        weight = POSITIVE if told["same"] else 1.0
        yield Example(told["old"], told["new"], _array(rows), tuple(right), told["same"], weight)


def _last_tellings(text: str) -> list[Told]:
    """What the sentences of a text tell, each beside the one before it."""
    found: list[Told] = []
    before = ""
    for start, end in sentences(text):
        sentence = one_line(text[start:end])
        found += tellings(sentence, before=before)
        before = sentence
    return found


def _is(run: tuple[Item, ...], text: str, value: str) -> bool:
    """Whether words that stand together are a value, or the most of it."""
    words = text[run[0].start : run[-1].end].lower()
    return words in value.lower() or value.lower() in words


def read_talk(path: Path) -> Iterator[Example]:
    """Sentences of a conversation beside earlier ones that share most words with them."""
    turns = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    said: list[tuple[str, tuple[Told, ...], object]] = []
    by_root: defaultdict[str, list[int]] = defaultdict(list)
    for turn in turns:
        before = ""
        for start, end in sentences(turn["text"])[:LOOKED_AT]:
            sentence = one_line(turn["text"][start:end])
            for new in tellings(sentence, turn["speaker"], before=before):
                if may_overtake(new):
                    yield from _beside(new, sentence, turn["session"], said, by_root)
            olds = tellings(sentence, turn["speaker"], guess=True)
            for root in {root for each in olds for root in each.roots}:
                by_root[root].append(len(said))
            said.append((sentence, olds, turn["session"]))
            before = sentence


def _beside(
    new: Told, sentence: str, session: object, said: list[tuple[str, tuple[Told, ...], object]],
    by_root: dict[str, list[int]],
) -> Iterator[Example]:  # fmt: skip
    shared = Counter(n for root in new.roots | new.around for n in by_root.get(root, ())[-200:])
    for n, _ in shared.most_common(LOOKED_AT):
        text, olds, other = said[n]
        near = [old for old in olds if comparable(old, new, near=session == other)]
        rows = [(1.0, *each.features) for old in near for each in fillings(old, new, alike)]
        if rows:
            yield Example(text, sentence, _array(rows), (), same=False, weight=TALK)


def _array(rows: list[tuple[float, ...]]) -> Rows:
    return np.array(rows, dtype=np.float64).reshape(len(rows), 1 + len(NAMES))


def learn(examples: Iterable[Example]) -> Rows:
    """Weights under which the likeliest right pair of values is likely and the likeliest wrong one is not."""
    usable = [each for each in examples if len(each.rows) and (each.right or not each.same)]
    weights = np.zeros(1 + len(NAMES))
    for _ in range(ROUNDS):
        rows = np.array([_likeliest(each, weights) for each in usable])
        weights = _fitted(rows, np.array([each.same for each in usable]), np.array([each.weight for each in usable]))
    return weights


def _likeliest(example: Example, weights: Rows) -> Rows:
    rows = example.rows[list(example.right)] if example.same else example.rows
    chosen: Rows = rows[int(np.argmax(rows @ weights))]
    return chosen


def _fitted(rows: Rows, same: NDArray[np.bool_], counts: Rows) -> Rows:
    """Logistic regression with a ridge, by Newton's steps on rows of like scale."""
    scale = rows.std(axis=0)
    scale[scale == 0] = 1.0
    scaled = rows / scale
    ridge = np.full(rows.shape[1], RIDGE)
    ridge[0] = 1e-6
    found = np.zeros(rows.shape[1])
    for _ in range(30):
        likely = 1.0 / (1.0 + np.exp(-(scaled @ found)))
        slope = scaled.T @ (counts * (likely - same)) + ridge * found
        curve = (scaled.T * (counts * likely * (1.0 - likely))) @ scaled + np.diag(ridge)
        found = found - np.linalg.solve(curve, slope)
    weights: Rows = found / scale
    return weights


def report(name: str, examples: list[Example], weights: Rows) -> None:
    """How many are told at some odds, rightly and wrongly."""
    likely = np.array([float(np.max(each.rows @ weights)) if len(each.rows) else -9.0 for each in examples])
    same = np.array([each.same for each in examples])
    for odds in (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0):
        right, wrong = int((likely[same] > odds).sum()), int((likely[~same] > odds).sum())
        told = f"{right} of {int(same.sum())} replaced, {wrong} of {int((~same).sum())} wrongly"
        sys.stdout.write(f"{name}: odds > {odds}: {told}\n")


if __name__ == "__main__":
    main()
