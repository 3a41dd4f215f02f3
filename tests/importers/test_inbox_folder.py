"""A file dropped into the inbox is recallable without review and moved away; an unreadable one stays and is reported.

Covers `lamina.engine.captures`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamina
from lamina import Memory, Status, passages_of
from lamina.atom.provenance import Origin
from lamina.vault.disk import Disk
from lamina.vault.file_access import Stamp
from vault_workspace import VaultWorkspace, eventually

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
DAY = "2026-11-14"


def texts(memory: Memory) -> list[str]:
    atoms = memory.list(status=None, limit=None)
    return sorted(passage.text for atom in atoms if atom.is_segment for passage in passages_of(atom))


def originals(workspace: VaultWorkspace) -> list[str]:
    return sorted(file.name for file in workspace.root.glob("sessions/*/originals/*"))


def inbox(workspace: VaultWorkspace) -> list[str]:
    return sorted(str(file.relative_to(workspace.root / "inbox")) for file in (workspace.root / "inbox").rglob("*"))


def holders_of(root: Path, secret: str) -> list[Path]:
    files = [file for file in root.rglob("*") if file.is_file()]
    return [file for file in files if secret.encode() in file.read_bytes() or secret in file.name]


def test_a_vault_has_an_inbox(workspace: VaultWorkspace) -> None:
    assert (workspace.root / "inbox").is_dir()


def test_a_dropped_file_is_recallable_without_review_and_moved_away(workspace: VaultWorkspace) -> None:
    workspace.drop("inbox/boiler.md", "# Boiler\n\nThe boiler man is called Otto. I live in Rome.\n")
    workspace.memory.upkeep.sync()
    hit = workspace.memory.recall("who is the boiler man").hits[0]
    assert "Otto" in hit.text
    assert (hit.atom.status, hit.atom.origin, hit.atom.source_id) == (Status.ACTIVE, Origin.DOCUMENT, "file:boiler.md")
    assert inbox(workspace) == []
    assert (workspace.root / f"sessions/{DAY}/originals/boiler.md").read_text().startswith("# Boiler")
    assert all(atom.status is Status.CONSTRAINED for atom in workspace.memory.review.held())
    assert workspace.memory.upkeep.doctor(deep=True).healthy


def test_files_dropped_before_opening_are_imported_when_the_vault_is_opened(workspace: VaultWorkspace) -> None:
    workspace.drop("inbox/tea.txt", "Ann: the tea is green\nBob: no, it is black\nAnn: I see\n")
    memory = workspace.reopen()
    (segment,) = [atom for atom in memory.list(limit=None) if atom.is_segment]
    assert [passage.speaker for passage in passages_of(segment)] == ["Ann", "Bob", "Ann"]
    assert originals(workspace) == ["tea.txt"]


def test_an_original_is_no_atom_whatever_it_contains(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Tea is green.")
    workspace.drop("inbox/copy.md", workspace.file(atom).read_bytes())
    workspace.drop("inbox/other.md", "---\nid: 01m7cyvgg05h5s4jd9wpqxtx7n\nkind: fact\n---\nMilk is white.\n")
    before = {atom.id for atom in workspace.memory.list(status=None, limit=None)}
    workspace.memory.upkeep.sync()
    workspace.reopen()
    fresh = [atom for atom in workspace.memory.list(status=None, limit=None) if atom.id not in before]
    assert {atom.origin for atom in fresh} == {Origin.DOCUMENT}
    assert "01m7cyvgg05h5s4jd9wpqxtx7n" not in {atom.id for atom in fresh}
    assert originals(workspace) == ["copy.md", "other.md"]
    assert workspace.memory.upkeep.doctor().problems == ()


def test_the_same_file_again_is_moved_away_and_adds_nothing(workspace: VaultWorkspace) -> None:
    workspace.drop("inbox/tea.md", "The tea is green.")
    workspace.memory.upkeep.sync()
    position = workspace.memory.upkeep.stats()["commits"]
    workspace.drop("inbox/tea.md", "The tea is green.")
    workspace.drop("inbox/renamed.md", "The tea is green.\n")
    workspace.memory.upkeep.sync()
    assert workspace.memory.upkeep.stats()["commits"] == position
    assert (inbox(workspace), originals(workspace)) == ([], ["renamed.md", "tea-2.md", "tea.md"])


def test_another_file_of_the_same_name_overwrites_nothing(workspace: VaultWorkspace) -> None:
    workspace.drop("inbox/tea.md", "The tea is green.")
    workspace.memory.upkeep.sync()
    workspace.drop("inbox/tea.md", "The tea is black.")
    workspace.memory.upkeep.sync()
    stored = [(workspace.root / f"sessions/{DAY}/originals" / name).read_text() for name in originals(workspace)]
    assert sorted(stored) == ["The tea is black.", "The tea is green."]
    assert texts(workspace.memory) == ["The tea is black.", "The tea is green."]


def test_an_unreadable_file_stays_and_is_reported_until_it_is_repaired(workspace: VaultWorkspace) -> None:
    file = workspace.drop("inbox/odd.bin", b"\x00\x01\x02" * 100)
    workspace.drop("inbox/good.md", "The tea is green.")
    workspace.memory.upkeep.sync()
    (problem,) = workspace.memory.upkeep.doctor().problems
    assert (problem.path, problem.kind) == ("inbox/odd.bin", "inbox")
    assert problem.message.startswith("odd.bin cannot be read: it is not text; supported are: ")
    assert (inbox(workspace), texts(workspace.memory)) == (["odd.bin"], ["The tea is green."])
    assert workspace.reopen().upkeep.doctor().problems[0].path == "inbox/odd.bin"
    file.write_text("The milk is white.")
    workspace.memory.upkeep.sync()
    assert (workspace.memory.upkeep.doctor().problems, inbox(workspace)) == ((), [])
    assert texts(workspace.memory) == ["The milk is white.", "The tea is green."]


def test_a_problem_disappears_with_its_file(workspace: VaultWorkspace) -> None:
    file = workspace.drop("inbox/odd.bin", b"\x00\x01\x02" * 100)
    workspace.memory.upkeep.sync()
    file.unlink()
    workspace.drop("inbox/good.md", "The tea is green.")
    workspace.memory.upkeep.sync()
    assert workspace.memory.upkeep.doctor().problems == ()


def test_hidden_temporary_and_empty_files_are_left_alone(workspace: VaultWorkspace) -> None:
    names = [".hidden.md", "~$report.docx", "film.md.part", "x.crdownload", "note.md~", "a.tmp", "empty.md"]
    for name in names:
        workspace.drop(f"inbox/{name}", "" if name == "empty.md" else "words")
    workspace.memory.upkeep.sync()
    assert inbox(workspace) == sorted(names)
    assert texts(workspace.memory) == []
    assert workspace.memory.upkeep.doctor().problems == ()


def test_a_folder_in_the_inbox_is_emptied_and_removed(workspace: VaultWorkspace) -> None:
    workspace.drop("inbox/trip/day one.md", "We saw the sea.")
    workspace.drop("inbox/trip/deep/day two.md", "We saw the hills.")
    workspace.memory.upkeep.sync()
    assert texts(workspace.memory) == ["We saw the hills.", "We saw the sea."]
    assert (inbox(workspace), originals(workspace)) == ([], ["day one.md", "day two.md"])


def test_a_disk_error_does_not_stop_the_other_files(
    workspace: VaultWorkspace, caplog: pytest.LogCaptureFixture
) -> None:
    workspace.drop("inbox/tea.md", "The tea is green.")
    workspace.remember("Milk is white.")
    workspace.close()

    class Refusing(Disk):
        def files_in(self, folder: str) -> Iterator[tuple[str, Stamp]]:
            raise PermissionError(13, "not allowed", folder)

    memory = workspace.open(disk=Refusing(workspace.root))
    assert memory.recall("milk").hits
    assert "the inbox will be imported later" in caplog.text
    assert texts(workspace.open()) == ["The tea is green."]


def test_a_link_in_the_inbox_is_not_followed(workspace: VaultWorkspace, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("Not for you.")
    (workspace.root / "inbox" / "link.md").symlink_to(tmp_path / "outside.md")
    workspace.memory.upkeep.sync()
    assert texts(workspace.memory) == []
    assert (tmp_path / "outside.md").exists()


def test_every_scope_has_its_own_inbox(workspace: VaultWorkspace) -> None:
    workspace.drop("scopes/acme/inbox/tea.md", "The tea is green.")
    workspace.drop("inbox/milk.md", "The milk is white.")
    workspace.memory.upkeep.sync()
    assert texts(workspace.memory) == ["The milk is white."]
    other = workspace.open("org:acme")
    assert texts(other) == ["The tea is green."]
    assert (workspace.root / f"scopes/acme/sessions/{DAY}/originals/tea.md").is_file()
    assert (workspace.root / "scopes/acme/inbox").is_dir()
    assert texts(workspace.memory) == ["The milk is white."]


def test_a_dry_run_imports_nothing(workspace: VaultWorkspace) -> None:
    with workspace.memory.trial() as trial:
        workspace.drop("inbox/tea.md", "The tea is green.")
        trial.upkeep.sync()
    assert inbox(workspace) == ["tea.md"]


def test_a_text_with_secrets_is_archived_in_a_redacted_copy(workspace: VaultWorkspace) -> None:
    workspace.drop(f"inbox/keys {SECRET}.md", f"# Key {SECRET}\n\nThe key is {SECRET}, and the tea is green.\n")
    workspace.drop("inbox/page.html", f"<title>{SECRET}</title><p>The token is {SECRET}.</p>")
    workspace.drop("inbox/hidden.html", f"<p title='{SECRET}'>Nothing to see.</p>")
    workspace.memory.upkeep.sync()
    assert inbox(workspace) == []
    assert len(originals(workspace)) == 3
    path = next(workspace.root.glob("sessions/*/originals/keys*"))
    assert "the tea is green" in path.read_text()
    assert "[redacted: github token]" in path.read_text()
    workspace.close()
    assert holders_of(workspace.root, SECRET) == []


def test_a_document_with_secrets_is_not_archived_but_its_text_is_imported(
    workspace: VaultWorkspace, tmp_path: Path
) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_paragraph(f"The key is {SECRET}, and the tea is green.")
    document.save(str(workspace.root / "inbox" / "keys.docx"))
    workspace.memory.upkeep.sync()
    assert "the tea is green" in workspace.memory.recall("tea").hits[0].text
    (problem,) = workspace.memory.upkeep.doctor().problems
    assert problem.path == "inbox/keys.docx"
    assert "move it out of the vault" in problem.message
    assert (inbox(workspace), originals(workspace)) == (["keys.docx"], [])
    position = workspace.memory.upkeep.stats()["commits"]
    assert workspace.reopen().upkeep.doctor().problems[0].path == "inbox/keys.docx"
    assert workspace.memory.upkeep.stats()["commits"] == position
    (workspace.root / "inbox" / "keys.docx").unlink()
    assert workspace.memory.upkeep.doctor().problems == ()


def test_a_page_with_a_secret_in_its_markup_is_not_archived(workspace: VaultWorkspace) -> None:
    workspace.drop("inbox/page.html", f"<p>The tea is green. The key is {SECRET[:12]}<b>{SECRET[12:]}</b>.</p>")
    workspace.memory.upkeep.sync()
    assert "The tea is green" in texts(workspace.memory)[0]
    assert (inbox(workspace), originals(workspace)) == (["page.html"], [])
    assert "move it out" in workspace.memory.upkeep.doctor().problems[0].message
    workspace.close()
    assert holders_of(workspace.root, SECRET) == []


def test_a_document_is_archived_unchanged(workspace: VaultWorkspace) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_paragraph("The tea is green.")
    document.save(str(workspace.root / "inbox" / "tea.docx"))
    data = (workspace.root / "inbox" / "tea.docx").read_bytes()
    workspace.memory.upkeep.sync()
    assert (workspace.root / f"sessions/{DAY}/originals/tea.docx").read_bytes() == data
    assert texts(workspace.memory) == ["The tea is green."]


def test_concurrent_readers_import_each_file_once(workspace: VaultWorkspace) -> None:
    for n in range(20):
        workspace.drop(f"inbox/{n}.md", f"Cup number {n} is blue.")
    others = [workspace.open() for _ in range(3)]
    threads = [threading.Thread(target=item.upkeep.sync) for item in (*others, workspace.memory)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    workspace.memory.upkeep.sync()
    assert texts(workspace.memory) == sorted(f"Cup number {n} is blue." for n in range(20))
    assert (inbox(workspace), len(originals(workspace))) == ([], 20)
    assert workspace.memory.upkeep.doctor(deep=True).healthy


NAMES = st.text("abc.~$ é[]:日-", min_size=1, max_size=12).filter(lambda name: name not in (".", ".."))
FILES = st.dictionaries(NAMES, st.binary(min_size=1, max_size=60) | st.text("ab \n#:é", min_size=1).map(str.encode))


@settings(max_examples=25, deadline=None)
@given(FILES, st.sampled_from(["", ".md", ".txt", ".html", ".json", ".zip", ".docx"]))
def test_no_byte_of_any_file_is_lost(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], suffix: str
) -> None:
    root = tmp_path_factory.mktemp("v")
    with lamina.open(root, watch=False) as memory:
        for name, data in files.items():
            (root / "inbox" / f"{name}{suffix}").write_bytes(data)
        memory.upkeep.sync()
        stored = [file.read_bytes() for file in (*root.glob("inbox/*"), *root.glob("sessions/*/originals/*"))]
        assert sorted(stored) == sorted(files.values())
        assert not memory.upkeep.doctor(deep=True).faults


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "watched", watch=True, background=True) as memory:
        yield memory


def test_the_watcher_notices_dropped_files(watched: Memory) -> None:
    (watched.root / "inbox" / "tea.txt").write_text("The tea is green.")
    assert eventually(lambda: [hit.text for hit in watched.recall("tea").hits[:1]] == ["The tea is green."])
    assert eventually(lambda: not any((watched.root / "inbox").iterdir()))


def test_an_unfinished_file_is_not_read(watched: Memory) -> None:
    with (watched.root / "inbox" / "tea.txt").open("w") as file:
        for n in range(40):
            file.write(f"Line {n} of the story.\n")
            file.flush()
            assert not eventually(lambda: bool(texts(watched)), seconds=0.05)
    assert eventually(lambda: bool(texts(watched)))
    assert "Line 39" in texts(watched)[-1]
    assert len([atom for atom in watched.list(limit=None) if atom.is_segment]) == 1


def test_a_watcher_without_a_background_worker_imports_too(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=True, background=False) as memory:
        (memory.root / "inbox" / "tea.pdf.md").write_text("The tea is green.")
        assert eventually(lambda: texts(memory) == ["The tea is green."])


DYING = """
import os, signal, sys, threading, lamina
def die(frame, event, _):
    if event == "call" and frame.f_code.co_qualname == f"Disk.{sys.argv[2]}":
        os.kill(os.getpid(), signal.SIGKILL)
threading.setprofile(die)
sys.setprofile(die)
lamina.open(sys.argv[1], watch=False)
"""


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ("move_durably", "The tea is green.\n"),
        ("create_durably", f"The tea is green, the key is {SECRET}.\n"),
        ("remove", f"The tea is green, the key is {SECRET}.\n"),
    ],
)
def test_after_a_crash_the_next_process_only_moves_the_file_away(
    workspace: VaultWorkspace, step: str, text: str
) -> None:
    workspace.drop("inbox/tea.md", text)
    workspace.close()
    command = [sys.executable, "-c", DYING, str(workspace.root), step]
    died = subprocess.run(command, env={**os.environ, "LAMINA_EMBEDDER": "none", "LAMINA_BACKGROUND": "false"})
    assert died.returncode == -signal.SIGKILL
    assert inbox(workspace) == ["tea.md"]
    memory = workspace.reopen()
    assert inbox(workspace) == []
    assert len(texts(memory)) == 1
    assert len(originals(workspace)) >= 1
    assert memory.upkeep.doctor(deep=True).healthy
    workspace.close()
    assert holders_of(workspace.root, SECRET) == []
