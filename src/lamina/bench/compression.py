"""`lamina bench compression`: what vectors lose in few bits, beside plain min-max rounding on the same vectors.

Fidelity is the cosine of a vector with what comes back of it, the mean and the least over all vectors of a set. Recall
is the share of the ten nearest by whole vectors that are among the first ten by coded ones; where vectors of several
precisions stand in one ranking, 40 % of them are whole and a fifth each in 8, 4 and 2 bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from lamina.bench.chart import Groups
from lamina.bench.locomo import load
from lamina.bench.min_max import rounded_down, scaled_down
from lamina.bench.result import Result
from lamina.bench.vector_sets import WIDTH, Say, VectorSet, made, real
from lamina.vectors.estimate import estimates, ranked, turned
from lamina.vectors.levels import Floats
from lamina.vectors.quantise import Coded, coded_bytes, decode, encode

CODED = (8, 4, 2)
MIX = {32: 0.4, 8: 0.2, 4: 0.2, 2: 0.2}
NEAREST, RESCORED = 10, 40
TIMED = 1000

RATIO = {8: 3.9, 4: 7.6, 2: 14.6}
MEAN = {8: 0.9999, 4: 0.995, 2: 0.938}
LEAST = {8: 0.999, 4: 0.988, 2: 0.915}
MIXED, TWICE = 0.92, 0.995


@dataclass(slots=True)
class Compression:
    """What was measured: figures by set and bits, recall by set, and how long coding takes."""

    settings: dict[str, Any]
    data_sha256: str | None = None
    fidelity: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict)
    recall: dict[str, dict[str, float]] = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)

    def bars(self) -> dict[str, dict[str, Any]]:
        """Each bar with its figure, the worst of all sets, and whether it holds."""
        told: dict[str, dict[str, Any]] = {}
        for bits in CODED:
            told |= _bar(f"ratio at {WIDTH} dimensions, {bits} bits", 4 * WIDTH / coded_bytes(WIDTH, bits), RATIO[bits])
        for bits in CODED:
            worst = {name: min(each[bits][name] for each in self.fidelity.values()) for name in ("mean", "least")}
            ahead = min(each[bits]["mean"] - each[bits]["min-max mean"] for each in self.fidelity.values())
            told |= _bar(f"mean cosine, {bits} bits", worst["mean"], MEAN[bits])
            told |= _bar(f"least cosine, {bits} bits", worst["least"], LEAST[bits])
            told |= _bar(f"mean cosine ahead of min-max, {bits} bits", ahead, 0.0)
        for name, figures in self.recall.items():
            told |= _bar(f"{_short(name)}: mixed recall@10", figures["mixed"], MIXED)
            told |= _bar(f"{_short(name)}: recall@10, 2 bits, {RESCORED} rescored", figures["2 bits, rescored"], TWICE)
        return told

    def result(self) -> Result:
        """As every benchmark tells it."""
        fidelity = {name: {f"{bits} bits": row for bits, row in each.items()} for name, each in self.fidelity.items()}
        return Result(
            "compression",
            self.data_sha256,
            self.settings,
            self.bars(),
            {"fidelity": fidelity, "recall": self.recall},
            self.speed,
        )

    def tables(self) -> Iterator[Table]:
        """As people read it."""
        shown = ("mean", "least", "min-max mean", "min-max least")
        table = Table("vectors", "bits", "ratio", *shown, title="cosine with what was coded", title_justify="left")
        for name, each in self.fidelity.items():
            for bits, row in each.items():
                table.add_row(
                    _short(name), str(bits), f"{row['ratio']:.2f}", *(f"{row[figure]:.5f}" for figure in shown)
                )
        yield table
        table = Table("recall@10", *map(_short, self.recall))
        for name in next(iter(self.recall.values())):
            table.add_row(name, *(f"{figures[name]:.4f}" for figures in self.recall.values()))
        yield table
        table = Table("measured", "figure", "bar", "holds")
        for name, bar in self.bars().items():
            table.add_row(name, f"{bar['figure']:.5f}", bar["bar"], "yes" if bar["holds"] else "NO")
        for name, value in self.speed.items():
            table.add_row(name, f"{value:.2f}", "", "")
        yield table

    def groups(self) -> Groups:
        """What a chart shows, in percent."""
        fidelity = {
            f"{_short(name)}, {bits} bits": {"lamina": row["mean"], "min-max": row["min-max mean"]}
            for name, each in self.fidelity.items()
            for bits, row in each.items()
            if bits < 8
        }
        recall = {
            f"{_short(name)}, mixed recall@10": {"lamina": row["mixed"], "min-max": row["min-max mixed"]}
            for name, row in self.recall.items()
        }
        shown: Mapping[str, Mapping[str, float]] = {**fidelity, **recall}
        return {name: {bar: 100 * value for bar, value in bars.items()} for name, bars in shown.items()}


def run(data: Path | None, light: bool, vectors: int, questions: int, seed: int, say: Say) -> Compression:
    """Measure every set, so many vectors where they are made; `say` is told what is going on."""
    conversations, digest = load(data) if data else ([], None)
    told = Compression(
        {"vectors": vectors, "questions": questions, "seed": seed, "light": light, "rescored": RESCORED, "mix": MIX},
        digest,
    )
    sets = made(vectors, questions, seed)
    if data is None:
        say("no --data, so only made vectors are measured; a LoCoMo file gives real ones")
    elif (given := real(conversations, questions, light, seed, say)) is not None:
        sets.insert(0, given)
        told.settings["model"] = given.name
    for each in sets:
        say(f"coding {len(each.vectors)} {each.name} vectors")
        told.fidelity[each.name] = {bits: _fidelity(each.vectors, bits) for bits in CODED}
        if len(each.questions):
            told.recall[each.name] = _recall(each, seed)
    told.speed = _timed(sets[0].vectors[:TIMED])
    return told


def _fidelity(vectors: Floats, bits: int) -> dict[str, float]:
    ours, plain = _cosine(vectors, decode(encode(vectors, bits))), _cosine(vectors, rounded_down(vectors, bits))
    width = vectors.shape[1]
    return {
        "n": len(vectors),
        "ratio": 4 * width / coded_bytes(width, bits),
        "mean": float(ours.mean()),
        "least": float(ours.min()),
        "min-max mean": float(plain.mean()),
        "min-max least": float(plain.min()),
    }


def _recall(given: VectorSet, seed: int) -> dict[str, float]:
    """The recall of each precision alone, and of all of them together in one ranking."""
    vectors, questions = given.vectors, given.questions
    truth = questions @ vectors.T
    asked = [turned(question) for question in questions]
    figures: dict[str, float] = {}
    mixed = {name: truth.copy() for name in ("mixed", "mixed, no caution", "mixed, decoded", "min-max mixed")}
    kept = _dealt(len(vectors), seed)
    for bits in CODED:
        coded, rows = encode(vectors, bits), np.flatnonzero(kept == bits)
        near = np.stack([estimates(each, coded) for each in asked])
        decoded = questions @ _units(decode(_some(coded, rows))).T
        plain = questions @ _units(rounded_down(vectors, bits)).T
        figures |= {f"{bits} bits": _found(near, truth), f"min-max {bits} bits": _found(plain, truth)}
        mixed["mixed"][:, rows] = ranked(near[:, rows], bits, vectors.shape[1])
        mixed["mixed, no caution"][:, rows] = near[:, rows]
        mixed["mixed, decoded"][:, rows] = scaled_down(decoded, bits)
        mixed["min-max mixed"][:, rows] = scaled_down(plain[:, rows], bits)
        if bits == min(CODED):
            figures["2 bits, rescored"] = _found(near, truth, RESCORED)
    return figures | {name: _found(scores, truth) for name, scores in mixed.items()}


def _found(scores: Floats, truth: Floats, looked_at: int = NEAREST) -> float:
    """The share of the nearest that stand among the first; looked at again, as whole vectors, these come first."""
    found, nearest = _first(scores, looked_at), _first(truth, NEAREST)
    hits = sum(len(set(some) & set(true)) for some, true in zip(found, nearest, strict=True))
    return hits / sum(map(len, nearest))


def _first(scores: Floats, count: int) -> list[list[int]]:
    found: list[list[int]] = np.argsort(-scores, axis=1, kind="stable")[:, :count].tolist()
    return found


def _dealt(count: int, seed: int) -> NDArray[np.int64]:
    """The bits that each vector is kept in."""
    dealt = np.repeat(list(MIX), [round(share * count) for share in MIX.values()])
    return np.random.default_rng(seed).permutation(np.resize(dealt, count))


def _some(coded: Coded, rows: NDArray[np.intp]) -> Coded:
    return Coded(coded.bits, coded.width, coded.norm[rows], coded.factor[rows], coded.codes[rows])


def _cosine(vectors: Floats, others: Floats) -> NDArray[np.float64]:
    one, other = _units(vectors).astype(np.float64), _units(others).astype(np.float64)
    return np.asarray((one * other).sum(axis=1), dtype=np.float64)


def _units(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _timed(vectors: Floats) -> dict[str, float]:
    """Milliseconds for a thousand vectors, the best of five times."""
    told = {}
    for bits in CODED:
        coded = encode(vectors, bits)
        told[f"encode_{bits}_bits_ms"] = _best(lambda bits=bits: encode(vectors, bits))  # type: ignore[misc]
        told[f"decode_{bits}_bits_ms"] = _best(lambda coded=coded: decode(coded))  # type: ignore[misc]
    return told


def _best(work: Callable[[], object], times: int = 5) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - began))
    return round(min(taken), 2)


def _short(name: str) -> str:
    """A model's name without its weights' digest."""
    return name.split("@")[0].removesuffix("-int8").removeprefix("all-")


def _bar(name: str, figure: float, least: float) -> dict[str, dict[str, Any]]:
    return {name: {"figure": figure, "bar": f"≥ {least:g}", "holds": figure >= least}}
