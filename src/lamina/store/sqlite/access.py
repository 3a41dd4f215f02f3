"""Access tokens, replies and rate limits in access.db, beside the journal, so that no request waits for a commit."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.atom.provenance import Origin, parse_scope
from lamina.errors import LaminaError, StoreError
from lamina.store.access import RIGHTS, AccessToken, ReplyLimits, StoredReply
from lamina.store.sqlite.database import Database
from lamina.text.timestamps import from_millis, parse_time, to_millis

FILE_NAME, TOKEN_FILE = "access.db", "tokens.json"
MINUTE = 60.0
_TOLERANCE = 1e-6
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tokens(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, scope TEXT NOT NULL, right TEXT NOT NULL,
  origin TEXT NOT NULL, hash TEXT NOT NULL, made_at INTEGER NOT NULL, expires_at INTEGER, parent TEXT);
CREATE TABLE IF NOT EXISTS replies(
  n INTEGER PRIMARY KEY, caller TEXT NOT NULL, key TEXT NOT NULL, digest BLOB NOT NULL, until INTEGER NOT NULL,
  status INTEGER NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL, UNIQUE(caller, key));
CREATE TABLE IF NOT EXISTS rates(name TEXT PRIMARY KEY, full_at REAL NOT NULL) WITHOUT ROWID;
"""
"""`full_at`: when the allowance of a name will be full again; each request moves it."""
_VALID = (
    "SELECT id, name, scope, right, origin, hash, made_at, expires_at, parent FROM tokens t "
    "WHERE coalesce(expires_at>?1, 1) AND (parent IS NULL OR EXISTS("
    "SELECT 1 FROM tokens r WHERE r.id=t.parent AND coalesce(r.expires_at>?1, 1))) ORDER BY n"
)


class SqliteAccess:
    """One file that many processes open. A damaged one admits no one: it is never replaced."""

    def __init__(self, folder: Path, *, vfs: str | None = None) -> None:
        self._path, self._token_file, self._vfs = folder / FILE_NAME, folder / TOKEN_FILE, vfs
        self._open_lock = threading.Lock()
        self._opened: Database | None = None

    @property
    def _db(self) -> Database:
        with self._open_lock:
            if self._opened is None:
                db = Database(self._path, vfs=self._vfs)
                with db.close_on_error():
                    with db.write_transaction(durable=True):
                        db.run(_SCHEMA)
                    self._adopt_token_file(db)
                self._opened = db
            return self._opened

    def exists(self) -> bool:
        """Return whether anything was ever stored."""
        return self._opened is not None or self._path.exists() or self._token_file.exists()

    def close(self) -> None:
        """Close the file."""
        with self._open_lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def scrub(self) -> None:
        """Remove every reply, and every byte of removed ones."""
        if self.exists():
            self.clear_replies()
            self._db.scrub()

    def list_tokens(self, now: datetime) -> list[AccessToken]:
        return [_to_token(row) for row in self._db.rows(_VALID, (to_millis(now),))] if self.exists() else []

    def add_token(self, token: AccessToken, now: datetime, max_sessions: int) -> bool:
        with (db := self._db).write_transaction(durable=True):
            db.run("DELETE FROM tokens WHERE expires_at<=?", (to_millis(now),))
            if token.of is None:
                is_free = not db.one("SELECT 1 FROM tokens WHERE name=? AND parent IS NULL", (token.name,))
            else:
                is_free = db.one("SELECT 1 FROM tokens WHERE id=?", (token.of,)) is not None
                db.run(
                    "DELETE FROM tokens WHERE parent=?1 AND n NOT IN "
                    "(SELECT n FROM tokens WHERE parent=?1 ORDER BY n DESC LIMIT ?2)",
                    (token.of, max_sessions - 1),
                )
            if is_free:
                _insert_token(db, token)
            return is_free

    def remove_token(self, id: str) -> None:
        with (db := self._db).write_transaction(durable=True):
            db.run("DELETE FROM tokens WHERE ? IN (id, parent)", (id,))

    def begin_reply(self, caller: str, key: str, digest: bytes, now: datetime, until: datetime) -> StoredReply | None:
        with (db := self._db).write_transaction(durable=False):
            db.run("DELETE FROM replies WHERE until<=?", (to_millis(now),))
            row = db.one("SELECT digest, status, headers, body FROM replies WHERE caller=? AND key=?", (caller, key))
            if row is None:
                db.run(
                    "INSERT INTO replies(caller, key, digest, until, status, headers, body) VALUES(?,?,?,?,0,'[]',x'')",
                    (caller, key, digest, to_millis(until)),
                )
                return None
            headers = tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in json.loads(row[2]))
            return StoredReply(row[0], row[1], headers, row[3])

    def finish_reply(
        self, caller: str, key: str, reply: StoredReply | None, until: datetime, limits: ReplyLimits
    ) -> None:
        with (db := self._db).write_transaction(durable=False):
            if reply is None:
                db.run("DELETE FROM replies WHERE caller=? AND key=?", (caller, key))
                return
            headers = json.dumps([[name.decode("latin-1"), value.decode("latin-1")] for name, value in reply.headers])
            db.run(
                "UPDATE replies SET status=?, headers=?, body=?, until=? WHERE caller=? AND key=?",
                (reply.status, headers, reply.body, to_millis(until), caller, key),
            )
            self._evict(db, caller, limits)

    def _evict(self, db: Database, caller: str, limits: ReplyLimits) -> None:
        db.run(
            "DELETE FROM replies WHERE n IN (SELECT n FROM ("
            "SELECT n, caller, row_number() OVER (PARTITION BY caller ORDER BY n DESC) AS nth, "
            "row_number() OVER (ORDER BY n DESC) AS nth_of_all, "
            "sum(length(body)) OVER (ORDER BY n DESC) AS bytes FROM replies WHERE status) "
            "WHERE (caller=?1 AND nth>?2) OR nth_of_all>?3 OR bytes>?4)",
            (caller, limits.per_caller, limits.in_total, limits.max_bytes),
        )

    def clear_replies(self) -> None:
        if self.exists():
            with (db := self._db).write_transaction(durable=True):
                db.run("DELETE FROM replies WHERE status")

    def take(self, name: str, per_minute: float, now: float) -> float:
        step = MINUTE / per_minute
        with (db := self._db).write_transaction(durable=False):
            db.run("DELETE FROM rates WHERE full_at<=?", (now,))
            row = db.one("SELECT full_at FROM rates WHERE name=?", (name,))
            full_at = (row[0] if row else now) + step
            wait = full_at - now - MINUTE
            if wait > _TOLERANCE:
                return float(wait)
            db.run("INSERT INTO rates VALUES(?1,?2) ON CONFLICT DO UPDATE SET full_at=?2", (name, full_at))
            return 0.0

    def _adopt_token_file(self, db: Database) -> None:
        """Take over the tokens of the file that earlier versions kept, once."""
        try:
            tokens = list(_parse_token_file(self._token_file))
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(
                f"{self._token_file} cannot be read: {error.strerror}; no token is accepted until this is fixed"
            ) from error
        with db.write_transaction(durable=True):
            for token in tokens:
                if not db.one("SELECT 1 FROM tokens WHERE id=?", (token.id,)):
                    _insert_token(db, token)
        with suppress(FileNotFoundError):
            self._token_file.unlink()


