"""SciFact: claims and the abstracts that bear on them, a check of the harness against published figures.

A document is a session of one turn, its title and its text.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.data_set import BenchCollection, BenchQuestion, BenchSession, BenchTurn, read_data_file, require_any

WRITTEN = datetime(2020, 1, 1, tzinfo=UTC)


def load(path: Path) -> tuple[list[BenchCollection], str]:
    """Return the documents and claims of a SciFact file and the SHA-256 of the file."""
    return read_data_file(path, "SciFact", lambda data: [_parse_corpus(data)])


def _parse_corpus(data: dict[str, Any]) -> BenchCollection:
    documents = {str(name): f"{entry['title']}. {entry['text']}" for name, entry in data["docs"].items()}
    sessions = tuple(BenchSession(name, WRITTEN, (BenchTurn(name, text),)) for name, text in documents.items())
    claims = [(str(entry["text"]), frozenset(map(str, entry["gold"])) & documents.keys()) for entry in data["queries"]]
    questions = require_any(
        (BenchQuestion(text, "claim", gold, gold) for text, gold in claims if gold), "claims with documents"
    )
    return BenchCollection("scifact", sessions, tuple(questions))
