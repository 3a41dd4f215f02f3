"""Problems in history.db."""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from lamina.atom.atom import AtomId
from lamina.clock import Clock
from lamina.store.problems import FileProblem
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.millis import from_millis, to_millis


class SqliteProblems:
    """One row per path and kind."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock

    def list(self) -> builtins.list[FileProblem]:
        return [
            FileProblem(path, kind, message, line, AtomId(atom_id) if atom_id else None, from_millis(at))
            for path, kind, line, atom_id, message, at in self._db.rows(
                "SELECT * FROM problems ORDER BY at, path, kind"
            )
        ]

    def report(self, problem: FileProblem) -> None:
        existing = self._db.one(
            "SELECT line, message FROM problems WHERE path=? AND kind=?", (problem.path, problem.kind)
        )
        if existing == (problem.line, problem.message):
            return
        with self._db.write_transaction(durable=False):
            self._db.run(
                "INSERT OR REPLACE INTO problems VALUES(?,?,?,?,?,?)",
                (
                    problem.path,
                    problem.kind,
                    problem.line,
                    problem.atom_id,
                    problem.message,
                    to_millis(self._clock.now()),
                ),
            )

    def clear(self, path: str, kinds: Iterable[str] | None = None) -> None:
        chosen_kinds = builtins.list(kinds) if kinds is not None else None
        if self._db.one("SELECT 1 FROM problems WHERE path=?", (path,)) is None:
            return
        with self._db.write_transaction(durable=False):
            if chosen_kinds is None:
                self._db.run("DELETE FROM problems WHERE path=?", (path,))
            else:
                self._db.run_many(
                    "DELETE FROM problems WHERE path=? AND kind=?", [(path, kind) for kind in chosen_kinds]
                )
