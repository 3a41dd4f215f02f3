"""Access tokens and browser sessions of a vault; only their hashes are stored.

A token has 256 random bits, so a plain SHA-256 reveals nothing. A session stands for a token in a browser: it ends with
the token, and after 30 days.
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

from lamina.access.principal import Principal, Right
from lamina.atom.provenance import Origin, parse_scope
from lamina.errors import InvalidInput, LaminaError, NotFound, StoreError
from lamina.text.timestamps import format_time, parse_time

FILE_NAME = "tokens.json"
TOKEN_PREFIX = "lam_"
SESSION_PREFIX = "las_"
SESSION_DAYS = 30
MAX_SESSIONS = 50
"""Sessions kept for one token; the oldest is removed first."""
RESERVED_NAMES = frozenset({"human", "lamina", "local"})
"""Names the journal uses for other actors."""
_NAME_PATTERN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_SECRET_PATTERN = re.compile(r"la[ms]_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A stored token or session. `of`: for a session, the id of the token it was opened with."""

    id: str
    name: str
    scope: str
    right: Right
    origin: Origin
    hash: str
    made_at: datetime
    expires_at: datetime | None = None
    of: str | None = None

    def is_expired(self, now: datetime) -> bool:
        """Return whether the token has expired."""
        return self.expires_at is not None and now >= self.expires_at


class AccessTokenStore:
    """The tokens of a vault, in one file that only its owner may read. Every call sees changes by other processes."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._path, self._now = folder / FILE_NAME, now
        self._cached: tuple[_FileStamp | None, tuple[AccessToken, ...]] = (None, ())
        """The file's stamp and its tokens, replaced together because many threads read them."""

    def create(
        self,
        name: str,
        scope: str,
        right: Right = Right.WRITE,
        origin: Origin = Origin.AGENT,
        days: float | None = None,
    ) -> tuple[AccessToken, str]:
        """Create a token; return it and its secret, which is not stored. InvalidInput if an argument is not valid."""
        if not _NAME_PATTERN.fullmatch(name) or name in RESERVED_NAMES:
            raise InvalidInput(f"{name!r} is not a valid token name; use lower-case letters, digits, dots, - and _")
        if origin not in (Origin.HUMAN, Origin.AGENT):
            raise InvalidInput("the origin of a token is human or agent")
        if days is not None and not 0 < days <= 36_500:
            raise InvalidInput("a token is valid for more than 0 and at most 36500 days")
        expires_at = self._now() + timedelta(days=days) if days is not None else None
        with self._locked_tokens() as tokens:
            tokens[:] = [existing for existing in tokens if not existing.is_expired(self._now())]
            if any(existing.name == name and existing.of is None for existing in tokens):
                raise InvalidInput(f"a token {name!r} exists already; revoke it first or choose another name")
            token, secret = self._make_token(TOKEN_PREFIX, name, parse_scope(scope), right, origin, expires_at)
            tokens.append(token)
        return token, secret

    def list(self) -> builtins.list[AccessToken]:
        """Return the tokens that are valid now, oldest first, without sessions."""
        now = self._now()
        return [token for token in self._read_tokens() if token.of is None and not token.is_expired(now)]

    def revoke(self, name: str) -> AccessToken:
        """Remove a token, by name or id, and its sessions. NotFound if there is none."""
        with self._locked_tokens() as tokens:
            revoked = next((token for token in tokens if token.of is None and name in (token.name, token.id)), None)
            if revoked is None:
                raise NotFound(f"no token {name!r}; `lamina token list` shows them")
            tokens[:] = [token for token in tokens if revoked.id not in (token.id, token.of)]
        return revoked

    def authenticate(self, secret: str) -> Principal | None:
        """Return the caller this secret authenticates, or None if it is not valid."""
        token = self._find_active(secret)
        if token is None:
            return None
        session = token.id if token.of is not None else ""
        return Principal(token.name, parse_scope(token.scope), token.right, token.origin, token.of or token.id, session)

    def is_authorised(self, caller: Principal) -> bool:
        """Return whether the caller's token and session are still valid: not revoked, signed out or expired."""
        ids = {token.id for token in self._active_tokens()}
        return all(token_id in ids for token_id in (caller.token, caller.session) if token_id)

    def open_session(self, secret: str) -> str | None:
        """Open a session with a token's secret and return the session's secret; None if the token is not valid."""
        token = self._find_active(secret)
        if token is None or token.of is not None:
            return None
        expires_at = self._now() + timedelta(days=SESSION_DAYS)
        expires_at = min(expires_at, token.expires_at) if token.expires_at is not None else expires_at
        session, session_secret = self._make_token(
            SESSION_PREFIX, token.name, token.scope, token.right, token.origin, expires_at
        )
        with self._locked_tokens() as tokens:
            if not any(existing.id == token.id for existing in tokens):
                return None
            session_ids = [existing.id for existing in tokens if existing.of == token.id]
            surplus = set(session_ids[: max(0, len(session_ids) - MAX_SESSIONS + 1)])
            tokens[:] = [
                existing for existing in tokens if existing.id not in surplus and not existing.is_expired(self._now())
            ]
            tokens.append(replace(session, of=token.id))
        return session_secret

    def close_session(self, secret: str) -> None:
        """End the session with this secret; does nothing if there is none."""
        token = self._find_active(secret)
        if token is not None and token.of is not None:
            with self._locked_tokens() as tokens:
                tokens[:] = [existing for existing in tokens if existing.id != token.id]

    def _find_active(self, secret: str) -> AccessToken | None:
        if not _SECRET_PATTERN.fullmatch(secret):
            return None
        hashed = _hash_secret(secret)
        return next((token for token in self._active_tokens() if hmac.compare_digest(token.hash, hashed)), None)

    def _active_tokens(self) -> builtins.list[AccessToken]:
        """Return the tokens and sessions that are valid now; a session is valid only as long as its token."""
        now = self._now()
        alive = [token for token in self._read_tokens() if not token.is_expired(now)]
        roots = {token.id for token in alive if token.of is None}
        return [token for token in alive if token.of is None or token.of in roots]

    def _make_token(
        self, prefix: str, name: str, scope: str, right: Right, origin: Origin, ends: datetime | None
    ) -> tuple[AccessToken, str]:
        secret = prefix + secrets.token_urlsafe(32)
        token = AccessToken(secrets.token_hex(6), name, scope, right, origin, _hash_secret(secret), self._now(), ends)
        return token, secret

    def _read_tokens(self) -> tuple[AccessToken, ...]:
        with _wrap_os_errors(self._path):
            try:
                stat = self._path.stat()
            except FileNotFoundError:
                return ()
            stamp, (cached_stamp, tokens) = _file_stamp(stat), self._cached
            if stamp != cached_stamp:
                if stat.st_mode & 0o077:  # written by another program; a drive without permissions cannot change them
                    with suppress(OSError):
                        self._path.chmod(0o600)
                tokens = tuple(_parse_file(self._path))
                self._cached = (stamp, tokens)
            return tokens

    @contextmanager
    def _locked_tokens(self) -> Iterator[builtins.list[AccessToken]]:
        """Yield the tokens for editing, under a file lock; the file is replaced as a whole or not at all."""
        with _wrap_os_errors(self._path):
            lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                tokens = [*self._read_tokens()]
                yield tokens
                _write_file(self._path, tokens)
            finally:
                os.close(lock)


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


