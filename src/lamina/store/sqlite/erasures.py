"""Erasure in SQLite: payloads are deleted, headers stay, and no page or log keeps a byte of the text."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from lamina.atom.atom import Atom, AtomId
from lamina.atom.json_record import decode_field, diff_atoms
from lamina.atom.metadata import iterate_texts
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.store.erasure import CommitReason, Erasure, ErasureStub, FingerprintText, Mentions, PendingErasure
from lamina.store.journal import Commit, CommitId
from lamina.store.sqlite.hash_chain import digest_of_body, rewrite_digest
from lamina.store.sqlite.history import HistoryFile, Tip, VersionRow
from lamina.store.sqlite.outbox import Outbox
from lamina.text.normal_form import normal_form
from lamina.text.timestamps import from_millis, to_millis

VERB = "erase"
EMPTY_BODY = "{}"
BATCH, FINGERPRINT_BATCH = 2000, 500
_TEXT_FIELDS = ("content", "subject", "attribute", "value", "source_ref")
_LIST_FIELDS = ("tags", "entities")
_ATOM_TABLES = (
    ("heads", "atom_id"),
    ("signals", "atom_id"),
    ("unwritten_signals", "atom_id"),
    ("accepted_files", "atom_id"),
    ("waiting", "segment"),
    ("lives", "atom_id"),
    ("stirred", "atom_id"),
    ("probes", "atom_id"),
)
"""Tables with rows about an atom, and the column with the atom's id."""


