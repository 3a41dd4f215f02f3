"""Translates errors of the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lamina.errors import StoreError


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Raise StoreError with advice in place of OSError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the disk failed: {error}; no acknowledged write is lost. Check the disk and try again"
        ) from error
