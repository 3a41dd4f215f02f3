"""The ledger of files in history.db. It has no fsync of its own: what is lost is found out again from the disk."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId
from lamina.atom.record import from_record
from lamina.atom.status import ENDED
from lamina.clock import Clock
from lamina.store.base import Change, Seen
from lamina.store.ledger import FileLine, FileRow, FileState, Pending, Problem
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.history import millis, moment
from lamina.vault import codec, layout
from lamina.vault.files import Stamp
from lamina.vault.links import Link

SETTLED_NS = 120 * 10**9
"""After this long a written file has reached the disk (the kernel writes back within about 35 s)."""

_FILE_LINE = "SELECT path, atom_id, state, size, mtime_ns, ctime_ns, inode, checked_ns FROM files"
_CALM = f"state<>'{FileState.GONE}' AND checked_ns-max(mtime_ns, ctime_ns)>=?"
_FILE_ROW = (
    "SELECT f.path, f.atom_id, f.state, f.size, f.mtime_ns, f.ctime_ns, f.inode, f.checked_ns, f.data, o.base, o.ours, "
    "o.path IS NOT NULL AND o.written_ns IS NULL FROM files f LEFT JOIN outbox o ON o.path=f.path"
)
_SIGNALS = (
    "SELECT atom_id, quality_score, recall_count, last_recalled_at, uses, first_used_at, use_days, successes, failures "
    "FROM signals"
)


class SqliteLedger:
    """Files, outbox, problems and signals."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._boot = _boot_id()

    def lines(self) -> list[FileLine]:
        return [_line(row) for row in self._db.rows(_FILE_LINE)]

    def calm(self, for_ns: int) -> tuple[dict[str, tuple[int, ...]], list[FileLine]]:
        """The stamps of files that can be told by them, and every other line."""
        with self._db.reading():
            calm = self._db.rows(f"SELECT path, size, mtime_ns, ctime_ns, inode FROM files WHERE {_CALM}", (for_ns,))
            others = self._db.rows(f"{_FILE_LINE} WHERE ({_CALM}) IS NOT TRUE", (for_ns,))
        return {row[0]: row[1:] for row in calm}, [_line(row) for row in others]

    def line(self, path: str) -> FileLine | None:
        found = self._db.one(f"{_FILE_LINE} WHERE path=?", (path,))
        return _line(found) if found else None

    def row(self, path: str) -> FileRow | None:
        return self._row("f.path=?", path)

    def row_of(self, atom_id: AtomId) -> FileRow | None:
        return self._row("f.atom_id=?", atom_id)

    def _row(self, where: str, value: str) -> FileRow | None:
        found = self._db.one(f"{_FILE_ROW} WHERE {where}", (value,))
        return _file_row(found) if found else None

    def rows(self, paths: Sequence[str]) -> dict[str, FileRow]:
        found: dict[str, FileRow] = {}
        for batch in _batches(paths):
            for row in self._db.rows(f"{_FILE_ROW} WHERE f.path IN ({_marks(batch)})", batch):
                found[row[0]] = _file_row(row)
        return found

    def owned(self, ids: Iterable[AtomId]) -> set[AtomId]:
        return {
            AtomId(row[0])
            for batch in _batches(list(ids))
            for row in self._db.rows(f"SELECT atom_id FROM files WHERE atom_id IN ({_marks(batch)})", batch)
        }

    def head(self, atom_id: AtomId) -> Atom:
        ((record, revision),) = self._db.rows("SELECT record, revision FROM heads WHERE atom_id=?", (atom_id,))
        return from_record(json.loads(record), revision)

    def atom_named(self, name: str) -> AtomId | None:
        found = self._db.rows(
            "SELECT atom_id FROM files WHERE atom_id IS NOT NULL "
            "AND (path=?1 || '.md' OR substr(path, -length(?1)-4)='/' || ?1 || '.md') "
            "UNION SELECT atom_id FROM heads WHERE json_extract(record, '$.source_ref')=?1",
            (name,),
        )
        return AtomId(found[0][0]) if len(found) == 1 else None

    def paths_of(self, ids: Iterable[AtomId]) -> dict[AtomId, str]:
        return {
            AtomId(atom_id): path
            for batch in _batches(list(ids))
            for atom_id, path in self._db.rows(
                f"SELECT atom_id, path FROM files WHERE state!='gone' AND atom_id IN ({_marks(batch)})", batch
            )
        }

    def pending(self, limit: int) -> list[Pending]:
        return self._pending("o.written_ns IS NULL", (limit,))

    def unsure(self) -> list[Pending]:
        return self._pending("o.boot!=?", (self._boot, -1))

    def _pending(self, where: str, values: tuple[Any, ...]) -> list[Pending]:
        return [
            Pending(path, AtomId(atom_id), data, base, tuple(json.loads(ours)), moved_from)
            for path, atom_id, data, base, ours, moved_from in self._db.rows(
                "SELECT o.path, o.atom_id, f.data, o.base, o.ours, o.moved_from FROM outbox o "
                f"JOIN files f ON f.path=o.path WHERE {where} ORDER BY o.rowid LIMIT ?",
                values,
            )
        ]

    def publish(self, changed: Sequence[tuple[Atom | None, Change]]) -> None:
        """Put the files of changed atoms into the outbox; the caller holds the commit's transaction."""
        stems: dict[str, str] = {
            each.atom.id: layout.stem(layout.path_for(each.atom)) for old, each in changed if not old
        }

        def link(atom_id: str) -> str:
            if atom_id not in stems:
                found = self.paths_of([AtomId(atom_id)])
                stems[atom_id] = layout.stem(found[AtomId(atom_id)]) if found else atom_id
            return stems[atom_id]

        fresh: list[tuple[Any, ...]] = []
        found: list[tuple[Any, ...]] = []
        for old, change in changed:
            atom, seen = change.atom, change.seen
            if change.file_gone:
                self._mark_gone("atom_id", atom.id)
            elif old is None and seen is None:
                fresh.append((layout.path_for(atom), atom.id, codec.render(atom, None, link)))
            elif old is None and seen is not None and codec.render(atom, seen.data, link) == seen.data:
                found.append(
                    (seen.path, atom.id, FileState.ATOM.value, seen.data, *_parts(seen.stamp), seen.checked_ns)
                )
            else:
                self._publish_change(old, atom, seen, link)
        self._db.run_many("INSERT INTO files(path, atom_id, state, data, checked_ns) VALUES(?,?,'atom',?,0)", fresh)
        self._db.run_many(
            "INSERT INTO outbox(path, atom_id, ours, boot) VALUES(?,?,'[]',?)",
            [(*row[:2], self._boot) for row in fresh],
        )
        self._db.run_many("INSERT OR REPLACE INTO files VALUES(?,?,?,?,?,?,?,?,?)", found)

    def _publish_change(self, old: Atom | None, new: Atom, seen: Seen | None, link: Link) -> None:
        row = self.row_of(new.id)
        if seen is not None:
            self._take_in(new.id, seen, row)
            row = self.row(seen.path)
        if row is None:
            self._enqueue(layout.path_for(new), new.id, codec.render(new, None, link), None, (), None)
            return
        if row.line.state is FileState.GONE:
            if new.status in ENDED:
                return
            self._db.run("DELETE FROM files WHERE path=?", (row.line.path,))
            self._enqueue(row.line.path, new.id, codec.render(new, row.data, link), None, row.ours, None)
            return
        data = codec.render(new, row.data, link)
        path = row.line.path
        target = layout.path_for(new) if old is not None and path == layout.path_for(old) else path
        if target != path and self.line(target) is not None:
            target = path  # another atom's file is there
        swapped_for = (seen.swapped_for,) if seen and seen.swapped_for else ()
        if data == row.data and target == path and not swapped_for:
            return
        base = row.base if row.pending else row.data
        ours = (*row.ours, _sha(row.data), *swapped_for)
        lies = self._lies_at(row)
        self._db.run("DELETE FROM outbox WHERE path=?", (path,))
        self._db.run("DELETE FROM files WHERE path=?", (path,))
        self._enqueue(target, new.id, data, base, ours, lies if target != lies else None)

    def _lies_at(self, row: FileRow) -> str:
        """Where the file really is: a move that is still to be made has not been."""
        found = self._db.one("SELECT moved_from FROM outbox WHERE path=?", (row.line.path,)) if row.pending else None
        return found[0] if found and found[0] else row.line.path

    def _take_in(self, atom_id: AtomId, seen: Seen, row: FileRow | None) -> None:
        if row is not None and row.line.path != seen.path:
            self._db.run("DELETE FROM files WHERE path=?", (row.line.path,))
            self._db.run("DELETE FROM outbox WHERE path=?", (row.line.path,))
        self._put(seen.path, atom_id, FileState.ATOM, seen.data, seen.stamp, seen.checked_ns)
        self._db.run("DELETE FROM outbox WHERE path=?", (seen.path,))

    def _enqueue(
        self, path: str, atom_id: AtomId, data: bytes, base: bytes | None, ours: tuple[str, ...], moved_from: str | None
    ) -> None:
        self._put(path, atom_id, FileState.ATOM, data, None, 0)
        self._db.run(
            "INSERT OR REPLACE INTO outbox(path, atom_id, base, ours, moved_from, boot) VALUES(?,?,?,?,?,?)",
            (path, atom_id, base, json.dumps(ours), moved_from, self._boot),
        )

    def wrote(
        self, written: Iterable[tuple[str, Stamp, bytes]], checked_ns: int, came_out: Iterable[bytes] = ()
    ) -> None:
        done = list(written)
        with self._db.writing(durable=False):
            self._db.run("DELETE FROM outbox WHERE boot=? AND written_ns<?", (self._boot, checked_ns - SETTLED_NS))
            # A commit made meanwhile may want other bytes there: then these are what the next write replaces.
            self._db.run_many(
                "UPDATE outbox SET base=?2, moved_from=nullif(moved_from, ?1) WHERE path=?1 AND written_ns IS NULL "
                "AND EXISTS(SELECT 1 FROM files f WHERE f.path=?1 AND f.data!=?2)",
                [(path, data) for path, _, data in done],
            )
            self._db.run_many(
                "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, inode=?, checked_ns=? WHERE path=? AND data=?",
                [(*_parts(stamp), checked_ns, path, data) for path, stamp, data in done],
            )
            self._db.run_many(
                "INSERT OR REPLACE INTO swapped VALUES(?,?,?)", [(_sha(data), data, checked_ns) for data in came_out]
            )
            self._db.run_many(
                "UPDATE outbox SET base=NULL, moved_from=NULL, written_ns=?1, boot=?2 WHERE path=?3 "
                "AND EXISTS(SELECT 1 FROM files f WHERE f.path=?3 AND f.data=?4)",
                [(checked_ns, self._boot, path, data) for path, _, data in done],
            )

    def came_out(self, sha256: str) -> bytes | None:
        found = self._db.one("SELECT data FROM swapped WHERE sha256=?", (sha256,))
        return found[0] if found else None

    def known_to_have_come_out(self) -> frozenset[str]:
        return frozenset(row[0] for row in self._db.rows("SELECT sha256 FROM swapped"))

    def forget_came_out(self, before_ns: int) -> None:
        if self._db.one("SELECT 1 FROM swapped WHERE at_ns<? LIMIT 1", (before_ns,)):
            with self._db.writing(durable=False):
                self._db.run("DELETE FROM swapped WHERE at_ns<?", (before_ns,))

    def unchanged(self, seen: Iterable[tuple[str, Stamp]], checked_ns: int) -> None:
        with self._db.writing(durable=False):
            self._stamp(list(seen), checked_ns)

    def _stamp(self, seen: list[tuple[str, Stamp]], checked_ns: int) -> None:
        self._db.run_many(
            "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, inode=?, checked_ns=? WHERE path=? "
            "AND NOT EXISTS(SELECT 1 FROM outbox o WHERE o.path=files.path AND o.written_ns IS NULL)",
            [(*_parts(stamp), checked_ns, path) for path, stamp in seen],
        )

    def saw(
        self, path: str, data: bytes, stamp: Stamp, checked_ns: int, atom_id: AtomId | None, state: FileState
    ) -> None:
        with self._db.writing(durable=False):
            self._put(path, atom_id, state, data, stamp, checked_ns)

    def moved(self, old: str, new: str, stamp: Stamp, checked_ns: int) -> None:
        with self._db.writing(durable=False):
            self._db.run("DELETE FROM files WHERE path=? AND state!='atom'", (new,))
            self._db.run("UPDATE files SET path=?, state='atom' WHERE path=?", (new, old))
            self._db.run("UPDATE outbox SET path=? WHERE path=?", (new, old))
            self._stamp([(new, stamp)], checked_ns)

    def displaced(self, path: str) -> str:
        line = self.line(path)
        name = f"{path.removesuffix(layout.SUFFIX)}-{line.atom_id if line else ''}"
        places = (f"{name}{n or ''}{layout.SUFFIX}" for n in itertools.count())
        with self._db.writing(durable=False):
            aside = next(place for place in places if self.line(place) is None)
            self._db.run("UPDATE files SET path=? WHERE path=?", (aside, path))
            self._db.run("UPDATE outbox SET path=? WHERE path=?", (aside, path))
        return aside

    def gone(self, path: str) -> None:
        with self._db.writing(durable=False):
            self._mark_gone("path", path)

    def _mark_gone(self, column: str, value: str) -> None:
        self._db.run(f"UPDATE files SET state='gone' WHERE {column}=?", (value,))
        self._db.run(f"DELETE FROM outbox WHERE {column}=?", (value,))

    def retell_lost(self, atoms: Iterable[Atom]) -> None:
        """Files that are no longer there are remembered by what their atoms say from now on; the caller holds the
        write transaction."""
        lost = "UPDATE files SET data=? WHERE atom_id=? AND state='gone'"
        self._db.run_many(lost, [(codec.render(atom, None, lambda each: each), atom.id) for atom in atoms])

    def disown(self, ids: Iterable[AtomId]) -> list[str]:
        """Forget the files of erased atoms, and where they lay; the caller holds the write transaction."""
        paths: dict[str, None] = {}
        for batch in _batches(list(ids)):
            marks = _marks(batch)
            for path, moved_from in self._db.rows(
                f"SELECT f.path, o.moved_from FROM files f LEFT JOIN outbox o ON o.path=f.path "
                f"WHERE f.atom_id IN ({marks})",
                batch,
            ):
                paths |= dict.fromkeys(each for each in (path, moved_from) if each)
            for table in ("outbox", "files", "problems"):
                self._db.run(f"DELETE FROM {table} WHERE atom_id IN ({marks})", batch)
        return [*paths]

    def withdrawn(self, pending: Pending) -> None:
        with self._db.writing(durable=False):
            self._db.run("DELETE FROM outbox WHERE path=?", (pending.path,))
            self._put(pending.path, pending.atom_id, FileState.BAD, pending.base or b"", Stamp(-1, 0, 0, 0), 0)

    def forget_file(self, path: str) -> None:
        with self._db.writing(durable=False):
            self._db.run("DELETE FROM files WHERE path=? AND state IN ('foreign', 'bad')", (path,))

    def _put(
        self, path: str, atom_id: AtomId | None, state: FileState, data: bytes, stamp: Stamp | None, checked_ns: int
    ) -> None:
        self._db.run(
            "INSERT OR REPLACE INTO files VALUES(?,?,?,?,?,?,?,?,?)",
            (path, atom_id, state.value, data, *_parts(stamp), checked_ns),
        )

    def problems(self) -> list[Problem]:
        return [
            Problem(path, kind, message, line, AtomId(atom_id) if atom_id else None, moment(at))
            for path, kind, line, atom_id, message, at in self._db.rows(
                "SELECT * FROM problems ORDER BY at, path, kind"
            )
        ]

    def report(self, problem: Problem) -> None:
        known = self._db.one("SELECT line, message FROM problems WHERE path=? AND kind=?", (problem.path, problem.kind))
        if known == (problem.line, problem.message):
            return
        with self._db.writing(durable=False):
            self._db.run(
                "INSERT OR REPLACE INTO problems VALUES(?,?,?,?,?,?)",
                (problem.path, problem.kind, problem.line, problem.atom_id, problem.message, millis(self._clock.now())),
            )

    def clear(self, path: str, kinds: Iterable[str] | None = None) -> None:
        chosen = list(kinds) if kinds is not None else None
        if self._db.one("SELECT 1 FROM problems WHERE path=?", (path,)) is None:
            return
        with self._db.writing(durable=False):
            if chosen is None:
                self._db.run("DELETE FROM problems WHERE path=?", (path,))
            else:
                self._db.run_many("DELETE FROM problems WHERE path=? AND kind=?", [(path, kind) for kind in chosen])

    def signals(self, atom_id: AtomId) -> Signals:
        return self.signals_of([atom_id]).get(atom_id, Signals())

    def signals_of(self, ids: Iterable[AtomId]) -> dict[AtomId, Signals]:
        return {
            AtomId(atom_id): _signals(row)
            for batch in _batches(list(ids))
            for atom_id, *row in self._db.rows(f"{_SIGNALS} WHERE atom_id IN ({_marks(batch)})", batch)
        }

    def set_signals(self, atom_id: AtomId, signals: Signals) -> None:
        last, first = (millis(each) if each else None for each in (signals.last_recalled_at, signals.first_used_at))
        uses = json.dumps([millis(use) for use in signals.uses])
        with self._db.writing(durable=False):
            self._db.run(
                "INSERT OR REPLACE INTO signals VALUES(?1,?,?,?,?,?,?,?,?,(SELECT scope FROM heads WHERE atom_id=?1))",
                (
                    atom_id,
                    signals.quality_score,
                    signals.recall_count,
                    last,
                    uses,
                    first,
                    signals.use_days,
                    signals.successes,
                    signals.failures,
                ),
            )

    def summary(self, of: Callable[[str], bool] | None = None) -> dict[str, int]:
        def paths(where: str) -> int:
            if of is None:
                found = self._db.one(f"SELECT count(*) FROM {where}")
                return int(found[0]) if found else 0
            return sum(of(path) for (path,) in self._db.rows(f"SELECT path FROM {where}"))

        return {
            "files": paths("files WHERE state='atom'"),
            "foreign": paths("files WHERE state='foreign'"),
            "unreadable": paths("files WHERE state='bad'"),
            "to_write": paths("outbox WHERE written_ns IS NULL"),
            "problems": paths("problems"),
        }


