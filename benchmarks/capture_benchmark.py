"""Measure what capture extracts from conversations: is every turn stored, every statement supported,
every fact found?
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks import change_scenarios, conversation_data
from benchmarks.bench_vaults import BenchVaults, Progress
from benchmarks.change_scenarios import CaptureScenario
from benchmarks.data_set import BenchCollection
from benchmarks.turn_lookup import capture_session
from lamina import Atom, Memory, passages_of
from lamina.atom.passage import is_assistant
from lamina.errors import InvalidInput
from lamina.text.normal_form import are_equivalent, comparison_form, normal_form


@dataclass(slots=True)
class CaptureTally:
    """Counts over all vaults."""

    turns: int = 0
    lost_turns: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    repetitions: int = 0
    unsupported: int = 0
    from_assistant: int = 0
    stated: int = 0
    extracted: int = 0
    traps: int = 0
    taken_traps: int = 0
    missed: list[str] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)

    def overall(self) -> dict[str, dict[str, float]]:
        """Return the figures; shares are in percent."""
        total = sum(self.kinds.values())
        shares = {
            "turns": {
                "turns": self.turns,
                "lost": self.lost_turns,
                "statements a turn": _share(total, self.turns) / 100,
            },
            "statements": {
                "made": total,
                "value not in its evidence %": _share(self.unsupported, total),
                "said twice %": _share(self.repetitions, total),
                "of a machine's words %": _share(self.from_assistant, total),
            },
        }
        if self.stated:
            shares["labelled facts"] = {"stated": self.stated, "extracted %": _share(self.extracted, self.stated)}
        if self.traps:
            shares["traps"] = {"set": self.traps, "taken for facts %": _share(self.taken_traps, self.traps)}
        return shares

    def categories(self) -> dict[str, dict[str, float]]:
        """Return how many statements there are of each kind and status."""
        return {"kinds": dict(self.kinds.most_common()), "statuses": dict(self.statuses.most_common())}

    def sample(self, size: int, seed: int) -> list[dict[str, Any]]:
        """Return some statements with the passage each rests on, for a person to judge."""
        return random.Random(seed).sample(self.pairs, min(size, len(self.pairs)))


def load(path: Path) -> tuple[list[CaptureScenario], str]:
    """Return the conversations of a file in any format that the benchmarks know, and its SHA-256."""
    try:
        collections, digest = conversation_data.load_conversations(path)
    except InvalidInput:
        return change_scenarios.load(path)
    return [CaptureScenario(collection, frozenset(), frozenset()) for collection in collections], digest


def run(scenarios: Sequence[CaptureScenario], vaults: BenchVaults, progress: Progress) -> CaptureTally:
    """Capture each conversation in its own vault and count what was extracted."""
    tally, done = CaptureTally(), count(1)
    total = sum(len(entry.collection.sessions) for entry in scenarios)
    for scenario in scenarios:
        last = max(session.at for session in scenario.collection.sessions)
        with vaults.fresh(scenario.collection.id, last) as vault:
            size = sum(len(session.turns) for session in scenario.collection.sessions)
            with vault.filling(size, progress):
                for session in sorted(scenario.collection.sessions, key=lambda entry: entry.at):
                    vault.clock.at = session.at
                    capture_session(vault.memory, session)
                    progress("capturing sessions", next(done), total)
            _count(vault.memory, scenario, tally)
    return tally


def _count(memory: Memory, scenario: CaptureScenario, tally: CaptureTally) -> None:
    atoms = memory.list(status=None, limit=None)
    segments: dict[str, Atom] = {entry.id: entry for entry in atoms if entry.is_segment}
    statements = [entry for entry in atoms if entry.evidence and not entry.is_segment]
    _count_turns(scenario.collection, segments, tally)
    tally.kinds.update(statement.kind for statement in statements)
    tally.statuses.update(statement.status.value for statement in statements)
    tally.repetitions += _count_repetitions(statements)
    for atom in statements:
        first = atom.evidence[0]
        passage = next(entry for entry in passages_of(segments[first.segment]) if entry.n == first.passage)
        sentence = passage.text[first.start : first.end]
        tally.unsupported += not _contains_value(sentence, atom.value or "")
        tally.from_assistant += is_assistant(passage.speaker)
        tally.pairs.append(
            {
                "speaker": passage.speaker,
                "at": f"{passage.at:%Y-%m-%d %H:%M}" if passage.at else None,
                "passage": passage.text,
                "sentence": sentence,
                "statement": atom.content,
                "kind": atom.kind,
                "subject": atom.subject,
                "attribute": atom.attribute,
                "value": atom.value,
                "valid_from": f"{atom.valid_from:%Y-%m-%d}" if atom.valid_from else None,
            }
        )
    words = [normal_form(statement.content) for statement in statements if statement.confidence >= 0.7]
    missed = [value for value in sorted(scenario.stated) if not _is_stated(value, words)]
    tally.stated += len(scenario.stated)
    tally.extracted += len(scenario.stated) - len(missed)
    tally.missed += [f"{scenario.collection.id}: {value}" for value in missed]
    tally.traps += len(scenario.traps)
    tally.taken_traps += sum(_is_stated(value, words) for value in scenario.traps - scenario.stated)


def _count_turns(collection: BenchCollection, segments: Mapping[str, Atom], tally: CaptureTally) -> None:
    stored = Counter(_without_spaces(passage.text) for segment in segments.values() for passage in passages_of(segment))
    joined = "\0".join(
        _without_spaces(passage.text) for segment in segments.values() for passage in passages_of(segment)
    )
    for turn in (turn for session in collection.sessions for turn in session.turns if turn.text.strip()):
        words = _without_spaces(turn.text)
        tally.turns += 1
        # A very long paragraph is stored as several passages, and a secret is redacted.
        tally.lost_turns += words not in stored and words not in joined.replace("\0", "") and "[redacted" not in joined


def _count_repetitions(statements: Sequence[Atom]) -> int:
    """Return how many statements say the same as another of the same subject."""
    by_subject: dict[tuple[str, str], list[Atom]] = defaultdict(list)
    for atom in statements:
        if atom.status == "active":
            by_subject[normal_form(atom.subject), atom.kind].append(atom)
    return sum(_count_repeated_in_group(group) for group in by_subject.values())


def _count_repeated_in_group(group: Sequence[Atom]) -> int:
    forms = [comparison_form(atom.content) for atom in group]
    return sum(any(are_equivalent(form, other) for other in forms[:n]) for n, form in enumerate(forms))


def _contains_value(sentence: str, value: str) -> bool:
    words = f" {normal_form(sentence)} "
    return all(f" {word} " in words for word in normal_form(value).split())


def _is_stated(value: str, statements: Sequence[str]) -> bool:
    form = f" {normal_form(value)} "
    return any(form in f" {statement} " for statement in statements)


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _share(part: float, whole: float) -> float:
    return round(100 * part / whole, 2) if whole else 0.0
