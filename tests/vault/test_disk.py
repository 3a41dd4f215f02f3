"""Files are read, created, exchanged, moved and locked without losing a byte of a person's text.

Covers `lamina.vault.file_access`, `lamina.vault.file_access` and `lamina.vault.file_access`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lamina.errors import InvalidInput, StoreBusy
from lamina.vault.disk import Disk
from lamina.vault.file_access import MAX_FILE_BYTES, UnusableFile
from lamina.vault.syscalls import FolderEntry, Syscalls

TEA = "notes/tea.md"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path)
    yield disk
    disk.close()


def leftovers(root: Path) -> list[str]:
    folder = root / ".lamina/tmp"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


# Reading


def test_a_created_file_is_read_back_with_the_same_stamp(disk: Disk) -> None:
    stamp = disk.create(TEA, b"green")
    assert disk.read(TEA) == (b"green", stamp)
    assert disk.stamp(TEA) == stamp


def test_a_missing_file_is_reported(disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "plain.md").write_text("x")
    assert disk.stamp(TEA) is None
    assert disk.stamp("plain.md/inside.md") is None
    with pytest.raises(FileNotFoundError):
        disk.read(TEA)


def test_links_folders_pipes_and_oversized_files_are_refused_unread(disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "target.md").write_text("x")
    (tmp_path / "link.md").symlink_to("target.md")
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    with (tmp_path / "giant.md").open("wb") as giant:
        giant.truncate(MAX_FILE_BYTES + 1)
    for name in ("link.md", "folder.md", "pipe.md", "giant.md"):
        with pytest.raises(UnusableFile) as caught:
            disk.read(name)
        assert caught.value.path == name
        with pytest.raises(UnusableFile):
            disk.exchange(name, b"new")
    assert [disk.stamp(name) for name in ("link.md", "folder.md", "pipe.md")] == [None] * 3


def test_a_file_of_exactly_the_largest_size_is_read(disk: Disk) -> None:
    disk.create(TEA, b"x" * MAX_FILE_BYTES)
    assert len(disk.read(TEA)[0]) == MAX_FILE_BYTES


class ChangingSyscalls(Syscalls):
    """Somebody writes into the file at the end of each of the first reads."""

    def __init__(self, path: Path, times: int) -> None:
        self.path, self.times = path, times

    def read(self, fd: int, count: int) -> bytes:
        data = super().read(fd, count)
        if self.times and not data:
            self.times -= 1
            with self.path.open("a") as file:
                file.write(".")
        return data


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("a")
    data, stamp = Disk(tmp_path, ChangingSyscalls(tmp_path / "tea.md", 2)).read("tea.md")
    assert data == (tmp_path / "tea.md").read_bytes()
    assert stamp == Disk(tmp_path).stamp("tea.md")


def test_a_constantly_changing_file_gets_a_stamp_that_does_not_match(tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("a")
    _, stamp = Disk(tmp_path, ChangingSyscalls(tmp_path / "tea.md", 1000)).read("tea.md")
    assert stamp != Disk(tmp_path).stamp("tea.md")


# Creating and moving


def test_creating_never_replaces(disk: Disk, tmp_path: Path) -> None:
    disk.create(TEA, b"green")
    with pytest.raises(FileExistsError):
        disk.create(TEA, b"black")
    assert disk.read(TEA)[0] == b"green"
    assert leftovers(tmp_path) == []


def test_a_folder_that_a_person_removed_is_created_again(disk: Disk, tmp_path: Path) -> None:
    disk.create("notes/deep/one.md", b"1")
    (tmp_path / "notes/deep/one.md").unlink()
    (tmp_path / "notes/deep").rmdir()
    disk.create("notes/deep/two.md", b"2")
    assert disk.read("notes/deep/two.md")[0] == b"2"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_files_and_folders_are_private_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        disk = Disk(tmp_path)
        disk.create(TEA, b"1")
        stored = disk.exchange(TEA, b"2").copy_name
        conflict = disk.save_conflict(TEA, b"3")
        with disk.lock("write", 1):
            pass
    finally:
        os.umask(before)
    for file in (TEA, f".lamina/swapped/{stored}", conflict, ".lamina/write.lock"):
        assert stat.S_IMODE((tmp_path / file).stat().st_mode) == 0o600
    for folder in ("notes", ".lamina", ".lamina/tmp", ".lamina/swapped", ".lamina/conflicts"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700


def test_a_move_makes_folders_and_changes_only_the_ctime(disk: Disk, tmp_path: Path) -> None:
    before = disk.create(TEA, b"green")
    after = disk.move(TEA, "drinks/hot/tea.md")
    assert after.content == before.content
    assert disk.stamp("drinks/hot/tea.md") == after
    assert not (tmp_path / TEA).exists()


def test_a_move_never_replaces_and_needs_a_plain_file(disk: Disk, tmp_path: Path) -> None:
    disk.create(TEA, b"green")
    disk.create("other.md", b"other")
    with pytest.raises(FileExistsError):
        disk.move(TEA, "other.md")
    with pytest.raises(FileNotFoundError):
        disk.move("missing.md", "new.md")
    (tmp_path / "link.md").symlink_to("other.md")
    with pytest.raises(UnusableFile):
        disk.move("link.md", "new.md")
    assert disk.read(TEA)[0] == b"green"
    assert disk.read("other.md")[0] == b"other"


def test_only_empty_folders_below_the_top_are_removed(disk: Disk, tmp_path: Path) -> None:
    disk.create("top/a/b/c/one.md", b"1")
    disk.create("top/a/two.md", b"2")
    disk.move("top/a/b/c/one.md", "elsewhere/one.md")
    disk.remove_empty_dirs("top/a/b/c/one.md")
    assert not (tmp_path / "top/a/b").exists()
    assert (tmp_path / "top/a/two.md").exists()
    disk.move("elsewhere/one.md", "top/one.md")
    disk.remove_empty_dirs("elsewhere/one.md")
    assert (tmp_path / "elsewhere").exists()


# Exchanging


def test_an_exchange_returns_the_previous_content_and_keeps_it(disk: Disk) -> None:
    disk.create(TEA, b"green")
    swapped = disk.exchange(TEA, b"black")
    assert swapped.data == b"green"
    assert disk.read(TEA) == (b"black", swapped.stamp)
    (swap_copy,) = disk.swap_copies()
    assert (swap_copy.name, swap_copy.sha256) == (swapped.copy_name, hashlib.sha256(b"green").hexdigest())
    assert disk.copy_path(swap_copy.name) == TEA
    assert abs(swap_copy.at_ns - time.time_ns()) < 60 * 10**9
    assert disk.copy_bytes(swap_copy.name) == b"green"


def test_a_kept_copy_shows_later_writes_of_an_editor(disk: Disk, tmp_path: Path) -> None:
    disk.create(TEA, b"green")
    with (tmp_path / TEA).open("ab") as editor:
        stored = disk.exchange(TEA, b"black").copy_name
        editor.write(b" with milk")
    assert disk.copy_bytes(stored) == b"green with milk"


def test_the_path_of_a_kept_copy_is_known_whatever_its_length(disk: Disk) -> None:
    path = "/".join(["ö" * 120] * 4) + ".md"
    disk.create(path, b"1")
    disk.exchange(path, b"2")
    assert disk.copy_path(disk.swap_copies()[0].name) == path


def test_a_removed_copy_leaves_nothing_and_may_be_removed_again(disk: Disk, tmp_path: Path) -> None:
    disk.create(TEA, b"green")
    stored = disk.exchange(TEA, b"black").copy_name
    disk.delete_copy(stored)
    disk.delete_copy(stored)
    assert disk.swap_copies() == []
    assert list((tmp_path / ".lamina/swapped").iterdir()) == []


def test_a_kept_copy_is_restored_and_the_replacement_kept_instead(disk: Disk) -> None:
    disk.create(TEA, b"a person's")
    first = disk.exchange(TEA, b"ours")
    second = disk.restore_copy(first.copy_name, TEA)
    assert second.data == b"ours"
    assert disk.read(TEA) == (b"a person's", second.stamp)
    assert [copy.name for copy in disk.swap_copies()] == [second.copy_name]
    assert disk.copy_path(disk.swap_copies()[0].name) == TEA


def test_a_missing_path_is_not_recreated(disk: Disk, tmp_path: Path) -> None:
    disk.create(TEA, b"green")
    stored = disk.exchange(TEA, b"black").copy_name
    (tmp_path / TEA).unlink()
    with pytest.raises(FileNotFoundError):
        disk.exchange(TEA, b"again")
    with pytest.raises(FileNotFoundError):
        disk.restore_copy(stored, TEA)
    assert disk.copy_bytes(stored) == b"green"
    assert leftovers(tmp_path) == []
    assert len(list((tmp_path / ".lamina/swapped").iterdir())) == 2


class InterruptedSyscalls(Syscalls):
    """Somebody does something just before or just after the exchange."""

    def __init__(self, before: Callable[[], object] | None = None, after: Callable[[], object] | None = None) -> None:
        self.before, self.after = before, after

    def exchange(self, one: FolderEntry, other: FolderEntry) -> None:
        before, self.before = self.before, None
        if before:
            before()
        super().exchange(one, other)
        after, self.after = self.after, None
        if after:
            after()


def test_a_path_that_disappears_just_before_the_exchange_leaves_no_trace(tmp_path: Path) -> None:
    disk = Disk(tmp_path, InterruptedSyscalls(before=(tmp_path / TEA).unlink))
    disk.create(TEA, b"green")
    with pytest.raises(FileNotFoundError):
        disk.exchange(TEA, b"black")
    assert disk.swap_copies() == []
    assert list((tmp_path / ".lamina/swapped").iterdir()) == []
    assert leftovers(tmp_path) == []


def test_a_save_immediately_after_the_exchange_is_not_hidden_by_its_stamp(tmp_path: Path) -> None:
    for save in (b"BLACK", b"longer than before"):
        (tmp_path / TEA).unlink(missing_ok=True)
        disk = Disk(tmp_path, InterruptedSyscalls(after=partial(replace, tmp_path / TEA, save)))
        disk.create(TEA, b"green")
        swapped = disk.exchange(TEA, b"black")
        assert swapped.data == b"green"
        assert swapped.stamp != disk.stamp(TEA)
        assert disk.read(TEA)[0] == save


@pytest.mark.parametrize("kind", ["link", "giant"])
def test_an_unusable_file_is_moved_back(kind: str, tmp_path: Path) -> None:
    def strange() -> None:
        (tmp_path / TEA).unlink()
        if kind == "link":
            (tmp_path / TEA).symlink_to("/etc/hostname")
        else:
            (tmp_path / TEA).write_bytes(b"x" * (MAX_FILE_BYTES + 1))

    disk = Disk(tmp_path, InterruptedSyscalls(before=strange))
    disk.create(TEA, b"green")
    with pytest.raises(UnusableFile):
        disk.exchange(TEA, b"black")
    assert (tmp_path / TEA).is_symlink() or (tmp_path / TEA).stat().st_size > MAX_FILE_BYTES
    assert disk.swap_copies() == []
    assert leftovers(tmp_path) == []


def replace(path: Path, data: bytes) -> None:
    other = path.with_name("editor")
    other.write_bytes(data)
    other.replace(path)


# Scanning


def test_a_scan_lists_every_regular_markdown_file_in_order_and_nothing_else(disk: Disk, tmp_path: Path) -> None:
    expected = {path: disk.create(path, b"x") for path in ("b.md", "a.md", "z/1.md", "b/y/2.md", "b/x/ü.md")}
    disk.create("picture.png", b"x")
    for hidden in (".git", ".obsidian"):
        (tmp_path / hidden).mkdir()
        (tmp_path / hidden / "inside.md").write_text("x")
    (tmp_path / ".hidden.md").write_text("x")
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "linked").symlink_to(tmp_path / "z")
    (tmp_path / "folder.md").mkdir()
    disk.exchange("a.md", b"y")
    disk.save_conflict("a.md", b"z")
    (tmp_path / os.fsdecode(b"\xff.md")).write_text("not UTF-8")
    result = list(disk.scan())
    assert [path for path, _ in result] == ["a.md", "b.md", "b/x/ü.md", "b/y/2.md", "z/1.md"]
    assert dict(result)["b/y/2.md"] == expected["b/y/2.md"]


class Closed(Syscalls):
    def entries(self, folder: int) -> list[os.DirEntry[str]]:
        raise PermissionError(errno.EACCES, "closed")


def test_an_unlistable_folder_does_not_look_empty(disk: Disk, tmp_path: Path) -> None:
    disk.create(TEA, b"x")
    with pytest.raises(PermissionError):
        list(Disk(tmp_path, Closed()).scan())


@pytest.mark.slow
def test_a_very_deep_folder_does_not_break_the_scan(disk: Disk, tmp_path: Path) -> None:
    deep = "/".join(["d"] * 1500)
    disk.create(f"{deep}/low.md", b"x")
    assert [path for path, _ in disk.scan()] == [f"{deep}/low.md"]
    disk.move(f"{deep}/low.md", "high.md")
    disk.remove_empty_dirs(f"{deep}/low.md")


# Conflicts, leftovers, locks


def test_a_conflict_copy_has_a_distinct_name(disk: Disk, tmp_path: Path) -> None:
    names = {disk.save_conflict(f"notes/{'ü' * 120}.md", b"lost side") for _ in range(3)}
    assert len(names) == 3
    assert all((tmp_path / name).read_bytes() == b"lost side" for name in names)
    assert all(name.startswith(".lamina/conflicts/ü") for name in names)


def test_old_leftovers_are_deleted_and_recent_ones_and_copies_are_not(disk: Disk, tmp_path: Path) -> None:
    disk.create(TEA, b"1")
    stored = disk.exchange(TEA, b"2").copy_name
    orphan = f"{'a' * 16}-1.path"
    for name in ("tmp/old", "tmp/fresh", f"swapped/{orphan}"):
        (tmp_path / ".lamina" / name).write_text("x")
    long_ago = time.time() - 7200
    for file in [*(tmp_path / ".lamina/swapped").iterdir(), tmp_path / ".lamina/tmp/old"]:
        os.utime(file, (long_ago, long_ago))
    again = Disk(tmp_path)
    assert leftovers(tmp_path) == ["fresh"]
    assert [(copy.name, again.copy_path(copy.name)) for copy in again.swap_copies()] == [(stored, TEA)]
    assert not (tmp_path / ".lamina/swapped" / orphan).exists()


def test_a_lock_excludes_others_until_the_timeout(disk: Disk) -> None:
    with disk.lock("write", 1), pytest.raises(StoreBusy), disk.lock("write", 0.05):
        pass
    with disk.lock("write", 0), disk.lock("other", 0):
        pass


def test_a_lock_lets_one_thread_in_at_a_time(disk: Disk) -> None:
    inside, most, entries = 0, 0, []

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with disk.lock("write", 60):
                inside += 1
                most = max(most, inside)
                entries.append(1)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(entries)) == (1, 80)


HOLDER = """
import sys, time
from pathlib import Path
from lamina.vault.disk import Disk
with Disk(Path(sys.argv[1])).lock("write", 5):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_killed_lock_holder_blocks_no_one(disk: Disk, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StoreBusy), disk.lock("write", 0):
            pass
        holder.kill()
        holder.wait()
    with disk.lock("write", 2):
        pass


