"""A person who speaks on one day after another, for tests of what changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import lamina
from lamina import Atom, FixedClock, Status
from lamina.capture.receipt import Receipt, Result

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Days:
    """One memory, and somebody called Ida who talks to it."""

    def __init__(self, path: Path) -> None:
        self.clock = FixedClock(START)
        self.memory = lamina.open(path / "vault", clock=self.clock, watch=False)
        self.number = 0

    def at(self, day: int) -> datetime:
        return START + timedelta(days=day)

    def says(self, *turns: str, session: str | None = None, day: int | None = None, **how: str) -> Receipt:
        """A session of its own, a day after the last; a turn that begins with > is the assistant's."""
        self.number += 1
        self.clock.at = self.at(self.number)
        at = self.clock.at if day is None else self.at(day)
        result = [
            {
                "speaker": "assistant" if turn.startswith(">") else "Ida",
                "content": turn.lstrip(">"),
                "at": at + timedelta(minutes=n),
            }
            for n, turn in enumerate(turns)
        ]
        return self.memory.capture(
            result, session_id=session or f"day {self.number}", observed_at=at, origin=how.get("origin"), wait=True
        )

    def statements(self, *statuses: Status) -> list[Atom]:
        atoms = self.memory.list(status=None, limit=1000)
        return [atom for atom in atoms if not atom.is_segment and (not statuses or atom.status in statuses)]

    def that_say(self, words: str) -> list[Atom]:
        return [statement for statement in self.statements() if words in statement.content]

    def finds(self, question: str) -> str:
        return "\n".join(hit.text for hit in self.memory.recall(question, k=10).hits)


def results(receipt: Receipt) -> Sequence[Result]:
    """What became of the statements; the words themselves are kept in any case."""
    return [outcome.result for outcome in receipt.outcomes if outcome.result is not Result.KEPT]
