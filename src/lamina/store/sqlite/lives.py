"""Lives in history.db: one row an atom that was looked at, and a list of those that something has happened to since.

The list is kept by triggers, so that no way of writing a head or a signal can forget it.
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
    """Nothing of it waits for the disk: it can be found out again."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def due(self, scope: Scope, by: datetime, limit: int | None = None) -> list[AtomId]:
        """The live atoms of a scope worth a look by a moment."""
        found = self._db.rows(_DUE, (scope, millis(by), -1 if limit is None else limit))
        return [AtomId(row[0]) for row in found]

    def of(self, ids: Iterable[AtomId]) -> dict[AtomId, Life]:
        """What is known of these."""
        found = self._db.rows(
            "SELECT atom_id, revision, tier, look_at, retention, importance, recency, state, bits FROM lives "
            f"WHERE atom_id {_AMONG}",
            (json.dumps(list(ids)),),
        )
        return {
            AtomId(atom_id): Life(revision, tier, _moment(look_at), *rest)
            for atom_id, revision, tier, look_at, *rest in found
        }

    def put(self, lives: Mapping[AtomId, Life]) -> None:
        """These were looked at; what is no longer there is left out."""
        with self._db.writing(durable=False):
            heads = self._db.rows(
                f"SELECT atom_id, scope, revision, status IN ({_LIVE}) FROM heads WHERE atom_id {_AMONG}",
                (json.dumps(list(lives)),),
            )
            told = self._told(lives)
            rows = [(id_, scope, *_columns(lives[id_]), told.get(id_, 0)) for id_, scope, _, _ in heads]
            calm = [(scope, id_) for id_, scope, revision, _ in heads if lives[id_].revision == revision]
            written = [(scope, id_) for id_, scope, revision, live in heads if live and lives[id_].revision != revision]
            self._db.run_many("INSERT OR REPLACE INTO lives VALUES(?,?,?,?,?,?,?,?,?,?,?)", rows)
            self._db.run_many("DELETE FROM stirred WHERE scope=? AND atom_id=?", calm)
            self._db.run_many("INSERT OR IGNORE INTO stirred VALUES(?,?)", written)

    def _told(self, lives: Mapping[AtomId, Life]) -> dict[str, int]:
        """The bits the index knows of these; of one with other words than it had, it knows nothing."""
        known = self._db.rows(
            f"SELECT atom_id, revision, told FROM lives WHERE atom_id {_AMONG}", (json.dumps(list(lives)),)
        )
        return {id_: told for id_, revision, told in known if lives[AtomId(id_)].revision == revision}

    def seen(self, scope: Scope) -> datetime | None:
        """When somebody last did something in a scope."""
        written = self._db.one(_WRITTEN, (scope,))
        used = self._db.one("SELECT max(last_recalled_at) FROM signals WHERE scope=?", (scope,))
        return _moment(max((row[0] for row in (written, used) if row and row[0] is not None), default=None))

    def tiers(self, scopes: Sequence[Scope]) -> dict[str, int]:
        """How many live atoms of each layer are kept at hand and how many are not."""
        return dict(self._db.rows(_TIERS, (json.dumps(list(scopes)),)))

    def retentions(self, scopes: Sequence[Scope]) -> list[float]:
        """How much was left of each live atom when it was last looked at, the least first."""
        return [row[0] for row in self._db.rows(_RETENTIONS, (json.dumps(list(scopes)),))]

    def untold(self, scope: Scope) -> dict[AtomId, int]:
        """The bits of atoms of which the index has not been told yet."""
        return {AtomId(atom_id): bits for atom_id, bits in self._db.rows(_UNTOLD, (scope,))}

    def told(self, bits: Mapping[AtomId, int]) -> None:
        """The index keeps what these atoms want."""
        with self._db.writing(durable=False):
            told = [(each, atom_id, each) for atom_id, each in bits.items()]
            self._db.run_many("UPDATE lives SET told=? WHERE atom_id=? AND bits=?", told)

    def coded(self) -> dict[AtomId, int]:
        """The bits of every atom whose vectors are not kept whole."""
        return {AtomId(atom_id): bits for atom_id, bits in self._db.rows(_CODED)}


def _columns(life: Life) -> tuple[int, str, int | None, float, float, float, str, int]:
    look_at = None if life.look_at is None else millis(life.look_at)
    return life.revision, life.tier, look_at, life.retention, life.importance, life.recency, life.state, life.bits


def _moment(at: int | None) -> datetime | None:
    return None if at is None else moment(at)
