"""What does the work, loaded when it is first needed, by one thread at a time.

A package that one thread is in the middle of importing looks ready to another, which then finds half of it: whoever
comes while the engine is being loaded waits for all of it.
"""

from __future__ import annotations

import threading

_turn = threading.Lock()
_loaded = threading.Event()


def load() -> None:
    """Have everything that the verbs need; the first one to ask loads it."""
    if _loaded.is_set():
        return
    with _turn:
        import lamina.mcp.prompts
        import lamina.mcp.resources
        import lamina.mcp.tools
        import lamina.memory  # noqa: F401

        _loaded.set()
