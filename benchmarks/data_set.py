"""Define the data of a benchmark: sessions that are captured into one vault, and questions with the turns that answer
them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from lamina.errors import InvalidInput

T = TypeVar("T")

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class BenchTurn:
    """One turn; `id` is how gold evidence names it."""

    id: str
    text: str
    speaker: str | None = None
    role: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BenchSession:
    """One session of a conversation, or one document."""

    id: str
    at: datetime
    turns: tuple[BenchTurn, ...]


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question, the turns and sessions that answer it, and when it is asked: by default after everything.

    `turn_groups` has the same turns in sets that were said together, oldest first.
    """

    text: str
    category: str
    turns: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    at: datetime | None = None
    turn_groups: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True, slots=True)
class BenchCollection:
    """Sessions of one vault, and the questions about them."""

    id: str
    sessions: tuple[BenchSession, ...]
    questions: tuple[BenchQuestion, ...]


def merge_collections(name: str, collections: Sequence[BenchCollection]) -> BenchCollection:
    """Return all collections as one, each session once."""
    sessions: dict[str, BenchSession] = {}
    for item in (session for collection in collections for session in collection.sessions):
        sessions.setdefault(item.id, item)
    questions = tuple(question for collection in collections for question in collection.questions)
    return BenchCollection(name, tuple(sessions.values()), questions)


def limit_collections(collections: Sequence[BenchCollection], most: int | None) -> Sequence[BenchCollection]:
    """Return the first few collections or, if there is only one, its first few questions."""
    if most is None or len(collections) > 1:
        return collections[:most]
    return [replace(collection, questions=collection.questions[:most]) for collection in collections]


def read_data_file(path: Path, noun: str, parse: Callable[[Any], T]) -> tuple[T, str]:
    """Parse a JSON file (also gzipped), and return the result and the SHA-256 of the file; InvalidInput names the
    expected `noun`.
    """
    try:
        raw = path.read_bytes()
        data = json.loads(gzip.decompress(raw) if raw.startswith(_GZIP) else raw)
        return parse(data), hashlib.sha256(raw).hexdigest()
    except KeyError as error:
        raise InvalidInput(f"{path} is not a {noun} file: it lacks {error}") from error
    except (ValueError, TypeError, AttributeError, IndexError, OSError, EOFError) as error:
        raise InvalidInput(f"{path} is not a {noun} file: {error}") from error


def require_any(items: Iterable[T], noun: str) -> list[T]:
    """Return the items as a list; ValueError if there are none."""
    values = list(items)
    if not values:
        raise ValueError(f"it has no {noun}")
    return values
