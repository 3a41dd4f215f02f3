"""A full disk: a vault opens, answers and erases there, with the space that was kept for it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import lamina
from lamina.errors import StoreError
from lamina.vault.disk_reserve import DiskReserve, fill_reserve, is_nearly_full, release_reserve


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small disk can be mounted only by root")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _fill(disk: Path) -> None:
    """Leave not one byte."""
    with (disk / "filler").open("wb", buffering=0) as file:
        for size in (1 << 16, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


def test_a_vault_on_a_full_disk_opens_answers_and_erases(small_disk: Path, tmp_path: Path) -> None:
    with lamina.open(small_disk / "vault", watch=False, background=False) as memory:
        for n in range(20):
            memory.remember(f"Fact {n} is about cup {n}.")
        secret = memory.remember("The password is swordfish.").atom
    _fill(small_disk)
    with lamina.open(small_disk / "vault", watch=False, background=False) as memory:
        assert "Fact 7 is about cup 7." in [hit.text for hit in memory.recall("cup 7").hits]
        assert memory.get(secret.id).content == "The password is swordfish."
        assert len(memory.list(limit=None)) == 21
        assert memory.export(tmp_path / "export.json").exists()
        receipt = memory.erase(secret.id, reason="a secret")
        assert receipt.erased == (secret.id,)
        assert receipt.finished
        with pytest.raises(lamina.Erased):
            memory.get(secret.id)
    left = [file for file in (small_disk / "vault").rglob("*") if file.is_file() and b"swordfish" in file.read_bytes()]
    assert left == []
    (small_disk / "filler").unlink()
    with lamina.open(small_disk / "vault", watch=False, background=False) as memory:
        assert memory.upkeep.doctor(deep=True).faults == ()
        assert memory.remember("There is room again.").atom
    assert (small_disk / "vault/.lamina" / DiskReserve.ERASING.value[0]).stat().st_blocks * 512 >= 2 << 20


def test_a_vault_whose_reserve_is_gone_says_that_the_disk_failed(small_disk: Path) -> None:
    lamina.open(small_disk / "vault", watch=False, background=False).close()
    for reserve in DiskReserve:
        assert release_reserve(small_disk / "vault/.lamina", reserve)
        assert not release_reserve(small_disk / "vault/.lamina", reserve)
    _fill(small_disk)
    assert is_nearly_full(small_disk, DiskReserve.OPENING)
    fill_reserve(small_disk / "vault/.lamina")
    assert not list((small_disk / "vault/.lamina").glob("reserve-*"))
    with pytest.raises(StoreError, match=r"disk"):
        lamina.open(small_disk / "vault", watch=False, background=False)


def test_a_vault_on_a_read_only_disk_answers_and_says_why_nothing_can_be_written(
    small_disk: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with lamina.open(small_disk / "vault", watch=False, background=False) as memory:
        for n in range(5):
            memory.remember(f"Fact {n} is about cup {n}.")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with lamina.open(small_disk / "vault", watch=False, background=False) as memory:
        assert "is read-only: memories can be read" in caplog.text
        assert "Fact 3 is about cup 3." in [hit.text for hit in memory.recall("cup 3").hits]
        atom = memory.list()[0]
        assert memory.get(atom.id) == atom
        assert memory.export(tmp_path / "export.json").exists()
        for write in (lambda: memory.remember("New."), lambda: memory.pin(atom.id), lambda: memory.erase(atom.id)):
            with pytest.raises(StoreError, match="the disk is read-only"):
                write()
        scratch = memory.engine.scratch
        assert scratch is not None
    assert not Path(scratch.name).exists()
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    with lamina.open(small_disk / "vault", watch=False, background=False) as memory:
        assert memory.remember("Writable again.").atom
        assert len(memory.list()) == 6
