"""A file dropped into the inbox is recallable without review, and put away; what cannot be read stays and is told."""

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
from desk import Desk, eventually
from lamina import Memory, Status, passages_of
from lamina.atom.trust import Origin
from lamina.vault.disk import Disk, Stamp

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
DAY = "2026-11-14"


def texts(memory: Memory) -> list[str]:
    atoms = memory.list(status=None, limit=None)
    return sorted(passage.text for atom in atoms if atom.is_segment for passage in passages_of(atom))


def originals(desk: Desk) -> list[str]:
    return sorted(file.name for file in desk.root.glob("sessions/*/originals/*"))


def inbox(desk: Desk) -> list[str]:
    return sorted(str(file.relative_to(desk.root / "inbox")) for file in (desk.root / "inbox").rglob("*"))


def holders_of(root: Path, secret: str) -> list[Path]:
    files = [file for file in root.rglob("*") if file.is_file()]
    return [file for file in files if secret.encode() in file.read_bytes() or secret in file.name]


def test_a_vault_has_an_inbox(desk: Desk) -> None:
    assert (desk.root / "inbox").is_dir()


def test_a_dropped_file_is_found_without_review_and_put_away(desk: Desk) -> None:
    desk.drop("inbox/boiler.md", "# Boiler\n\nThe boiler man is called Otto. I live in Rome.\n")
    desk.memory.sync()
    hit = desk.memory.recall("who is the boiler man").hits[0]
    assert "Otto" in hit.text
    assert (hit.atom.status, hit.atom.origin, hit.atom.source_id) == (Status.ACTIVE, Origin.DOCUMENT, "file:boiler.md")
    assert inbox(desk) == []
    assert (desk.root / f"sessions/{DAY}/originals/boiler.md").read_text().startswith("# Boiler")
    assert all(atom.status is Status.CONSTRAINED for atom in desk.memory.review.held())
    assert desk.memory.doctor(deep=True).healthy


def test_what_is_dropped_while_nobody_looks_is_taken_when_the_vault_is_opened(desk: Desk) -> None:
    desk.drop("inbox/tea.txt", "Ann: the tea is green\nBob: no, it is black\nAnn: I see\n")
    memory = desk.reopen()
    (segment,) = [atom for atom in memory.list(limit=None) if atom.is_segment]
    assert [passage.speaker for passage in passages_of(segment)] == ["Ann", "Bob", "Ann"]
    assert originals(desk) == ["tea.txt"]


def test_an_original_is_no_atom_whatever_it_says(desk: Desk) -> None:
    atom = desk.remember("Tea is green.")
    desk.drop("inbox/copy.md", desk.file(atom).read_bytes())
    desk.drop("inbox/other.md", "---\nid: 01m7cyvgg05h5s4jd9wpqxtx7n\nkind: fact\n---\nMilk is white.\n")
    before = {each.id for each in desk.memory.list(status=None, limit=None)}
    desk.memory.sync()
    desk.reopen()
    fresh = [each for each in desk.memory.list(status=None, limit=None) if each.id not in before]
    assert {each.origin for each in fresh} == {Origin.DOCUMENT}
    assert "01m7cyvgg05h5s4jd9wpqxtx7n" not in {each.id for each in fresh}
    assert originals(desk) == ["copy.md", "other.md"]
    assert desk.memory.doctor().problems == ()


def test_the_same_file_again_is_put_away_with_nothing_new(desk: Desk) -> None:
    desk.drop("inbox/tea.md", "The tea is green.")
    desk.memory.sync()
    position = desk.memory.stats()["commits"]
    desk.drop("inbox/tea.md", "The tea is green.")
    desk.drop("inbox/renamed.md", "The tea is green.\n")
    desk.memory.sync()
    assert desk.memory.stats()["commits"] == position
    assert (inbox(desk), originals(desk)) == ([], ["renamed.md", "tea-2.md", "tea.md"])


def test_another_file_of_the_same_name_overwrites_nothing(desk: Desk) -> None:
    desk.drop("inbox/tea.md", "The tea is green.")
    desk.memory.sync()
    desk.drop("inbox/tea.md", "The tea is black.")
    desk.memory.sync()
    kept = [(desk.root / f"sessions/{DAY}/originals" / name).read_text() for name in originals(desk)]
    assert sorted(kept) == ["The tea is black.", "The tea is green."]
    assert texts(desk.memory) == ["The tea is black.", "The tea is green."]


def test_what_cannot_be_read_stays_and_is_told_until_it_is_mended(desk: Desk) -> None:
    file = desk.drop("inbox/odd.bin", b"\x00\x01\x02" * 100)
    desk.drop("inbox/good.md", "The tea is green.")
    desk.memory.sync()
    (problem,) = desk.memory.doctor().problems
    assert (problem.path, problem.kind, problem.message) == ("inbox/odd.bin", "inbox", "it is not text")
    assert (inbox(desk), texts(desk.memory)) == (["odd.bin"], ["The tea is green."])
    assert desk.reopen().doctor().problems[0].path == "inbox/odd.bin"
    file.write_text("The milk is white.")
    desk.memory.sync()
    assert (desk.memory.doctor().problems, inbox(desk)) == ((), [])
    assert texts(desk.memory) == ["The milk is white.", "The tea is green."]