_FileStamp = tuple[int, int, int, int]


def _file_stamp(stat: os.stat_result) -> _FileStamp:
    """Return what identifies a version of a file."""
    return (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size)


@contextmanager
def _wrap_os_errors(path: Path) -> Iterator[None]:
    """Turn OSError into StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read or written: {error.strerror}; no token is accepted until this is fixed"
        ) from error


def _parse_file(path: Path) -> Iterator[AccessToken]:
    """Yield the tokens of the file; StoreError if it is damaged."""
    try:
        for load in json.loads(path.read_text(encoding="utf-8")):
            yield _parse_token(**load)
    except (ValueError, TypeError, RecursionError, LaminaError) as error:
        raise StoreError(f"{path} is damaged: {error}; delete it and create new tokens") from error


def _parse_token(
    *, made_at: str, expires_at: str | None, right: str, origin: str, scope: str, **rest: str | None
) -> AccessToken:
    """Parse one token of the file; TypeError if a value is not ASCII text."""
    texts = [made_at, expires_at or "", scope, *(text for name, text in rest.items() if name != "of" or text)]
    if not all(isinstance(text, str) and text.isascii() for text in texts):
        raise TypeError("the values of a token are ASCII texts")
    expires = parse_time(expires_at) if expires_at else None
    fields: dict[str, Any] = {**rest, "scope": parse_scope(scope), "right": Right(right), "origin": Origin(origin)}
    return AccessToken(**fields, made_at=parse_time(made_at), expires_at=expires)


def _write_file(path: Path, tokens: list[AccessToken]) -> None:
    records = [
        {
            **asdict(token),
            "made_at": format_time(token.made_at),
            "expires_at": format_time(token.expires_at) if token.expires_at else None,
        }
        for token in tokens
    ]
    temporary = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(records, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _fsync_folder(path.parent)  # otherwise a revoked token could become valid again after a power loss
    finally:
        temporary.unlink(missing_ok=True)


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
