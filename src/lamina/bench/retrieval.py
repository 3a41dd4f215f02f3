"""Run the retrieval benchmarks: capture a collection, ask its questions, grade the hits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from lamina import Hit
from lamina.bench.collection import Asked, Collection
from lamina.bench.metrics import DEPTH, averaged, distinct, graded
from lamina.bench.places import Places, capture
from lamina.bench.vaults import Desk, Progress, Vaults

Levels: TypeAlias = dict[str, dict[str, float]]
"""Figures at the level of turns and of sessions."""


@dataclass(slots=True)
class Grades:
    """The figures of every question, by category and level."""

    told: dict[str, dict[str, list[dict[str, float]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(self, asked: Asked, hits: Sequence[Hit], places: Places) -> None:
        """Grade a question at each level that has gold items."""
        turns = list(turns_of(hits, places))
        for level, gold, ranked in (("turn", asked.turns, turns), ("session", asked.sessions, places.sessions(turns))):
            if gold:
                self.told[asked.category][level].append(graded(distinct(ranked), gold))

    def categories(self) -> dict[str, Levels]:
        """Return the mean of each category."""
        return {
            category: {level: averaged(grades) for level, grades in levels.items()}
            for category, levels in sorted(self.told.items())
        }

    def overall(self, apart: Set[str]) -> Levels:
        """Return the mean over all questions except the categories reported separately."""
        joined: dict[str, list[dict[str, float]]] = defaultdict(list)
        for category, levels in self.told.items():
            if category not in apart:
                for level, grades in levels.items():
                    joined[level] += grades
        return {level: averaged(grades) for level, grades in joined.items()}


def run(collections: Sequence[Collection], vaults: Vaults, progress: Progress) -> Grades:
    """Capture each collection into a fresh vault, ask its questions and grade the hits."""
    sessions = sum(len(entry.sessions) for entry in collections)
    asking = sum(len(entry.questions) for entry in collections)
    captured, answered = count(1), count(1)
    grades = Grades()
    for collection in collections:
        last = max(session.at for session in collection.sessions)
        with vaults.fresh(collection.id, last) as vault:
            lookup = fill(vault, collection, progress, lambda: progress("capturing sessions", next(captured), sessions))
            vault.warm_up()
            for question in collection.questions:
                grades.add(question, vault.ask(question.text, DEPTH, question.at or last), lookup)
                progress("asking questions", next(answered), asking)
    return grades


def fill(desk: Desk, collection: Collection, progress: Progress, told: Callable[[], None]) -> Places:
    """Capture the sessions in the order they happened, each at its own time; return the lookup from hits to turns."""
    captured = []
    with desk.filling(sum(len(session.turns) for session in collection.sessions), progress):
        for session in sorted(collection.sessions, key=lambda item: item.at):
            desk.clock.at = session.at
            captured.append((session, capture(desk.memory, session)))
            told()
    lookup = Places()
    for session, segments in captured:
        lookup.learn(session, segments)
    return lookup


def turns_of(hits: Sequence[Hit], places: Places) -> Iterator[str]:
    """Yield the turns of the hits in order; a turn folded into an equal hit takes the next rank.

    A hit that is not part of the data keeps its rank.
    """
    for hit in hits:
        yield places.turn(hit) or f"nowhere {hit.atom.id} {hit.passage.n}"
        yield from (turn for key in hit.folded if (turn := places.at(*key)))
