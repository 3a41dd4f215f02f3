"""Loads the engine when it is first needed, by one thread at a time.

A package that one thread is importing looks complete to another thread, so all others wait until the import is
finished.
"""

from __future__ import annotations

import threading

_lock = threading.Lock()
_loaded = threading.Event()


def load_engine() -> None:
    """Import everything the tools need; the first caller does it, others wait."""
    if _loaded.is_set():
        return
    with _lock:
        import lamina.mcp.prompts
        import lamina.mcp.resources
        import lamina.mcp.tools
        import lamina.memory  # noqa: F401

        _loaded.set()
