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
from lamina.store.ageing_state import AGEING_STATUSES, BACKGROUND_VERBS, AgeingState
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.journal import from_millis, to_millis

_AGEING = ",".join(f"'{each}'" for each in sorted(AGEING_STATUSES))
_BACKGROUND = ",".join(f"'{each}'" for each in sorted(BACKGROUND_VERBS))
_IN_LIST = "IN (SELECT value FROM json_each(?))"

_DUE = f"""
SELECT h.atom_id FROM (
  SELECT atom_id FROM stirred WHERE scope=?1 UNION SELECT atom_id FROM lives WHERE scope=?1 AND look_at<=?2
) d CROSS JOIN heads h ON h.atom_id=d.atom_id
WHERE h.status IN ({_AGEING}) ORDER BY h.recorded_at, h.atom_id LIMIT ?3
"""
_LAST_WRITE = f"""
SELECT c.at FROM versions v CROSS JOIN commits c ON c.seq=v.seq WHERE v.scope=?1 AND NOT EXISTS(
  WITH RECURSIVE undone(verb, undoes) AS (
    SELECT c.verb, c.undoes UNION ALL SELECT u.verb, u.undoes FROM undone JOIN commits u ON u.id=undone.undoes)
  SELECT 1 FROM undone WHERE verb IN ({_BACKGROUND}))
ORDER BY v.seq DESC LIMIT 1
"""
_TIERS = f"""
SELECT coalesce(json_extract(h.record, '$.layer'), '{Layer.SEMANTIC}') || ' ' || coalesce(l.tier, 'hot'), count(*)
FROM heads h LEFT JOIN lives l ON l.atom_id=h.atom_id WHERE h.scope {_IN_LIST} AND h.status IN ({_AGEING})
GROUP BY 1 ORDER BY 1
"""
_RETENTIONS = f"""
SELECT l.retention FROM lives l JOIN heads h ON h.atom_id=l.atom_id
WHERE l.scope {_IN_LIST} AND h.status IN ({_AGEING}) ORDER BY 1
"""
_UNAPPLIED_BITS = "SELECT atom_id, bits FROM lives WHERE scope=? AND bits<>told ORDER BY 1"
_REDUCED_BITS = "SELECT atom_id, bits FROM lives WHERE bits<32"


class SqliteAgeingStates:
    """No write waits for the disk: the states can be computed again."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def find_due(self, scope: Scope, by: datetime, limit: int | None = None) -> list[AtomId]:
        """Return the ageing atoms of a scope to check by a moment."""
        rows = self._db.rows(_DUE, (scope, to_millis(by), -1 if limit is None else limit))
        return [AtomId(row[0]) for row in rows]

    def get(self, ids: Iterable[AtomId]) -> dict[AtomId, AgeingState]:
        """Return the states of these atoms, without those never checked."""
        rows = self._db.rows(
            "SELECT atom_id, revision, tier, look_at, retention, importance, recency, state, bits FROM lives "
            f"WHERE atom_id {_IN_LIST}",
            (json.dumps(list(ids)),),
        )
        return {
            AtomId(atom_id): AgeingState(revision, tier, _moment(look_at), *rest)
            for atom_id, revision, tier, look_at, *rest in rows
        }

    def put(self, states: Mapping[AtomId, AgeingState]) -> None:
        """Store the states of atoms that were checked; atoms that no longer exist are skipped."""
        with self._db.write_transaction(durable=False):
            heads = self._db.rows(
                f"SELECT atom_id, scope, revision, status IN ({_AGEING}) FROM heads WHERE atom_id {_IN_LIST}",
                (json.dumps(list(states)),),
            )
            applied_bits = self._applied_bits(states)
            rows = [(id_, scope, *_columns(states[id_]), applied_bits.get(id_, 0)) for id_, scope, _, _ in heads]
            unchanged = [(scope, id_) for id_, scope, revision, _ in heads if states[id_].revision == revision]
            changed = [
                (scope, id_)
                for id_, scope, revision, is_ageing in heads
                if is_ageing and states[id_].revision != revision
            ]
            self._db.run_many("INSERT OR REPLACE INTO lives VALUES(?,?,?,?,?,?,?,?,?,?,?)", rows)
            self._db.run_many("DELETE FROM stirred WHERE scope=? AND atom_id=?", unchanged)
            self._db.run_many("INSERT OR IGNORE INTO stirred VALUES(?,?)", changed)

    def _applied_bits(self, states: Mapping[AtomId, AgeingState]) -> dict[str, int]:
        """Return the bits that were applied to the index, for atoms with an unchanged revision."""
        rows = self._db.rows(
            f"SELECT atom_id, revision, told FROM lives WHERE atom_id {_IN_LIST}", (json.dumps(list(states)),)
        )
        return {id_: applied for id_, revision, applied in rows if states[AtomId(id_)].revision == revision}

    def last_activity(self, scope: Scope) -> datetime | None:
        """Return when a user was last active in a scope; None if never."""
        written = self._db.one(_LAST_WRITE, (scope,))
        used = self._db.one("SELECT max(last_recalled_at) FROM signals WHERE scope=?", (scope,))
        return _moment(max((row[0] for row in (written, used) if row and row[0] is not None), default=None))

    def count_tiers(self, scopes: Sequence[Scope]) -> dict[str, int]:
        """Return how many ageing atoms of each layer are in each tier."""
        return dict(self._db.rows(_TIERS, (json.dumps(list(scopes)),)))

    def retentions(self, scopes: Sequence[Scope]) -> list[float]:
        """Return the retention of each ageing atom when last checked, the lowest first."""
        return [row[0] for row in self._db.rows(_RETENTIONS, (json.dumps(list(scopes)),))]

    def unapplied_bits(self, scope: Scope) -> dict[AtomId, int]:
        """Return the wanted bits of atoms that were not applied to the index yet."""
        return {AtomId(atom_id): bits for atom_id, bits in self._db.rows(_UNAPPLIED_BITS, (scope,))}

    def mark_bits_applied(self, bits: Mapping[AtomId, int]) -> None:
        """Store that these bits were applied to the index."""
        with self._db.write_transaction(durable=False):
            rows = [(count, atom_id, count) for atom_id, count in bits.items()]
            self._db.run_many("UPDATE lives SET told=? WHERE atom_id=? AND bits=?", rows)

    def reduced_bits(self) -> dict[AtomId, int]:
        """Return the bits of every atom whose vectors are below full precision."""
        return {AtomId(atom_id): bits for atom_id, bits in self._db.rows(_REDUCED_BITS)}


def _columns(state: AgeingState) -> tuple[int, str, int | None, float, float, float, str, int]:
    look_at = None if state.next_check_at is None else to_millis(state.next_check_at)
    return (
        state.revision,
        state.tier,
        look_at,
        state.retention,
        state.importance,
        state.recency,
        state.state,
        state.bits,
    )


def _moment(at: int | None) -> datetime | None:
    return None if at is None else from_millis(at)
