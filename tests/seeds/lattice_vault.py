"""A vault with a clock that the test moves, for the statements of the first seed text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lamina
from lamina import Atom, FixedClock, Memory, Settings

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SeedVault:
    """A vault with a clock that the test moves."""

    memory: Memory
    clock: FixedClock

    def remember(self, content: str, **fields: Any) -> Atom:
        self.clock.at += timedelta(minutes=1)
        return self.memory.remember(content, **fields).atom

    def file(self, atom: Atom) -> Path:
        path = self.memory.path_of(atom.id)
        assert path is not None
        return self.memory.root / path

    def drop(self, name: str, text: str) -> Atom:
        """Add a file by hand, and return the atom that it becomes."""
        file = self.memory.root / "atoms" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.memory.upkeep.sync()
        return next(atom for atom in self.memory.list(status=None) if self.memory.path_of(atom.id) == f"atoms/{name}")

    def rate(self, atom: Atom, verdict: str = "up", times: int = 1) -> None:
        """Cite an atom in answers that are rated."""
        for _ in range(times):
            self.clock.at += timedelta(minutes=1)
            recalled = self.memory.recall(atom.content)
            self.memory.feedback(recalled.id, [atom.id], verdict)

    def quality(self, atom: Atom) -> float:
        return self.memory.signals(atom.id).quality_score

    def answers(self, question: str) -> list[str]:
        return [hit.text for hit in self.memory.recall(question).hits]


def open_vault(place: Path, **settings: object) -> SeedVault:
    clock = FixedClock(NOON)
    chosen = Settings.model_validate({"embedder": "none", "background": False, "watch": False, **settings})
    return SeedVault(lamina.open(place, clock=clock, settings=chosen), clock)
