"""LongMemEval: a user's sessions with an assistant.

Three types of files are recognised. The oracle file contains only the sessions that answer, so all of them are captured
into one vault and every question is asked of it ("LME-pool", not a published setting). A file with complete haystacks
gives a vault to each question. So does the file of heads ("LME_S heads"), where a session is one passage, the first
characters of what the user said, and only sessions can be graded. Questions without an answer (their id or type ends in
`_abs`) are not asked; their sessions are captured all the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.data_set import (
    BenchCollection,
    BenchQuestion,
    BenchSession,
    BenchTurn,
    merge_collections,
    read_data_file,
    require_any,
)

_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d)\D*(\d\d):(\d\d)")


def load(path: Path, *, pooled: bool = True) -> tuple[list[BenchCollection], str]:
    """Return the haystacks of a LongMemEval file and its SHA-256; `pooled`: evidence alone makes one haystack."""
    return read_data_file(path, "LongMemEval", lambda data: _parse(data, pooled))


def _parse(data: Any, pooled: bool) -> list[BenchCollection]:
    if isinstance(data, dict):
        heads = data["sessions"]
        haystacks = [_parse_heads(entry, heads) for entry in require_any(data["questions"], "questions")]
        return require_any((haystack for haystack in haystacks if haystack.questions), "questions that can be answered")
    haystacks = [_parse_haystack(entry) for entry in require_any(data, "questions")]
    if pooled and all(_is_evidence(entry) for entry in data):
        haystacks = [merge_collections("pool", haystacks)]
    return require_any((haystack for haystack in haystacks if haystack.questions), "questions that can be answered")


def _is_evidence(data: dict[str, Any]) -> bool:
    return set(data["haystack_session_ids"]) <= set(data["answer_session_ids"])


def _parse_haystack(data: dict[str, Any]) -> BenchCollection:
    sessions, gold = [], {}
    for name, date, messages in zip(
        data["haystack_session_ids"], data["haystack_dates"], data["haystack_sessions"], strict=True
    ):
        at = _parse_moment(date)
        turns = [
            BenchTurn(f"{name}/{n}", str(entry["content"]), role=str(entry["role"]), at=at)
            for n, entry in enumerate(messages)
        ]
        sessions.append(BenchSession(str(name), at, tuple(turns)))
        answering = frozenset(turn.id for turn, entry in zip(turns, messages, strict=True) if entry.get("has_answer"))
        if answering:
            gold[at, str(name)] = answering
    return BenchCollection(
        str(data["question_id"]), tuple(sessions), _parse_questions(data, [gold[key] for key in sorted(gold)])
    )


def _parse_heads(data: dict[str, Any], heads: dict[str, str]) -> BenchCollection:
    dates = {str(name): _parse_moment(date) for name, date in reversed(data["haystack"])}
    sessions = [
        BenchSession(name, at, (BenchTurn(f"{name}/0", heads[name], role="user", at=at),)) for name, at in dates.items()
    ]
    return BenchCollection(str(data["question_id"]), tuple(sessions), _parse_questions(data, []))


def _parse_questions(data: dict[str, Any], session_turns: Sequence[frozenset[str]]) -> tuple[BenchQuestion, ...]:
    kind, sessions = str(data["question_type"]), frozenset(map(str, data["answer_session_ids"]))
    if str(data["question_id"]).endswith("_abs") or kind.endswith("_abs"):
        return ()
    at, turns = _parse_moment(data["question_date"]), frozenset[str]().union(*session_turns)
    return (BenchQuestion(str(data["question"]), kind, turns, sessions, at, tuple(session_turns)),)


def _parse_moment(text: str) -> datetime:
    match = _DATE.search(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date")
    year, month, day, hour, minute = map(int, match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)
