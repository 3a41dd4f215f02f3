"""Erasure in SQLite: payloads are deleted, headers stay, and no page or log keeps a byte of the text."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.record import difference
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.store.base import Change, Commit, CommitId
from lamina.store.erasure import Erasure, Unfinished
from lamina.store.sqlite.fingerprints import SqliteFingerprints
from lamina.store.sqlite.history import History, Told, digest_of_body, moment, retelling
from lamina.store.sqlite.ledger import SqliteLedger
from lamina.text.normal import normal_form

VERB = "erase"
NO_WORDS = "{}"
AT_ONCE = 2000
_TEXTS = ("content", "subject", "attribute", "value", "source_ref")
_LISTS = ("tags", "entities")
_TABLES = (
    ("heads", "atom_id"),
    ("signals", "atom_id"),
    ("waiting", "segment"),
    ("lives", "atom_id"),
    ("stirred", "atom_id"),
    ("probes", "atom_id"),
)
"""Tables with rows about an atom, and the column with the atom's id."""


class SqliteErasures:
    """Removes text from history.db. `next_commit` returns an id and a time, `scrub_index` cleans index.db."""

    def __init__(
        self,
        history: History,
        ledger: SqliteLedger,
        fingerprints: SqliteFingerprints,
        stamp: Callable[[], tuple[CommitId, datetime]],
        scrub_index: Callable[[], None],
    ) -> None:
        self._history, self._db, self._ledger = history, history.db, ledger
        self._fingerprints, self._stamp, self._scrub_index = fingerprints, stamp, scrub_index

    def mentioning(self, words: Collection[str], scopes: Sequence[Scope]) -> list[AtomId]:
        """Return the atoms of which any version contains one of these words, in normal form."""
        searched, mentions, last_key = frozenset(words), dict[AtomId, None](), (0, 0)
        marks = ",".join("?" * len(scopes))
        while rows := self._db.rows(
            f"SELECT seq, n, atom_id, body FROM versions WHERE (seq, n)>(?,?) AND scope IN ({marks}) "
            "AND body IS NOT NULL ORDER BY seq, n LIMIT ?",
            (*last_key, *scopes, AT_ONCE),
        ):
            last_key = rows[-1][:2]
            for _, _, atom_id, body in rows:
                if not searched.isdisjoint(normal_form("\n".join(_texts(json.loads(body)))).split()):
                    mentions[AtomId(atom_id)] = None
        return list(mentions)

    def apply(self, erasure: Erasure) -> Unfinished:
        """Remove the text from the journal and the ledger, in one durable step."""
        with self._db.writing(durable=True):
            commit_id, at = self._stamp()
            heads = self._history.heads([*erasure.gone, *erasure.retold])
            erased = [heads[atom_id] for atom_id in erasure.gone]
            version_count = self._drop(erased)
            rewritten_rows = [
                row for atom_versions in erasure.retold.values() for row in self._tell_anew(atom_versions)
            ]
            rewritten_heads = [
                atom_versions[-1].with_(revision=atom_versions[-1].revision + 1)
                for atom_versions in erasure.retold.values()
            ]
            seq = self._history.put_down(
                Commit(
                    actor=erasure.actor,
                    origin=Origin.HUMAN,
                    verb=VERB,
                    reason=erasure.reason,
                    scope=erasure.scope,
                    changes=(),
                    batch=retelling(sorted(rewritten_rows)) if rewritten_rows else None,
                ),
                commit_id,
                at,
                [*map(_ended, erased), *(Told(atom, atom.status, NO_WORDS) for atom in rewritten_heads)],
            )
            self._db.run_many("INSERT INTO retold VALUES(?,?,?,?)", [(seq, *row) for row in rewritten_rows])
            self._history.put_heads(rewritten_heads)
            self._ledger.publish([(heads[atom.id], Change(atom)) for atom in rewritten_heads])
            self._ledger.retell_lost(rewritten_heads)
            paths = self._ledger.disown(erasure.gone)
            self._leave_stubs(erasure, erased, at, seq)
            self._hush(erasure.quoted, seq)
            columns = (seq, *map(json.dumps, (erasure.gone, [*erasure.retold], paths)), erasure.sought)
            self._db.run("INSERT INTO erasing VALUES(?,?,?,?,?,?)", (*columns, version_count + len(rewritten_rows)))
        return next(unfinished for unfinished in self.unfinished() if unfinished.seq == seq)

    def _drop(self, gone: Sequence[Atom]) -> int:
        """Delete the text of every version of these atoms; return how many versions that were."""
        ids = json.dumps([atom.id for atom in gone])
        among = "IN (SELECT value FROM json_each(?))"
        row = self._db.one(f"SELECT count(*) FROM versions WHERE atom_id {among} AND body IS NOT NULL", (ids,))
        self._db.run(f"UPDATE versions SET salt=NULL, body=NULL WHERE atom_id {among}", (ids,))
        for table, column in _TABLES:
            self._db.run(f"DELETE FROM {table} WHERE {column} {among}", (ids,))
        return int(row[0]) if row else 0

    def _tell_anew(self, versions: Sequence[Atom]) -> Iterator[tuple[int, int, bytes]]:
        """Write each version without the erased text; yield those that differ, with their digests."""
        rows = self._db.rows(
            "SELECT seq, n, salt, body FROM versions WHERE atom_id=? ORDER BY revision", (versions[0].id,)
        )
        before: Atom | None = None
        for (seq, n, salt, body), version in zip(rows, versions, strict=True):
            new_body = json.dumps(difference(before, version), ensure_ascii=False, separators=(",", ":"))
            if new_body != body:
                self._db.run("UPDATE versions SET salt=NULL, body=? WHERE seq=? AND n=?", (new_body, seq, n))
            if new_body != body or salt is None:
                yield seq, n, digest_of_body(new_body)
            before = version

    def _leave_stubs(self, erasure: Erasure, gone: Sequence[Atom], at: datetime, seq: int) -> None:
        """Write the stubs of the erased atoms and the fingerprints of the erased text."""
        (millis,) = self._db.rows("SELECT at FROM commits WHERE seq=?", (seq,))[0]
        stubs = [
            (
                atom.id,
                atom.scope,
                millis,
                erasure.actor,
                erasure.reason,
                self._fingerprints.digest(erasure.fingerprints[atom.id]),
                seq,
            )
            for atom in gone
        ]
        self._db.run_many("INSERT INTO erased VALUES(?,?,?,?,?,?,?)", stubs)
        self._fingerprints.add(erasure.marks, at)

    def _hush(self, quoted: Callable[[str, bool], bool], seq: int) -> None:
        """Delete reasons and messages that quote the erased text."""
        commits_of_erased = {
            row[0]
            for row in self._db.rows(
                "SELECT v.seq FROM versions v JOIN erased e ON e.atom_id=v.atom_id WHERE e.seq=?1 AND v.seq<?1", (seq,)
            )
        }
        reasons = self._db.rows("SELECT seq, body FROM reasons WHERE body IS NOT NULL AND seq<?", (seq,))
        quoting = [(number,) for number, body in reasons if quoted(body, number in commits_of_erased)]
        self._db.run_many("UPDATE reasons SET salt=NULL, body=NULL WHERE seq=?", quoting)
        for path, kind, message in self._db.rows("SELECT path, kind, message FROM problems"):
            if quoted(f"{path} {message}", False):
                self._db.run("DELETE FROM problems WHERE path=? AND kind=?", (path, kind))

    def unfinished(self) -> list[Unfinished]:
        """Return the erasures that are not finished, oldest first."""
        return [
            Unfinished(seq, commit, moment(at), _ids(gone), _ids(touched), tuple(json.loads(paths)), sought, versions)
            for seq, gone, touched, paths, sought, versions, commit, at in self._db.rows(
                "SELECT e.seq, e.gone, e.touched, e.paths, e.sought, e.versions, c.id, c.at FROM erasing e "
                "JOIN commits c ON c.seq=e.seq ORDER BY e.seq"
            )
        ]

    def struck(self, erasure: Unfinished, holds: Callable[[bytes], bool]) -> None:
        """Store that no file contains the text any more; delete what was needed to search, and copies that do."""
        with self._db.writing(durable=True):
            copies = [(sha,) for sha, data in self._db.rows("SELECT sha256, data FROM swapped") if holds(data)]
            self._db.run_many("DELETE FROM swapped WHERE sha256=?", copies)
            self._db.run("UPDATE erasing SET sought='', paths='[]' WHERE seq=?", (erasure.seq,))

    def scrub(self) -> None:
        """Remove every byte of erased text from free space, logs and indexes; then all erasures are finished."""
        finished = [(unfinished.seq,) for unfinished in self.unfinished() if not unfinished.sought]
        self._scrub_index()
        self._db.scrub()
        with self._db.writing(durable=True):
            self._db.run_many("DELETE FROM erasing WHERE seq=?", finished)


def _ended(atom: Atom) -> Told:
    """Return the journal row that tombstones an erased atom without text."""
    ended = atom.with_(status=Status.TOMBSTONED, revision=atom.revision + 1)
    return Told(ended, atom.status, NO_WORDS)


def _texts(fields: dict[str, Any]) -> Iterator[str]:
    """Yield every text in the fields of a version."""
    for name in _TEXTS:
        text = fields.get(name)
        if text:
            yield text["+"] if isinstance(text, dict) else text
    for name in _LISTS:
        yield from fields.get(name, ())
    yield from fields.get("metadata", {}).values()


def _ids(told: str) -> tuple[AtomId, ...]:
    return tuple(AtomId(atom_id) for atom_id in json.loads(told))
