from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.vault.syscalls import FolderEntry, Syscalls, bind_rename, move_by_link, rename_to_new, swap_files


class LimitedSyscalls(Syscalls):
    """A file system without some of its calls."""

    def __init__(self, *missing: str) -> None:
        self.missing = missing

    def _need(self, call: str, code: int) -> None:
        if call in self.missing:
            raise OSError(code, os.strerror(code))

    def exchange(self, one: FolderEntry, other: FolderEntry) -> None:
        self._need("exchange", errno.EINVAL)
        super().exchange(one, other)

    def rename_new(self, old: FolderEntry, new: FolderEntry) -> None:
        self._need("rename_new", errno.ENOSYS)
        super().rename_new(old, new)

    def link(self, old: FolderEntry, new: FolderEntry) -> None:
        self._need("link", errno.EPERM)
        super().link(old, new)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY)
    yield fd
    os.close(fd)


SYSTEMS = [LimitedSyscalls(), LimitedSyscalls("exchange"), LimitedSyscalls("exchange", "link")]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: "-".join(system.missing) or "complete")
def test_a_swap_leaves_the_old_file_under_the_temporary_name(
    system: LimitedSyscalls, tmp_path: Path, folder: int
) -> None:
    (tmp_path / "ours").write_text("new")
    (tmp_path / "theirs").write_text("old")
    swap_files(system, FolderEntry(folder, "ours"), FolderEntry(folder, "theirs"), FolderEntry(folder, "aside"))
    assert (tmp_path / "theirs").read_text() == "new"
    assert (tmp_path / "ours").read_text() == "old"
    assert not (tmp_path / "aside").exists()


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: "-".join(system.missing) or "complete")
def test_a_swap_with_a_missing_file_changes_nothing(system: LimitedSyscalls, tmp_path: Path, folder: int) -> None:
    (tmp_path / "ours").write_text("new")
    with pytest.raises(FileNotFoundError):
        swap_files(system, FolderEntry(folder, "ours"), FolderEntry(folder, "theirs"), FolderEntry(folder, "aside"))
    assert [path.name for path in tmp_path.iterdir()] == ["ours"]


def test_an_editor_with_the_old_file_open_writes_into_the_displaced_copy(tmp_path: Path, folder: int) -> None:
    (tmp_path / "ours").write_text("new")
    (tmp_path / "theirs").write_text("old")
    with (tmp_path / "theirs").open("a") as editor:
        swap_files(
            LimitedSyscalls("exchange"),
            FolderEntry(folder, "ours"),
            FolderEntry(folder, "theirs"),
            FolderEntry(folder, "aside"),
        )
        editor.write(" and late")
    assert (tmp_path / "ours").read_text() == "old and late"


class SavedInTheGap(LimitedSyscalls):
    """A person saves a new file while the old one is moved away."""

    def __init__(self, path: Path) -> None:
        super().__init__("exchange", "link")
        self.path = path

    def rename_new(self, old: FolderEntry, new: FolderEntry) -> None:
        if old.name == "ours":
            self.path.write_text("saved in the gap")
        super().rename_new(old, new)


def test_a_save_in_the_gap_keeps_its_path_and_the_older_text_stays_aside(tmp_path: Path, folder: int) -> None:
    (tmp_path / "ours").write_text("new")
    (tmp_path / "theirs").write_text("old")
    system = SavedInTheGap(tmp_path / "theirs")
    with pytest.raises(FileExistsError):
        swap_files(system, FolderEntry(folder, "ours"), FolderEntry(folder, "theirs"), FolderEntry(folder, "aside"))
    assert (tmp_path / "theirs").read_text() == "saved in the gap"
    assert (tmp_path / "aside").read_text() == "old"


def test_a_file_system_without_any_safe_rename_refuses_and_changes_nothing(tmp_path: Path, folder: int) -> None:
    (tmp_path / "ours").write_text("new")
    (tmp_path / "theirs").write_text("old")
    with pytest.raises(OSError, match="not implemented"):
        swap_files(
            LimitedSyscalls("exchange", "link", "rename_new"),
            FolderEntry(folder, "ours"),
            FolderEntry(folder, "theirs"),
            FolderEntry(folder, "aside"),
        )
    assert (tmp_path / "theirs").read_text() == "old"


@pytest.mark.parametrize("system", [LimitedSyscalls(), LimitedSyscalls("rename_new")], ids=["complete", "by link"])
def test_a_rename_to_a_new_name_never_replaces(system: LimitedSyscalls, tmp_path: Path, folder: int) -> None:
    (tmp_path / "draft").write_text("new")
    (tmp_path / "taken").write_text("old")
    with pytest.raises(FileExistsError):
        rename_to_new(system, FolderEntry(folder, "draft"), FolderEntry(folder, "taken"))
    rename_to_new(system, FolderEntry(folder, "draft"), FolderEntry(folder, "free"))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"taken": "old", "free": "new"}


class SavedDuringMove(Syscalls):
    def __init__(self, path: Path) -> None:
        self.path = path

    def link(self, old: FolderEntry, new: FolderEntry) -> None:
        super().link(old, new)
        other = self.path.with_name("editor")
        other.write_text("saved meanwhile")
        other.replace(self.path)


def test_a_move_by_link_restores_what_an_editor_saved_at_the_old_name(tmp_path: Path, folder: int) -> None:
    (tmp_path / "old").write_text("text")
    move_by_link(
        SavedDuringMove(tmp_path / "old"),
        FolderEntry(folder, "old"),
        FolderEntry(folder, "new"),
        FolderEntry(folder, "aside"),
    )
    assert (tmp_path / "new").read_text() == "text"
    assert (tmp_path / "old").read_text() == "saved meanwhile"
    assert not (tmp_path / "aside").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the call has a number on Linux only")
def test_the_system_call_works_by_number_where_the_library_lacks_its_name(tmp_path: Path, folder: int) -> None:
    rename = bind_rename(ctypes.CDLL(None, use_errno=True), by_number=True)
    assert rename is not None
    (tmp_path / "one").write_text("1")
    (tmp_path / "two").write_text("2")
    assert rename(folder, b"one", folder, b"two", 2) == 0
    assert (tmp_path / "one").read_text() == "2"
    assert rename(folder, b"one", folder, b"two", 1) == -1
    assert ctypes.get_errno() == errno.EEXIST