@pytest.mark.parametrize("name", ["", "../x", "A", "a/b", "a\0", "-a", "a" * 60])
def test_a_lock_has_a_plain_name(disk: Disk, name: str) -> None:
    with pytest.raises(InvalidInput):
        disk.lock(name, 0)


# Hostile paths

HOSTILE = [
    "",
    "/",
    "//",
    "/etc/passwd",
    "//etc/passwd",
    ".",
    "..",
    "../",
    "../x.md",
    "../../etc/passwd",
    "notes/..",
    "notes/../x.md",
    "notes/../../x.md",
    "notes/../../../../../../etc/passwd",
    "./x.md",
    "notes/./x.md",
    "notes//x.md",
    "notes/",
    "/notes/x.md",
    "notes/x.md/",
    ".../x.md",
    ".hidden.md",
    ".git/config",
    ".git/hooks/pre-commit",
    ".lamina/history.db",
    ".lamina/tmp/x",
    ".lamina/swapped/x",
    "notes/.lamina/x.md",
    "notes/.x.md",
    "x\0.md",
    "\0",
    "notes\0/../x.md",
    "notes/x.md\0.png",
    "..\\x.md",
    "..\\..\\windows\\system32",
    "notes\\..\\x.md",
    "\\\\server\\share\\x.md",
    "C:\\x.md",
    "C:/x.md",
    "c:x.md",
    "x\n.md",
    "x\r.md",
    "x\t.md",
    "x\x1b[2J.md",
    "x\x7f.md",
    "\ud800.md",
    "notes/\udcff.md",
    "a" * 256 + ".md",
    "ü" * 128 + ".md",
    "a/" * 2100 + "x.md",
    "~/../x.md",
    "\n../x.md",
]


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path)[:40])
def test_a_hostile_path_is_refused_by_every_method(disk: Disk, tmp_path: Path, path: str) -> None:
    disk.create("good.md", b"x")
    stored = disk.exchange("good.md", b"y").copy_name
    before = sorted(str(file) for file in tmp_path.rglob("*"))
    verbs: list[Callable[[], object]] = [
        lambda: disk.read(path),
        lambda: disk.stamp(path),
        lambda: disk.create(path, b"x"),
        lambda: disk.exchange(path, b"x"),
        lambda: disk.restore_copy(stored, path),
        lambda: disk.restore_copy(path, "good.md"),
        lambda: disk.move(path, "new.md"),
        lambda: disk.move("good.md", path),
        lambda: disk.remove_empty_dirs(path),
        lambda: disk.save_conflict(path, b"x"),
        lambda: disk.copy_bytes(path),
        lambda: disk.delete_copy(path),
    ]
    for verb in verbs:
        with pytest.raises(InvalidInput):
            verb()
    assert sorted(str(file) for file in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("path", ["%2e%2e/x.md", "x%2f..%2fy.md", "~root/x.md", "CON", "x .md", "x../y...md"])
def test_an_unusual_but_harmless_name_stays_within_the_vault(disk: Disk, tmp_path: Path, path: str) -> None:
    disk.create(path, b"x")
    assert (tmp_path / path).read_bytes() == b"x"


def test_a_linked_folder_is_never_walked(tmp_path: Path) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    root.mkdir()
    (outside / "inner").mkdir(parents=True)
    (outside / "inner/secret.md").write_text("secret")
    (root / "linked").symlink_to(outside)
    (root / "real").mkdir()
    (root / "real/linked").symlink_to(outside / "inner")
    disk = Disk(root)
    disk.create("good.md", b"x")
    for path in ("linked/inner/secret.md", "real/linked/secret.md"):
        assert disk.stamp(path) is None
        for verb in (
            partial(disk.read, path),
            partial(disk.exchange, path, b"x"),
            partial(disk.create, path + "x", b"x"),
            partial(disk.move, path, "stolen.md"),
            partial(disk.move, "good.md", path + "x"),
        ):
            with pytest.raises(InvalidInput):
                verb()
    assert [path for path, _ in disk.scan()] == ["good.md"]
    assert (outside / "inner/secret.md").read_text() == "secret"
    assert len(list((outside / "inner").iterdir())) == 1


def test_a_linked_root_is_never_written_through(tmp_path: Path) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / ".lamina").symlink_to(outside)
    with pytest.raises(InvalidInput):
        Disk(root).create("good.md", b"x")
    assert list(outside.iterdir()) == []