class SqliteErasures:
    """Removes text from history.db.

    `next_commit` returns an id, a time and the commit before it; `scrub_derived` cleans the other databases.
    """

    def __init__(
        self,
        history: HistoryFile,
        outbox: Outbox,
        next_commit: Callable[[], tuple[CommitId, datetime, Tip]],
        scrub_derived: Callable[[], None],
    ) -> None:
        self._history, self._db, self._outbox = history, history.db, outbox
        self._next_commit, self._scrub_derived = next_commit, scrub_derived
        self._key = history.meta("store_key")

    def find_mentions(self, words: Collection[str], scopes: Sequence[Scope]) -> Mentions:
        searched, atom_ids, last_key = frozenset(words), dict[AtomId, None](), (0, 0)
        marks = ",".join("?" * len(scopes))
        while rows := self._db.rows(
            f"SELECT seq, n, atom_id, body FROM versions WHERE (seq, n)>(?,?) AND scope IN ({marks}) "
            "AND body IS NOT NULL ORDER BY seq, n LIMIT ?",
            (*last_key, *scopes, BATCH),
        ):
            last_key = rows[-1][:2]
            for _, _, atom_id, body in rows:
                if not searched.isdisjoint(normal_form("\n".join(_field_texts(json.loads(body)))).split()):
                    atom_ids[AtomId(atom_id)] = None
        reasons = self._db.rows(
            "SELECT r.seq, c.origin, r.body FROM reasons r JOIN commits c ON c.seq=r.seq "
            f"WHERE r.body IS NOT NULL AND c.scope IN ({marks}) ORDER BY r.seq",
            scopes,
        )
        quoting = (row for row in reasons if not searched.isdisjoint(normal_form(row[2]).split()))
        return Mentions(
            tuple(atom_ids), tuple(CommitReason(seq, Origin(origin), text) for seq, origin, text in quoting)
        )

    def apply(self, erasure: Erasure) -> PendingErasure:
        with self._db.write_transaction(durable=True):
            commit_id, at, tip = self._next_commit()
            heads = self._history.heads.get([*erasure.erased_ids, *erasure.rewritten])
            erased = [heads[atom_id] for atom_id in erasure.erased_ids]
            version_count = self._drop_versions(erased)
            rewritten_rows = [
                row for atom_versions in erasure.rewritten.values() for row in self._rewrite_versions(atom_versions)
            ]
            rewritten_heads = [
                atom_versions[-1].with_(revision=atom_versions[-1].revision + 1)
                for atom_versions in erasure.rewritten.values()
            ]
            seq = self._history.append_rows(
                Commit(
                    actor=erasure.actor,
                    origin=Origin.HUMAN,
                    verb=VERB,
                    reason=erasure.reason,
                    scope=erasure.scope,
                    changes=(),
                    batch=rewrite_digest(sorted(rewritten_rows)) if rewritten_rows else None,
                ),
                commit_id,
                at,
                [
                    *map(_tombstone_row, erased),
                    *(VersionRow(atom, atom.status, EMPTY_BODY) for atom in rewritten_heads),
                ],
                tip,
            )
            self._db.run_many("INSERT INTO retold VALUES(?,?,?,?)", [(seq, *row) for row in rewritten_rows])
            self._history.heads.put(rewritten_heads)
            self._outbox.rewrite_deleted_files(rewritten_heads)
            paths = self._outbox.remove_files_of(erasure.erased_ids)
            self._leave_stubs(erasure, erased, at, seq)
            self._add_fingerprints(erasure.fingerprints, at)
            self._drop_reasons(erasure.reasons)
            columns = (seq, *map(json.dumps, (erasure.erased_ids, [*erasure.rewritten], paths)), erasure.search_json)
            self._db.run("INSERT INTO erasing VALUES(?,?,?,?,?,?)", (*columns, version_count + len(rewritten_rows)))
        return next(unfinished for unfinished in self.list_pending() if unfinished.seq == seq)

    def _drop_versions(self, erased: Sequence[Atom]) -> int:
        """Delete the text of every version of these atoms; return how many versions that were."""
        ids = json.dumps([atom.id for atom in erased])
        among = "IN (SELECT value FROM json_each(?))"
        row = self._db.one(f"SELECT count(*) FROM versions WHERE atom_id {among} AND body IS NOT NULL", (ids,))
        self._db.run(f"UPDATE versions SET salt=NULL, body=NULL WHERE atom_id {among}", (ids,))
        for table, column in _ATOM_TABLES:
            self._db.run(f"DELETE FROM {table} WHERE {column} {among}", (ids,))
        return int(row[0]) if row else 0

    def _rewrite_versions(self, versions: Sequence[Atom]) -> Iterator[tuple[int, int, bytes]]:
        """Write each version without the erased text; yield those that differ, with their digests."""
        rows = self._db.rows(
            "SELECT seq, n, salt, body FROM versions WHERE atom_id=? ORDER BY revision", (versions[0].id,)
        )
        before: Atom | None = None
        for (seq, n, salt, body), version in zip(rows, versions, strict=True):
            new_body = json.dumps(diff_atoms(before, version), ensure_ascii=False, separators=(",", ":"))
            if new_body != body:
                self._db.run("UPDATE versions SET salt=NULL, body=? WHERE seq=? AND n=?", (new_body, seq, n))
            if new_body != body or salt is None:
                yield seq, n, digest_of_body(new_body)
            before = version

    def _leave_stubs(self, erasure: Erasure, erased: Sequence[Atom], at: datetime, seq: int) -> None:
        stubs = [
            (
                atom.id,
                atom.scope,
                to_millis(at),
                erasure.actor,
                erasure.reason,
                self._digest(erasure.stub_fingerprints[atom.id]),
                seq,
            )
            for atom in erased
        ]
        self._db.run_many("INSERT INTO erased VALUES(?,?,?,?,?,?,?)", stubs)

    def _add_fingerprints(self, fingerprints: Mapping[FingerprintText, float], at: datetime) -> None:
        self._db.run_many(
            "INSERT INTO fingerprints(mark, trust, at) VALUES(?,?,?) ON CONFLICT DO UPDATE SET at=excluded.at",
            [(self._digest(text), trust, to_millis(at)) for text, trust in fingerprints.items()],
        )

    def _drop_reasons(self, positions: Collection[int]) -> None:
        rows = [(seq,) for seq in sorted(positions)]
        self._db.run_many("UPDATE reasons SET salt=NULL, body=NULL WHERE seq=?", rows)

    def list_pending(self) -> list[PendingErasure]:
        return [
            PendingErasure(
                seq,
                commit,
                from_millis(at),
                _parse_ids(gone),
                _parse_ids(touched),
                tuple(json.loads(paths)),
                sought,
                versions,
            )
            for seq, gone, touched, paths, sought, versions, commit, at in self._db.rows(
                "SELECT e.seq, e.gone, e.touched, e.paths, e.sought, e.versions, c.id, c.at FROM erasing e "
                "JOIN commits c ON c.seq=e.seq ORDER BY e.seq"
            )
        ]

    def finish(self, cleaned: Collection[int], swap_copies: Collection[str] = ()) -> None:
        with self._db.write_transaction(durable=True):
            self._db.run_many("DELETE FROM swapped WHERE sha256=?", [(sha256,) for sha256 in swap_copies])
            self._db.run_many("UPDATE erasing SET sought='', paths='[]' WHERE seq=?", [(seq,) for seq in cleaned])
        finished = [(unfinished.seq,) for unfinished in self.list_pending() if not unfinished.search_json]
        self._scrub_derived()
        self._db.scrub()
        with self._db.write_transaction(durable=True):
            self._db.run_many("DELETE FROM erasing WHERE seq=?", finished)

    def has_fingerprints(self) -> bool:
        return self._db.one("SELECT 1 FROM fingerprints LIMIT 1") is not None

    def find_erased(self, texts: Collection[FingerprintText], trust: float) -> dict[FingerprintText, datetime]:
        if not texts or not self.has_fingerprints():
            return {}
        by_digest = {self._digest(text): text for text in texts}
        digests = list(by_digest)
        found: dict[FingerprintText, datetime] = {}
        for start in range(0, len(digests), FINGERPRINT_BATCH):
            batch = digests[start : start + FINGERPRINT_BATCH]
            found |= {
                by_digest[digest]: from_millis(at)
                for digest, at in self._db.rows(
                    f"SELECT mark, max(at) FROM fingerprints WHERE mark IN ({','.join('?' * len(batch))}) "
                    "AND trust>=? GROUP BY mark",
                    (*batch, trust),
                )
            }
        return found

    def list_stubs(self, scopes: Sequence[Scope], id_suffix: str = "") -> list[ErasureStub]:
        return [
            ErasureStub(AtomId(atom_id), Scope(scope), from_millis(at), actor, reason, fingerprint.hex())
            for atom_id, scope, at, actor, reason, fingerprint in self._db.rows(
                "SELECT atom_id, scope, at, actor, reason, fingerprint FROM erased "
                f"WHERE scope IN ({','.join('?' * len(scopes))}) "
                "AND substr(atom_id, 1 + length(atom_id) - length(?))=? ORDER BY at, atom_id",
                (*scopes, id_suffix, id_suffix),
            )
        ]

    def _digest(self, text: FingerprintText) -> bytes:
        content = json.dumps([text.organisation, text.kind.value, text.form], ensure_ascii=False)
        return hmac.digest(self._key, content.encode(), "sha256")


def _tombstone_row(atom: Atom) -> VersionRow:
    """Return the journal row that tombstones an erased atom without text."""
    ended = atom.with_(status=Status.TOMBSTONED, revision=atom.revision + 1)
    return VersionRow(ended, atom.status, EMPTY_BODY)


def _field_texts(fields: dict[str, Any]) -> Iterator[str]:
    """Yield every text in the fields of a version."""
    for name in _TEXT_FIELDS:
        text = fields.get(name)
        if text:
            yield text["+"] if isinstance(text, dict) else text
    for name in _LIST_FIELDS:
        yield from fields.get(name, ())
    yield from iterate_texts(decode_field("metadata", fields.get("metadata", {})))


def _parse_ids(text: str) -> tuple[AtomId, ...]:
    return tuple(AtomId(atom_id) for atom_id in json.loads(text))
