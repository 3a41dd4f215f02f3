"""The counters of use in files: written by `sync` and dreams, edited by people, and read again without the journal."""

from __future__ import annotations

import shutil

import pytest

from lamina import Atom, Signals
from vault_workspace import VaultWorkspace


def use(workspace: VaultWorkspace, atom: Atom, verdict: str = "up") -> None:
    """Cite an atom in an answer and rate the answer."""
    workspace.tick()
    recalled = workspace.memory.recall(atom.content)
    workspace.memory.feedback(recalled.id, [atom.id], verdict)


def counters(workspace: VaultWorkspace, atom: Atom) -> Signals:
    return workspace.memory.signals(atom.id)


@pytest.mark.parametrize("write", ["sync", "dream"])
def test_the_file_has_the_counters_after_a_sync_and_after_a_dream(workspace: VaultWorkspace, write: str) -> None:
    atom = workspace.remember("Ann drinks tea.")
    use(workspace, atom)
    use(workspace, atom)
    assert "quality_score" not in workspace.file(atom).read_text()
    getattr(workspace.memory.upkeep, write)()
    text = workspace.file(atom).read_text()
    assert "quality_score: 1.2\n" in text
    assert "recall_count: 2\n" in text
    assert f"last_recalled_at: {counters(workspace, atom).last_recalled_at:%Y-%m-%dT%H:%M:%SZ}\n" in text
    assert workspace.memory.upkeep.sync().edited == [], "what lamina wrote is no edit"
    assert workspace.memory.get(atom.id).revision == atom.revision, "counters are no version"


def test_the_count_of_a_sync_includes_these_files_and_the_next_sync_writes_none(workspace: VaultWorkspace) -> None:
    use(workspace, workspace.remember("Ann drinks tea."))
    assert workspace.memory.upkeep.sync().written == 1
    assert workspace.memory.upkeep.sync().written == 0


def test_a_dry_run_writes_no_counters(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    use(workspace, atom)
    workspace.memory.upkeep.dream(dry_run=True)
    assert "quality_score" not in workspace.file(atom).read_text()


def test_a_file_that_brought_counters_has_the_later_ones(workspace: VaultWorkspace) -> None:
    file = workspace.drop("atoms/mine.md", "---\nquality_score: 1.3\nrecall_count: 4\n---\n\nAnn drinks tea.\n")
    workspace.memory.upkeep.sync()
    atom = workspace.atom_of(file)
    use(workspace, atom)
    workspace.memory.upkeep.sync()
    assert "quality_score: 1.4\nrecall_count: 5\n" in file.read_text()


def test_an_edit_of_counters_counts_and_leaves_the_others(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    use(workspace, atom)
    workspace.memory.upkeep.sync()
    file = workspace.edit(atom, "quality_score: 1.1", "quality_score: 1.8")
    use(workspace, atom, "down")
    workspace.memory.upkeep.sync()
    edited = counters(workspace, atom)
    assert (edited.quality_score, edited.recall_count) == (1.8, 2)
    assert "quality_score: 1.8\nrecall_count: 2\n" in file.read_text()


def test_an_edit_of_counters_is_listed_among_the_edited_files(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    use(workspace, atom)
    workspace.memory.upkeep.sync()
    file = workspace.edit(atom, "recall_count: 1", "recall_count: 9")
    assert workspace.memory.upkeep.sync().edited == [file.relative_to(workspace.root).as_posix()]
    assert counters(workspace, atom).recall_count == 9


def test_counters_that_a_person_removes_start_again(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    use(workspace, atom)
    use(workspace, atom)
    workspace.memory.upkeep.sync()
    file = workspace.file(atom)
    kept = [
        line for line in file.read_text().splitlines(keepends=True) if "recall" not in line and "quality" not in line
    ]
    file.write_text("".join(kept))
    workspace.memory.upkeep.sync()
    after = counters(workspace, atom)
    assert (after.quality_score, after.recall_count, after.last_recalled_at, after.uses) == (1.0, 0, None, ())


@pytest.mark.parametrize(
    "wrong", ["quality_score: 3", "quality_score: 0", "recall_count: -1", "last_recalled_at: soon"]
)
def test_an_impossible_counter_is_reported_with_its_line_and_changes_nothing(
    workspace: VaultWorkspace, wrong: str
) -> None:
    atom = workspace.remember("Ann drinks tea.")
    use(workspace, atom)
    workspace.memory.upkeep.sync()
    before = counters(workspace, atom)
    name = wrong.partition(":")[0]
    text = workspace.file(atom).read_text()
    line = next(line for line in text.splitlines() if line.startswith(name))
    workspace.edit(atom, line, wrong)
    workspace.memory.upkeep.sync()
    (problem,) = workspace.problems("unreadable")
    assert text.splitlines().index(line) + 1 == problem.line
    assert counters(workspace, atom) == before


def test_the_counters_come_back_from_the_files(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Ann drinks tea.")
    for _ in range(5):
        use(workspace, atom)
    workspace.memory.upkeep.sync()
    before = counters(workspace, atom)
    workspace.close()
    shutil.rmtree(workspace.root / ".lamina")
    workspace.reopen()
    after = counters(workspace, atom)
    assert (after.quality_score, after.recall_count, after.last_recalled_at) == (
        before.quality_score,
        before.recall_count,
        before.last_recalled_at,
    )
    assert before.quality_score == 1.5


def test_where_edits_need_review_edited_counters_are_reported_and_written_back(
    workspace: VaultWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    atom = workspace.remember("Ann drinks tea.")
    use(workspace, atom)
    workspace.memory.upkeep.sync()
    monkeypatch.setenv("LAMINA_FILE_EDITS", "review")
    workspace.reopen()
    workspace.edit(atom, "quality_score: 1.1", "quality_score: 2.0")
    workspace.memory.upkeep.sync()
    assert counters(workspace, atom).quality_score == 1.1
    assert "quality_score: 1.1" in workspace.file(atom).read_text()
    assert [problem.path for problem in workspace.problems("ignored-field")] == [
        workspace.file(atom).relative_to(workspace.root).as_posix()
    ]


def test_a_deleted_or_broken_file_is_not_written_because_of_counters(workspace: VaultWorkspace) -> None:
    deleted, broken = workspace.remember("Ann drinks tea."), workspace.remember("Bob rows.")
    use(workspace, deleted)
    use(workspace, broken)
    gone = workspace.file(deleted)
    gone.unlink()
    file = workspace.file(broken)
    file.write_text("---\nkind: [\n---\n\nBob rows.\n")
    workspace.memory.upkeep.sync()
    assert not gone.exists()
    assert file.read_text() == "---\nkind: [\n---\n\nBob rows.\n"
    file.write_text(f"---\nid: {broken.id}\nkind: fact\n---\n\nBob rows a boat.\n")
    workspace.memory.upkeep.sync()
    assert workspace.memory.get(broken.id).content == "Bob rows a boat."
