"""The queue in history.db, beside the journal that the waiting passages have to agree with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.clock import Clock
from lamina.store.queue import BufferedPassage, Job, ProbeQuery, SessionBacklog
from lamina.store.sqlite.database import Database
from lamina.text.timestamps import from_millis, to_millis

_BACKLOGS = """
SELECT w.scope, w.session_id, count(*), min(w.since), max(w.urgent), coalesce(max(t.passages), 0)
FROM waiting w LEFT JOIN taken t ON t.scope=w.scope
GROUP BY w.scope, w.session_id ORDER BY min(w.since), w.scope, w.session_id
"""
_LEASE = """
INSERT INTO jobs VALUES(:name, :holder, :until, coalesce(:done, 0), coalesce(:total, 0), :now, NULL, '')
ON CONFLICT(name) DO UPDATE SET holder=:holder, until=:until,
  done=coalesce(:done, CASE WHEN holder=:holder THEN done ELSE 0 END),
  total=coalesce(:total, CASE WHEN holder=:holder THEN total ELSE 0 END),
  started_at=CASE WHEN holder=:holder THEN started_at ELSE :now END, finished_at=NULL, error=''
WHERE holder='' OR holder=:holder OR until<=:now
"""
_UNUSED = """
SELECT h.atom_id FROM heads h LEFT JOIN signals s ON s.atom_id=h.atom_id LEFT JOIN probes p ON p.atom_id=h.atom_id
WHERE h.scope=:scope AND h.status='active' AND h.kind IN (SELECT value FROM json_each(:kinds))
  AND h.recorded_at<=:unused AND coalesce(s.last_recalled_at, 0)<=:unused AND coalesce(p.at, 0)<=:unprobed
  AND (h.kind='belief' OR coalesce(json_extract(h.record, '$.layer'), 'semantic') IN ('semantic', 'procedural'))
  AND coalesce(json_extract(h.record, '$.origin'), 'human')<>'dream'
ORDER BY p.at IS NOT NULL, max(h.recorded_at, coalesce(s.last_recalled_at, 0)), h.atom_id
LIMIT max(0, :limit - (SELECT count(*) FROM probes WHERE scope=:scope AND at>:counted))
"""


class SqliteQueue:
    """Waiting passages are as durable as the journal; leases, positions and probes may be lost in a power failure."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock

    def add_passages(self, passages: Iterable[BufferedPassage]) -> None:
        rows = [
            (
                passage.segment,
                passage.n,
                passage.scope,
                passage.session_id,
                to_millis(passage.buffered_at),
                passage.is_urgent,
            )
            for passage in passages
        ]
        with self._db.write_transaction(durable=True):
            self._db.run_many("INSERT OR IGNORE INTO waiting VALUES(?,?,?,?,?,?)", rows)

    def list_backlogs(self) -> list[SessionBacklog]:
        return [
            SessionBacklog(Scope(scope), session, length, from_millis(oldest), bool(urgent), taken)
            for scope, session, length, oldest, urgent, taken in self._db.rows(_BACKLOGS)
        ]

    def read_passages(self, scope: Scope, session_id: str) -> list[BufferedPassage]:
        rows = self._db.rows(
            "SELECT segment, n, since, urgent FROM waiting WHERE scope=? AND session_id=? ORDER BY since, segment, n",
            (scope, session_id),
        )
        return [
            BufferedPassage(scope, session_id, AtomId(segment), n, from_millis(since), bool(urgent))
            for segment, n, since, urgent in rows
        ]

    def take_passages(self, passages: Iterable[BufferedPassage]) -> bool:
        batch = list(passages)
        with self._db.write_transaction(durable=True):
            if not all(
                self._db.one("SELECT 1 FROM waiting WHERE segment=? AND n=?", (passage.segment, passage.n))
                for passage in batch
            ):
                return False
            self._db.run_many(
                "DELETE FROM waiting WHERE segment=? AND n=?", [(passage.segment, passage.n) for passage in batch]
            )
            self._db.run_many(
                "INSERT INTO taken VALUES(?,1) ON CONFLICT(scope) DO UPDATE SET passages=passages+1",
                [(passage.scope,) for passage in batch],
            )
            return True

    def lease(self, name: str, holder: str, seconds: float, progress: tuple[int, int] | None = None) -> bool:
        now, (done, total) = self._clock.now(), progress or (None, None)
        until = to_millis(now + timedelta(seconds=seconds))
        with self._db.write_transaction(durable=False):
            self._db.run(
                _LEASE,
                {"name": name, "holder": holder, "until": until, "done": done, "total": total, "now": to_millis(now)},
            )
            return self._db.one("SELECT 1 FROM jobs WHERE name=? AND holder=?", (name, holder)) is not None

    def release(self, name: str, holder: str, error: str | None = None) -> None:
        with self._db.write_transaction(durable=False):
            if error is None:
                self._db.run("DELETE FROM jobs WHERE name=? AND holder=?", (name, holder))
            else:
                self._db.run(
                    "UPDATE jobs SET holder='', until=NULL, finished_at=?, error=? WHERE name=? AND holder=?",
                    (to_millis(self._clock.now()), error, name, holder),
                )

    def list_jobs(self) -> list[Job]:
        return [
            Job(
                name,
                holder,
                from_millis(until) if until is not None else None,
                done,
                total,
                from_millis(started) if started is not None else None,
                from_millis(finished) if finished is not None else None,
                error,
            )
            for name, holder, until, done, total, started, finished, error in self._db.rows(
                "SELECT * FROM jobs ORDER BY name"
            )
        ]

    def prune_jobs(self, before: datetime) -> int:
        """Delete jobs that finished, or whose lease expired, before a moment; return how many."""
        with self._db.write_transaction(durable=False):
            deleted = self._db.rows(
                "DELETE FROM jobs WHERE (holder='' AND finished_at<?1) OR until<?1 RETURNING name", (to_millis(before),)
            )
            return len(deleted)

    def get_position(self, scope: Scope, step: str) -> int | None:
        row = self._db.one("SELECT seq FROM dreamt WHERE scope=? AND step=?", (scope, step))
        return int(row[0]) if row else None

    def set_position(self, scope: Scope, step: str, seq: int) -> None:
        with self._db.write_transaction(durable=False):
            self._db.run("INSERT OR REPLACE INTO dreamt VALUES(?,?,?)", (scope, step, seq))

    def find_unused(self, query: ProbeQuery) -> list[AtomId]:
        values = {
            "scope": query.scope,
            "kinds": json.dumps(sorted(query.kinds)),
            "unused": to_millis(query.unused_since),
            "unprobed": to_millis(query.unprobed_since),
            "limit": query.limit,
            "counted": to_millis(query.counted_since),
        }
        return [AtomId(row[0]) for row in self._db.rows(_UNUSED, values)]

    def mark_probed(self, scope: Scope, ids: Iterable[AtomId], at: datetime) -> None:
        with self._db.write_transaction(durable=False):
            self._db.run_many(
                "INSERT OR REPLACE INTO probes VALUES(?,?,?)", [(atom_id, scope, to_millis(at)) for atom_id in ids]
            )
