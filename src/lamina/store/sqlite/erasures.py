"""Erasing in SQLite: payloads go, headers stay, and no page or log keeps a byte of what they said."""

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
"""Where an atom has rows that say what it is, and by which column they are its own."""


class SqliteErasures:
    """Takes words out of history.db. `stamp` gives the next commit its id and time, `scrub_index` cleans index.db."""

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
        """The atoms any version of which holds one of these words, in normal form."""
        wanted, found, last = frozenset(words), dict[AtomId, None](), (0, 0)
        marks = ",".join("?" * len(scopes))
        while rows := self._db.rows(
            f"SELECT seq, n, atom_id, body FROM versions WHERE (seq, n)>(?,?) AND scope IN ({marks}) "
            "AND body IS NOT NULL ORDER BY seq, n LIMIT ?",
            (*last, *scopes, AT_ONCE),
        ):
            last = rows[-1][:2]
            for _, _, atom_id, body in rows:
                if not wanted.isdisjoint(normal_form("\n".join(_texts(json.loads(body)))).split()):
                    found[AtomId(atom_id)] = None
        return list(found)

    def apply(self, erasure: Erasure) -> Unfinished:
        """Take the words out of the journal and the ledger, in one durable step."""
        with self._db.writing(durable=True):
            commit_id, at = self._stamp()
            heads = self._history.heads([*erasure.gone, *erasure.retold])
            gone = [heads[each] for each in erasure.gone]
            versions = self._drop(gone)
            retold = [row for versions_of in erasure.retold.values() for row in self._tell_anew(versions_of)]
            renewed = [each[-1].with_(revision=each[-1].revision + 1) for each in erasure.retold.values()]
            seq = self._history.put_down(
                Commit(
                    actor=erasure.actor,
                    origin=Origin.HUMAN,
                    verb=VERB,
                    reason=erasure.reason,
                    scope=erasure.scope,
                    changes=(),
                    batch=retelling(sorted(retold)) if retold else None,
                ),
                commit_id,
                at,
                [*(_ended(each) for each in gone), *(Told(each, each.status, NO_WORDS) for each in renewed)],
            )
            self._db.run_many("INSERT INTO retold VALUES(?,?,?,?)", [(seq, *row) for row in retold])
            self._history.put_heads(renewed)
            self._ledger.publish([(heads[each.id], Change(each)) for each in renewed])
            self._ledger.retell_lost(renewed)
            paths = self._ledger.disown(erasure.gone)
            self._leave_stubs(erasure, gone, at, seq)
            self._hush(erasure.quoted, seq)
            told = (seq, *map(json.dumps, (erasure.gone, [*erasure.retold], paths)), erasure.sought)
            self._db.run("INSERT INTO erasing VALUES(?,?,?,?,?,?)", (*told, versions + len(retold)))
        return next(unfinished for unfinished in self.unfinished() if unfinished.seq == seq)

    def _drop(self, gone: Sequence[Atom]) -> int:
        """Let go of everything these atoms ever said; how many versions that was."""
        ids = json.dumps([atom.id for atom in gone])
        among = "IN (SELECT value FROM json_each(?))"
        found = self._db.one(f"SELECT count(*) FROM versions WHERE atom_id {among} AND body IS NOT NULL", (ids,))
        self._db.run(f"UPDATE versions SET salt=NULL, body=NULL WHERE atom_id {among}", (ids,))
        for table, column in _TABLES:
            self._db.run(f"DELETE FROM {table} WHERE {column} {among}", (ids,))
        return int(found[0]) if found else 0

    def _tell_anew(self, versions: Sequence[Atom]) -> Iterator[tuple[int, int, bytes]]:
        """Put down what each version says from now on; those that differ come out, each with its digest."""
        rows = self._db.rows(
            "SELECT seq, n, salt, body FROM versions WHERE atom_id=? ORDER BY revision", (versions[0].id,)
        )
        before: Atom | None = None
        for (seq, n, salt, body), version in zip(rows, versions, strict=True):
            told = json.dumps(difference(before, version), ensure_ascii=False, separators=(",", ":"))
            if told != body:
                self._db.run("UPDATE versions SET salt=NULL, body=? WHERE seq=? AND n=?", (told, seq, n))
            if told != body or salt is None:
                yield seq, n, digest_of_body(told)
            before = version

    def _leave_stubs(self, erasure: Erasure, gone: Sequence[Atom], at: datetime, seq: int) -> None:
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
        """Let go of reasons and messages that quote what is erased."""
        near = {
            row[0]
            for row in self._db.rows(
                "SELECT v.seq FROM versions v JOIN erased e ON e.atom_id=v.atom_id WHERE e.seq=?1 AND v.seq<?1", (seq,)
            )
        }
        reasons = self._db.rows("SELECT seq, body FROM reasons WHERE body IS NOT NULL AND seq<?", (seq,))
        hushed = [(number,) for number, body in reasons if quoted(body, number in near)]
        self._db.run_many("UPDATE reasons SET salt=NULL, body=NULL WHERE seq=?", hushed)
        for path, kind, message in self._db.rows("SELECT path, kind, message FROM problems"):
            if quoted(f"{path} {message}", False):
                self._db.run("DELETE FROM problems WHERE path=? AND kind=?", (path, kind))

    def unfinished(self) -> list[Unfinished]:
        """Erasures that were begun and not finished, oldest first."""
        return [
            Unfinished(seq, commit, moment(at), _ids(gone), _ids(touched), tuple(json.loads(paths)), sought, versions)
            for seq, gone, touched, paths, sought, versions, commit, at in self._db.rows(
                "SELECT e.seq, e.gone, e.touched, e.paths, e.sought, e.versions, c.id, c.at FROM erasing e "
                "JOIN commits c ON c.seq=e.seq ORDER BY e.seq"
            )
        ]

    def struck(self, erasure: Unfinished, holds: Callable[[bytes], bool]) -> None:
        """Files hold nothing of it any more: what had to be known for that is let go, with copies that still do."""
        with self._db.writing(durable=True):
            held = [(sha,) for sha, data in self._db.rows("SELECT sha256, data FROM swapped") if holds(data)]
            self._db.run_many("DELETE FROM swapped WHERE sha256=?", held)
            self._db.run("UPDATE erasing SET sought='', paths='[]' WHERE seq=?", (erasure.seq,))

    def scrub(self) -> None:
        """Leave no byte of what was erased in free space, logs and indexes; then every erasure is finished."""
        done = [(unfinished.seq,) for unfinished in self.unfinished() if not unfinished.sought]
        self._scrub_index()
        self._db.scrub()
        with self._db.writing(durable=True):
            self._db.run_many("DELETE FROM erasing WHERE seq=?", done)


def _ended(atom: Atom) -> Told:
    ended = atom.with_(status=Status.TOMBSTONED, revision=atom.revision + 1)
    return Told(ended, atom.status, NO_WORDS)


def _texts(fields: dict[str, Any]) -> Iterator[str]:
    for name in _TEXTS:
        text = fields.get(name)
        if text:
            yield text["+"] if isinstance(text, dict) else text
    for name in _LISTS:
        yield from fields.get(name, ())
    yield from fields.get("metadata", {}).values()


def _ids(told: str) -> tuple[AtomId, ...]:
    return tuple(AtomId(load) for load in json.loads(told))
