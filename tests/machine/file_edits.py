"""What people do to the text of a file, with an editor that knows nothing of us."""

from __future__ import annotations

import re


def with_body(data: bytes, body: str) -> bytes:
    """The file with other words below its frontmatter."""
    newline, front, _ = _parts(data)
    return _joined(newline, front, f"\n{body}\n")


def with_entry(data: bytes, key: str, value: str | None) -> bytes:
    """The file with one entry of its frontmatter set as the last, or removed."""
    newline, front, body = _parts(data)
    stored = re.sub(rf"(?m)^{key}:.*\n(?:[ \t]+.*\n|- .*\n)*", "", front)
    return _joined(newline, stored + (f"{key}: {value}\n" if value is not None else ""), body)


def entry(data: bytes, key: str) -> str | None:
    """The text of a one-line entry."""
    matches = re.search(rf"(?m)^{key}: (.*)$", _parts(data)[1])
    return matches[1] if matches else None


def with_crlf(data: bytes) -> bytes:
    """The file as a Windows editor saves it; a second time it is back to what it was."""
    plain = data.replace(b"\r\n", b"\n")
    return plain if b"\r\n" in data else plain.replace(b"\n", b"\r\n")


def _parts(data: bytes) -> tuple[str, str, str]:
    text = data.decode()
    newline = "\r\n" if "\r\n" in text else "\n"
    front, _, body = text.replace("\r\n", "\n").removeprefix("---\n").partition("\n---\n")
    return newline, front + "\n", body


def _joined(newline: str, front: str, body: str) -> bytes:
    return f"---\n{front}---\n{body}".replace("\n", newline).encode()
