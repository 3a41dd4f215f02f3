"""`lamina bench scale`: how the search of vectors grows with how many there are.

The vector part: a question's vector is given, the vectors are kept and searched as the store does it, and the ten
nearest are wanted. Whole recall: a vault of so many passages is opened and asked in words, to the end.
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

from lamina.bench.chart import Groups
from lamina.bench.collection import Collection
from lamina.bench.large import fill, measure
from lamina.bench.made_vectors import NEAREST, Source, chosen
from lamina.bench.metrics import quantile
from lamina.bench.searched import RESCORED, Searched, build
from lamina.vectors.levels import Floats
from lamina.vectors.scan import prepare

Say = Callable[[str], None]

ADDED, TIMES_ADDED = 1000, 5
FILTERS = (1, 10)
"""Percent of the rows that a filter lets through."""
WARM_UP = 5
YARDSTICKS = 20
"""Questions that the bare yardstick is asked."""

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
"""Passages from which on vectors are drawn at random: encoding so many would take most of an hour."""
GROWING = ("p50_ms", "exact_p50_ms", "add_1000_ms", "held_mb", "disk_mb")


@dataclass(slots=True)
class Scale:
    """What was measured, by size."""

    settings: dict[str, Any]
    figures: dict[int, dict[str, float]] = field(default_factory=dict)
    whole: dict[int, dict[str, float]] = field(default_factory=dict)
    """Of whole recalls, by passages."""

    def bars(self) -> dict[str, dict[str, Any]]:
        """Each bar with its figure and whether it holds."""
        return _judged(BARS, self.figures, "") | _judged(WHOLE_BARS, self.whole, "whole recall, ")

    def growth(self) -> dict[str, float]:
        """By what power of the size each cost grows, from one size to the next; 1 is in proportion."""
        sizes, told = sorted(self.figures), {}
        for small, large in pairwise(sizes):
            for name in GROWING:
                less, more = self.figures[small][name], self.figures[large][name]
                if less > 0 and more > 0:
                    told[f"{name} {small:,} to {large:,}"] = math.log(more / less) / math.log(large / small)
        return told

    def chart(self) -> Groups:
        """What is kept of the nearest, and what it costs beside float32 searched by numpy, in percent."""
        return {
            f"{size:,}": {
                "recall@10": each["recall_at_10"],
                "time": 100 * each["p50_ms"] / each["exact_p50_ms"],
                "memory": 100 * each["held_mb"] / each["float32_mb"],
            }
            for size, each in self.figures.items()
        }


def run(sizes: Sequence[int], questions: int, seed: int, vectors: Path | None, say: Say) -> Scale:
    """Measure every size; `say` is told what is going on."""
    fast = prepare()
    result = Scale({"questions": questions, "seed": seed, "rescored": RESCORED, "machine_code": fast})
    for size in sizes:
        source = chosen(vectors, size, questions, seed)
        result.settings["vectors"] = source.name
        with TemporaryDirectory(prefix="lamina-scale-") as place:
            result.figures[size] = vector_part(source, Path(place), seed, say)
    return result


def whole_part(
    sizes: Sequence[int], conversations: Sequence[Collection], questions: int, seed: int, result: Scale, say: Say
) -> None:
    """Fill a vault with so many passages of talk, open it anew, and ask it in words; with the light model."""
    for size in sizes:
        with TemporaryDirectory(prefix="lamina-scale-") as place:
            asked = fill(Path(place) / "vault", conversations, size, seed, say)[:questions]
            told = measure(Path(place) / "vault", "light", asked, say, made=size >= DRAWN_FROM)
            result.whole[size] = {name: round(value, 3) for name, value in told.items()}


def vector_part(source: Source, folder: Path, seed: int, say: Say) -> dict[str, float]:
    """The figures of one size."""
    before, questions = resident_mb(), source.questions
    say(f"coding {source.size:,} vectors")
    table, whole, truth = build(source, folder)
    say(f"asking {len(questions)} questions of {source.size:,}")
    took, cpu, found = timed(table.nearest, questions)
    figures = {"p50_ms": quantile(took, 0.5), "p95_ms": quantile(took, 0.95), "least_ms": min(took), "cpu_ms": cpu}
    figures |= {"recall_at_10": truth.share(found), "scan_p50_ms": quantile(timed(table.scan, questions)[0], 0.5)}
    for percent in FILTERS:
        figures |= _filtered(table, whole, questions, percent, seed)
    figures |= {"held_mb": table.held / 1e6, "float32_mb": whole.nbytes / 1e6}
    figures["grew_mb"] = resident_mb() - before
    figures["disk_mb"] = table.disk / 1e6
    figures["exact_p50_ms"] = quantile(timed(lambda each: exactly(whole, each), questions[:YARDSTICKS])[0], 0.5)
    figures["add_1000_ms"] = _adding(table, whole)
    return {name: round(value, 3) for name, value in figures.items()}


def timed(search: Callable[[Floats], Any], questions: Floats) -> tuple[list[float], float, list[Any]]:
    """The milliseconds of each search when warm, those a processor worked at the median, and what was found."""
    for question in questions[:WARM_UP]:
        search(question)
    took, cpu, found = [], [], []
    for question in questions:
        began, worked = time.perf_counter(), time.process_time()
        found.append(search(question))
        took.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.process_time() - worked))
    return took, quantile(cpu, 0.5), found


def exactly(vectors: Floats, question: Floats) -> list[int]:
    """The yardstick: every cosine by numpy, then the nearest."""
    near = vectors @ question
    best = np.argpartition(-near, NEAREST - 1)[:NEAREST]
    found: list[int] = best[np.argsort(-near[best])].tolist()
    return found


def resident_mb() -> float:
    """Memory of this process that is no map of a file; 0 where the system does not tell."""
    try:
        told = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"RssAnon:\s+(\d+) kB", told)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _judged(
    bars: dict[int, dict[str, tuple[str, float]]], figures: dict[int, dict[str, float]], what: str
) -> dict[str, dict[str, Any]]:
    told: dict[str, dict[str, Any]] = {}
    for size, some in bars.items():
        for name, (sign, limit) in some.items() if size in figures else ():
            value = figures[size][name]
            holds = value >= limit if sign == "≥" else value <= limit
            told[f"{what}{size:,} {name}"] = {"figure": value, "bar": f"{sign} {limit:g}", "holds": holds}
    return told


def _filtered(table: Searched, whole: Floats, questions: Floats, percent: int, seed: int) -> dict[str, float]:
    """A filter that lets some rows through, whichever they are: found among them alone."""
    count = len(whole)
    drawn = np.random.default_rng((seed, percent))
    rows = np.sort(drawn.choice(count, max(1, count * percent // 100), replace=False))
    took, _, found = timed(lambda question: table.nearest(question, rows), questions)
    kept = whole[rows]
    true = [{int(rows[each]) for each in exactly(kept, question)} for question in questions]
    hits = sum(len(true_one & set(some)) for true_one, some in zip(true, found, strict=True))
    recall = 100 * hits / sum(map(len, true))
    return {f"filter_{percent}_p50_ms": quantile(took, 0.5), f"filter_{percent}_recall": recall}


def _adding(table: Searched, whole: Floats) -> float:
    """The milliseconds that keeping, coding and adding a thousand vectors takes, at the median of a few times."""
    vectors = np.array(whole[:ADDED])
    took = []
    for _ in range(TIMES_ADDED):
        began = time.perf_counter()
        table.append(vectors)
        took.append(1000 * ADDED / len(vectors) * (time.perf_counter() - began))
    return quantile(took, 0.5)
