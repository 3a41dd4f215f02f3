"""`lamina bench scale`: measure how vector search grows with the number of vectors.

The vector part stores and searches vectors as the store does, and asks for the ten nearest. The whole-recall part opens
a vault of this many passages and asks it in words.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.chart import Groups
from benchmarks.data_set import BenchCollection
from benchmarks.large_vault import fill_vault, measure_vault
from benchmarks.ranking_metrics import quantile
from benchmarks.vector_sources import NEAREST, VectorSource, choose_source
from benchmarks.vector_store import RESCORED, BenchVectorStore, build_vector_store
from lamina.vectors.bit_scan import load_compiled_kernel
from lamina.vectors.integer_vectors import Floats

Say = Callable[[str], None]

ADDED, TIMES_ADDED = 1000, 5
FILTERS = (1, 10)
"""Percent of the rows that a filter admits."""
WARM_UP = 5
YARDSTICKS = 20
"""Questions that the exact baseline is asked."""

BARS: dict[int, dict[str, tuple[str, float]]] = {
    100_000: {
        "p50_ms": ("≤", 3.0),
        "recall_at_10": ("≥", 99.0),
        "filter_1_p50_ms": ("≤", 1.0),
        "filter_1_recall": ("≥", 100.0),
        "add_1000_ms": ("≤", 50.0),
    },
    1_000_000: {
        "p50_ms": ("≤", 25.0),
        "recall_at_10": ("≥", 99.0),
        "held_mb": ("≤", 250.0),
        "add_1000_ms": ("≤", 50.0),
    },
}
WHOLE_BARS: dict[int, dict[str, tuple[str, float]]] = {
    1_000_000: {
        "open_s": ("≤", 2.0),
        "open_mb": ("≤", 500.0),
        "recall_p50_ms": ("≤", 200.0),
        "recall_p95_ms": ("≤", 400.0),
    }
}
DRAWN_FROM = 200_000
"""Passages from which on vectors are random: encoding so many would take most of an hour."""
GROWING = ("p50_ms", "exact_p50_ms", "add_1000_ms", "held_mb", "disk_mb")


@dataclass(slots=True)
class ScaleMeasurement:
    """The figures of a scale run, by size."""

    settings: dict[str, Any]
    figures: dict[int, dict[str, float]] = field(default_factory=dict)
    whole: dict[int, dict[str, float]] = field(default_factory=dict)
    """Figures of whole recalls, by number of passages."""

    def bars(self) -> dict[str, dict[str, Any]]:
        """Return each required figure with its value and whether it passes."""
        return _judge_bars(BARS, self.figures, "") | _judge_bars(WHOLE_BARS, self.whole, "whole recall, ")

    def growth(self) -> dict[str, float]:
        """Return the exponent with which each cost grows from one size to the next; 1 is linear."""
        sizes, growth = sorted(self.figures), {}
        for small, large in pairwise(sizes):
            for name in GROWING:
                less, more = self.figures[small][name], self.figures[large][name]
                if less > 0 and more > 0:
                    growth[f"{name} {small:,} to {large:,}"] = math.log(more / less) / math.log(large / small)
        return growth

    def chart(self) -> Groups:
        """Return recall, and time and memory relative to float32 searched by numpy, in percent."""
        return {
            f"{size:,}": {
                "recall@10": figures["recall_at_10"],
                "time": 100 * figures["p50_ms"] / figures["exact_p50_ms"],
                "memory": 100 * figures["held_mb"] / figures["float32_mb"],
            }
            for size, figures in self.figures.items()
        }


def run(sizes: Sequence[int], questions: int, seed: int, vectors: Path | None, say: Say) -> ScaleMeasurement:
    """Measure every size; `say` reports the progress."""
    fast = load_compiled_kernel()
    result = ScaleMeasurement({"questions": questions, "seed": seed, "rescored": RESCORED, "machine_code": fast})
    for size in sizes:
        source = choose_source(vectors, size, questions, seed)
        result.settings["vectors"] = source.name
        with TemporaryDirectory(prefix="lamina-scale-") as place:
            result.figures[size] = measure_vectors(source, Path(place), seed, say)
    return result


def measure_vaults(
    sizes: Sequence[int],
    conversations: Sequence[BenchCollection],
    questions: int,
    seed: int,
    result: ScaleMeasurement,
    say: Say,
    drawn_from: int = DRAWN_FROM,
) -> None:
    """Fill a vault with this many passages of talk, open it again, and ask it in words, with the light model."""
    for size in sizes:
        with TemporaryDirectory(prefix="lamina-scale-") as place:
            texts = fill_vault(Path(place) / "vault", conversations, size, seed, say)[:questions]
            figures = measure_vault(Path(place) / "vault", "light", texts, say, is_new=size >= drawn_from)
            result.whole[size] = {name: round(value, 3) for name, value in figures.items()}


def measure_vectors(source: VectorSource, folder: Path, seed: int, say: Say) -> dict[str, float]:
    """Return the figures of one size."""
    before, questions = resident_mb(), source.questions
    say(f"coding {source.size:,} vectors")
    table, whole, truth = build_vector_store(source, folder)
    say(f"asking {len(questions)} questions of {source.size:,}")
    took, cpu, rows = time_searches(table.nearest, questions)
    figures = {"p50_ms": quantile(took, 0.5), "p95_ms": quantile(took, 0.95), "least_ms": min(took), "cpu_ms": cpu}
    figures |= {
        "recall_at_10": truth.share(rows),
        "scan_p50_ms": quantile(time_searches(table.scan, questions)[0], 0.5),
    }
    for percent in FILTERS:
        figures |= _measure_filter(table, whole, questions, percent, seed)
    figures |= {"held_mb": table.held / 1e6, "float32_mb": whole.nbytes / 1e6}
    figures["grew_mb"] = resident_mb() - before
    figures["disk_mb"] = table.disk / 1e6
    figures["exact_p50_ms"] = quantile(
        time_searches(lambda question: exact_nearest(whole, question), questions[:YARDSTICKS])[0], 0.5
    )
    figures["add_1000_ms"] = _measure_adding(table, whole)
    return {name: round(value, 3) for name, value in figures.items()}


def time_searches(search: Callable[[Floats], Any], questions: Floats) -> tuple[list[float], float, list[Any]]:
    """Return the milliseconds of each warm search, the median CPU milliseconds, and the results."""
    for question in questions[:WARM_UP]:
        search(question)
    took, cpu, results = [], [], []
    for question in questions:
        began, worked = time.perf_counter(), time.process_time()
        results.append(search(question))
        took.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.process_time() - worked))
    return took, quantile(cpu, 0.5), results


def exact_nearest(vectors: Floats, question: Floats) -> list[int]:
    """Return the exact nearest rows by numpy, the baseline."""
    near = vectors @ question
    best = np.argpartition(-near, NEAREST - 1)[:NEAREST]
    rows: list[int] = best[np.argsort(-near[best])].tolist()
    return rows


def resident_mb() -> float:
    """Return the anonymous memory of this process in MB; 0 if the system does not report it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    match = re.search(r"RssAnon:\s+(\d+) kB", status)
    return int(match[1]) * 1024 / 1e6 if match else 0.0


