"""Links, pipes, sockets, devices and huge sparse files are skipped or refused at once, with a line that says so."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from exports import chatgpt, message, note

import lamina
from lamina import InvalidInput
from lamina.errors import NotFound
from lamina.importers import ImportedDocument, SkippedItem, detect_importer, plan_import
from lamina.importers.documents import UnreadableDocument, read_document
from lamina.importers.documents.regular_file import LINK, SPECIAL_FILE, is_regular_file, read_regular_file
from vault_workspace import VaultWorkspace


def irregular_folder(folder: Path, name: str = "{}.md") -> Path:
    """A folder with one note, and everything that is no file under the names of notes."""
    note(folder / "a.md", "Words.")
    os.mkfifo(folder / name.format("pipe"))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / name.format("socket")))
    (folder / name.format("zero")).symlink_to("/dev/zero")
    (folder / name.format("loop")).symlink_to(folder / name.format("loop"))
    (folder / "folder").symlink_to(folder)
    return folder


def skipped_in(folder: Path) -> dict[str, str]:
    return {step.path: step.reason for step in plan_import(folder).steps() if isinstance(step, SkippedItem)}


def test_links_and_special_files_of_a_folder_are_skipped_with_a_line(tmp_path: Path) -> None:
    folder = irregular_folder(tmp_path / "notes")
    plan = plan_import(folder)
    assert [step.path for step in plan.steps() if isinstance(step, ImportedDocument)] == ["a.md"]
    assert skipped_in(folder) == {
        "folder": LINK,
        "loop.md": LINK,
        "pipe.md": SPECIAL_FILE,
        "socket.md": SPECIAL_FILE,
        "zero.md": LINK,
    }
    assert plan.total == 6


@pytest.mark.parametrize("name", ["{}-conversations.json", "{}.csv", "{}.zip", "conversations-{}.json", ".{}"])
def test_special_files_of_any_name_stop_no_import(tmp_path: Path, name: str) -> None:
    folder = irregular_folder(tmp_path / "notes", name)
    os.mkfifo(folder / "conversations.json")
    os.mkfifo(folder / "index.md")
    (folder / ".obsidian").mkdir()
    os.mkfifo(folder / ".obsidian" / "templates.json")
    assert [step.path for step in plan_import(folder).steps() if isinstance(step, ImportedDocument)] == ["a.md"]


def test_special_files_in_a_vault_of_another_memory_are_skipped(tmp_path: Path) -> None:
    note(tmp_path / "vault" / "fact.md", "---\nid: f1\ncategory: fact\nconfidence: 0.9\n---\n\nAnn likes tea.\n")
    graphs = tmp_path / "vault" / "state" / "graphs"
    graphs.mkdir(parents=True)
    os.mkfifo(graphs / "causal.jsonl")
    (tmp_path / "vault" / "zero.md").symlink_to("/dev/zero")
    assert detect_importer(tmp_path / "vault").name == "Remnic or Engram vault"
    assert skipped_in(tmp_path / "vault") == {"state/graphs/causal.jsonl": SPECIAL_FILE, "zero.md": LINK}


def test_special_files_in_an_export_of_lamina_are_skipped(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault") as memory:
        memory.remember("Ann likes tea.")
        memory.export(tmp_path / "out", format="markdown")
    os.mkfifo(tmp_path / "out" / "pipe.md")
    assert skipped_in(tmp_path / "out") == {"pipe.md": SPECIAL_FILE}


@pytest.mark.parametrize("name", ["a", "a.md", "a.txt", "a.json", "a.csv", "a.zip", "a.pdf", "a.docx", "a.db"])
def test_a_pipe_or_device_given_as_the_path_is_refused(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    (tmp_path / f"zero-{name}").symlink_to("/dev/zero")
    (tmp_path / f"loop-{name}").symlink_to(tmp_path / f"loop-{name}")
    for path in (tmp_path / name, tmp_path / f"zero-{name}"):
        with pytest.raises(InvalidInput, match="only files and folders"):
            detect_importer(path)
    with pytest.raises(NotFound):
        detect_importer(tmp_path / f"loop-{name}")


def test_the_command_answers_at_once_for_a_pipe_and_a_loop(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    for path in (tmp_path / "pipe.md", tmp_path / "loop.md"):
        command = [sys.executable, "-m", "lamina", "import", str(path), "--vault", str(tmp_path / "vault")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode and "Traceback" not in done.stderr
        assert path.name in done.stderr


def test_a_link_to_a_file_that_is_given_as_the_path_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to(note(tmp_path / "a" / "a.md", "Words."))
    (step,) = plan_import(tmp_path / "link.md").steps()
    assert isinstance(step, ImportedDocument)


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.pdf", "a.docx", "a.html"])
def test_a_sparse_file_is_refused_by_its_size(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UnreadableDocument, match="larger than"):
        read_document(tmp_path / name)
    steps = list(plan_import(tmp_path).steps())
    assert "larger than" in steps[0].reason  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("a.json", b'{"lamina_export": 1, "atoms": ['),
        ("a.json", b'{"export_version": 1, "records": ['),
        ("a.json", b'{"memories": ['),
        ("a.json", b'[{"mapping": '),
        ("a.csv", b"id,kind,content,observed_at"),
        ("a.csv", b"id,kind,content,observed_at\n1,fact,"),
    ],
)
def test_a_sparse_export_fills_no_memory(tmp_path: Path, name: str, head: bytes) -> None:
    (tmp_path / name).write_bytes(head)
    os.truncate(tmp_path / name, 1 << 40)
    script = (
        "import resource, sys, pathlib; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "from lamina.importers import plan_import, ImportProblem\n"
        "from lamina.errors import InvalidInput\n"
        "try: found = [s for s in plan_import(pathlib.Path(sys.argv[1])).steps() if not isinstance(s, ImportProblem)]\n"
        "except InvalidInput: found = []\n"
        "sys.exit(bool(found))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / name)], capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_a_conversation_file_behind_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text(json.dumps([chatgpt("c1", [message("user", "hi")])]))
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "conversations.json").symlink_to(tmp_path / "real.json")
    assert skipped_in(tmp_path / "export") == {"conversations.json": LINK}


def test_reading_is_bounded_and_never_blocks(tmp_path: Path) -> None:
    file = note(tmp_path / "a.md", "12345")
    assert read_regular_file(file, 5) == b"12345" and is_regular_file(file)
    with pytest.raises(UnreadableDocument, match="larger"):
        read_regular_file(file, 4)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableDocument, match="pipe"):
        read_regular_file(tmp_path / "pipe", 5)
    assert not is_regular_file(tmp_path / "pipe") and not is_regular_file(tmp_path / "none")


def test_links_and_special_files_in_the_inbox_are_reported_until_they_are_removed(workspace: VaultWorkspace) -> None:
    folder = workspace.root / "inbox"
    workspace.drop("inbox/a.md", "The boiler man is called Otto.")
    os.mkfifo(folder / "pipe.md")
    (folder / "zero.md").symlink_to("/dev/zero")
    workspace.memory.upkeep.sync()
    problems = {problem.path: problem.message for problem in workspace.memory.upkeep.doctor().problems}
    assert problems.keys() == {"inbox/pipe.md", "inbox/zero.md"}
    assert SPECIAL_FILE in problems["inbox/pipe.md"] and LINK in problems["inbox/zero.md"]
    assert "Otto" in workspace.memory.recall("who is the boiler man").hits[0].text
    (folder / "pipe.md").unlink()
    (folder / "zero.md").unlink()
    workspace.memory.upkeep.sync()
    assert workspace.memory.upkeep.doctor().problems == ()
