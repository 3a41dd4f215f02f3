"""FactConsolidation: numbered facts of which later ones overrule earlier ones. Is the current fact returned first?

Facts are remembered in order, a minute apart. A question is answered if an accepted answer is contained, ignoring case,
in the text of a hit: single-hop questions in the first (`top1`) or the first five (`top5`), multi-hop questions in the
first ten (`chain@10`: the fact that ends the chain was found). A string match, so slightly generous.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.bench_vaults import BenchVault, BenchVaults, Progress
from benchmarks.data_set import read_data_file, require_any
from benchmarks.ranking_metrics import average_grades
from lamina import Hit

DEPTH = 10
BATCH_SIZE = 200
_FACT = re.compile(r"(?m)^\d+\. (.+)$")
_NAME = re.compile(r"factconsolidation_(sh|mh)_(\w+)")
_FIRST = datetime(2024, 1, 1, tzinfo=UTC)
_BETWEEN = timedelta(minutes=1)
_CUTS = {"single_hop": {"top1": 1, "top5": 5}, "multi_hop": {"chain@10": 10}}


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A question and the answers that are accepted."""

    text: str
    answers: tuple[str, ...]
    hops: str
    size: str


@dataclass(frozen=True, slots=True)
class FactList:
    """Facts in order, and the questions about them."""

    facts: tuple[str, ...]
    questions: tuple[FactQuestion, ...]


def load(path: Path) -> tuple[list[FactList], str]:
    """Return the lists of facts in a file of MemoryAgentBench and the SHA-256 of the file."""
    return read_data_file(path, "FactConsolidation", _parse)


def _parse(data: Any) -> list[FactList]:
    questions_by_context: dict[str, list[FactQuestion]] = {}
    for task in data:
        name = _NAME.fullmatch(task["name"])
        if name is not None:
            hops = {"sh": "single_hop", "mh": "multi_hop"}[name.group(1)]
            pairs = zip(task["questions"], task["answers"], strict=True)
            questions_by_context.setdefault(task["context"], []).extend(
                FactQuestion(str(text), tuple(map(str, answers)), hops, name.group(2)) for text, answers in pairs
            )
    return require_any(
        (
            FactList(tuple(require_any(_FACT.findall(context), "numbered facts")), tuple(questions))
            for context, questions in questions_by_context.items()
        ),
        "task named factconsolidation_sh_… or factconsolidation_mh_…",
    )


@dataclass(slots=True)
class FactGrades:
    """Grades of the questions, in the order they were asked: answered or not."""

    grades: list[tuple[FactQuestion, dict[str, float]]]

    def overall(self) -> dict[str, dict[str, float]]:
        """Return the figures of single-hop and multi-hop questions over all lists."""
        return self._by(lambda question: question.hops)

    def categories(self) -> dict[str, dict[str, float]]:
        """Return the figures of single-hop and multi-hop questions by the length of the list."""
        return self._by(lambda question: f"{question.hops}_{question.size}")

    def _by(self, name: Callable[[FactQuestion], str]) -> dict[str, dict[str, float]]:
        grades: dict[str, list[dict[str, float]]] = defaultdict(list)
        for question, grade in self.grades:
            grades[name(question)].append(grade)
        return {group: average_grades(grades[group]) for group in sorted(grades, reverse=True)}


def limit_questions(lists: Sequence[FactList], most: int | None) -> Sequence[FactList]:
    """Keep the first few questions of each type and list."""
    return [
        replace(
            facts,
            questions=tuple(
                selected
                for hops in _CUTS
                for selected in [question for question in facts.questions if question.hops == hops][:most]
            ),
        )
        for facts in lists
    ]


def run(lists: Sequence[FactList], vaults: BenchVaults, progress: Progress) -> FactGrades:
    """Remember each list in a fresh vault, ask its questions and look for the answers."""
    asking = sum(len(facts.questions) for facts in lists)
    answered = count(1)
    grades = FactGrades([])
    for n, fact_list in enumerate(lists, 1):
        with vaults.fresh(f"facts-{n}", _FIRST) as vault:
            _fill(vault, fact_list, progress)
            vault.warm_up()
            for question in fact_list.questions:
                hits = vault.ask(question.text, DEPTH, _FIRST + len(fact_list.facts) * _BETWEEN)
                grades.grades.append((question, _grade(question, hits)))
                progress("asking questions", next(answered), asking)
    return grades


def _fill(vault: BenchVault, facts: FactList, progress: Progress) -> None:
    times = [_FIRST + n * _BETWEEN for n in range(len(facts.facts))]
    statements = [{"content": fact, "observed_at": at} for fact, at in zip(facts.facts, times, strict=True)]
    with vault.filling(len(statements), progress):
        for start in range(0, len(statements), BATCH_SIZE):
            batch = statements[start : start + BATCH_SIZE]
            vault.clock.at = times[start + len(batch) - 1]
            vault.memory.remember_many(batch)
            progress(f"remembering {len(statements)} facts", start + len(batch), len(statements))


def _grade(question: FactQuestion, hits: Sequence[Hit]) -> dict[str, float]:
    return {name: 100.0 if _is_answered(question, hits[:cut]) else 0.0 for name, cut in _CUTS[question.hops].items()}


def _is_answered(question: FactQuestion, hits: Sequence[Hit]) -> bool:
    return any(answer.casefold() in hit.text.casefold() for hit in hits for answer in question.answers)
