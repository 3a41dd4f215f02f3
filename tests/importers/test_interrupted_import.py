"""An import that stopped before its end says so everywhere, and is finished by importing the same path again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from engram_files import write_database

import lamina
from lamina import Memory
from lamina.clock import FixedClock
from lamina.errors import Refused
from lamina.importers.import_job import LEASE_SECONDS, find_interrupted_imports

KILLED_AT = 51
"""After the first batch of facts was committed."""
_IMPORT = """
import os, signal, sys
import lamina
def stop(stage, done, total):
    if done >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
with lamina.open(sys.argv[1], watch=False) as memory:
    memory.import_(sys.argv[2], progress=stop)
"""


def kill_an_import(vault: Path, source: Path) -> None:
    """Import in another process, which is killed on the way."""
    command = [sys.executable, "-c", _IMPORT, str(vault), str(source), str(KILLED_AT)]
    assert subprocess.run(command, env=dict(os.environ), check=False).returncode == -signal.SIGKILL


def messages(memory: Memory) -> list[str]:
    jobs = memory.engine.store.queue
    return [problem.message for problem in find_interrupted_imports(jobs, memory.scopes, memory.now())]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_import_says_so_and_is_finished_by_importing_again(tmp_path: Path) -> None:
    vault, source = tmp_path / "vault", write_database(tmp_path / "my engram.db")
    kill_an_import(vault, source)
    command = f"lamina import '{source}'"
    with lamina.open(vault, watch=False) as memory, pytest.raises(Refused, match="another process is importing"):
        memory.import_(source)
    later = FixedClock(datetime.now(UTC) + timedelta(seconds=LEASE_SECONDS))
    with lamina.open(vault, watch=False, clock=later) as memory:
        (job,) = [job for job in memory.upkeep.jobs() if job.name.startswith("import ")]
        assert (job.holder, job.error) == ("", "interrupted") and KILLED_AT <= job.done < job.total
        assert not memory.upkeep.doctor().healthy
        assert command in messages(memory)[0] and "the import stopped at" in messages(memory)[0]
        report = memory.import_(source)
        assert report.facts and dict(report.skipped)["imported before"] >= 50
        assert messages(memory) == [] and memory.upkeep.doctor().healthy
        assert len({atom.source_ref for atom in memory.list(status=None, limit=None)} - {None}) == 51


def test_an_import_stopped_by_the_keyboard_says_so(tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if done >= KILLED_AT:
            raise KeyboardInterrupt

    with lamina.open(tmp_path / "vault", watch=False) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.import_(write_database(tmp_path / "engram.db"), progress=stop)
        assert len(messages(memory)) == 1
        assert memory.for_caller("org:other").upkeep.doctor(look=False).problems == ()


def test_a_dry_run_and_a_finished_import_leave_no_trace(tmp_path: Path) -> None:
    source = write_database(tmp_path / "engram.db")
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        with memory.trial() as trial:
            trial.import_(source)
        assert memory.upkeep.jobs() == []
        memory.import_(source)
        (job,) = memory.upkeep.jobs()
        assert (job.done, job.error) == (job.total, "") and messages(memory) == []
