"""One look goes over the files once; what others do between the look and their turn is neither lost nor done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from hypothesis import given
from hypothesis import strategies as st

from lamina import Memory, Status
from lamina.store.projection import FileEntry, FileState
from lamina.sync.disk_diff import COARSE_RACY_NS, RACY_NS, has_changed
from lamina.vault.disk import Disk
from lamina.vault.file_access import Stamp
from vault_workspace import VaultWorkspace

A_SECOND = 1_000_000_000


class BusyDisk(Disk):
    """A disk that counts how often it is gone over, and on which others have their turn before a lock is taken."""

    scans = 0
    others: Callable[[], object] | None = None

    def scan(self) -> Iterator[tuple[str, Stamp]]:
        self.scans += 1
        return super().scan()

    def lock(self, name: str, timeout: float) -> AbstractContextManager[None]:
        if name == "vault" and self.others is not None:
            others, self.others = self.others, None
            others()
        return super().lock(name, timeout)


def busy(workspace: VaultWorkspace) -> tuple[Memory, BusyDisk]:
    """A second memory of the vault, on such a disk."""
    disk = BusyDisk(workspace.root)
    return workspace.open(disk=disk), disk


def test_a_sync_that_finds_edits_scans_the_files_once(workspace: VaultWorkspace) -> None:
    atom, receipt = workspace.remember("Ann drinks tea."), workspace.remember("Bob drinks milk.")
    workspace.sync_settled()
    memory, disk = busy(workspace)
    workspace.edit(atom, "drinks tea", "drinks coffee")
    workspace.file(receipt).unlink()
    workspace.drop("atoms/note.md", "Carla drinks water.\n")
    disk.scans = 0
    report = memory.upkeep.sync()
    assert (len(report.edited), len(report.deleted), report.adopted) == (1, 1, ["atoms/note.md"])
    assert disk.scans == 1


def test_a_dream_includes_earlier_edits_and_scans_the_files_once(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    memory, disk = busy(workspace)
    workspace.edit(atom, "drinks tea", "drinks coffee")
    disk.scans = 0
    memory.upkeep.dream("age")
    assert memory.get(atom.id).content == "Ann drinks coffee."
    assert disk.scans == 1


def test_a_change_read_by_another_process_first_is_not_read_twice(workspace: VaultWorkspace) -> None:
    atom, removed, moved = (workspace.remember(f"{name} drinks tea.") for name in ("Ann", "Bob", "Carla"))
    memory, disk = busy(workspace)
    workspace.edit(atom, "drinks tea", "drinks coffee")
    workspace.file(removed).unlink()
    workspace.move(workspace.file(moved), "atoms/mine/carla.md")
    file = workspace.drop("atoms/note.md", "Dan drinks water.\n")
    disk.others = workspace.memory.upkeep.sync
    report = memory.upkeep.sync()
    assert not report.has_changes
    assert [len(memory.history(item.id).versions) for item in (atom, removed, moved, workspace.atom_of(file))] == [
        2,
        2,
        1,
        1,
    ]
    assert memory.get(removed.id).status is Status.TOMBSTONED
    assert memory.path_of(moved.id) == "atoms/mine/carla.md"
    assert memory.upkeep.doctor().problems == ()


def test_a_file_restored_before_its_deletion_is_processed_was_never_deleted(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    file = workspace.file(atom)
    text = file.read_bytes()
    memory, disk = busy(workspace)
    file.unlink()
    disk.others = lambda: file.write_bytes(text)
    assert not memory.upkeep.sync().deleted
    memory.upkeep.sync()
    assert memory.get(atom.id) == atom


def test_the_last_save_counts_where_a_file_is_saved_again_meanwhile(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    memory, disk = busy(workspace)
    workspace.edit(atom, "drinks tea", "drinks coffee")
    disk.others = lambda: workspace.edit(atom, "drinks coffee", "drinks milk")
    memory.upkeep.sync()
    assert memory.get(atom.id).content == "Ann drinks milk."
    assert not memory.upkeep.sync().has_changes


def test_a_new_file_deleted_meanwhile_leaves_nothing(workspace: VaultWorkspace) -> None:
    memory, disk = busy(workspace)
    file = workspace.drop("atoms/note.md", "Ann drinks tea.\n")
    disk.others = file.unlink
    assert not memory.upkeep.sync().has_changes
    assert memory.list(status=None) == []


def test_a_file_moved_by_a_person_meanwhile_keeps_its_id(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    memory, disk = busy(workspace)
    workspace.edit(atom, "drinks tea", "drinks coffee")
    disk.others = lambda: workspace.move(workspace.file(atom), "atoms/mine/ann.md")
    memory.upkeep.sync()
    memory.upkeep.sync()
    result = memory.get(atom.id)
    assert (result.content, result.status) == ("Ann drinks coffee.", Status.ACTIVE)
    assert memory.path_of(atom.id) == "atoms/mine/ann.md"


@given(
    mtime=st.integers(0, 4 * A_SECOND),
    ctime=st.integers(0, 4 * A_SECOND),
    checked=st.integers(0, 8 * A_SECOND),
    coarse=st.booleans(),
)
def test_a_stamp_is_trusted_only_where_a_later_save_would_have_changed_it(
    mtime: int, ctime: int, checked: int, coarse: bool
) -> None:
    if coarse:
        mtime, ctime = mtime // 1_000_000 * 1_000_000, ctime // 1_000_000 * 1_000_000
    stamp = Stamp(10, mtime, ctime, 7)
    is_coarse = mtime % 1_000_000 == 0 and ctime % 1_000_000 == 0
    line = FileEntry("atoms/a.md", None, FileState.ATOM, stamp, checked)
    young = checked - max(mtime, ctime) < (COARSE_RACY_NS if is_coarse else RACY_NS)
    assert has_changed(line, stamp) == young
    assert has_changed(line, stamp._replace(size=11))