def test_a_problem_is_gone_with_its_file(desk: Desk) -> None:
    file = desk.drop("inbox/odd.bin", b"\x00\x01\x02" * 100)
    desk.memory.sync()
    file.unlink()
    desk.drop("inbox/good.md", "The tea is green.")
    desk.memory.sync()
    assert desk.memory.doctor().problems == ()


def test_hidden_temporary_and_empty_files_are_left_alone(desk: Desk) -> None:
    names = [".hidden.md", "~$report.docx", "film.md.part", "x.crdownload", "note.md~", "a.tmp", "empty.md"]
    for name in names:
        desk.drop(f"inbox/{name}", "" if name == "empty.md" else "words")
    desk.memory.sync()
    assert inbox(desk) == sorted(names)
    assert texts(desk.memory) == []
    assert desk.memory.doctor().problems == ()


def test_a_folder_in_the_inbox_is_emptied_and_removed(desk: Desk) -> None:
    desk.drop("inbox/trip/day one.md", "We saw the sea.")
    desk.drop("inbox/trip/deep/day two.md", "We saw the hills.")
    desk.memory.sync()
    assert texts(desk.memory) == ["We saw the hills.", "We saw the sea."]
    assert (inbox(desk), originals(desk)) == ([], ["day one.md", "day two.md"])


