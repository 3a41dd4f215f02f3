"""Opens the memory in the hook's process if no server runs: the same answers, but slower."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lamina.memory import Memory

SOURCE_ID = "claude-code"
"""The source of captured transcripts."""
LOCAL_ACTOR = "local"
"""The actor of programs of the vault's owner, the same as through the server's socket."""


def recall_context(root: Path, scope: str | None, question: str, k: int, budget: int) -> str:
    """Return the context for a question; empty if nothing relevant is known."""
    with _open_memory(root, scope) as memory:
        result = memory.recall(question, k, fast=True)
        return result.context(budget) if result.relevant else ""


def session_start_context(root: Path, scope: str | None, project: str, budget: int) -> str:
    """Return the context for the start of a session: core memories, project, recent atoms; empty if there are none."""
    with _open_memory(root, scope) as memory:
        start = memory.beginning(project or None, budget)
        return start.text if start.ids else ""


def capture_turns(root: Path, scope: str | None, turns: Sequence[dict[str, str]], session_id: str, key: str) -> None:
    """Capture turns, extract statements and compute vectors; no host waits for it."""
    from lamina.errors import InvalidInput
    from lamina.models.errors import ModelError

    with _open_memory(root, scope) as memory:
        with contextlib.suppress(InvalidInput):  # the turns contain nothing but recalled context
            memory.capture(turns, session_id=session_id, source_id=SOURCE_ID, key=f"{LOCAL_ACTOR}:{key}")
        with contextlib.suppress(ModelError):
            memory.embed()


@contextlib.contextmanager
def _open_memory(root: Path, scope: str | None) -> Iterator[Memory]:
    from lamina.atom.provenance import Origin
    from lamina.memory import open_memory

    with open_memory(
        root, scope, actor=LOCAL_ACTOR, principal=LOCAL_ACTOR, ceiling=Origin.AGENT, watch=False, background=False
    ) as memory:
        yield memory
