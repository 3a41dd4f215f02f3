"""Signals and ageing states in history.db: one row for each used atom, and one for each checked atom.

Triggers maintain a list of atoms changed or used since their last check, so that no code that writes a head or a signal
can forget it. No write waits for the disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from lamina.atom.atom import AtomId, Signals
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Scope
from lamina.lifecycle.signals import edit_counters
from lamina.store.signals_and_ageing import AGEING_STATUSES, BACKGROUND_VERBS, AgeingState, AtomUse, SignalIncrement
from lamina.store.sqlite.database import Database
from lamina.text.timestamps import from_millis, to_millis

_AGEING = ",".join(f"'{status}'" for status in sorted(AGEING_STATUSES))
_BACKGROUND = ",".join(f"'{verb}'" for verb in sorted(BACKGROUND_VERBS))
_IN_LIST = "IN (SELECT value FROM json_each(?))"

_SIGNALS = "quality_score, recall_count, last_recalled_at, uses, first_used_at, use_days, successes, failures"
_STATES = "revision, tier, look_at, retention, importance, recency, state, bits"
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
_UNAPPLIED_BITS = "SELECT atom_id, bits FROM lives WHERE scope=? AND bits<>told ORDER BY 1"
_REDUCED_BITS = "SELECT atom_id, bits FROM lives WHERE bits<32"


class SqliteSignals:
    """Counters of use, and the ageing states beside them."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def counters(self, ids: Iterable[AtomId]) -> dict[AtomId, Signals]:
        """Return the signals of several atoms, without those that have none."""
        return {
            AtomId(atom_id): _to_signals(row)
            for atom_id, *row in self._db.rows(
                f"SELECT atom_id, {_SIGNALS} FROM signals WHERE atom_id {_IN_LIST}", (json.dumps(list(ids)),)
            )
        }

    def get(self, ids: Iterable[AtomId]) -> AtomUse:
        signals: dict[AtomId, Signals] = {}
        ageing: dict[AtomId, AgeingState] = {}
        rows = self._db.rows(
            f"SELECT 1, atom_id, {_SIGNALS} FROM signals WHERE atom_id IN (SELECT value FROM json_each(?1)) "
            f"UNION ALL SELECT 0, atom_id, {_STATES} FROM lives WHERE atom_id IN (SELECT value FROM json_each(?1))",
            (json.dumps(list(ids)),),
        )
        for is_signals, atom_id, *row in rows:
            if is_signals:
                signals[AtomId(atom_id)] = _to_signals(row)
            else:
                ageing[AtomId(atom_id)] = _to_ageing_state(row)
        return AtomUse(signals, ageing)

    def add(self, increments: Mapping[AtomId, SignalIncrement]) -> None:
        """Add the increments. The write lock is taken before the counters are read, so none is lost."""
        if not increments:
            return
        with self._db.write_transaction(durable=False):
            signals = self.counters(increments)
            rows = {
                atom_id: increment.apply_to(signals.get(atom_id, Signals()))
                for atom_id, increment in increments.items()
            }
            self._db.run_many(_PUT, [_to_row(atom_id, counters) for atom_id, counters in rows.items()])

    def put(self, atom_id: AtomId, signals: Signals) -> None:
        with self._db.write_transaction(durable=False):
            self._db.run(_PUT, _to_row(atom_id, signals))

    def edit(self, atom_id: AtomId, values: Mapping[str, Any]) -> None:
        """Set some counters of an atom. The write lock is taken before they are read, so no increment is lost."""
        with self._db.write_transaction(durable=False):
            counters = self.counters([atom_id]).get(atom_id, Signals())
            self._db.run(_PUT, _to_row(atom_id, edit_counters(counters, values)))

    def find_due(self, scope: Scope, by: datetime, limit: int | None = None) -> list[AtomId]:
        rows = self._db.rows(_DUE, (scope, to_millis(by), -1 if limit is None else limit))
        return [AtomId(row[0]) for row in rows]

    def put_ageing(self, states: Mapping[AtomId, AgeingState]) -> None:
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
        written = self._db.one(_LAST_WRITE, (scope,))
        used = self._db.one("SELECT max(last_recalled_at) FROM signals WHERE scope=?", (scope,))
        return _moment(max((row[0] for row in (written, used) if row and row[0] is not None), default=None))

    def count_tiers(self, scopes: Sequence[Scope]) -> dict[str, int]:
        return dict(self._db.rows(_TIERS, (json.dumps(list(scopes)),)))

    def unapplied_bits(self, scope: Scope) -> dict[AtomId, int]:
        return {AtomId(atom_id): bits for atom_id, bits in self._db.rows(_UNAPPLIED_BITS, (scope,))}

    def mark_bits_applied(self, bits: Mapping[AtomId, int]) -> None:
        with self._db.write_transaction(durable=False):
            rows = [(count, atom_id, count) for atom_id, count in bits.items()]
            self._db.run_many("UPDATE lives SET told=? WHERE atom_id=? AND bits=?", rows)

    def reduced_bits(self) -> dict[AtomId, int]:
        """Return the bits of every atom whose vectors are below full precision."""
        return {AtomId(atom_id): bits for atom_id, bits in self._db.rows(_REDUCED_BITS)}


_PUT = "INSERT OR REPLACE INTO signals VALUES(?1,?,?,?,?,?,?,?,?,(SELECT scope FROM heads WHERE atom_id=?1))"


def _to_row(atom_id: AtomId, signals: Signals) -> tuple[Any, ...]:
    last, first = (to_millis(at) if at else None for at in (signals.last_recalled_at, signals.first_used_at))
    uses = json.dumps([to_millis(use) for use in signals.uses])
    return (
        atom_id,
        signals.quality_score,
        signals.recall_count,
        last,
        uses,
        first,
        signals.use_days,
        signals.successes,
        signals.failures,
    )


def _to_signals(row: Sequence[Any]) -> Signals:
    quality, count, last, uses, first, days, successes, failures = row
    last_at, first_at = (from_millis(at) if at is not None else None for at in (last, first))
    times = tuple(from_millis(at) for at in json.loads(uses))
    if count and not times and last_at:
        times = (last_at,)
    return Signals(quality, count, last_at, times, first_at, days, successes, failures)


def _to_ageing_state(row: Sequence[Any]) -> AgeingState:
    revision, tier, look_at, *rest = row
    return AgeingState(revision, tier, _moment(look_at), *rest)


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
