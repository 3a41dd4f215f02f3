"""Staleness: does newer evidence rank above the evidence that it outdates, and are their statements linked?

Takes the questions of LongMemEval and BEAM whose evidence was said at different times. A question is in order if the
newest evidence is found and nothing older is above it. Any conversation can be used for its links alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from benchmarks.bench_vaults import BenchVault, BenchVaults, Progress
from benchmarks.data_set import BenchCollection, BenchQuestion
from benchmarks.ranking_metrics import DEPTH
from benchmarks.retrieval_benchmark import capture_collection, turns_of
from benchmarks.statement_links import StatementLink, find_links, turns_behind
from benchmarks.turn_lookup import TurnLookup
from lamina import Memory

KINDS = frozenset({"knowledge-update", "knowledge_update", "contradiction_resolution"})


@dataclass(frozen=True, slots=True)
class StalenessRow:
    """One question: the ranks of its newest and its older evidence, and whether their statements are linked.

    `stated` tells whether there are statements on both sides that a link could connect.
    """

    kind: str
    newest: int | None
    older: int | None
    stated: bool
    linked: bool

    @property
    def in_order(self) -> bool:
        return self.newest is not None and (self.older is None or self.newest < self.older)


@dataclass(slots=True)
class StalenessSheet:
    """All rows of a run, and all links."""

    rows: list[StalenessRow] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)

    def overall(self) -> dict[str, dict[str, float]]:
        """Return the figures of all questions, and the number of links of each grade."""
        sorts: dict[str, float] = defaultdict(int)
        for link in self.links:
            sorts[link["grade"]] += 1
        return {"all": _figures(self.rows), "links": dict(sorts)}

    def categories(self) -> dict[str, dict[str, float]]:
        """Return the figures of each kind of question."""
        by: dict[str, list[StalenessRow]] = defaultdict(list)
        for row in self.rows:
            by[row.kind].append(row)
        return {kind: _figures(rows) for kind, rows in sorted(by.items())}


def outdated_questions(collection: BenchCollection) -> list[BenchQuestion]:
    """Return the questions whose evidence was outdated by newer evidence."""
    return [
        question for question in collection.questions if question.category in KINDS and len(question.turn_groups) > 1
    ]


def run(collections: Sequence[BenchCollection], vaults: BenchVaults, progress: Progress) -> StalenessSheet:
    """Capture each collection into its own vault, list its links, and ask the questions with outdated evidence."""
    sheet, captured = StalenessSheet(), count(1)
    sessions = sum(len(entry.sessions) for entry in collections)
    for collection in collections:
        last = max(session.at for session in collection.sessions)
        with vaults.fresh(collection.id, last) as vault:
            lookup = capture_collection(
                vault, collection, progress, lambda: progress("capturing sessions", next(captured), sessions)
            )
            vault.clock.at = last
            links = find_links(vault.memory)
            sheet.links += [{"data": collection.id, **link.description} for link in links]
            asking = outdated_questions(collection)
            stated, linked = _stated_turns(vault.memory, lookup), _linked_turns(links, lookup)
            for n, question in enumerate(asking, 1):
                sheet.rows.append(_row(question, vault, lookup, stated, linked))
                progress("asking questions", n, len(asking))
    return sheet


def _row(
    question: BenchQuestion,
    vault: BenchVault,
    lookup: TurnLookup,
    stated: frozenset[str],
    linked: frozenset[tuple[str, str]],
) -> StalenessRow:
    newest, older = (
        question.turn_groups[-1],
        frozenset[str]().union(*question.turn_groups[:-1]) - question.turn_groups[-1],
    )
    ranked_turns = list(turns_of(vault.ask(question.text, DEPTH, question.at or vault.clock.at), lookup))
    return StalenessRow(
        question.category,
        _first_rank(ranked_turns, newest),
        _first_rank(ranked_turns, older),
        bool(stated & newest and stated & older),
        any(old_turn in older and new_turn in newest for old_turn, new_turn in linked),
    )


def _first_rank(ranked: Sequence[str], wanted: frozenset[str]) -> int | None:
    return next((rank for rank, turn in enumerate(ranked, 1) if turn in wanted), None)


def _stated_turns(memory: Memory, lookup: TurnLookup) -> frozenset[str]:
    """Return the turns that a statement rests on."""
    statements = (atom for atom in memory.list(status=None, limit=None) if not atom.is_segment)
    return frozenset(turn for atom in statements for turn in turns_behind(atom, lookup))


def _linked_turns(links: Iterable[StatementLink], lookup: TurnLookup) -> frozenset[tuple[str, str]]:
    """Return the linked pairs of turns, the older first."""
    return frozenset(
        (old_turn, new_turn)
        for link in links
        if link.new is not None
        for old_turn in turns_behind(link.old, lookup)
        for new_turn in turns_behind(link.new, lookup)
    )


def _figures(rows: Sequence[StalenessRow]) -> dict[str, float]:
    n = len(rows)
    found_rows = [row for row in rows if row.newest is not None]
    return {
        "n": n,
        "newest first": _share(sum(row.in_order for row in rows), n),
        "newest found": _share(len(found_rows), n),
        "older found": _share(sum(row.older is not None for row in rows), n),
        "newest first of found": _share(sum(row.in_order for row in found_rows), len(found_rows)),
        "stated": _share(sum(row.stated for row in rows), n),
        "linked": _share(sum(row.linked for row in rows), n),
    }


def _share(part: float, whole: float) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
