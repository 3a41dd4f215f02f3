"""A person at their desk: a vault, a clock, and files that are edited with an ordinary editor."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lamina
from lamina import Atom, FixedClock, Memory, Origin
from lamina.atom.status import TransitionCause
from lamina.store.admin import FileProblem
from lamina.store.base import AtomChange, Commit


class VaultWorkspace:
    """One vault, opened without a watcher, so that nothing happens behind a test's back."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = FixedClock(datetime(2026, 11, 14, 9, 0, tzinfo=UTC))
        self._open: list[Memory] = []
        self.memory = self.open()

    def open(self, scope: str | None = None, **options: Any) -> Memory:
        self._open.append(lamina.open(self.root, scope, clock=self.clock, **{"watch": False, **options}))
        return self._open[-1]

    def reopen(self, **options: Any) -> Memory:
        self.close()
        self.tick()
        self.memory = self.open(**options)
        return self.memory

    def close(self) -> None:
        while self._open:
            self._open.pop().close()

    def tick(self, **time: float) -> None:
        self.clock.at += timedelta(**(time or {"seconds": 1}))

    def remember(self, content: str, **fields: Any) -> Atom:
        self.tick()
        return self.memory.remember(content, **fields).atom

    def file(self, atom: Atom) -> Path:
        path = self.memory.path_of(atom.id)
        assert path is not None
        return self.root / path

    def commit(self, atom: Atom, verb: str) -> None:
        """Change an atom as lamina itself does, by a verb that no person uses."""
        change = Commit(
            actor="lamina",
            origin=Origin.HUMAN,
            verb=verb,
            reason="a test",
            scope=atom.scope,
            way=TransitionCause.ADOPT,
            changes=(AtomChange(atom),),
        )
        self.memory.engine.store.journal.append(change)

    def edit(self, atom: Atom, old: str, new: str) -> Path:
        """Replace a piece of the atom's file in place, as an editor does."""
        file = self.file(atom)
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")
        return file

    def drop(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def move(self, file: Path, path: str) -> Path:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        return file.replace(self.root / path)

    def sync_settled(self) -> None:
        """Look when every stamp is old enough to be trusted, so that the next look reads only what changes after it."""
        newest = max(file.stat().st_ctime_ns for file in self.root.rglob("*.md"))
        assert eventually(lambda: time.time_ns() - newest > 30_000_000)
        self.memory.upkeep.sync()

    def atom_of(self, file: Path, memory: Memory | None = None) -> Atom:
        """The atom that a file became."""
        path = file.relative_to(self.root).as_posix()
        row = self.memory.engine.store.projection.read(paths=[path]).at(path)
        assert row is not None and row.entry.atom_id is not None
        return (memory or self.memory).get(row.entry.atom_id)

    def problems(self, kind: str) -> list[FileProblem]:
        return [problem for problem in self.memory.upkeep.doctor().problems if problem.kind == kind]

    def texts(self, question: str, **options: Any) -> list[str]:
        return [hit.text for hit in self.memory.recall(question, **options).hits]


def eventually(happened: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether something comes true before the deadline."""
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
