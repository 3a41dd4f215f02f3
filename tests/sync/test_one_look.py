"""One look goes over the files once; what others do between the look and their turn is neither lost nor done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from hypothesis import given
from hypothesis import strategies as st

from desk import Desk
from lamina import Memory, Status
from lamina.store.ledger import FileEntry, FileState
from lamina.sync.disk_diff import COARSE_RACY_NS, RACY_NS, has_changed
from lamina.vault.disk import Disk, Stamp

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


def busy(desk: Desk) -> tuple[Memory, BusyDisk]:
    """A second memory of the vault, on such a disk."""
    disk = BusyDisk(desk.root)
    return desk.open(disk=disk), disk


def test_a_look_that_finds_edits_goes_over_the_files_once(desk: Desk) -> None:
    atom, gone = desk.remember("Ann drinks tea."), desk.remember("Bob drinks milk.")
    desk.sync_settled()
    memory, disk = busy(desk)
    desk.edit(atom, "drinks tea", "drinks coffee")
    desk.file(gone).unlink()
    desk.drop("atoms/note.md", "Carla drinks water.\n")
    disk.scans = 0
    report = memory.sync()
    assert (len(report.edited), len(report.deleted), report.adopted) == (1, 1, ["atoms/note.md"])
    assert disk.scans == 1


def test_a_dream_sees_what_a_person_wrote_before_it_and_goes_over_the_files_once(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    memory, disk = busy(desk)
    desk.edit(atom, "drinks tea", "drinks coffee")
    disk.scans = 0
    memory.dream("age")
    assert memory.get(atom.id).content == "Ann drinks coffee."
    assert disk.scans == 1


def test_what_somebody_else_took_in_first_is_not_taken_in_twice(desk: Desk) -> None:
    atom, gone, moved = (desk.remember(f"{name} drinks tea.") for name in ("Ann", "Bob", "Carla"))
    memory, disk = busy(desk)
    desk.edit(atom, "drinks tea", "drinks coffee")
    desk.file(gone).unlink()
    desk.move(desk.file(moved), "atoms/mine/carla.md")
    file = desk.drop("atoms/note.md", "Dan drinks water.\n")
    disk.others = desk.memory.sync
    report = memory.sync()
    assert not report.has_changes
    assert [len(memory.history(each.id).versions) for each in (atom, gone, moved, desk.found(file))] == [2, 2, 1, 1]
    assert memory.get(gone.id).status is Status.TOMBSTONED
    assert memory.path_of(moved.id) == "atoms/mine/carla.md"
    assert memory.doctor().problems == ()


def test_a_file_that_is_back_before_its_deletion_is_taken_in_was_never_deleted(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    file = desk.file(atom)
    text = file.read_bytes()
    memory, disk = busy(desk)
    file.unlink()
    disk.others = lambda: file.write_bytes(text)
    assert not memory.sync().deleted
    memory.sync()
    assert memory.get(atom.id) == atom


def test_the_last_save_counts_where_somebody_saves_again_meanwhile(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    memory, disk = busy(desk)
    desk.edit(atom, "drinks tea", "drinks coffee")
    disk.others = lambda: desk.edit(atom, "drinks coffee", "drinks milk")
    memory.sync()
    assert memory.get(atom.id).content == "Ann drinks milk."
    assert not memory.sync().has_changes


def test_a_new_file_that_is_gone_again_meanwhile_leaves_nothing(desk: Desk) -> None:
    memory, disk = busy(desk)
    file = desk.drop("atoms/note.md", "Ann drinks tea.\n")
    disk.others = file.unlink
    assert not memory.sync().has_changes
    assert memory.list(status=None) == []


def test_what_was_moved_by_a_person_while_others_had_their_turn_keeps_its_id(desk: Desk) -> None:
    atom = desk.remember("Ann drinks tea.")
    memory, disk = busy(desk)
    desk.edit(atom, "drinks tea", "drinks coffee")
    disk.others = lambda: desk.move(desk.file(atom), "atoms/mine/ann.md")
    memory.sync()
    memory.sync()
    found = memory.get(atom.id)
    assert (found.content, found.status) == ("Ann drinks coffee.", Status.ACTIVE)
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
