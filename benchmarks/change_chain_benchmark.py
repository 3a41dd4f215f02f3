"""Chains of change (STALE-chain, WikiState): one slot changes several times in a person's talk, then it is asked for.

Each chain has its own vault; sessions are captured in order, each at its day, and questions are asked two days after
the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.bench_vaults import BenchVault, BenchVaults, Progress
from benchmarks.chain_scores import ChainQuestion, ChainRow, ChainSheet, judge, names_value
from benchmarks.change_checks import ShownHit
from benchmarks.data_set import read_data_file, require_any
from lamina import Status
from lamina.errors import InvalidInput

DEPTH = 10
_MORNING, _NOON = 9, 12
_ENDED = (Status.SUPERSEDED, Status.INVALIDATED)


@dataclass(frozen=True, slots=True)
class ChainSession:
    """The turns of the user on one day."""

    day: datetime
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """The values of a slot, oldest first, the sessions that state them, and the questions; `then` asks about a date."""

    id: str
    values: tuple[str, ...]
    sessions: tuple[ChainSession, ...]
    current: ChainQuestion
    then: ChainQuestion | None


def load_chains(paths: Sequence[Path], limit: int | None = None) -> tuple[dict[str, list[Chain]], dict[str, str]]:
    """Return the chains of each file that can be asked, among its first `limit`, and the SHA-256 of each file."""
    chains: dict[str, list[Chain]] = {}
    digests: dict[str, str] = {}
    for path in paths:
        name = path.name.split(".")[0]
        if name in chains:
            raise InvalidInput(f"two files are called {name!r}; run them one after the other")
        entries, digests[path.name] = read_data_file(
            path, "chain", lambda data: require_any(map(_parse_chain, data), "chains")
        )
        chains[name] = [chain for chain in entries[:limit] if chain is not None]
    return chains, digests


def run(chains: Mapping[str, Sequence[Chain]], vaults: BenchVaults, progress: Progress) -> ChainSheet:
    """Capture each chain into a vault of its own and ask for its current and its earlier value."""
    sheet, done, total = ChainSheet(), count(1), sum(map(len, chains.values()))
    vaults.warm_up()
    for file, entries in chains.items():
        for chain in entries:
            with vaults.fresh(f"{file}-{chain.id}", chain.sessions[0].day.replace(hour=_NOON)) as vault:
                sheet.rows.append(_ask_chain(file, chain, vault, progress))
            progress("playing chains", next(done), total)
    return sheet


def _ask_chain(file: str, chain: Chain, vault: BenchVault, progress: Progress) -> ChainRow:
    with vault.filling(sum(len(session.turns) for session in chain.sessions), progress):
        for n, session in enumerate(chain.sessions):
            vault.clock.at = max(vault.clock.at, session.day)
            vault.memory.capture(_turns(session), session_id=f"s{n}", wait=True)
    after = vault.clock.at + timedelta(days=2)
    hits = _recall(vault, chain.current, after)
    ended = [atom.content for status in _ENDED for atom in vault.memory.list(status=status, limit=None)]
    linked = tuple(any(names_value(content, value) for content in ended) for value in chain.values[:-1])
    then = judge(chain.then, _recall(vault, chain.then, after)) if chain.then else None
    return ChainRow(file, chain.id, chain.current, hits, judge(chain.current, hits), then, linked)


def _turns(session: ChainSession) -> list[dict[str, Any]]:
    return [
        {"speaker": "user", "content": text, "at": session.day + timedelta(minutes=n)}
        for n, text in enumerate(session.turns)
    ]


def _recall(vault: BenchVault, question: ChainQuestion, at: datetime) -> tuple[ShownHit, ...]:
    hits = vault.ask(question.text, DEPTH, at, as_of=question.as_of)
    return tuple(ShownHit(hit.text, hit.flagged) for hit in hits)


def _parse_chain(data: dict[str, Any]) -> Chain | None:
    """Return a chain; None if it has fewer sessions than values, or does not ask for the current one."""
    values = tuple(str(link["value"]) for link in data["chain"])
    sessions = tuple(
        ChainSession(_parse_day(session["date"]), tuple(session["turns"])) for session in data["state_sessions"]
    )
    queries = data["queries"]
    if len(sessions) < len(values) or "dim1_current" not in queries:
        return None
    then = queries.get("dim4_point_in_time") or {}
    return Chain(
        str(data["uid"]),
        values,
        sessions,
        _parse_question(queries["dim1_current"], values),
        _parse_question(then, values) if "date" in then else None,
    )


def _parse_question(data: dict[str, Any], values: Sequence[str]) -> ChainQuestion:
    gold = data["gold"]
    others = (value for value in values if not names_value(gold, value) and not names_value(value, gold))
    return ChainQuestion(data["q"], gold, tuple(others), data.get("date"))


def _parse_day(text: str) -> datetime:
    """Return the morning of a date; a month or day that is missing or 0 is the first."""
    year, month, day = (*map(int, text.split("-")), 1, 1)[:3]
    return datetime(year, max(1, month), max(1, day), _MORNING, tzinfo=UTC)
