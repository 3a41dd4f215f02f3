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

from benchmarks.bench_vaults import BenchVault, BenchVaults, Progress
from benchmarks.change_checks import CheckRow, CheckSheet, CheckVerdict, ShownHit
from benchmarks.change_script import AskStep, CaptureStep, ChangeScript, MaintainStep, ScriptSession
from benchmarks.data_set import BenchSession
from benchmarks.longmemeval import load as load_talk
from benchmarks.turn_lookup import capture_session, capture_turns
from lamina.errors import InvalidInput

SEED = 1


def sample_unrelated_sessions(path: Path, count: int) -> list[BenchSession]:
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


def run(
    scripts: Sequence[ChangeScript], talk: Sequence[BenchSession], vaults: BenchVaults, progress: Progress
) -> CheckSheet:
    """Play each script in its own vault, after the talk if there is any, and judge its checks."""
    sheet, counter = CheckSheet(), count(1)
    with _vault_with_talk(talk, min(entry.begins for entry in scripts), vaults, progress) as folder:
        for script in scripts:
            with vaults.fresh(script.id, script.begins, folder) as vault:
                _play(script, vault, sheet, progress)
            progress("playing scenarios", next(counter), len(scripts))
    return sheet


def describe_failure(row: CheckRow) -> str:
    """Return a failed check and its hits as text."""
    check = row.check
    expectations = " ".join(f"{name}={list(values)}" for name, values in _expectations(row).items() if values)
    lines = [f"{check.id} [{check.type}, {check.rule}, {check.tier}] {check.query}", f"    {expectations}"]
    lines += [f"    {n}. {'(flagged) ' if hit.flagged else ''}{hit.text}" for n, hit in enumerate(row.shown, 1)]
    return "\n".join(lines)


def _expectations(row: CheckRow) -> dict[str, Sequence[str]]:
    check = row.check
    return {
        f"expect@{check.expect_k}": check.expect,
        f"expect_any@{check.expect_k}": check.expect_any,
        f"reject@{check.reject_k}": check.reject,
        "flag": check.flag,
        "requires": [check.requires] if check.requires else [],
    }


@contextmanager
def _vault_with_talk(
    talk: Sequence[BenchSession], before: datetime, vaults: BenchVaults, progress: Progress
) -> Iterator[Path | None]:
    """Yield a closed vault with the talk, to be copied for each scenario; None if there is no talk."""
    if not talk:
        yield None
        return
    with TemporaryDirectory(prefix="lamina-bench-") as folder:
        with vaults.open_at(Path(folder), talk[0].at) as vault, vault.filling(_count_turns(talk), progress):
            for n, session in enumerate(talk, 1):
                vault.clock.at = min(session.at, before)
                capture_session(vault.memory, session)
                progress("capturing unrelated sessions", n, len(talk))
        yield Path(folder)


def _count_turns(talk: Sequence[BenchSession]) -> int:
    return sum(len(session.turns) for session in talk)


def _play(script: ChangeScript, vault: BenchVault, sheet: CheckSheet, progress: Progress) -> None:
    before: dict[str, CheckVerdict] = {}
    for step in script.steps:
        match step:
            case CaptureStep(heard):
                _capture_session(vault, heard, progress)
            case MaintainStep(times):
                for _ in range(times):
                    _run_maintenance(vault)
            case AskStep(check):
                before[check.id] = sheet.add(script.id, check, _ask(vault, step), before)


def _capture_session(vault: BenchVault, script_session: ScriptSession, progress: Progress) -> None:
    session = script_session.session
    vault.clock.at = max(vault.clock.at, script_session.ended)
    with vault.filling(len(session.turns), progress):
        vault.memory_of(script_session.scope).capture(
            capture_turns(session),
            session_id=session.id,
            observed_at=session.at,
            origin=script_session.origin,
            wait=True,
        )


def _run_maintenance(vault: BenchVault) -> None:
    for memory in vault.open_memories():
        memory.upkeep.sync()
        memory.read_waiting()
        memory.upkeep.dream()


def _ask(vault: BenchVault, step: AskStep) -> list[ShownHit]:
    vault.clock.at = max(vault.clock.at, step.now)
    hits = vault.ask(
        step.check.query,
        step.check.k,
        vault.clock.at,
        vault.memory_of(step.scope),
        as_of=step.as_of,
        known_at=step.known_at,
    )
    return [ShownHit(hit.text, hit.flagged) for hit in hits]
