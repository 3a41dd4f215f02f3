"""Exports as other programs write them, in miniature."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

START = 1714557600.0
"""2024-05-01 10:00 UTC."""


def message(role: str, text: str, at: float | None = START, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"author": {"role": role}, "create_time": at, "content": content, "recipient": "all", **more}


def chatgpt(
    own_id: str, messages: list[dict[str, Any]], title: str = "Tea", branch: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A conversation as a tree; `branch` is an answer that was thrown away."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    for n, text in enumerate(messages):
        parent = f"n{n - 1}" if n else "root"
        mapping[f"n{n}"] = {"id": f"n{n}", "message": text, "parent": parent, "children": [f"n{n + 1}"]}
    last = f"n{len(messages) - 1}"
    mapping.get(last, mapping["root"])["children"] = []
    if branch is not None:
        mapping["other"] = {"id": "other", "message": branch, "parent": "n0", "children": []}
    return {"id": own_id, "title": title, "create_time": START, "mapping": mapping, "current_node": last}


def claude(own_id: str, messages: list[dict[str, Any]], name: str = "Tea", **more: Any) -> dict[str, Any]:
    began = "2024-05-01T10:00:00.000000Z"
    return {"uuid": own_id, "name": name, "created_at": began, "chat_messages": messages, **more}


def claude_message(sender: str, text: str, **more: Any) -> dict[str, Any]:
    at = "2024-05-01T10:00:00.500000+00:00"
    return {"uuid": text[:8], "sender": sender, "text": text, "created_at": at, **more}


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def zip_bytes(path: Path, **members: object) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(name.replace("__", "/") + ".json", json.dumps(value))
    return path


def note(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