def test_a_disk_that_refuses_keeps_nobody_from_the_rest(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    desk.drop("inbox/tea.md", "The tea is green.")
    desk.remember("Milk is white.")
    desk.close()

    class Refusing(Disk):
        def files_in(self, folder: str) -> Iterator[tuple[str, Stamp]]:
            raise PermissionError(13, "not allowed", folder)

    memory = desk.open(disk=Refusing(desk.root))
    assert memory.recall("milk").hits
    assert "the inbox will be imported later" in caplog.text
    assert texts(desk.open()) == ["The tea is green."]


def test_a_link_in_the_inbox_leads_nowhere(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("Not for you.")
    (desk.root / "inbox" / "link.md").symlink_to(tmp_path / "outside.md")
    desk.memory.sync()
    assert texts(desk.memory) == []
    assert (tmp_path / "outside.md").exists()


def test_every_scope_has_its_own_inbox(desk: Desk) -> None:
    desk.drop("scopes/acme/inbox/tea.md", "The tea is green.")
    desk.drop("inbox/milk.md", "The milk is white.")
    desk.memory.sync()
    assert texts(desk.memory) == ["The milk is white."]
    other = desk.open("org:acme")
    assert texts(other) == ["The tea is green."]
    assert (desk.root / f"scopes/acme/sessions/{DAY}/originals/tea.md").is_file()
    assert (desk.root / "scopes/acme/inbox").is_dir()
    assert texts(desk.memory) == ["The milk is white."]


def test_nothing_is_taken_in_a_dry_run(desk: Desk) -> None:
    with desk.memory.trial():
        desk.drop("inbox/tea.md", "The tea is green.")
        desk.memory.sync()
    assert inbox(desk) == ["tea.md"]


def test_of_a_text_with_secrets_a_copy_without_them_is_kept(desk: Desk) -> None:
    desk.drop(f"inbox/keys {SECRET}.md", f"# Key {SECRET}\n\nThe key is {SECRET}, and the tea is green.\n")
    desk.drop("inbox/page.html", f"<title>{SECRET}</title><p>The token is {SECRET}.</p>")
    desk.drop("inbox/hidden.html", f"<p title='{SECRET}'>Nothing to see.</p>")
    desk.memory.sync()
    assert inbox(desk) == []
    assert len(originals(desk)) == 3
    kept = next(desk.root.glob("sessions/*/originals/keys*"))
    assert "the tea is green" in kept.read_text()
    assert "[redacted: github token]" in kept.read_text()
    desk.close()
    assert holders_of(desk.root, SECRET) == []


def test_a_document_with_secrets_is_not_kept_but_its_words_are(desk: Desk, tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_paragraph(f"The key is {SECRET}, and the tea is green.")
    document.save(str(desk.root / "inbox" / "keys.docx"))
    desk.memory.sync()
    assert "the tea is green" in desk.memory.recall("tea").hits[0].text
    (problem,) = desk.memory.doctor().problems
    assert problem.path == "inbox/keys.docx"
    assert "move it out of the vault" in problem.message
    assert (inbox(desk), originals(desk)) == (["keys.docx"], [])
    position = desk.memory.stats()["commits"]
    assert desk.reopen().doctor().problems[0].path == "inbox/keys.docx"
    assert desk.memory.stats()["commits"] == position
    (desk.root / "inbox" / "keys.docx").unlink()
    assert desk.memory.doctor().problems == ()


def test_a_page_that_hides_a_secret_in_its_marks_is_not_kept(desk: Desk) -> None:
    desk.drop("inbox/page.html", f"<p>The tea is green. The key is {SECRET[:12]}<b>{SECRET[12:]}</b>.</p>")
    desk.memory.sync()
    assert "The tea is green" in texts(desk.memory)[0]
    assert (inbox(desk), originals(desk)) == (["page.html"], [])
    assert "move it out" in desk.memory.doctor().problems[0].message
    desk.close()
    assert holders_of(desk.root, SECRET) == []


def test_a_document_is_put_away_as_it_was(desk: Desk) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_paragraph("The tea is green.")
    document.save(str(desk.root / "inbox" / "tea.docx"))
    data = (desk.root / "inbox" / "tea.docx").read_bytes()
    desk.memory.sync()
    assert (desk.root / f"sessions/{DAY}/originals/tea.docx").read_bytes() == data
    assert texts(desk.memory) == ["The tea is green."]


def test_many_who_look_at_once_take_each_file_once(desk: Desk) -> None:
    for n in range(20):
        desk.drop(f"inbox/{n}.md", f"Cup number {n} is blue.")
    others = [desk.open() for _ in range(3)]
    threads = [threading.Thread(target=each.sync) for each in (*others, desk.memory)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    desk.memory.sync()
    assert texts(desk.memory) == sorted(f"Cup number {n} is blue." for n in range(20))
    assert (inbox(desk), len(originals(desk))) == ([], 20)
    assert desk.memory.doctor(deep=True).healthy


NAMES = st.text("abc.~$ é[]:日-", min_size=1, max_size=12).filter(lambda name: name not in (".", ".."))
FILES = st.dictionaries(NAMES, st.binary(min_size=1, max_size=60) | st.text("ab \n#:é", min_size=1).map(str.encode))


@settings(max_examples=25, deadline=None)
@given(FILES, st.sampled_from(["", ".md", ".txt", ".html", ".json", ".zip", ".docx"]))
def test_no_byte_of_a_file_is_lost_whatever_it_is(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], suffix: str
) -> None:
    root = tmp_path_factory.mktemp("v")
    with lamina.open(root, watch=False) as memory:
        for name, data in files.items():
            (root / "inbox" / f"{name}{suffix}").write_bytes(data)
        memory.sync()
        kept = [file.read_bytes() for file in (*root.glob("inbox/*"), *root.glob("sessions/*/originals/*"))]
        assert sorted(kept) == sorted(files.values())
        assert not memory.doctor(deep=True).faults


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "watched", watch=True, background=True) as memory:
        yield memory


def test_the_watcher_sees_what_is_dropped(watched: Memory) -> None:
    (watched.root / "inbox" / "tea.txt").write_text("The tea is green.")
    assert eventually(lambda: [hit.text for hit in watched.recall("tea").hits[:1]] == ["The tea is green."])
    assert eventually(lambda: not any((watched.root / "inbox").iterdir()))


def test_a_file_that_is_still_written_is_not_read(watched: Memory) -> None:
    with (watched.root / "inbox" / "tea.txt").open("w") as file:
        for n in range(40):
            file.write(f"Line {n} of the story.\n")
            file.flush()
            assert not eventually(lambda: bool(texts(watched)), seconds=0.05)
    assert eventually(lambda: bool(texts(watched)))
    assert "Line 39" in texts(watched)[-1]
    assert len([atom for atom in watched.list(limit=None) if atom.is_segment]) == 1


def test_a_watcher_without_a_background_takes_it_too(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", watch=True, background=False) as memory:
        (memory.root / "inbox" / "tea.pdf.md").write_text("The tea is green.")
        assert eventually(lambda: texts(memory) == ["The tea is green."])


DYING = """
import os, signal, sys, lamina
from lamina.vault.disk import Disk
def die(*given, **named):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(Disk, sys.argv[2], die)
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
def test_whoever_dies_half_way_is_followed_by_one_who_only_puts_it_away(desk: Desk, step: str, text: str) -> None:
    desk.drop("inbox/tea.md", text)
    desk.close()
    command = [sys.executable, "-c", DYING, str(desk.root), step]
    died = subprocess.run(command, env={**os.environ, "LAMINA_EMBEDDER": "none", "LAMINA_BACKGROUND": "false"})
    assert died.returncode == -signal.SIGKILL
    assert inbox(desk) == ["tea.md"]
    memory = desk.reopen()
    assert inbox(desk) == []
    assert len(texts(memory)) == 1
    assert len(originals(desk)) >= 1
    assert memory.doctor(deep=True).healthy
    desk.close()
    assert holders_of(desk.root, SECRET) == []
