"""Limits how many requests run in threads at the same time.

Python runs one thread at a time, so parallel requests that only compute would all take longer. Requests that wait or
take long get an extra thread, so that they do not block the others.
"""

from __future__ import annotations

from collections.abc import Callable

from anyio.to_thread import current_default_thread_limiter

MAX_THREADS = 16
"""The limit where requests may wait for a network, and the maximum in every case."""


def set_limit(count: int) -> None:
    """Set the number of worker threads; call it on the server's event loop, as everything in this module."""
    current_default_thread_limiter().total_tokens = count


def add_temporary_thread() -> Callable[[], None]:
    """Add a thread for slow work; return the function that removes it again."""
    limiter = current_default_thread_limiter()
    added = int(limiter.total_tokens < MAX_THREADS)
    limiter.total_tokens += added

    def remove_thread() -> None:
        limiter.total_tokens -= added

    return remove_thread
