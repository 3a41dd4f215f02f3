"""Progress of the dream steps in history.db."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.millis import to_millis

_UNUSED = """
SELECT h.atom_id FROM heads h LEFT JOIN signals s ON s.atom_id=h.atom_id LEFT JOIN probes p ON p.atom_id=h.atom_id
WHERE h.scope=?1 AND h.status='active' AND h.kind IN (SELECT value FROM json_each(?2))
  AND h.recorded_at<=?3 AND coalesce(s.last_recalled_at, 0)<=?3 AND coalesce(p.at, 0)<=?4
  AND (h.kind='belief' OR coalesce(json_extract(h.record, '$.layer'), 'semantic') IN ('semantic', 'procedural'))
  AND coalesce(json_extract(h.record, '$.origin'), 'human')<>'dream'
ORDER BY p.at IS NOT NULL, max(h.recorded_at, coalesce(s.last_recalled_at, 0)), h.atom_id LIMIT ?5
"""


class SqliteDreamProgress:
    """Two small tables: positions of steps, and times of probes."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get_position(self, scope: Scope, step: str) -> int | None:
        """Return the journal position up to which a step has processed a scope; None if it never has."""
        row = self._db.one("SELECT seq FROM dreamt WHERE scope=? AND step=?", (scope, step))
        return int(row[0]) if row else None

    def set_position(self, scope: Scope, step: str, seq: int) -> None:
        """Store that a step has processed a scope up to a journal position."""
        with self._db.write_transaction(durable=False):
            self._db.run("INSERT OR REPLACE INTO dreamt VALUES(?,?,?)", (scope, step, seq))

    def find_unused(
        self, scope: Scope, kinds: Collection[str], unused_since: datetime, unprobed_since: datetime, limit: int
    ) -> list[AtomId]:
        """Return active atoms that were not used or probed for long."""
        kinds_json = json.dumps(sorted(kinds))
        rows = self._db.rows(_UNUSED, (scope, kinds_json, to_millis(unused_since), to_millis(unprobed_since), limit))
        return [AtomId(row[0]) for row in rows]

    def mark_probed(self, scope: Scope, ids: Iterable[AtomId], at: datetime) -> None:
        """Store that these atoms were probed."""
        with self._db.write_transaction(durable=False):
            self._db.run_many(
                "INSERT OR REPLACE INTO probes VALUES(?,?,?)", [(atom_id, scope, to_millis(at)) for atom_id in ids]
            )

    def count_probed_since(self, scope: Scope, since: datetime) -> int:
        """Return how many atoms of a scope were probed after a moment."""
        row = self._db.one("SELECT count(*) FROM probes WHERE scope=? AND at>?", (scope, to_millis(since)))
        return int(row[0]) if row else 0
