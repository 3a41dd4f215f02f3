"""Ageing states in history.db: one row per checked atom, and a list of atoms changed or used since.

Triggers maintain the list, so that no code that writes a head or a signal can forget it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.scope import Scope
from lamina.store.lives import HOUSEKEEPING, LIVE, Life
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.history import millis, moment

_LIVE = ",".join(f"'{each}'" for each in sorted(LIVE))
_HOUSEKEEPING = ",".join(f"'{each}'" for each in sorted(HOUSEKEEPING))
_AMONG = "IN (SELECT value FROM json_each(?))"

_DUE = f"""
SELECT h.atom_id FROM (
  SELECT atom_id FROM stirred WHERE scope=?1 UNION SELECT atom_id FROM lives WHERE scope=?1 AND look_at<=?2
) d CROSS JOIN heads h ON h.atom_id=d.atom_id
WHERE h.status IN ({_LIVE}) ORDER BY h.recorded_at, h.atom_id LIMIT ?3
"""
_WRITTEN = f"""
SELECT c.at FROM versions v CROSS JOIN commits c ON c.seq=v.seq WHERE v.scope=?1 AND NOT EXISTS(
  WITH RECURSIVE undone(verb, undoes) AS (
    SELECT c.verb, c.undoes UNION ALL SELECT u.verb, u.undoes FROM undone JOIN commits u ON u.id=undone.undoes)
  SELECT 1 FROM undone WHERE verb IN ({_HOUSEKEEPING}))
ORDER BY v.seq DESC LIMIT 1
"""
_TIERS = f"""
SELECT coalesce(json_extract(h.record, '$.layer'), '{Layer.SEMANTIC}') || ' ' || coalesce(l.tier, 'hot'), count(*)
FROM heads h LEFT JOIN lives l ON l.atom_id=h.atom_id WHERE h.scope {_AMONG} AND h.status IN ({_LIVE})
GROUP BY 1 ORDER BY 1
"""
_RETENTIONS = f"""
SELECT l.retention FROM lives l JOIN heads h ON h.atom_id=l.atom_id
WHERE l.scope {_AMONG} AND h.status IN ({_LIVE}) ORDER BY 1
"""
_UNTOLD = "SELECT atom_id, bits FROM lives WHERE scope=? AND bits<>told ORDER BY 1"
_CODED = "SELECT atom_id, bits FROM lives WHERE bits<32"


class SqliteLives:
    """No write waits for the disk: the states can be computed again."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def due(self, scope: Scope, by: datetime, limit: int | None = None) -> list[AtomId]:
        """Return the ageing atoms of a scope to check by a moment."""
        rows = self._db.rows(_DUE, (scope, millis(by), -1 if limit is None else limit))
        return [AtomId(row[0]) for row in rows]

    def of(self, ids: Iterable[AtomId]) -> dict[AtomId, Life]:
        """Return the states of these atoms, without those never checked."""
        rows = self._db.rows(
            "SELECT atom_id, revision, tier, look_at, retention, importance, recency, state, bits FROM lives "
            f"WHERE atom_id {_AMONG}",
            (json.dumps(list(ids)),),
        )
        return {
            AtomId(atom_id): Life(revision, tier, _moment(look_at), *rest)
            for atom_id, revision, tier, look_at, *rest in rows
        }

    def put(self, lives: Mapping[AtomId, Life]) -> None:
        """Store the states of atoms that were checked; atoms that no longer exist are skipped."""
        with self._db.writing(durable=False):
            heads = self._db.rows(
                f"SELECT atom_id, scope, revision, status IN ({_LIVE}) FROM heads WHERE atom_id {_AMONG}",
                (json.dumps(list(lives)),),
            )
            applied_bits = self._told(lives)
            rows = [(id_, scope, *_columns(lives[id_]), applied_bits.get(id_, 0)) for id_, scope, _, _ in heads]
            unchanged = [(scope, id_) for id_, scope, revision, _ in heads if lives[id_].revision == revision]
            changed = [
                (scope, id_)
                for id_, scope, revision, is_ageing in heads
                if is_ageing and lives[id_].revision != revision
            ]
            self._db.run_many("INSERT OR REPLACE INTO lives VALUES(?,?,?,?,?,?,?,?,?,?,?)", rows)
            self._db.run_many("DELETE FROM stirred WHERE scope=? AND atom_id=?", unchanged)
            self._db.run_many("INSERT OR IGNORE INTO stirred VALUES(?,?)", changed)

    def _told(self, lives: Mapping[AtomId, Life]) -> dict[str, int]:
        """Return the bits that were applied to the index, for atoms with an unchanged revision."""
        rows = self._db.rows(
            f"SELECT atom_id, revision, told FROM lives WHERE atom_id {_AMONG}", (json.dumps(list(lives)),)
        )
        return {id_: applied for id_, revision, applied in rows if lives[AtomId(id_)].revision == revision}

    def seen(self, scope: Scope) -> datetime | None:
        """Return when a user was last active in a scope; None if never."""
        written = self._db.one(_WRITTEN, (scope,))
        used = self._db.one("SELECT max(last_recalled_at) FROM signals WHERE scope=?", (scope,))
        return _moment(max((row[0] for row in (written, used) if row and row[0] is not None), default=None))

    def tiers(self, scopes: Sequence[Scope]) -> dict[str, int]:
        """Return how many ageing atoms of each layer are in each tier."""
        return dict(self._db.rows(_TIERS, (json.dumps(list(scopes)),)))

    def retentions(self, scopes: Sequence[Scope]) -> list[float]:
        """Return the retention of each ageing atom when last checked, the lowest first."""
        return [row[0] for row in self._db.rows(_RETENTIONS, (json.dumps(list(scopes)),))]

    def untold(self, scope: Scope) -> dict[AtomId, int]:
        """Return the wanted bits of atoms that were not applied to the index yet."""
        return {AtomId(atom_id): bits for atom_id, bits in self._db.rows(_UNTOLD, (scope,))}

    def told(self, bits: Mapping[AtomId, int]) -> None:
        """Store that these bits were applied to the index."""
        with self._db.writing(durable=False):
            rows = [(count, atom_id, count) for atom_id, count in bits.items()]
            self._db.run_many("UPDATE lives SET told=? WHERE atom_id=? AND bits=?", rows)

    def coded(self) -> dict[AtomId, int]:
        """Return the bits of every atom whose vectors are below full precision."""
        return {AtomId(atom_id): bits for atom_id, bits in self._db.rows(_CODED)}


def _columns(life: Life) -> tuple[int, str, int | None, float, float, float, str, int]:
    look_at = None if life.look_at is None else millis(life.look_at)
    return life.revision, life.tier, look_at, life.retention, life.importance, life.recency, life.state, life.bits


def _moment(at: int | None) -> datetime | None:
    return None if at is None else moment(at)
