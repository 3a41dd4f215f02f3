"""PrecisionMemBench: remember beliefs, and check the tiers of each answer: what must and what must not be returned.

A user is an organisation and a domain an agent's scope in it; a question reads the scopes its case names. A belief's
names are the subject and the entities of its atom; one that was superseded fills the same claim; an open question is an
atom of that kind which is valid until it is resolved. The tiers are what is pinned (`top`), the hits that recall marks
as relevant, and the open questions; each atom is in one of them. A question without words is not asked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from statistics import fmean
from typing import Any

from benchmarks.bench_vaults import BenchVault, BenchVaults, Progress
from benchmarks.precision_data import Belief, PrecisionCase, PrecisionData
from benchmarks.precision_tiers import AnswerTiers
from lamina import Atom, Memory, RelationName
from lamina.atom.atom import EffectiveStatus, effective_status_at

DEPTH = 20
QUESTION = "question"
SUPERSESSION = "Supersession chain exclusion"
_KINDS = {"entity": "fact", "relation": "fact", "open_question": QUESTION}
_OUTSIDE_SCOPE = re.compile(r"[^a-z0-9]+")
_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PrecisionRow:
    """A case, what was returned, and its faults."""

    case: PrecisionCase
    tiers: AnswerTiers
    faults: tuple[str, ...]


@dataclass(slots=True)
class PrecisionSheet:
    """All rows of a run: single questions, and the turns of sessions."""

    rows: list[PrecisionRow] = field(default_factory=list)
    turns: list[PrecisionRow] = field(default_factory=list)
    strays: list[float] = field(default_factory=list)

    def overall(self) -> dict[str, Any]:
        """Return the cases passed, those that a store which returns nothing cannot pass, and how far sessions drift."""
        chains = [row for row in self.rows if row.case.category == SUPERSESSION]
        return {
            "retrieval": {**_count_passed(self.rows), **_means(self.rows)},
            "active": _count_passed(row for row in self.rows if row.case.expected.needs_hits),
            "supersession": _count_passed(chains),
            "sessions": {**_count_passed(self.turns), "drift": round(100 * fmean(self.strays or [0.0]), 1)},
        }

    def categories(self) -> dict[str, dict[str, float]]:
        """Return the cases passed of each category."""
        by: dict[str, list[PrecisionRow]] = defaultdict(list)
        for row in self.rows:
            by[row.case.category].append(row)
        return {category: {**_count_passed(rows), **_means(rows)} for category, rows in sorted(by.items())}

    def failures(self) -> Iterator[PrecisionRow]:
        """Yield the cases and turns that failed."""
        return (row for row in (*self.rows, *self.turns) if row.faults)


def limit_cases(data: PrecisionData, most: int | None) -> PrecisionData:
    """Keep the first few cases, and no sessions."""
    return data if most is None else replace(data, cases=data.cases[:most], sessions=())


def run(data: PrecisionData, vaults: BenchVaults, progress: Progress) -> PrecisionSheet:
    """Remember all beliefs in one vault, ask every question, then play the sessions turn by turn."""
    sheet = PrecisionSheet()
    now = max(entry.created for entry in data.beliefs) + _AFTER
    total = len(data.cases) + sum(map(len, data.sessions))
    with vaults.fresh("beliefs", min(entry.created for entry in data.beliefs)) as vault:
        beliefs = BeliefMemory(vault)
        with vault.filling(len(data.beliefs), progress):
            beliefs.remember(data.beliefs)
        vault.clock.at = now
        for case in data.cases:
            sheet.rows.append(_run_case(case, beliefs))
            progress("asking questions", len(sheet.rows), total)
        for session in data.sessions:
            _run_session(session, beliefs, sheet, progress)
            progress("asking questions", len(sheet.rows) + len(sheet.turns), total)
    return sheet


def describe_failure(row: PrecisionRow) -> str:
    """Return a failed case as text."""
    return "\n".join(
        [f"{row.case.id} [{row.case.category}] {row.case.query}", *(f"    {fault}" for fault in row.faults)]
    )


class BeliefMemory:
    """The beliefs of all users in one vault, and the atom of each."""

    def __init__(self, vault: BenchVault) -> None:
        self._desk = vault
        self._atoms: dict[str, list[tuple[Memory, str]]] = defaultdict(list)
        self._beliefs: dict[str, str] = {}

    def remember(self, beliefs: Sequence[Belief]) -> None:
        """Remember beliefs in the order they were formed, and link those that rest on others."""
        successors = {entry.id: entry.superseded_by for entry in beliefs if entry.superseded_by}
        for belief in sorted(beliefs, key=lambda entry: entry.created):
            self._desk.clock.at = max(self._desk.clock.at, belief.created)
            claim = _last_successor(belief.id, successors) if belief.id in {*successors, *successors.values()} else None
            for place in belief.domains:
                self._remember(belief, self._memory(belief.user, place), claim)
        for belief in beliefs:
            self._link(belief)

    def add_aliases(self, belief: str, aliases: Sequence[str]) -> None:
        """Add names to a belief."""
        for memory, atom in self._atoms[belief]:
            entities = memory.get(atom).entities
            memory.revise(atom, reason="known by more names", entities=(*entities, *aliases))
            memory.embed()

    def tiers(self, case: PrecisionCase) -> AnswerTiers:
        """Return the tiers of the answer to a question."""
        memories = [self._memory(case.user, place) for place in case.domains]
        answers = [
            self._desk.ask(case.query, DEPTH, self._desk.clock.at, memory) for memory in memories if case.query.strip()
        ]
        hits = sorted((hit for hits in answers for hit in hits if hit.relevant), key=lambda hit: -hit.score)
        pinned = [atom for memory in memories for atom in memory.top(DEPTH) if atom.pinned]
        return AnswerTiers(
            self._names(atom for atom in pinned if atom.kind != QUESTION),
            self._names(hit.atom for hit in hits if not hit.atom.pinned and hit.atom.kind != QUESTION),
            self._names(atom for memory in memories for atom in _open_questions(memory, self._desk.clock.at)),
        ).within(case.max_beliefs)

    def _memory(self, user: str, place: str) -> Memory:
        return self._desk.memory_of(f"org:{_slug(user)}:agent:{_slug(place)}")

    def _remember(self, belief: Belief, memory: Memory, claim: str | None) -> None:
        slot = {"subject": claim, "attribute": "choice", "value": belief.name, "valid_from": belief.created}
        names = (belief.name, *belief.aliases)
        claim_fields = slot if claim else {"subject": belief.name}
        receipt = memory.remember(
            belief.content,
            kind=_KINDS.get(belief.type, belief.type),
            entities=names,
            pinned=belief.pinned,
            confidence=belief.confidence,
            importance=belief.confidence,
            observed_at=belief.created,
            valid_until=belief.resolved,
            private=True,
            **claim_fields,
        )
        self._atoms[belief.id].append((memory, receipt.atom.id))
        self._beliefs[receipt.atom.id] = belief.id

    def _link(self, belief: Belief) -> None:
        for memory, atom in self._atoms[belief.id]:
            for needed in belief.depends_on:
                for other, target in self._atoms[needed]:
                    if other is memory:
                        memory.relate(atom, RelationName.DEPENDS_ON, target)

    def _names(self, atoms: Iterable[Atom]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._beliefs[atom.id] for atom in atoms))


def _run_session(
    session: Sequence[PrecisionCase], memory: BeliefMemory, sheet: PrecisionSheet, progress: Progress
) -> None:
    """Play the turns of a session; returning beliefs of its drift turns counts as drift."""
    drifted = frozenset[str]().union(*(case.expected.expected_relevant or () for case in session if case.is_drift))
    for case in session:
        row = _run_case(case, memory)
        sheet.turns.append(row)
        if not case.is_drift:
            strays = (drifted | case.noise) - (case.expected.expected_relevant or frozenset())
            sheet.strays.append(len(strays & set(row.tiers.relevant)) / max(1, len(row.tiers.relevant)))
        if case.new_belief is not None:
            memory.remember([case.new_belief])
        if case.new_aliases is not None:
            memory.add_aliases(case.new_aliases.belief, case.new_aliases.aliases)


def _run_case(case: PrecisionCase, memory: BeliefMemory) -> PrecisionRow:
    tiers = memory.tiers(case)
    noise = sorted(case.noise & set(tiers.relevant))
    return PrecisionRow(
        case, tiers, (*case.expected.faults(tiers), *(f"relevant drifts to {belief}" for belief in noise))
    )


def _open_questions(memory: Memory, at: datetime) -> list[Atom]:
    return [
        atom
        for atom in memory.list(kind=QUESTION, limit=None)
        if effective_status_at(atom, at) is EffectiveStatus.CURRENT
    ]


def _last_successor(belief: str, heirs: Mapping[str, str]) -> str:
    """Return the last belief of a chain of successors."""
    while belief in heirs:
        belief = heirs[belief]
    return belief


def _count_passed(rows: Iterable[PrecisionRow]) -> dict[str, float]:
    faults = [bool(row.faults) for row in rows]
    return {"n": len(faults), "passed": faults.count(False)}


def _means(rows: Sequence[PrecisionRow]) -> dict[str, float]:
    measured = {
        "precision": [row.case.expected.precision(row.tiers) for row in rows],
        "recall": [row.case.expected.recall(row.tiers) for row in rows],
    }
    defined = {name: [value for value in values if value is not None] for name, values in measured.items()}
    return {name: round(100 * fmean(values), 1) for name, values in defined.items() if values}


def _slug(label: str) -> str:
    return _OUTSIDE_SCOPE.sub("-", label.casefold()).strip("-")