def _signals(row: Sequence[Any]) -> Signals:
    quality, count, last, uses, first, days, successes, failures = row
    last_at, first_at = (moment(each) if each is not None else None for each in (last, first))
    times = tuple(moment(load) for load in json.loads(uses))
    if count and not times and last_at:
        times = (last_at,)
    return Signals(quality, count, last_at, times, first_at, days, successes, failures)


def _parts(stamp: Stamp | None) -> tuple[int | None, ...]:
    return (stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode) if stamp else (None, None, None, None)


def _file_row(row: Sequence[Any]) -> FileRow:
    *line, data, base, ours, pending = row
    return FileRow(_line(line), data or b"", base, tuple(json.loads(ours)) if ours else (), bool(pending))


def _batches(values: Sequence[str], size: int = 500) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))


_STATES = {each.value: each for each in FileState}


def _line(row: Iterable[Any]) -> FileLine:
    path, atom_id, state, size, mtime_ns, ctime_ns, inode, checked_ns = row
    stamp = Stamp(size, mtime_ns, ctime_ns, inode) if size is not None else None
    return FileLine(path, AtomId(atom_id) if atom_id else None, _STATES[state], stamp, checked_ns)


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _boot_id() -> str:
    """What changes when the machine starts anew."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"booted-{round((time.time() - time.monotonic()) / 60)}"