def _judge_bars(
    bars: dict[int, dict[str, tuple[str, float]]], figures: dict[int, dict[str, float]], what: str
) -> dict[str, dict[str, Any]]:
    judged: dict[str, dict[str, Any]] = {}
    for size, limits in bars.items():
        for name, (sign, limit) in limits.items() if size in figures else ():
            value = figures[size][name]
            holds = value >= limit if sign == "≥" else value <= limit
            judged[f"{what}{size:,} {name}"] = {"figure": value, "bar": f"{sign} {limit:g}", "holds": holds}
    return judged


def _measure_filter(
    table: BenchVectorStore, whole: Floats, questions: Floats, percent: int, seed: int
) -> dict[str, float]:
    """Return speed and recall among a random subset of the rows."""
    count = len(whole)
    drawn = np.random.default_rng((seed, percent))
    rows = np.sort(drawn.choice(count, max(1, count * percent // 100), replace=False))
    took, _, results = time_searches(lambda question: table.nearest(question, rows), questions)
    admitted = whole[rows]
    exact_rows = [{int(rows[row]) for row in exact_nearest(admitted, question)} for question in questions]
    hits = sum(len(exact & set(rows_found)) for exact, rows_found in zip(exact_rows, results, strict=True))
    recall = 100 * hits / sum(map(len, exact_rows))
    return {f"filter_{percent}_p50_ms": quantile(took, 0.5), f"filter_{percent}_recall": recall}


def _measure_adding(table: BenchVectorStore, whole: Floats) -> float:
    """Return the median milliseconds to store, encode and add a thousand vectors."""
    vectors = np.array(whole[:ADDED])
    took = []
    for _ in range(TIMES_ADDED):
        began = time.perf_counter()
        table.append(vectors)
        took.append(1000 * ADDED / len(vectors) * (time.perf_counter() - began))
    return quantile(took, 0.5)
