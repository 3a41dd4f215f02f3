"""What a benchmark is made of: sessions that go into one vault, and questions with the turns that answer them."""

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
class Turn:
    """One thing that was said; `id` is how gold evidence names it."""

    id: str
    text: str
    speaker: str | None = None
    role: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting of a conversation, or one document."""

    id: str
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the turns and the sessions that answer it, and when it is asked: by default after everything.

    `said` is the same turns, those that were said together in one set, oldest first.
    """

    text: str
    category: str
    turns: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    at: datetime | None = None
    said: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Collection:
    """Sessions that go into one vault, and the questions asked of it."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Asked, ...]


def merged(name: str, collections: Sequence[Collection]) -> Collection:
    """All of them in one vault, each session once."""
    sessions: dict[str, Session] = {}
    for each in (session for one in collections for session in one.sessions):
        sessions.setdefault(each.id, each)
    questions = tuple(question for one in collections for question in one.questions)
    return Collection(name, tuple(sessions.values()), questions)


def limited(collections: Sequence[Collection], most: int | None) -> Sequence[Collection]:
    """For a quick look: the first few collections or, where there is but one, its first few questions."""
    if most is None or len(collections) > 1:
        return collections[:most]
    return [replace(collection, questions=collection.questions[:most]) for collection in collections]


def read(path: Path, noun: str, parse: Callable[[Any], T]) -> tuple[T, str]:
    """What a JSON file (also gzipped) holds, and the SHA-256 of the file; `noun` is what it should have been."""
    try:
        raw = path.read_bytes()
        data = json.loads(gzip.decompress(raw) if raw.startswith(_GZIP) else raw)
        return parse(data), hashlib.sha256(raw).hexdigest()
    except KeyError as error:
        raise InvalidInput(f"{path} is not a {noun} file: it lacks {error}") from error
    except (ValueError, TypeError, AttributeError, IndexError, OSError, EOFError) as error:
        raise InvalidInput(f"{path} is not a {noun} file: {error}") from error


def some(found: Iterable[T], noun: str) -> list[T]:
    """All of them; a file without any is not what it should be."""
    kept = list(found)
    if not kept:
        raise ValueError(f"it holds no {noun}")
    return kept