def _insert_token(db: Database, token: AccessToken) -> None:
    db.run(
        "INSERT INTO tokens(id, name, scope, right, origin, hash, made_at, expires_at, parent) "
        "VALUES(?,?,?,?,?,?,?,?,?)",
        (
            token.id,
            token.name,
            token.scope,
            token.right,
            token.origin.value,
            token.hash,
            to_millis(token.made_at),
            to_millis(token.expires_at) if token.expires_at else None,
            token.of,
        ),
    )


def _to_token(row: Sequence[Any]) -> AccessToken:
    id_, name, scope, right, origin, hash_, made_at, expires_at, of = row
    return AccessToken(
        id_,
        name,
        parse_scope(scope),
        right,
        Origin(origin),
        hash_,
        from_millis(made_at),
        from_millis(expires_at) if expires_at is not None else None,
        of,
    )


def _parse_token_file(path: Path) -> Iterator[AccessToken]:
    """Yield the tokens of the file; StoreError if it is damaged."""
    text = path.read_text(encoding="utf-8")
    try:
        for record in json.loads(text):
            yield _parse_token(**record)
    except (ValueError, TypeError, RecursionError, LaminaError) as error:
        raise StoreError(f"{path} is damaged: {error}; delete it and create new tokens") from error


def _parse_token(*, made_at: str, expires_at: str | None, origin: str, scope: str, **rest: str | None) -> AccessToken:
    """Parse one token of the file; TypeError if a value is not ASCII text."""
    texts = [made_at, expires_at or "", scope, *(text for name, text in rest.items() if name != "of" or text)]
    if not all(isinstance(text, str) and text.isascii() for text in texts):
        raise TypeError("the values of a token are ASCII texts")
    if rest.get("right") not in RIGHTS:
        raise ValueError(f"{rest.get('right')!r} is not a right")
    fields: dict[str, Any] = {**rest, "scope": parse_scope(scope), "origin": Origin(origin)}
    expires = parse_time(expires_at) if expires_at else None
    return AccessToken(**fields, made_at=parse_time(made_at), expires_at=expires)