# The nth operation fails


class Failing(Syscalls):
    """Fails the nth call, once or from then on; `late` calls do their work before they fail."""

    def __init__(self, code: int | None, *, persistent: bool = False, late: bool = False) -> None:
        self.code, self.persistent, self.late = code, persistent, late
        self.count, self.fail_at = 0, 0
        self.missing: frozenset[str] = frozenset()
        self.failed = ""

    def due(self) -> bool:
        self.count += 1
        return bool(self.fail_at) and (self.count == self.fail_at or (self.persistent and self.count > self.fail_at))

    def call(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if name in self.missing:
            raise OSError(errno.EINVAL, "not offered here")
        if not self.due():
            return real(*args)
        if self.code is None:
            return real(args[0], args[1][: max(1, len(args[1]) // 2)]) if name == "write" else real(*args)
        self.failed = name
        if self.late or name == "close":
            real(*args)
        raise OSError(self.code, os.strerror(self.code))


def _wrapped(name: str) -> Callable[..., Any]:
    real = getattr(Syscalls, name)

    def method(self: Failing, *args: Any) -> Any:
        return self.call(name, partial(real, self), args)

    return method


for _name in [name for name in vars(Syscalls) if not name.startswith("_")]:
    setattr(Failing, _name, _wrapped(_name))

OLD, NEW = b"old bytes " * 50, b"new bytes " * 70
FAULTS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EACCES": errno.EACCES, "short": None}


def _create(disk: Disk) -> None:
    disk.create("new/one.md", NEW)


def _exchange(disk: Disk) -> None:
    disk.exchange(TEA, NEW)


def _move(disk: Disk) -> None:
    disk.move(TEA, "new/one.md")


def _put_back(disk: Disk) -> None:
    disk.restore_copy(disk.swap_copies()[-1].name, TEA)


def _prepare(root: Path, verb: Callable[[Disk], None]) -> dict[str, set[bytes | None]]:
    """The files before the verb, and what each may hold after it, whether it failed or not."""
    disk = Disk(root)
    if verb is _create:
        return {"new/one.md": {None, NEW}}
    disk.create(TEA, OLD)
    if verb is _move:
        return {TEA: {OLD, None}, "new/one.md": {None, OLD}}
    if verb is _put_back:
        disk.exchange(TEA, NEW)
    return {TEA: {OLD, NEW}}


def _bytes_at(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _one_run(root: Path, verb: Callable[[Disk], None], system: Failing, nth: int) -> bool:
    """Whether the run still reached its nth operation."""
    allowed = _prepare(root, verb)
    disk = Disk(root, system)
    system.count, system.fail_at = 0, nth
    failed = False
    try:
        verb(disk)
    except OSError as error:
        failed = True
        assert error.errno == system.code
    reached, system.fail_at = system.count >= nth, 0
    result = {path: _bytes_at(root / path) for path in allowed}
    assert all(result[path] in allowed[path] for path in allowed), (nth, result)
    if verb is not _create:
        assert OLD in {*result.values(), *(disk.copy_bytes(copy.name) for copy in disk.swap_copies())}, nth
    if failed and not system.persistent and not system.late:
        assert leftovers(root) == [] or system.failed == "unlink", (nth, system.failed)
    _works(disk)
    return reached


def _works(disk: Disk) -> None:
    disk.create("after.md", b"1")
    assert disk.exchange("after.md", b"2").data == b"1"
    disk.move("after.md", "moved.md")
    assert disk.read("moved.md")[0] == b"2"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("mode", ["transient", "persistent", "late"])
@pytest.mark.parametrize("verb", [_create, _exchange, _move, _put_back])
@pytest.mark.parametrize("lacking", [(), ("exchange", "rename_new")], ids=["complete", "lacking"])
def test_after_any_failed_call_the_path_has_the_old_or_the_new_bytes(
    fault: str, mode: str, verb: Callable[[Disk], None], lacking: tuple[str, ...], tmp_path: Path
) -> None:
    system = Failing(FAULTS[fault], persistent=mode == "persistent", late=mode == "late")
    system.missing = frozenset(lacking)
    nth, reached = 0, True
    while reached:
        nth += 1
        root = tmp_path / str(nth)
        root.mkdir()
        reached = _one_run(root, verb, system, nth)
    assert nth > 8


# Races with a person

STYLES = ("in place", "rename", "append", "sed", "checkout")


def save(style: str, path: Path, marker: bytes) -> None:
    """Save as an editor of that style does."""
    match style:
        case "in place":
            with path.open("wb") as file:
                file.write(b"mine " + marker)
        case "append":
            with path.open("ab") as file:
                file.write(marker)
        case "rename":
            replace(path, b"mine " + marker)
        case "sed":
            text = path.read_bytes() if path.exists() else b""
            replace(path, text + marker)
        case "checkout":
            path.unlink(missing_ok=True)
            with path.open("xb") as file:
                file.write(b"mine " + marker)


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def edit(style: str, path: Path, seed: str) -> None:
    """The person: saves once for each line of standard input, a random moment after it came."""
    rng = random.Random(seed)
    for line in sys.stdin.buffer:
        spin(rng.uniform(0, 0.0004))
        save(style, path, line.strip())
        sys.stdout.buffer.write(b"saved\n")
        sys.stdout.buffer.flush()


@contextmanager
def person(style: str, path: Path, seed: str) -> Iterator[Callable[[bytes], Callable[[], None]]]:
    command = [sys.executable, __file__, style, str(path), seed]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as editor:
        assert editor.stdin is not None
        assert editor.stdout is not None
        actual, answers = editor.stdin, editor.stdout

        def ask(marker: bytes) -> Callable[[], None]:
            actual.write(marker + b"\n")
            actual.flush()
            return result

        def result() -> None:
            assert answers.readline() == b"saved\n"

        yield ask
        actual.close()
        assert editor.wait(60) == 0


def races(style: str, count: int, root: Path, seed: int = 0) -> int:
    """Let the engine exchange a file while a person saves it, `count` times; how many saves are nowhere to be found."""
    disk, path, missing = Disk(root), "race.md", 0
    rng = random.Random(seed)
    with person(style, root / path, f"{seed}-{style}") as ask:
        for number in range(count):
            marker = b"<%d-%d>" % (seed, number)
            (root / path).unlink(missing_ok=True)
            disk.create(path, b"before")
            response = ask(marker)
            spin(rng.uniform(0, 0.0005))
            data = _engine_writes(disk, path)
            response()
            missing += not _find_save(disk, path, marker, data)
            for copy in disk.swap_copies():
                disk.delete_copy(copy.name)
    return missing


def _engine_writes(disk: Disk, path: str) -> bytes:
    try:
        return disk.exchange(path, b"written by the engine").data
    except FileNotFoundError:
        return b""


def _find_save(disk: Disk, path: str, marker: bytes, seen: bytes) -> bool:
    here = disk.read(path)[0] if disk.stamp(path) else b""
    return marker in here or marker in seen or any(marker in disk.copy_bytes(copy.name) for copy in disk.swap_copies())


@pytest.mark.parametrize("style", STYLES)
def test_no_save_of_a_person_is_lost_in_a_race_with_the_engine(style: str, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    assert races(style, 60, tmp_path, seed) == 0


if __name__ == "__main__":
    edit(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
