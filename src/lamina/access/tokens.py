"""Tokens: long random words that open a vault from outside. Only their hashes are kept.

A token has 256 random bits, so a plain hash of it tells nothing. A session is what a browser holds after its person
showed a token once: it ends with the token, and after a month.
"""

from __future__ import annotations

import builtins
import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from lamina.access.caller import Caller, Right
from lamina.atom.scope import parse_scope
from lamina.atom.trust import Origin
from lamina.errors import InvalidInput, LaminaError, NotFound, StoreError
from lamina.text.times import format_time, parse_time

FILE = "tokens.json"
PREFIX = "lam_"
SESSION_PREFIX = "las_"
SESSION_DAYS = 30
MOST_SESSIONS = 50
"""Of one token; the oldest makes way."""
TAKEN = frozenset({"human", "lamina", "local"})
"""Names the journal knows somebody else by."""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_SHAPE = re.compile(r"la[ms]_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token. `of`: for a session the token it was opened with."""

    id: str
    name: str
    scope: str
    right: Right
    origin: Origin
    hash: str
    made_at: datetime
    expires_at: datetime | None = None
    of: str | None = None

    def is_over(self, now: datetime) -> bool:
        return self.expires_at is not None and now >= self.expires_at


class Tokens:
    """The tokens of a vault, in one file that only its owner may read. Every look sees what others did to it."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._path, self._now = folder / FILE, now
        self._known: tuple[_Stamp | None, tuple[Token, ...]] = (None, ())
        """The file as it was last seen, and what it said: set as one, for many threads look."""

    def create(
        self,
        name: str,
        scope: str,
        right: Right = Right.WRITE,
        origin: Origin = Origin.AGENT,
        days: float | None = None,
    ) -> tuple[Token, str]:
        """A new token and its secret, which is told this once."""
        if not _NAME.fullmatch(name) or name in TAKEN:
            raise InvalidInput(f"{name!r} cannot name a token; use lower-case letters, digits, dots, - and _")
        if origin not in (Origin.HUMAN, Origin.AGENT):
            raise InvalidInput("whoever holds a token speaks as a human or as an agent")
        if days is not None and not 0 < days <= 36_500:
            raise InvalidInput("a token lives for more than no day and at most a century")
        ends = self._now() + timedelta(days=days) if days is not None else None
        with self._changing() as held:
            held[:] = [each for each in held if not each.is_over(self._now())]
            if any(each.name == name and each.of is None for each in held):
                raise InvalidInput(f"there is a token {name!r}; revoke it first or choose another name")
            token, secret = self._made(PREFIX, name, parse_scope(scope), right, origin, ends)
            held.append(token)
        return token, secret

    def list(self) -> builtins.list[Token]:
        """The tokens that open something, oldest first; without sessions."""
        now = self._now()
        return [each for each in self._read() if each.of is None and not each.is_over(now)]

    def revoke(self, name: str) -> Token:
        """Let a token, by name or id, open nothing from now on, nor any session opened with it."""
        with self._changing() as held:
            found = next((each for each in held if each.of is None and name in (each.name, each.id)), None)
            if found is None:
                raise NotFound(f"no token {name!r}; `lamina token list` shows them")
            held[:] = [each for each in held if found.id not in (each.id, each.of)]
        return found

    def caller(self, secret: str) -> Caller | None:
        """Whoever holds this secret; None where it opens nothing."""
        token = self._find(secret)
        if token is None:
            return None
        session = token.id if token.of is not None else ""
        return Caller(token.name, parse_scope(token.scope), token.right, token.origin, token.of or token.id, session)

    def welcomes(self, caller: Caller) -> bool:
        """Whether what a caller came with still opens: neither revoked, nor signed out, nor over."""
        ids = {each.id for each in self._open()}
        return all(each in ids for each in (caller.token, caller.session) if each)

    def open_session(self, secret: str) -> str | None:
        """The secret of a new session for who holds a token; None where it opens nothing."""
        token = self._find(secret)
        if token is None or token.of is not None:
            return None
        ends = self._now() + timedelta(days=SESSION_DAYS)
        ends = min(ends, token.expires_at) if token.expires_at is not None else ends
        session, told = self._made(SESSION_PREFIX, token.name, token.scope, token.right, token.origin, ends)
        with self._changing() as held:
            if not any(each.id == token.id for each in held):
                return None
            own = [each.id for each in held if each.of == token.id]
            surplus = set(own[: max(0, len(own) - MOST_SESSIONS + 1)])
            held[:] = [each for each in held if each.id not in surplus and not each.is_over(self._now())]
            held.append(replace(session, of=token.id))
        return told

    def close_session(self, secret: str) -> None:
        """Let a session end."""
        token = self._find(secret)
        if token is not None and token.of is not None:
            with self._changing() as held:
                held[:] = [each for each in held if each.id != token.id]

    def _find(self, secret: str) -> Token | None:
        if not _SHAPE.fullmatch(secret):
            return None
        hashed = _hash(secret)
        return next((each for each in self._open() if hmac.compare_digest(each.hash, hashed)), None)

    def _open(self) -> builtins.list[Token]:
        """Everything that opens something; a session does as long as its token."""
        now = self._now()
        alive = [each for each in self._read() if not each.is_over(now)]
        roots = {each.id for each in alive if each.of is None}
        return [each for each in alive if each.of is None or each.of in roots]

    def _made(
        self, prefix: str, name: str, scope: str, right: Right, origin: Origin, ends: datetime | None
    ) -> tuple[Token, str]:
        secret = prefix + secrets.token_urlsafe(32)
        token = Token(secrets.token_hex(6), name, scope, right, origin, _hash(secret), self._now(), ends)
        return token, secret

    def _read(self) -> tuple[Token, ...]:
        with _in_our_words(self._path):
            try:
                seen = self._path.stat()
            except FileNotFoundError:
                return ()
            stamp, (before, known) = _stamp(seen), self._known
            if stamp != before:
                if seen.st_mode & 0o077:  # put there by other hands than ours; a drive without rights keeps them
                    with suppress(OSError):
                        self._path.chmod(0o600)
                known = tuple(_parsed(self._path))
                self._known = (stamp, known)
            return known

    @contextmanager
    def _changing(self) -> Iterator[builtins.list[Token]]:
        """The tokens, to be changed while nobody else does; written whole or not at all."""
        with _in_our_words(self._path):
            lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                held = [*self._read()]
                yield held
                _write(self._path, held)
            finally:
                os.close(lock)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


_Stamp = tuple[int, int, int, int]


def _stamp(seen: os.stat_result) -> _Stamp:
    """By what a file is known to be as it was."""
    return (seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size)


@contextmanager
def _in_our_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path} cannot be read or written: {error.strerror}; nobody is let in meanwhile") from error


def _parsed(path: Path) -> Iterator[Token]:
    try:
        for load in json.loads(path.read_text(encoding="utf-8")):
            yield _token(**load)
    except (ValueError, TypeError, RecursionError, LaminaError) as error:
        raise StoreError(f"{path} is damaged: {error}; delete it and make new tokens") from error


def _token(*, made_at: str, expires_at: str | None, right: str, origin: str, scope: str, **rest: str | None) -> Token:
    """A token as the file tells it; whatever is not words there is damage."""
    told = [made_at, expires_at or "", scope, *(each for name, each in rest.items() if name != "of" or each)]
    if not all(isinstance(each, str) and each.isascii() for each in told):
        raise TypeError("a token is told in words")
    ends = parse_time(expires_at) if expires_at else None
    known: dict[str, Any] = {**rest, "scope": parse_scope(scope), "right": Right(right), "origin": Origin(origin)}
    return Token(**known, made_at=parse_time(made_at), expires_at=ends)


def _write(path: Path, tokens: list[Token]) -> None:
    told = [
        {
            **asdict(token),
            "made_at": format_time(token.made_at),
            "expires_at": format_time(token.expires_at) if token.expires_at else None,
        }
        for token in tokens
    ]
    beside = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(told, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _settled(path.parent)  # or a token that was revoked would open again after a loss of power
    finally:
        beside.unlink(missing_ok=True)


def _settled(folder: Path) -> None:
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(held)
    finally:
        os.close(held)
