"""Open regular files only, and read them up to a limit: a pipe blocks, a device never ends, a file may be huge."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from lamina.importers.documents.parsed_document import UnreadableDocument

MAX_EXPORT_BYTES = 1 << 30
"""Bytes of the largest export that is read as a whole."""
LINK, SPECIAL_FILE = "a link, which is not followed", "no regular file: a pipe, socket or device"


def describe_irregular(path: Path) -> str:
    """Return why a name in a folder is not read, without opening it; empty for a regular file, a folder or nothing."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""
    if stat.S_ISLNK(mode):
        return LINK
    return "" if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else SPECIAL_FILE


def is_regular_file(path: Path) -> bool:
    """Return whether a path names a regular file itself, and not by a link."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def open_regular_file(path: Path) -> BinaryIO:
    """Open a file for reading; UnreadableDocument if it is a pipe, socket or device."""
    # Without O_NONBLOCK a pipe in the file's place would block forever.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise UnreadableDocument(path, f"it is {SPECIAL_FILE}")
    return file


def read_head(path: Path, size: int) -> bytes:
    """Return the first bytes of a file."""
    with open_regular_file(path) as file:
        return file.read(size)


def read_regular_file(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file; UnreadableDocument if it is larger than the limit or no regular file."""
    with open_regular_file(path) as file:
        is_larger = os.fstat(file.fileno()).st_size > max_bytes
        data = b"" if is_larger else file.read(max_bytes + 1)
    if is_larger or len(data) > max_bytes:
        raise UnreadableDocument(path, f"it is larger than {max_bytes >> 20} MB; split it")
    return data
