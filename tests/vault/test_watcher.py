from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lamina.vault.watcher import Watcher

TIMEOUT = 20.0


class Listener:
    def __init__(self) -> None:
        self.told: queue.Queue[frozenset[str]] = queue.Queue()
        self.everything: set[str] = set()

    def __call__(self, paths: frozenset[str]) -> None:
        self.told.put(paths)

    def expect_report(self, path: str) -> None:
        while path not in self.everything:
            self.everything |= self.told.get(timeout=TIMEOUT)


@contextmanager
def watching(root: Path) -> Iterator[Listener]:
    listener = Listener()
    watcher = Watcher(root, listener)
    assert watcher.start()
    try:
        yield listener
    finally:
        watcher.stop()
        assert not watcher.is_alive


def test_a_created_changed_and_deleted_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with watching(tmp_path) as listener:
        for step in ("create", "change", "delete"):
            listener.everything.clear()
            if step == "delete":
                (tmp_path / "notes/tea.md").unlink()
            else:
                (tmp_path / "notes/tea.md").write_text(step)
            listener.expect_report("notes/tea.md")


def test_a_save_by_rename_is_reported(tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("old")
    with watching(tmp_path) as listener:
        (tmp_path / "tea.md.tmp").write_text("new")
        (tmp_path / "tea.md.tmp").replace(tmp_path / "tea.md")
        listener.expect_report("tea.md")


def test_hidden_folders_hidden_files_and_other_file_types_are_not_reported(tmp_path: Path) -> None:
    (tmp_path / ".lamina").mkdir()
    with watching(tmp_path) as listener:
        (tmp_path / ".lamina/inside.md").write_text("x")
        (tmp_path / ".hidden.md").write_text("x")
        (tmp_path / "picture.png").write_text("x")
        (tmp_path / "last.md").write_text("x")
        listener.expect_report("last.md")
        assert listener.everything == {"last.md"}


def test_a_renamed_folder_is_reported_by_both_names(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old/tea.md").write_text("x")
    with watching(tmp_path) as listener:
        (tmp_path / "old").rename(tmp_path / "new")
        listener.expect_report("old/")
        listener.expect_report("new/")


def test_a_file_in_a_new_folder_is_reported_or_its_folder_is(tmp_path: Path) -> None:
    with watching(tmp_path) as listener:
        (tmp_path / "fresh").mkdir()
        listener.expect_report("fresh/")
        (tmp_path / "fresh/tea.md").write_text("x")
        listener.expect_report("fresh/tea.md")


def test_a_failing_listener_is_reported_and_the_watch_continues(tmp_path: Path) -> None:
    errors: queue.Queue[Exception] = queue.Queue()
    done_event = threading.Event()

    def listen(paths: frozenset[str]) -> None:
        if "good.md" in paths:
            done_event.set()
            return
        raise ValueError("no")

    watcher = Watcher(tmp_path, listen, errors.put)
    assert watcher.start()
    (tmp_path / "bad.md").write_text("x")
    assert isinstance(errors.get(timeout=TIMEOUT), ValueError)
    (tmp_path / "good.md").write_text("x")
    assert done_event.wait(TIMEOUT)
    watcher.stop()


def test_a_listener_may_stop_its_own_watcher(tmp_path: Path) -> None:
    done_event = threading.Event()

    def listen(_: frozenset[str]) -> None:
        watcher.stop()
        done_event.set()

    watcher = Watcher(tmp_path, listen)
    assert watcher.start()
    (tmp_path / "tea.md").write_text("x")
    assert done_event.wait(TIMEOUT)
    watcher.stop()


def test_a_stopped_watcher_can_start_again_and_starting_twice_is_one_watch(tmp_path: Path) -> None:
    listener = Listener()
    watcher = Watcher(tmp_path, listener)
    assert watcher.start()
    assert watcher.start()
    watcher.stop()
    assert not watcher.is_alive
    assert watcher.start()
    (tmp_path / "tea.md").write_text("x")
    listener.expect_report("tea.md")
    watcher.stop()


def test_a_missing_folder_cannot_be_watched(tmp_path: Path) -> None:
    watcher = Watcher(tmp_path / "missing", lambda _: None)
    assert not watcher.start()
    assert not watcher.is_alive


NO_HANDLES_LEFT = """
import resource, sys
from pathlib import Path
from lamina.vault.watcher import Watcher
watcher = Watcher(Path(sys.argv[1]), lambda paths: None)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
sys.exit(0 if watcher.start() is False else 1)
"""


def test_a_refused_watch_returns_false(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-c", NO_HANDLES_LEFT, os.fspath(tmp_path)], check=False, timeout=60)
    assert result.returncode == 0
