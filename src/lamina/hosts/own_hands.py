"""A memory opened by the hook itself, where no server runs: the same answers, only later."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lamina.memory import Memory

LOCAL = "local"
"""Who a program of the vault's owner is, whether it comes through the socket or not."""


def recalled(root: Path, scope: str | None, question: str, k: int, budget: int) -> str:
    """What is known of a question, as context; empty where nothing is."""
    with _opened(root, scope) as memory:
        found = memory.recall(question, k, fast=True)
        return found.context(budget) if found.relevant else ""


def at_the_start(root: Path, scope: str | None, project: str, budget: int) -> str:
    """What matters when a session begins, as context: the core, the project, what is recent; empty without any."""
    with _opened(root, scope) as memory:
        known = memory.beginning(project or None, budget)
        return known.text if known.ids else ""


def captured(
    root: Path, scope: str | None, turns: Sequence[dict[str, str]], session_id: str, source_id: str, key: str
) -> None:
    """Keep turns, and read and encode them: nobody waits for it."""
    from lamina.errors import InvalidInput
    from lamina.models.errors import ModelError

    with _opened(root, scope) as memory:
        with contextlib.suppress(InvalidInput):  # nothing but recalled context was said
            memory.capture(turns, session_id=session_id, source_id=source_id, key=f"{LOCAL}:{key}")
        with contextlib.suppress(ModelError):
            memory.embed()


@contextlib.contextmanager
def _opened(root: Path, scope: str | None) -> Iterator[Memory]:
    from lamina.atom.trust import Origin
    from lamina.memory import Memory

    with Memory(
        root, scope, actor=LOCAL, principal=LOCAL, ceiling=Origin.AGENT, watch=False, background=False
    ) as memory:
        yield memory
