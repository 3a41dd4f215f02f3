"""A vault of every earlier format opens with all that it held, also if the upgrade was interrupted at any operation.

`formats/` has a vault as the code of each format wrote it: its files, and its journal as SQL. `format_fixture.py`
writes the one of the present format.
"""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, NoReturn

import apsw
import pytest
from faulty_disk import Fault, FaultySyscalls, FaultyVFS
from format_fixture import write_fixture
from torture_suite import Batch, Suite, Tally, expect_no_failure
from vault_checks import all_atoms, open_vault, unexpected_files, wrong_files

from lamina.errors import LaminaError, StoreTooNew
from lamina.store.sqlite.history_schema import FORMAT
from lamina.vault.disk import Disk

FORMATS = {int(path.stem.partition("-")[2]): path for path in Path(__file__).with_name("formats").glob("format-*.json")}
MOST_OPERATIONS = 120

Held = set[tuple[str, int, str, str]]
"""Id, revision, status and content of each atom."""


def upgrade_vaults(batch: Batch) -> Tally:
    """Open vaults of earlier formats, most of them after a first opening that was killed or failed half-way."""
    tally, rng = Tally(), batch.random()
    for number in range(batch.count):
        version, root = rng.choice(sorted(FORMATS)), batch.folder / "vault"
        held = write_old_vault(FORMATS[version], root)
        interruption = rng.choice(("none", "KILL", "KILL", "EIO", "ENOSPC"))
        nth = rng.randint(1, MOST_OPERATIONS)
        texts = _interrupt(root, interruption, nth, persistent=rng.random() < 0.5)
        texts += judge_upgrade(root, held)
        tally.fail(*(f"{number}: format {version}, {interruption} at {nth}: {text}" for text in texts))
        tally.runs += 1
        tally.count(f"of format {version}")
    return tally


SUITE = Suite("formats", "upgrades", 6_000, 60, upgrade_vaults)


def test_every_earlier_format_is_there() -> None:
    assert FORMATS.keys() >= set(range(1, FORMAT)), "write it with tests/torture/format_fixture.py of that version"


@pytest.mark.parametrize("version", sorted(FORMATS))
def test_a_vault_of_an_earlier_format_opens_with_all_that_it_held(version: int, tmp_path: Path) -> None:
    held = write_old_vault(FORMATS[version], tmp_path / "vault")
    assert len(held) == 10
    assert judge_upgrade(tmp_path / "vault", held) == []
    assert _read_format(tmp_path / "vault") == FORMAT


def test_an_upgrade_that_is_interrupted_anywhere_is_done_by_the_next_opening(pool: Executor) -> None:
    expect_no_failure(SUITE, 40, pool)


def test_the_fixture_of_the_present_format_is_a_vault_that_opens(tmp_path: Path) -> None:
    fixture = write_fixture(tmp_path)
    held = write_old_vault(fixture, tmp_path / "vault")
    assert fixture.name == f"format-{FORMAT}.json"
    assert judge_upgrade(tmp_path / "vault", held) == []


def test_a_vault_of_a_later_format_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    write_old_vault(FORMATS[1], root, stored_format=FORMAT + 1)
    before = (root / ".lamina/history.db").read_bytes()
    with pytest.raises(StoreTooNew):
        open_vault(root)
    assert (root / ".lamina/history.db").read_bytes() == before


def write_old_vault(fixture: Path, root: Path, *, stored_format: int | None = None) -> Held:
    """Write the vault of a fixture, and return what it holds."""
    shutil.rmtree(root, ignore_errors=True)
    fields: dict[str, Any] = json.loads(fixture.read_text())
    for name, text in fields["files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    connection = apsw.Connection(str(root / ".lamina/history.db"))
    connection.execute("\n".join(fields["sql"]))
    connection.pragma("user_version", fields["format"] if stored_format is None else stored_format)
    rows = connection.execute("SELECT atom_id, revision, status, json_extract(record, '$.content') FROM heads")
    held = {(str(row[0]), int(str(row[1])), str(row[2]), str(row[3])) for row in rows}
    connection.close()
    return held


def _read_format(root: Path) -> int:
    connection = apsw.Connection(str(root / ".lamina/history.db"))
    try:
        return int(connection.pragma("user_version"))
    finally:
        connection.close()


def _interrupt(root: Path, kind: str, nth: int, *, persistent: bool) -> list[str]:
    """Open the vault while its nth operation on files and databases kills the process, or fails."""
    if kind == "none":
        return []
    child = os.fork()
    if child == 0:
        _open_with_fault(root, kind, nth, persistent)
    _, status = os.waitpid(child, 0)
    exit_code = os.waitstatus_to_exitcode(status)
    return [f"the first opening ended with {exit_code}"] if exit_code not in (0, -9) else []


def _open_with_fault(root: Path, kind: str, nth: int, persistent: bool) -> NoReturn:
    fault = Fault()
    fault.arm(nth, kind, persistent=persistent)
    vfs, status = FaultyVFS("interrupting", fault), 1
    try:
        open_vault(root, disk=Disk(root, FaultySyscalls(fault)), vfs=vfs.vfs_name).close()
        status = 0
    except (LaminaError, OSError):
        status = 0
    finally:
        os._exit(status)


def judge_upgrade(root: Path, held: Held) -> list[str]:
    """Open a vault of an earlier format, write to it, open it again; return what is wrong."""
    with open_vault(root) as memory:
        memory.upkeep.sync()
        now = {(atom.id, atom.revision, atom.status.value, atom.content) for atom in all_atoms(memory)}
        texts = [f"differs: {entry}" for entry in sorted(now ^ held)]
        texts += [*memory.upkeep.doctor(deep=True).faults, *unexpected_files(memory), *wrong_files(memory)]
        if not memory.recall("who grows tomatoes").hits:
            texts.append("recall finds nothing")
        added = memory.remember("Written after the upgrade.").atom.id
    with open_vault(root) as memory:
        if memory.get(added).content != "Written after the upgrade." or len(all_atoms(memory)) != len(held) + 1:
            texts.append("opened again, it differs")
    return texts
