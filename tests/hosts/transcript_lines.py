"""Lines of a session as Claude Code writes them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def transcript_line(role: str, content: Any, n: int = 0, **more: Any) -> str:
    """One line: what somebody said at a second of its own, under a name that is the same every time."""
    at = f"2026-11-16T10:{n // 60:02}:{n % 60:02}.500Z"
    name = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{role} {n} {content}"))
    entry = {"type": role, "uuid": name, "timestamp": at, "message": {"role": role, "content": content}, **more}
    return json.dumps(entry, ensure_ascii=False) + "\n"


def conversation(texts: Sequence[str], first: int = 0) -> str:
    """A conversation, a person and a machine in turn."""
    return "".join(
        transcript_line("user", text, n)
        if n % 2 == 0
        else transcript_line("assistant", [{"type": "text", "text": text}], n)
        for n, text in enumerate(texts, first)
    )


def write_transcript(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
