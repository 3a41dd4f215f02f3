"""Change benchmark: play scripted conversations, and judge the hits of the questions asked in between.

Every check is judged by all ranked hits that recall returns, including those below the relevance threshold. Maintenance
is a dream.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from lamina.bench.checks import Row, Sheet, Shown, Verdict
from lamina.bench.collection import Session
from lamina.bench.longmemeval import load as load_talk
from lamina.bench.places import capture, said
from lamina.bench.script import Ask, Capture, Heard, Maintain, Script
from lamina.bench.vaults import Desk, Progress, Vaults
from lamina.errors import InvalidInput

SEED = 1


def unrelated(path: Path, count: int) -> list[Session]:
    """Return this many sessions of a LongMemEval file, oldest first: talk that is unrelated to a scenario."""
    collections, _ = load_talk(path)
    sessions = {
        session.id: replace(session, id=f"unrelated {session.id}")
        for collection in collections
        for session in collection.sessions
    }
    if len(sessions) < count:
        raise InvalidInput(f"{path} has {len(sessions)} sessions, not {count}; choose a smaller number")
    return sorted(random.Random(SEED).sample(list(sessions.values()), count), key=lambda item: item.at)


def run(scripts: Sequence[Script], talk: Sequence[Session], vaults: Vaults, progress: Progress) -> Sheet:
    """Play each script in its own vault, after the talk if there is any, and judge its checks."""
    sheet, counter = Sheet(), count(1)
    with _behind(talk, min(entry.begins for entry in scripts), vaults, progress) as folder:
        for script in scripts:
            with vaults.fresh(script.id, script.begins, folder) as vault:
                _play(script, vault, sheet, progress)
            progress("playing scenarios", next(counter), len(scripts))
    return sheet


def failure(row: Row) -> str:
    """Return a failed check and its hits as text."""
    check = row.check
    expectations = " ".join(f"{name}={list(values)}" for name, values in _wanted(row).items() if values)
    lines = [f"{check.id} [{check.type}, {check.rule}, {check.tier}] {check.query}", f"    {expectations}"]
    lines += [f"    {n}. {'(flagged) ' if hit.flagged else ''}{hit.text}" for n, hit in enumerate(row.shown, 1)]
    return "\n".join(lines)


def _wanted(row: Row) -> dict[str, Sequence[str]]:
    check = row.check
    return {
        f"expect@{check.expect_k}": check.expect,
        f"expect_any@{check.expect_k}": check.expect_any,
        f"reject@{check.reject_k}": check.reject,
        "flag": check.flag,
        "requires": [check.requires] if check.requires else [],
    }


@contextmanager
def _behind(talk: Sequence[Session], before: datetime, vaults: Vaults, progress: Progress) -> Iterator[Path | None]:
    """Yield a closed vault with the talk, to be copied for each scenario; None if there is no talk."""
    if not talk:
        yield None
        return
    with TemporaryDirectory(prefix="lamina-bench-") as folder:
        with vaults.at(Path(folder), talk[0].at) as vault, vault.filling(_size(talk), progress):
            for n, session in enumerate(talk, 1):
                vault.clock.at = min(session.at, before)
                capture(vault.memory, session)
                progress("capturing unrelated sessions", n, len(talk))
        yield Path(folder)


def _size(talk: Sequence[Session]) -> int:
    return sum(len(session.turns) for session in talk)


def _play(script: Script, desk: Desk, sheet: Sheet, progress: Progress) -> None:
    before: dict[str, Verdict] = {}
    for step in script.steps:
        match step:
            case Capture(heard):
                _hear(desk, heard, progress)
            case Maintain(times):
                for _ in range(times):
                    _keep_up(desk)
            case Ask(check):
                before[check.id] = sheet.add(script.id, check, _ask(desk, step), before)


def _hear(desk: Desk, heard: Heard, progress: Progress) -> None:
    session = heard.session
    desk.clock.at = max(desk.clock.at, heard.ended)
    with desk.filling(len(session.turns), progress):
        desk.beside(heard.scope).capture(
            said(session), session_id=session.id, observed_at=session.at, origin=heard.origin, wait=True
        )


def _keep_up(desk: Desk) -> None:
    for memory in desk.open():
        memory.sync()
        memory.read_waiting()
        memory.dream()


def _ask(desk: Desk, asked: Ask) -> list[Shown]:
    desk.clock.at = max(desk.clock.at, asked.now)
    hits = desk.ask(
        asked.check.query,
        asked.check.k,
        desk.clock.at,
        desk.beside(asked.scope),
        as_of=asked.as_of,
        known_at=asked.known_at,
    )
    return [Shown(hit.text, hit.flagged) for hit in hits]
