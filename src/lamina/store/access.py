"""The `AccessState` port: what the network surfaces of several server processes share.

Access tokens with their browser sessions, the replies to writes that had an idempotency key, and rate limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.provenance import Origin, Scope

RIGHTS = ("read", "write", "admin")
"""What tokens may allow; each right includes those before it."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A stored token or session. `right`: one of `RIGHTS`; `of`: for a session, the id of its token."""

    id: str
    name: str
    scope: Scope
    right: str
    origin: Origin
    hash: str
    made_at: datetime
    expires_at: datetime | None = None
    of: str | None = None

    def is_expired(self, now: datetime) -> bool:
        """Return whether the token has expired."""
        return self.expires_at is not None and now >= self.expires_at


@dataclass(frozen=True, slots=True)
class StoredReply:
    """The reply to a request with an idempotency key; `status` is 0 while the request is running."""

    request_digest: bytes
    status: int = 0
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """The number of finished replies kept for one caller and in total, and their bytes."""

    per_caller: int
    in_total: int
    max_bytes: int


class AccessState(Protocol):
    """State that is not memory: it takes part in no transaction, and waits for no writer of atoms."""

    def list_tokens(self, now: datetime) -> list[AccessToken]:
        """Return the tokens and sessions that are valid now, oldest first; a session ends with its token."""

    def add_token(self, token: AccessToken, now: datetime, max_sessions: int) -> bool:
        """Add a token, if no valid one has its name, or a session, if its token is valid; return whether it was added.

        A token keeps so many sessions: the oldest are removed. Durable when it returns.
        """

    def remove_token(self, id: str) -> None:
        """Remove a token with its sessions, or one session. Durable when it returns."""

    def begin_reply(self, caller: str, key: str, digest: bytes, now: datetime, until: datetime) -> StoredReply | None:
        """Return the reply that this caller's key has; None if it is new, and belongs to this request until then."""

    def finish_reply(
        self, caller: str, key: str, reply: StoredReply | None, until: datetime, limits: ReplyLimits
    ) -> None:
        """Store the reply of a key until a moment, or free the key; the oldest replies over the limits are removed."""

    def clear_replies(self) -> None:
        """Remove every finished reply: replies contain text, which may have been erased."""

    def take(self, name: str, per_minute: float, now: float) -> float:
        """Count one request, spread evenly over a minute, and return 0.0; or the seconds to wait until one is free."""
