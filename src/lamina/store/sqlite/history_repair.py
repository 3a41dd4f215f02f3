"""Repairs a damaged history.db: what is intact of the journal goes into a new file, and the old one is kept.

A plain copy of an open vault may contain parts of different moments. A copy is therefore checked once, when it is first
opened: it is another file than the one whose inode was stored beside it.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from lamina.clock import Clock
from lamina.store.admin import FileProblem
from lamina.store.sqlite.admin import SqliteProblems
from lamina.store.sqlite.atoms import replay_atoms
from lamina.store.sqlite.database import CorruptDatabase, Database
from lamina.store.sqlite.hash_chain import count_intact, find_broken_links
from lamina.store.sqlite.heads import HeadTable
from lamina.store.sqlite.history_schema import open_history

logger = logging.getLogger("lamina")

HISTORY = "history.db"
PROBLEM_KIND = "repaired"
_SUFFIXES = ("", "-wal", "-shm")
_INODE_FILE = "history.inode"
_OF_COMMITS = {
    "commits": "seq",
    "reasons": "seq",
    "versions": "seq",
    "erased": "seq",
    "erasing": "seq",
    "retold": "by_seq",
}
"""Tables with rows of commits, and the column with their position."""
_MADE_ANEW = ("heads", "projection_position", "accepted_files")
BATCH = 1000


def check_copy(folder: Path, clock: Clock, *, vfs: str | None = None) -> bool:
    """Check history.db once if it is a copy, and repair it if it is damaged; return whether it is a copy.

    Then index.db may be of another moment, and has to be built again.
    """
    path, marker = folder / HISTORY, folder / _INODE_FILE
    if not path.exists() or _read_inode(marker) in (None, path.stat().st_ino):
        return False
    lock = Database(folder / "repair-lock.db")
    with lock.close_on_error(), lock.exclusive_transaction():
        if _read_inode(marker) != path.stat().st_ino:  # otherwise another process has checked it meanwhile
            try:
                fault = find_damage(path, vfs=vfs)
            except CorruptDatabase as error:
                fault = str(error)
            if fault:
                logger.warning("%s", repair_history(folder, fault, clock))
            mark_as_checked(folder)
    lock.close()
    for suffix in _SUFFIXES:
        lock.path.with_name(f"{lock.path.name}{suffix}").unlink(missing_ok=True)
    return True


def mark_as_checked(folder: Path) -> None:
    """Store that history.db is no copy, or was checked."""
    marker, inode = folder / _INODE_FILE, (folder / HISTORY).stat().st_ino
    if _read_inode(marker) != inode:
        with suppress(OSError):  # without it, a copy is not recognised
            marker.touch(mode=0o600)
            marker.write_text(str(inode), encoding="ascii")
            marker.chmod(0o600)


def find_damage(path: Path, *, vfs: str | None = None) -> str:
    """Return the first fault of a journal, empty if there is none; CorruptDatabase if it cannot be read."""
    db = open_history(path, vfs=vfs)
    with db.close_on_error():
        db.keep_log()
        faults = [row[0] for row in db.rows("PRAGMA quick_check(1)") if row[0] != "ok"]
        faults = faults or find_broken_links(db) or HeadTable(db).find_wrong()
    db.close()
    return faults[0] if faults else ""


def count_rows(path: Path) -> tuple[int, int, str]:
    """Return the number of commits and atoms of a journal, and the hash of the last commit."""
    db = open_history(path)
    with db.close_on_error():
        ((commits, atoms, tip),) = db.rows(
            "SELECT (SELECT count(*) FROM commits), (SELECT count(*) FROM heads), "
            "(SELECT hash FROM commits ORDER BY seq DESC LIMIT 1)"
        )
    db.close()
    return commits, atoms, tip.hex() if tip else ""


def repair_history(folder: Path, fault: str, clock: Clock) -> str:
    """Write what is intact into a new history.db and keep the damaged one; return what was done.

    No other process may have it open. Files of the vault that the journal does not explain become edits at the next
    sync, so that their text is not lost.
    """
    kept = folder / f"damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    kept.mkdir(mode=0o700)
    for suffix in _SUFFIXES:
        with suppress(FileNotFoundError):
            shutil.copy2(folder / f"{HISTORY}{suffix}", kept)
    with tempfile.TemporaryDirectory(prefix="repair-", dir=folder) as scratch:
        commits, lost = _write_intact(kept, Path(scratch))
        for name in (HISTORY, "index.db"):
            for suffix in _SUFFIXES:
                (folder / f"{name}{suffix}").unlink(missing_ok=True)
        (Path(scratch) / HISTORY).rename(folder / HISTORY)
    done = f"history.db was damaged ({fault}): {commits} commits of it are intact and were kept"
    done += f", {lost} are lost, and text that only files have is read from them" if lost else ""
    done += f"; the damaged file is in {kept}"
    db = open_history(folder / HISTORY)
    with db.close_on_error():
        SqliteProblems(db, clock).report(FileProblem(".", PROBLEM_KIND, done))
    db.close()
    mark_as_checked(folder)
    return done


def _write_intact(kept: Path, scratch: Path) -> tuple[int, int]:
    """Write the longest intact journal that can be read into a new file; return its commits, and how many are lost."""
    best: tuple[int, int, Path | None] = (0, 0, None)
    for number, suffixes in enumerate((("", "-wal"), ("",))):
        copy = scratch / str(number)
        copy.mkdir()
        for suffix in suffixes:
            with suppress(FileNotFoundError):
                shutil.copy2(kept / f"{HISTORY}{suffix}", copy)
        with suppress(CorruptDatabase):
            db = Database(copy / HISTORY)
            with db.close_on_error():
                intact = count_intact(db)
                total = _count_commits(db)
            db.close()
            if best[2] is None or intact > best[0]:
                best = intact, total, copy / HISTORY
    intact, total, path = best
    target = open_history(scratch / HISTORY)
    with target.close_on_error():
        if path is not None:
            source = Database(path)
            with source.close_on_error(), target.write_transaction(durable=True):
                _copy_rows(source, target, intact)
            source.close()
        target.run("PRAGMA wal_checkpoint(TRUNCATE)")
    target.close()
    return intact, max(total - intact, 0)


def _count_commits(db: Database) -> int:
    try:
        row = db.one("SELECT max(seq) FROM commits")
    except CorruptDatabase:
        return 0
    return int(row[0] or 0) if row else 0


def _copy_rows(source: Database, target: Database, intact: int) -> None:
    """Copy every table that can be read, as far as it belongs to intact commits; write the current atoms anew."""
    rows = target.rows("SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite%'")
    names = [row[0] for row in rows]
    for name in ("commits", "reasons", "versions"):
        _copy_table(source, target, name, f"WHERE {_OF_COMMITS[name]}<={intact}")
    ids = [row[0] for row in target.rows("SELECT DISTINCT atom_id FROM versions")]
    for start in range(0, len(ids), BATCH):
        HeadTable(target).put(replay_atoms(target, ids[start : start + BATCH]))
    for name in names:
        if name in _OF_COMMITS and name not in ("commits", "reasons", "versions"):
            _copy_table(source, target, name, f"WHERE {_OF_COMMITS[name]}<={intact}")
        elif name not in (*_OF_COMMITS, *_MADE_ANEW):
            _copy_table(source, target, name, "")
    # The rows of files whose atoms changed later are of a state that is lost; those files are read again.
    with suppress(CorruptDatabase):
        lost = source.rows("SELECT DISTINCT atom_id FROM versions WHERE seq>?", (intact,))
        for name in ("files", "outbox"):
            target.run_many(f"DELETE FROM {name} WHERE atom_id=?", lost)
    for name in ("files", "outbox"):
        target.run(f"DELETE FROM {name} WHERE atom_id IS NOT NULL AND atom_id NOT IN (SELECT atom_id FROM heads)")
    target.run("INSERT OR REPLACE INTO meta VALUES('projection_position', 0)")


def _copy_table(source: Database, target: Database, name: str, where: str) -> None:
    """Copy the rows of a table by the columns that both files have; nothing if it cannot be read."""
    with suppress(CorruptDatabase):
        theirs = {row[1] for row in source.rows(f"PRAGMA table_info({name})")}
        columns = ", ".join(row[1] for row in target.rows(f"PRAGMA table_info({name})") if row[1] in theirs)
        rows = source.rows(f"SELECT {columns} FROM {name} {where}") if columns else []
        if rows:
            target.run_many(f"INSERT OR REPLACE INTO {name}({columns}) VALUES({','.join('?' * len(rows[0]))})", rows)


def _read_inode(marker: Path) -> int | None:
    """Return the inode that was stored for history.db; None if there is none."""
    try:
        return int(marker.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
