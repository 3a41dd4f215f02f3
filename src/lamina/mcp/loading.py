"""Loads the engine when it is first needed, by one thread at a time.

A package that one thread is importing looks complete to another thread, so all others wait until the import is
finished.
"""

from __future__ import annotations

import threading

_turn = threading.Lock()
_loaded = threading.Event()


def load() -> None:
    """Import everything the tools need; the first caller does it, others wait."""
    if _loaded.is_set():
        return
    with _turn:
        import lamina.mcp.prompts
        import lamina.mcp.resources
        import lamina.mcp.tools
        import lamina.memory  # noqa: F401

        _loaded.set()
