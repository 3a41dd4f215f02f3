"""Access tokens and browser sessions of a vault; only their hashes are stored.

A token has 256 random bits, so a plain SHA-256 reveals nothing. A session stands for a token in a browser: it ends with
the token, and after 30 days.
"""

from __future__ import annotations

import builtins
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta

from lamina.access.principal import Principal, Right
from lamina.atom.provenance import Origin, Scope, parse_scope
from lamina.errors import InvalidInput, NotFound
from lamina.store.access import AccessState, AccessToken

TOKEN_PREFIX = "lam_"
SESSION_PREFIX = "las_"
SESSION_DAYS = 30
MAX_SESSIONS = 50
"""Sessions kept for one token; the oldest is removed first."""
RESERVED_NAMES = frozenset({"human", "lamina", "local"})
"""Names the journal uses for other actors."""
_NAME_PATTERN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_SECRET_PATTERN = re.compile(r"la[ms]_[A-Za-z0-9_-]{43}")


class AccessTokenStore:
    """The tokens of a vault. Every call sees changes by other processes."""

    def __init__(self, state: AccessState, now: Callable[[], datetime]) -> None:
        self._state, self._now = state, now

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
        token, secret = self._make_token(TOKEN_PREFIX, name, parse_scope(scope), right, origin, expires_at)
        if not self._state.add_token(token, self._now(), MAX_SESSIONS):
            raise InvalidInput(f"a token {name!r} exists already; revoke it first or choose another name")
        return token, secret

    def list(self) -> builtins.list[AccessToken]:
        """Return the tokens that are valid now, oldest first, without sessions."""
        return [token for token in self._state.list_tokens(self._now()) if token.of is None]

    def revoke(self, name: str) -> AccessToken:
        """Remove a token, by name or id, and its sessions. NotFound if there is none."""
        revoked = next((token for token in self.list() if name in (token.name, token.id)), None)
        if revoked is None:
            raise NotFound(f"no token {name!r}; `lamina token list` shows them")
        self._state.remove_token(revoked.id)
        return revoked

    def authenticate(self, secret: str) -> Principal | None:
        """Return the caller this secret authenticates, or None if it is not valid."""
        token = self._find_active(secret)
        if token is None:
            return None
        session = token.id if token.of is not None else ""
        return Principal(token.name, token.scope, Right(token.right), token.origin, token.of or token.id, session)

    def is_authorised(self, caller: Principal) -> bool:
        """Return whether the caller's token and session are still valid: not revoked, signed out or expired."""
        ids = {token.id for token in self._state.list_tokens(self._now())}
        return all(token_id in ids for token_id in (caller.token, caller.session) if token_id)

    def open_session(self, secret: str) -> str | None:
        """Open a session with a token's secret and return the session's secret; None if the token is not valid."""
        token = self._find_active(secret)
        if token is None or token.of is not None:
            return None
        expires_at = self._now() + timedelta(days=SESSION_DAYS)
        expires_at = min(expires_at, token.expires_at) if token.expires_at is not None else expires_at
        session, session_secret = self._make_token(
            SESSION_PREFIX, token.name, token.scope, Right(token.right), token.origin, expires_at, of=token.id
        )
        return session_secret if self._state.add_token(session, self._now(), MAX_SESSIONS) else None

    def close_session(self, secret: str) -> None:
        """End the session with this secret; does nothing if there is none."""
        token = self._find_active(secret)
        if token is not None and token.of is not None:
            self._state.remove_token(token.id)

    def _find_active(self, secret: str) -> AccessToken | None:
        if not _SECRET_PATTERN.fullmatch(secret):
            return None
        hashed, tokens = _hash_secret(secret), self._state.list_tokens(self._now())
        return next((token for token in tokens if hmac.compare_digest(token.hash, hashed)), None)

    def _make_token(
        self,
        prefix: str,
        name: str,
        scope: Scope,
        right: Right,
        origin: Origin,
        ends: datetime | None,
        of: str | None = None,
    ) -> tuple[AccessToken, str]:
        secret = prefix + secrets.token_urlsafe(32)
        hashed, id_ = _hash_secret(secret), secrets.token_hex(6)
        return AccessToken(id_, name, scope, right.value, origin, hashed, self._now(), ends, of), secret


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
