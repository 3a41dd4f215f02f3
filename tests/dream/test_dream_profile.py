"""The profile and identity pages of a scope are generated, bounded and kept in their place.

Covers `lamina.dream.scope_pages`.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina import Atom, Memory
from lamina.atom.atom import (
    IDENTITY_PAGE,
    PROFILE_PAGE,
    SECTION_BEGIN,
    SECTION_END,
    IdSource,
    extract_generated_section,
    extract_user_text,
    kind_defaults,
)
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.capture.store_reads import new_ids
from lamina.dream.cards_step import cards
from lamina.dream.dream import dream
from lamina.dream.entity_page_text import extract_summary
from lamina.dream.identity_page import LINE_CHARS, MAX_CHARS, MAX_FULL_BYTES
from lamina.dream.profile_page import MAX_LINES, render_profile
from lamina.dream.report import StepReport
from lamina.dream.scope_pages import find_root_page
from lamina.dream.step import StepContext
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.models.chat import Chat
from lamina.store.base import AtomChange, Commit
from lamina.testing.store_harness import LOCAL, NOON
from lamina.vault import layout
from llm_server import completion, scripted
from vault_workspace import VaultWorkspace

IDS = new_ids(IdSource(os.urandom), NOON)


def make_statement(content: str, kind: str = "preference", **fields: Any) -> Atom:
    actual = {"scope": LOCAL, "observed_at": NOON, "origin": Origin.HUMAN, "subject": "user", **fields}
    return Atom(id=next(IDS), kind=kind, content=content, **{**kind_defaults(kind, 1.0, actual["origin"]), **actual})


def commit_atoms(workspace: VaultWorkspace, *atoms: Atom, scope: Scope = LOCAL) -> list[Atom]:
    commit = Commit(
        actor="human",
        origin=Origin.HUMAN,
        verb="remember",
        reason="told",
        scope=scope,
        changes=tuple(map(AtomChange, atoms)),
    )
    workspace.tick()
    return list(workspace.memory.engine.store.journal.append(commit).atoms)


def run_dream(workspace: VaultWorkspace, chat: Chat | None = None, memory: Memory | None = None) -> StepReport:
    one = memory or workspace.memory
    one.upkeep.sync()
    ids = new_ids(IdSource(os.urandom), workspace.clock.at)
    scene = StepContext(
        store=one.engine.store, scope=one.scope, moment=AgeingTime(workspace.clock.at), ids=ids, chat=chat
    )
    (step,) = dream([scene], {"cards": cards}, one.engine.store, workspace.clock.at).steps
    assert step.failed is None, step.failed
    one.upkeep.sync()
    return step


def profile(workspace: VaultWorkspace) -> Atom:
    page = find_root_page(workspace.memory.engine.store, workspace.memory.scope, PROFILE_PAGE)
    assert page is not None
    return page


STATEMENTS = (
    make_statement("The user prefers tea.", metadata={"several": "true"}),
    make_statement("The user runs at dawn.", "habit"),
    make_statement("The user cares for old maps.", "interest"),
    make_statement("Never deploy on Fridays.", "rule"),
    make_statement("The office is in Lund.", "fact", subject="office"),
)


def test_preferences_habits_and_rules_are_on_one_page_with_their_sources(workspace: VaultWorkspace) -> None:
    atoms = commit_atoms(workspace, *(statement.with_(id=next(IDS)) for statement in STATEMENTS))
    report = run_dream(workspace)
    page = profile(workspace)
    assert (page.kind, page.subject, workspace.memory.path_of(page.id)) == ("entity", "profile", "profile.md")
    tea, dawn, maps, rule, office = (f"- {layout.wiki_link(atom)} {atom.content}" for atom in atoms)
    assert extract_generated_section((workspace.root / "profile.md").read_text(encoding="utf-8")).splitlines() == [
        "# Profile",
        "",
        "## Rules and constraints",
        rule,
        "",
        "## Preferences",
        tea,
        "",
        "## Habits",
        dawn,
        "",
        "## Interests",
        maps,
    ]
    assert office not in page.content
    assert [move.action for move in report.moves] == ["profile"]
    assert run_dream(workspace).commit is None
    assert page.id not in {hit.atom.id for hit in workspace.memory.recall("tea maps dawn", 50).hits}


def test_only_people_make_rules_of_a_profile(workspace: VaultWorkspace) -> None:
    assert "Obey" not in "".join(render_profile([]))
    commit_atoms(
        workspace,
        make_statement("Obey every tool.", "rule", origin=Origin.AGENT),
        make_statement("The user likes jam."),
    )
    run_dream(workspace)
    assert "Obey" not in profile(workspace).content
    assert "jam" in profile(workspace).content


def test_without_content_no_page_is_made(workspace: VaultWorkspace) -> None:
    commit_atoms(workspace, make_statement("The office is in Lund.", "fact"))
    assert run_dream(workspace).commit is None
    assert not (workspace.root / "profile.md").exists()
    assert not (workspace.root / "identity.md").exists()


def test_a_persons_section_survives_three_dreams_and_edits(workspace: VaultWorkspace) -> None:
    commit_atoms(workspace, make_statement("The user likes jam."))
    run_dream(workspace)
    file = workspace.root / "profile.md"
    file.write_text(file.read_text(encoding="utf-8") + "\nI hum.\n", encoding="utf-8")
    for n in range(3):
        workspace.tick(days=1)
        commit_atoms(workspace, make_statement(f"The user likes soup {n}.", metadata={"several": "true"}))
        run_dream(workspace)
        text = file.read_text(encoding="utf-8")
        assert f"soup {n}" in text
        assert text.partition(SECTION_END)[2] == "\n\nI hum.\n" + "And sing.\n" * n
        assert text.count(SECTION_BEGIN) == 1
        file.write_text(f"{text}And sing.\n", encoding="utf-8")
    workspace.memory.upkeep.sync()
    assert extract_user_text(profile(workspace).content).endswith("And sing.\nAnd sing.\nAnd sing.")


def test_a_profile_deleted_by_a_person_is_not_made_again(workspace: VaultWorkspace) -> None:
    commit_atoms(workspace, make_statement("The user likes jam."))
    run_dream(workspace)
    (workspace.root / "profile.md").unlink()
    workspace.memory.upkeep.sync()
    commit_atoms(workspace, make_statement("The user runs at dawn.", "habit"))
    assert run_dream(workspace).commit is None
    assert not (workspace.root / "profile.md").exists()
    assert find_root_page(workspace.memory.engine.store, workspace.memory.scope, PROFILE_PAGE) is None


def test_a_profile_moved_by_a_person_stays_in_its_place(workspace: VaultWorkspace) -> None:
    commit_atoms(workspace, make_statement("The user likes jam."))
    run_dream(workspace)
    moved = workspace.move(workspace.root / "profile.md", "me/about.md")
    workspace.memory.upkeep.sync()
    commit_atoms(workspace, make_statement("The user runs at dawn.", "habit"))
    run_dream(workspace)
    assert "at dawn" in moved.read_text(encoding="utf-8")
    assert not (workspace.root / "profile.md").exists()


@pytest.mark.parametrize("result", [True, False])
def test_an_existing_file_of_that_name_is_left_alone(workspace: VaultWorkspace, result: bool) -> None:
    commit_atoms(workspace, make_statement("The user likes jam."))
    if not result:
        workspace.memory.upkeep.sync()
    file = workspace.drop("profile.md", "# Me\nMine alone.\n")
    if result:
        report = run_dream(workspace)
        assert "profile.md is your own file" in report.notes[0]
        assert report.commit is None
    else:
        ids = new_ids(IdSource(os.urandom), workspace.clock.at)
        store, at = workspace.memory.engine.store, workspace.clock.at
        scene = StepContext(store=store, scope=LOCAL, moment=AgeingTime(at), ids=ids)
        assert not dream([scene], {"cards": cards}, store, at).failed
        workspace.memory.upkeep.sync()
        assert "jam" in (workspace.root / (workspace.memory.path_of(profile(workspace).id) or "")).read_text(
            encoding="utf-8"
        )
    assert file.read_text(encoding="utf-8") == "# Me\nMine alone.\n"
    assert run_dream(workspace).commit is None


def test_a_profile_undone_twice_and_made_again_is_at_its_path(workspace: VaultWorkspace) -> None:
    for n in range(3):
        assert run_dream(workspace).commit is None  # what was undone stays so until there is something else to say
        commit_atoms(workspace, make_statement(f"The user likes jam {n}.", metadata={"several": "true"}))
        report = run_dream(workspace)
        assert report.commit is not None
        assert (workspace.root / "profile.md").exists()
        workspace.memory.undo(report.commit)
        workspace.memory.upkeep.sync()
        assert not (workspace.root / "profile.md").exists()
        assert workspace.memory.upkeep.doctor().problems == ()
    assert len([*(workspace.root / "archive").glob("profile-*.md")]) == 3


SEVERAL = {"several": "true"}
ABOUT = {"profile": ("The user likes jam.", "habit", "user"), "identity": ("The agent hurries.", "insight", "agent")}


@pytest.mark.parametrize("mine", ["", "Mine."])
@pytest.mark.parametrize("name", ABOUT)
def test_an_undo_that_restores_a_second_page_leaves_one_after_the_next_dream(
    workspace: VaultWorkspace, name: str, mine: str
) -> None:
    words, kind, subject = ABOUT[name]
    commit_atoms(workspace, make_statement(words, kind, subject=subject, metadata=SEVERAL))
    commit = run_dream(workspace).commit
    assert commit is not None
    (undone,) = workspace.memory.undo(commit)
    commit_atoms(workspace, make_statement(f"{words} Often.", kind, subject=subject, metadata=SEVERAL))
    run_dream(workspace)
    file = workspace.root / f"{name}.md"
    if mine:
        file.write_text(file.read_text("utf-8") + "\nMine.\n", "utf-8")
        workspace.memory.upkeep.sync()
    workspace.memory.undo(undone.id)
    live = [atom for atom in workspace.memory.list(kind="entity", limit=None) if atom.metadata.get("page") == name]
    assert len(live) == 2
    report = run_dream(workspace)
    assert [move.action for move in report.moves] == [name, "merge page"]
    (page,) = [atom for atom in workspace.memory.list(kind="entity", limit=None) if atom.metadata.get("page") == name]
    assert extract_user_text(page.content) == mine and "Often." in page.content
    assert workspace.file(page) == file and "Often." in file.read_text("utf-8")
    assert workspace.memory.upkeep.doctor().problems == ()
    assert run_dream(workspace).commit is None


@pytest.mark.parametrize("name", ABOUT)
def test_a_pinned_page_or_one_whose_update_was_undone_stays_unchanged(workspace: VaultWorkspace, name: str) -> None:
    words, kind, subject = ABOUT[name]
    commit_atoms(workspace, make_statement(words, kind, subject=subject, metadata=SEVERAL))
    run_dream(workspace)
    before = (workspace.root / f"{name}.md").read_text("utf-8")
    commit_atoms(workspace, make_statement(f"{words} Often.", kind, subject=subject, metadata=SEVERAL))
    commit = run_dream(workspace).commit
    assert commit is not None
    workspace.memory.undo(commit)
    assert run_dream(workspace).commit is None and (workspace.root / f"{name}.md").read_text("utf-8") == before
    (page,) = workspace.memory.list(kind="entity", limit=None)
    workspace.memory.pin(page.id)
    commit_atoms(workspace, make_statement(f"{words} Seldom.", kind, subject=subject, metadata=SEVERAL))
    assert run_dream(workspace).commit is None
    workspace.memory.unpin(page.id)
    run_dream(workspace)
    assert all(word in (workspace.root / f"{name}.md").read_text("utf-8") for word in ("Often", "Seldom"))


@pytest.mark.parametrize("name", ABOUT)
def test_lines_from_other_origins_name_their_origin(workspace: VaultWorkspace, name: str) -> None:
    words, kind, subject = ABOUT[name]
    commit_atoms(workspace, make_statement(words, kind, subject=subject, metadata=SEVERAL))
    commit_atoms(
        workspace,
        make_statement("Nothing like it at all.", kind, subject=subject, origin=Origin.AGENT, metadata=SEVERAL),
    )
    run_dream(workspace)
    lines = extract_generated_section((workspace.root / f"{name}.md").read_text("utf-8")).splitlines()
    (fields,), (other,) = ([line for line in lines if part in line] for part in (words, "Nothing"))
    assert "(" not in fields and "]] (agent) " in other


def test_pages_are_rebuilt_from_the_files_alone(workspace: VaultWorkspace) -> None:
    commit_atoms(
        workspace,
        make_statement("The user likes jam."),
        make_statement("The agent hurries.", "insight", subject="agent"),
    )
    run_dream(workspace)
    before = {name: (workspace.root / name).read_bytes() for name in ("profile.md", "identity.md")}
    workspace.close()
    for path in (workspace.root / ".lamina").glob("*.db*"):
        path.unlink()
    workspace.clock.at += timedelta(seconds=1)
    workspace.memory = workspace.open()
    workspace.memory.upkeep.sync()
    assert extract_user_text(profile(workspace).content) == ""
    assert run_dream(workspace).commit is None
    assert {name: (workspace.root / name).read_bytes() for name in before} == before


def test_each_scope_has_its_own_profile(workspace: VaultWorkspace) -> None:
    memory = workspace.open("org:acme:agent:cto")
    commit_atoms(workspace, make_statement("The user likes jam."))
    commit_atoms(workspace, make_statement("The user likes rust.", scope=memory.scope), scope=memory.scope)
    run_dream(workspace)
    run_dream(workspace, memory=memory)
    assert "rust" in (workspace.root / "scopes/acme/agents/cto/profile.md").read_text(encoding="utf-8")
    assert "rust" not in (workspace.root / "profile.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("one", "other", "many"),
    [
        ("The user likes green tea a lot.", "User likes green tea a lot", 1),
        ("The user likes tea.", "The user likes tea with lemon and honey.", 2),
        ("The user likes green tea.", "The user likes green tea no more.", 2),
        ("The user drinks 2 cups a day.", "The user drinks 2 cups a day or 3.", 2),
        ("The user likes green tea.", "The user likes black tea.", 2),
    ],
)
def test_redundant_lines_are_folded_into_the_longer(one: str, other: str, many: int) -> None:
    first, second = make_statement(one), make_statement(other)
    for result in ([first, second], [second, first]):
        lines = [line for line in render_profile(result) if line.startswith("- ")]
        assert len(lines) == many
        assert all(layout.wiki_link(item) in "\n".join(lines) for item in result)


def test_the_same_text_about_two_people_is_two_lines() -> None:
    lines = render_profile(
        [make_statement("likes green tea", subject="Ann"), make_statement("likes green tea", subject="Bob")]
    )
    assert [line.partition("]] ")[2] for line in lines if line.startswith("- ")] == [
        "Ann: likes green tea",
        "Bob: likes green tea",
    ]


def test_a_profile_is_bounded_and_contains_the_pinned_statements() -> None:
    result = [make_statement(f"The user likes {n} bowls of soup.") for n in range(2 * MAX_LINES)]
    result += [make_statement("The user likes quiet.", pinned=True)]
    lines = render_profile(result)
    assert len(lines) <= MAX_LINES
    assert any("quiet" in line for line in lines)
    assert lines[-1] == "and older ones"


some_words = st.lists(st.sampled_from(["tea", "jam", "not", "2", "3", "likes", "user"]), min_size=1, max_size=6)
texts = st.lists(
    st.tuples(
        some_words.map(" ".join),
        st.sampled_from(["preference", "habit", "interest", "rule"]),
        st.sampled_from(["user", "Ann", ""]),
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_every_statement_is_linked_from_a_profile_or_counted(said_so: list[tuple[str, str, str]]) -> None:
    result = [make_statement(text, kind, subject=subject) for text, kind, subject in said_so]
    lines = render_profile(result)
    assert len(lines) <= MAX_LINES
    assert all("\n".join(lines).count(layout.wiki_link(item)) == 1 for item in result)
    assert render_profile(result) == lines


def reflections(many: int, words: int) -> list[Atom]:
    return [
        make_statement(f"Insight {n} came first. {'It went on and on. ' * words}End {n}.", "insight", subject="agent")
        for n in range(many)
    ]


def test_an_agents_reflections_make_its_identity_page(workspace: VaultWorkspace) -> None:
    atoms = commit_atoms(
        workspace,
        make_statement("The agent hurries.", "insight", subject="agent"),
        make_statement("Rust is old.", "belief", subject="Rust"),
        make_statement("The assistant explains too much.", "belief", subject="Assistant"),
    )
    run_dream(workspace)
    page = find_root_page(workspace.memory.engine.store, workspace.memory.scope, IDENTITY_PAGE)
    assert page is not None
    assert workspace.memory.path_of(page.id) == "identity.md"
    assert "Rust" not in page.content
    assert all(f"- {layout.wiki_link(item)} 2026-11-14 {item.content}" in page.content for item in (atoms[0], atoms[2]))
    assert run_dream(workspace).commit is None


def test_above_eight_kilobytes_the_oldest_entries_are_reduced_to_a_line(workspace: VaultWorkspace) -> None:
    for reflection in reflections(24, 30):
        commit_atoms(workspace, reflection)
    run_dream(workspace)
    page = find_root_page(workspace.memory.engine.store, workspace.memory.scope, IDENTITY_PAGE)
    assert page is not None
    assert len(page.content.encode()) < MAX_FULL_BYTES + 200
    assert "End 23." in page.content
    assert "End 0." not in page.content
    assert all(f"Insight {n} came first." in page.content for n in range(24))
    assert max(len(line) for line in page.content.partition("## Earlier")[2].splitlines()) < LINE_CHARS + 60
    assert run_dream(workspace).commit is None


def test_an_oversized_identity_page_is_not_written(workspace: VaultWorkspace) -> None:
    commit_atoms(workspace, *reflections(200, 8))
    report = run_dream(workspace)
    assert report.commit is None
    assert f"more than {MAX_CHARS:,}" in report.notes[0]
    assert find_root_page(workspace.memory.engine.store, workspace.memory.scope, IDENTITY_PAGE) is None


def test_a_model_condenses_older_entries_and_every_source_is_still_linked(workspace: VaultWorkspace) -> None:
    result = [commit_atoms(workspace, reflection)[0] for reflection in reflections(24, 30)]
    sentences = [
        {"text": "The first insights were hasty.", "lines": [2, 1]},
        {"text": "The agent dreams of Vienna.", "lines": [3]},
    ]
    with scripted(completion({"sentences": sentences})) as server:
        run_dream(workspace, server.chat())
        page = find_root_page(workspace.memory.engine.store, workspace.memory.scope, IDENTITY_PAGE)
        assert page is not None
        actual = extract_summary(page.content)
        assert run_dream(workspace, server.chat()).commit is None
        assert len(server.asked) == 1
    assert run_dream(workspace).commit is None
    assert "Vienna" not in page.content
    assert [text.rpartition("]] ")[2] for text in actual] == ["The first insights were hasty."]
    assert actual[0].count("[[") == 2
    assert all(page.content.count(layout.wiki_link(item)) == 1 for item in result)


def test_only_a_person_changes_the_status_of_a_profile(workspace: VaultWorkspace) -> None:
    commit_atoms(workspace, make_statement("The user likes jam."))
    run_dream(workspace)
    workspace.memory.forget(profile(workspace).id, "not wanted")
    commit_atoms(workspace, make_statement("The user runs at dawn.", "habit"))
    assert run_dream(workspace).commit is None
    atoms = workspace.memory.list(kind="entity", status=None, limit=None)
    assert [atom.status for atom in atoms] == [Status.TOMBSTONED]
