"""How many requests are worked on at once.

Python runs one thread at a time. Requests that only think take turns, in the order in which they came: several at once
would all take longer, and none be done sooner. Whatever takes long or hangs must not take a turn from the others.
"""

from __future__ import annotations

from collections.abc import Callable

from anyio.to_thread import current_default_thread_limiter

MANY = 16
"""At once where they may have to wait for a network, and the most there ever are."""


def begin(at_once: int) -> None:
    """Work on so many at once from now on; to be called on the server's loop, as everything here."""
    current_default_thread_limiter().total_tokens = at_once


def lend() -> Callable[[], None]:
    """One more, for something that takes long; to be called when it is done is what this returns."""
    limiter = current_default_thread_limiter()
    lent = int(limiter.total_tokens < MANY)
    limiter.total_tokens += lent

    def give_back() -> None:
        limiter.total_tokens -= lent

    return give_back
