"""Run the retrieval benchmarks: capture a collection, ask its questions, grade the hits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from benchmarks.bench_vaults import BenchVault, BenchVaults, Progress
from benchmarks.data_set import BenchCollection, BenchQuestion
from benchmarks.ranking_metrics import DEPTH, average_grades, grade_ranking, unique_in_order
from benchmarks.turn_lookup import TurnLookup, capture_session
from lamina import Hit

Levels: TypeAlias = dict[str, dict[str, float]]
"""Figures at the level of turns and of sessions."""


@dataclass(slots=True)
class RetrievalGrades:
    """The figures of every question, by category and level."""

    grades: dict[str, dict[str, list[dict[str, float]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(self, question: BenchQuestion, hits: Sequence[Hit], lookup: TurnLookup) -> None:
        """Grade a question at each level that has gold items."""
        turns = list(turns_of(hits, lookup))
        for level, gold, ranked in (
            ("turn", question.turns, turns),
            ("session", question.sessions, lookup.sessions(turns)),
        ):
            if gold:
                self.grades[question.category][level].append(grade_ranking(unique_in_order(ranked), gold))

    def categories(self) -> dict[str, Levels]:
        """Return the mean of each category."""
        return {
            category: {level: average_grades(grades) for level, grades in levels.items()}
            for category, levels in sorted(self.grades.items())
        }

    def overall(self, apart: Set[str]) -> Levels:
        """Return the mean over all questions except the categories reported separately."""
        joined: dict[str, list[dict[str, float]]] = defaultdict(list)
        for category, levels in self.grades.items():
            if category not in apart:
                for level, grades in levels.items():
                    joined[level] += grades
        return {level: average_grades(grades) for level, grades in joined.items()}


def run(collections: Sequence[BenchCollection], vaults: BenchVaults, progress: Progress) -> RetrievalGrades:
    """Capture each collection into a fresh vault, ask its questions and grade the hits."""
    sessions = sum(len(entry.sessions) for entry in collections)
    asking = sum(len(entry.questions) for entry in collections)
    captured, answered = count(1), count(1)
    grades = RetrievalGrades()
    for collection in collections:
        last = max(session.at for session in collection.sessions)
        with vaults.fresh(collection.id, last) as vault:
            lookup = capture_collection(
                vault, collection, progress, lambda: progress("capturing sessions", next(captured), sessions)
            )
            vault.warm_up()
            for question in collection.questions:
                grades.add(question, vault.ask(question.text, DEPTH, question.at or last), lookup)
                progress("asking questions", next(answered), asking)
    return grades


def capture_collection(
    vault: BenchVault, collection: BenchCollection, progress: Progress, report: Callable[[], None]
) -> TurnLookup:
    """Capture the sessions in the order they happened, each at its own time; return the lookup from hits to turns."""
    captured = []
    with vault.filling(sum(len(session.turns) for session in collection.sessions), progress):
        for session in sorted(collection.sessions, key=lambda item: item.at):
            vault.clock.at = session.at
            captured.append((session, capture_session(vault.memory, session)))
            report()
    lookup = TurnLookup()
    for session, segments in captured:
        lookup.add_session(session, segments)
    return lookup


def turns_of(hits: Sequence[Hit], lookup: TurnLookup) -> Iterator[str]:
    """Yield the turns of the hits in order; a turn folded into an equal hit takes the next rank.

    A hit that is not part of the data keeps its rank.
    """
    for hit in hits:
        yield lookup.turn_of(hit) or f"nowhere {hit.atom.id} {hit.passage.n}"
        yield from (turn for key in hit.folded if (turn := lookup.turn_at(*key)))
