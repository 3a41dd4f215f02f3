"""`lamina bench compression`: measure what vectors lose in few bits, compared with plain min-max rounding.

Fidelity is the cosine of a vector with its decoded code, the mean and the minimum over all vectors of a set. Recall is
the share of the ten nearest by full vectors that are among the first ten by coded ones; in a mixed ranking 40 % of the
vectors are full and a fifth each in 8, 4 and 2 bits.
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

from benchmarks.bench_result import BenchResult
from benchmarks.chart import Groups
from benchmarks.compression_vectors import WIDTH, Say, VectorSet, encode_conversations, make_vector_sets
from benchmarks.cosine_estimate import estimate_cosines, ranking_scores, rotate_query
from benchmarks.locomo import load
from benchmarks.min_max_quantisation import penalise_precision, quantise_min_max
from lamina.vectors.integer_vectors import Floats
from lamina.vectors.quantisation import CodedVectors, coded_bytes, decode, encode

CODED = (8, 4, 2)
MIX = {32: 0.4, 8: 0.2, 4: 0.2, 2: 0.2}
NEAREST, RESCORED = 10, 40
TIMED = 1000

MIN_RATIO = {8: 3.9, 4: 7.6, 2: 14.6}
MIN_MEAN_COSINE = {8: 0.9999, 4: 0.995, 2: 0.938}
MIN_LEAST_COSINE = {8: 0.999, 4: 0.988, 2: 0.915}
MIN_MIXED_RECALL, MIN_RESCORED_RECALL = 0.92, 0.995


@dataclass(slots=True)
class Compression:
    """A measurement: figures by set and bits, recall by set, and how long coding takes."""

    settings: dict[str, Any]
    data_sha256: str | None = None
    fidelity: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict)
    recall: dict[str, dict[str, float]] = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)

    def bars(self) -> dict[str, dict[str, Any]]:
        """Return each required figure with its worst value over all sets, and whether it passes."""
        bars: dict[str, dict[str, Any]] = {}
        for bits in CODED:
            bars |= _bar(
                f"ratio at {WIDTH} dimensions, {bits} bits", 4 * WIDTH / coded_bytes(WIDTH, bits), MIN_RATIO[bits]
            )
        for bits in CODED:
            worst = {
                name: min(figures_by_bits[bits][name] for figures_by_bits in self.fidelity.values())
                for name in ("mean", "least")
            }
            ahead = min(
                figures_by_bits[bits]["mean"] - figures_by_bits[bits]["min-max mean"]
                for figures_by_bits in self.fidelity.values()
            )
            bars |= _bar(f"mean cosine, {bits} bits", worst["mean"], MIN_MEAN_COSINE[bits])
            bars |= _bar(f"least cosine, {bits} bits", worst["least"], MIN_LEAST_COSINE[bits])
            bars |= _bar(f"mean cosine ahead of min-max, {bits} bits", ahead, 0.0)
        for name, figures in self.recall.items():
            bars |= _bar(f"{_short_model_name(name)}: mixed recall@10", figures["mixed"], MIN_MIXED_RECALL)
            bars |= _bar(
                f"{_short_model_name(name)}: recall@10, 2 bits, {RESCORED} rescored",
                figures["2 bits, rescored"],
                MIN_RESCORED_RECALL,
            )
        return bars

    def result(self) -> BenchResult:
        """Return the document that all benchmarks share."""
        fidelity = {
            name: {f"{bits} bits": row for bits, row in figures_by_bits.items()}
            for name, figures_by_bits in self.fidelity.items()
        }
        return BenchResult(
            "compression",
            self.data_sha256,
            self.settings,
            self.bars(),
            {"fidelity": fidelity, "recall": self.recall},
            self.speed,
        )

    def tables(self) -> Iterator[Table]:
        """Yield the tables for people."""
        columns = ("mean", "least", "min-max mean", "min-max least")
        table = Table("vectors", "bits", "ratio", *columns, title="cosine with what was coded", title_justify="left")
        for name, figures_by_bits in self.fidelity.items():
            for bits, row in figures_by_bits.items():
                table.add_row(
                    _short_model_name(name),
                    str(bits),
                    f"{row['ratio']:.2f}",
                    *(f"{row[figure]:.5f}" for figure in columns),
                )
        yield table
        table = Table("recall@10", *map(_short_model_name, self.recall))
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
        """Return the groups of the chart, in percent."""
        fidelity = {
            f"{_short_model_name(name)}, {bits} bits": {"lamina": row["mean"], "min-max": row["min-max mean"]}
            for name, figures_by_bits in self.fidelity.items()
            for bits, row in figures_by_bits.items()
            if bits < 8
        }
        recall = {
            f"{_short_model_name(name)}, mixed recall@10": {"lamina": row["mixed"], "min-max": row["min-max mixed"]}
            for name, row in self.recall.items()
        }
        groups: Mapping[str, Mapping[str, float]] = {**fidelity, **recall}
        return {name: {bar: 100 * value for bar, value in bars.items()} for name, bars in groups.items()}


def run(data: Path | None, light: bool, vectors: int, questions: int, seed: int, say: Say) -> Compression:
    """Measure every set; generated sets have `vectors` vectors. `say` reports the progress."""
    conversations, digest = load(data) if data else ([], None)
    measured = Compression(
        {"vectors": vectors, "questions": questions, "seed": seed, "light": light, "rescored": RESCORED, "mix": MIX},
        digest,
    )
    sets = make_vector_sets(vectors, questions, seed)
    if data is None:
        say("no --data, so only generated vectors are measured; a LoCoMo file adds real ones")
    elif (real_set := encode_conversations(conversations, questions, light, seed, say)) is not None:
        sets.insert(0, real_set)
        measured.settings["model"] = real_set.name
    for vector_set in sets:
        say(f"coding {len(vector_set.vectors)} {vector_set.name} vectors")
        measured.fidelity[vector_set.name] = {bits: _fidelity(vector_set.vectors, bits) for bits in CODED}
        if len(vector_set.questions):
            measured.recall[vector_set.name] = _recall(vector_set, seed)
    measured.speed = _time_coding(sets[0].vectors[:TIMED])
    return measured


def _fidelity(vectors: Floats, bits: int) -> dict[str, float]:
    ours, plain = _cosine(vectors, decode(encode(vectors, bits))), _cosine(vectors, quantise_min_max(vectors, bits))
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
    """Return the recall of each precision alone, and of all of them together in one ranking."""
    vectors, questions = given.vectors, given.questions
    truth = questions @ vectors.T
    turned_questions = [rotate_query(question) for question in questions]
    figures: dict[str, float] = {}
    mixed = {name: truth.copy() for name in ("mixed", "mixed, no caution", "mixed, decoded", "min-max mixed")}
    bits_of_row = _assign_bits(len(vectors), seed)
    for bits in CODED:
        coded, rows = encode(vectors, bits), np.flatnonzero(bits_of_row == bits)
        near = np.stack([estimate_cosines(query, coded) for query in turned_questions])
        decoded = questions @ _units(decode(_select_rows(coded, rows))).T
        plain = questions @ _units(quantise_min_max(vectors, bits)).T
        figures |= {f"{bits} bits": _recall_of(near, truth), f"min-max {bits} bits": _recall_of(plain, truth)}
        mixed["mixed"][:, rows] = ranking_scores(near[:, rows], bits, vectors.shape[1])
        mixed["mixed, no caution"][:, rows] = near[:, rows]
        mixed["mixed, decoded"][:, rows] = penalise_precision(decoded, bits)
        mixed["min-max mixed"][:, rows] = penalise_precision(plain[:, rows], bits)
        if bits == min(CODED):
            figures["2 bits, rescored"] = _recall_of(near, truth, RESCORED)
    return figures | {name: _recall_of(scores, truth) for name, scores in mixed.items()}


def _recall_of(scores: Floats, truth: Floats, looked_at: int = NEAREST) -> float:
    """Return the share of the nearest that are among the first `looked_at`, which may be rescored with full vectors."""
    first_rows, nearest = _top_rows(scores, looked_at), _top_rows(truth, NEAREST)
    hits = sum(len(set(rows) & set(true)) for rows, true in zip(first_rows, nearest, strict=True))
    return hits / sum(map(len, nearest))


def _top_rows(scores: Floats, count: int) -> list[list[int]]:
    rows: list[list[int]] = np.argsort(-scores, axis=1, kind="stable")[:, :count].tolist()
    return rows


def _assign_bits(count: int, seed: int) -> NDArray[np.int64]:
    """Return the bits in which each vector is stored."""
    dealt = np.repeat(list(MIX), [round(share * count) for share in MIX.values()])
    return np.random.default_rng(seed).permutation(np.resize(dealt, count))


def _select_rows(coded: CodedVectors, rows: NDArray[np.intp]) -> CodedVectors:
    return CodedVectors(coded.bits, coded.width, coded.norm[rows], coded.factor[rows], coded.codes[rows])


def _cosine(vectors: Floats, others: Floats) -> NDArray[np.float64]:
    one, other = _units(vectors).astype(np.float64), _units(others).astype(np.float64)
    return np.asarray((one * other).sum(axis=1), dtype=np.float64)


def _units(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _time_coding(vectors: Floats) -> dict[str, float]:
    """Return milliseconds for a thousand vectors, the best of five runs."""
    figures = {}
    for bits in CODED:
        coded = encode(vectors, bits)
        figures[f"encode_{bits}_bits_ms"] = _best_time(lambda bits=bits: encode(vectors, bits))  # type: ignore[misc]
        figures[f"decode_{bits}_bits_ms"] = _best_time(lambda coded=coded: decode(coded))  # type: ignore[misc]
    return figures


def _best_time(work: Callable[[], object], times: int = 5) -> float:
    times_ms = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        times_ms.append(1000 * (time.perf_counter() - began))
    return round(min(times_ms), 2)


def _short_model_name(name: str) -> str:
    """Return a model's name without the digest of its weights."""
    return name.split("@")[0].removesuffix("-int8").removeprefix("all-")


def _bar(name: str, figure: float, least: float) -> dict[str, dict[str, Any]]:
    return {name: {"figure": figure, "bar": f"≥ {least:g}", "holds": figure >= least}}
