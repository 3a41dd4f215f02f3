"""BEAM: long chats with an assistant, and ten types of questions about them.

A message is a turn and a batch of messages a session, dated by the time anchor of its messages; messages without one
get the date of those before them. The gold turns are `source_chat_ids`, at any depth of nesting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.data_set import BenchCollection, BenchQuestion, BenchSession, BenchTurn, read_data_file, require_any

UNDATED = datetime(2024, 1, 1, tzinfo=UTC)


def load(path: Path) -> tuple[list[BenchCollection], str]:
    """Return the chats of a BEAM file and the SHA-256 of the file."""
    return read_data_file(path, "BEAM", lambda data: require_any((_parse_chat(chat) for chat in data), "chats"))


def _parse_chat(data: dict[str, Any]) -> BenchCollection:
    name = f"chat-{data['id']}"
    sessions = tuple(_parse_sessions(name, data["chat"]))
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = []
    for category, probes in data["probing_questions"].items():
        for probe in probes:
            groups = tuple(_gold_groups(name, probe.get("source_chat_ids"), home))
            gold = frozenset[str]().union(*groups)
            if gold:
                sessions_of = frozenset(home[turn_id] for turn_id in gold)
                questions.append(BenchQuestion(str(probe["question"]), category, gold, sessions_of, turn_groups=groups))
    return BenchCollection(name, sessions, tuple(questions))


def _parse_sessions(name: str, batches: list[dict[str, Any]]) -> Iterator[BenchSession]:
    at = UNDATED
    for batch in batches:
        turns = []
        at = _parse_anchor(batch.get("time_anchor")) or at
        for message in (entry for group in batch["turns"] for entry in group):
            at = _parse_anchor(message.get("time_anchor")) or at
            turns.append(
                BenchTurn(f"{name}/{message['id']}", str(message["content"]), role=str(message["role"]), at=at)
            )
        if turns:
            yield BenchSession(f"{name}-{batch['batch_number']}", turns[0].at or at, tuple(turns))


def _gold_groups(name: str, ids: Any, home: Mapping[str, str]) -> list[frozenset[str]]:
    """Return the gold turns in groups that belong together, oldest first; messages are numbered in the order they were
    written.
    """
    parts = map(_flatten_ids, ids.values()) if isinstance(ids, dict) else ([number] for number in _flatten_ids(ids))
    existing = ({number: f"{name}/{number}" for number in part if f"{name}/{number}" in home} for part in parts)
    return [frozenset(part.values()) for part in sorted(filter(None, existing), key=max)]


def _flatten_ids(ids: Any) -> Iterator[int]:
    match ids:
        case dict():
            for atom_id in ids.values():
                yield from _flatten_ids(atom_id)
        case list():
            for atom_id in ids:
                yield from _flatten_ids(atom_id)
        case int() | str():
            yield int(ids)


def _parse_anchor(anchor: str | None) -> datetime | None:
    return datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC) if anchor else None
