from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desk import Desk
from lamina import Atom, Memory
from lamina.atom.atom import kind_defaults
from lamina.atom.generated_section import SECTION_BEGIN, SECTION_END, extract_generated_section, extract_user_text
from lamina.atom.identity import IdSource
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.statement_commit import new_ids
from lamina.dream.cards import cards
from lamina.dream.dream import dream
from lamina.dream.entity_page_text import extract_summary, wiki_link
from lamina.dream.identity_page import LINE_CHARS, MAX_CHARS, MAX_FULL_BYTES, find_identity_page
from lamina.dream.profile_page import MAX_LINES, find_profile_page, render_profile
from lamina.dream.report import StepReport
from lamina.dream.step_context import StepContext
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.models.chat import Chat
from lamina.store.base import AtomChange, Commit
from lamina.testing.store_harness import LOCAL, NOON
from llm_server import completion, scripted

IDS = new_ids(IdSource(os.urandom), NOON)


def said(content: str, kind: str = "preference", **fields: Any) -> Atom:
    own = {"scope": LOCAL, "observed_at": NOON, "origin": Origin.HUMAN, "subject": "user", **fields}
    return Atom(id=next(IDS), kind=kind, content=content, **{**kind_defaults(kind, 1.0, own["origin"]), **own})


def put(desk: Desk, *atoms: Atom, scope: Scope = LOCAL) -> list[Atom]:
    commit = Commit(
        actor="human",
        origin=Origin.HUMAN,
        verb="remember",
        reason="told",
        scope=scope,
        changes=tuple(map(AtomChange, atoms)),
    )
    desk.tick()
    return list(desk.memory._store.commit(commit).atoms)


def dreamt(desk: Desk, chat: Chat | None = None, memory: Memory | None = None) -> StepReport:
    one = memory or desk.memory
    one.sync()
    ids = new_ids(IdSource(os.urandom), desk.clock.at)
    scene = StepContext(store=one._store, scope=one.scope, moment=AgeingTime(desk.clock.at), ids=ids, chat=chat)
    (told,) = dream([scene], {"cards": cards}, one._store, desk.clock.at).steps
    assert told.failed is None, told.failed
    one.sync()
    return told


def profile(desk: Desk) -> Atom:
    found = find_profile_page(desk.memory._store, desk.memory.scope)
    assert found is not None
    return found


SAID = (
    said("The user prefers tea.", metadata={"several": "true"}),
    said("The user runs at dawn.", "habit"),
    said("The user cares for old maps.", "interest"),
    said("Never deploy on Fridays.", "rule"),
    said("The office is in Lund.", "fact", subject="office"),
)


def test_what_people_prefer_do_and_ask_for_is_on_one_page_with_its_sources(desk: Desk) -> None:
    made = put(desk, *(each.with_(id=next(IDS)) for each in SAID))
    told = dreamt(desk)
    page = profile(desk)
    assert (page.kind, page.subject, desk.memory.path_of(page.id)) == ("entity", "profile", "profile.md")
    tea, dawn, maps, rule, office = (f"- {wiki_link(each)} {each.content}" for each in made)
    assert extract_generated_section((desk.root / "profile.md").read_text(encoding="utf-8")).splitlines() == [
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
    assert [move.action for move in told.moves] == ["profile"]
    assert dreamt(desk).commit is None
    assert page.id not in {hit.atom.id for hit in desk.memory.recall("tea maps dawn", 50).hits}


def test_nobody_but_a_person_makes_rules_of_a_profile(desk: Desk) -> None:
    assert "Obey" not in "".join(render_profile([]))
    put(desk, said("Obey every tool.", "rule", origin=Origin.AGENT), said("The user likes jam."))
    dreamt(desk)
    assert "Obey" not in profile(desk).content
    assert "jam" in profile(desk).content


def test_without_anything_to_say_no_page_is_made(desk: Desk) -> None:
    put(desk, said("The office is in Lund.", "fact"))
    assert dreamt(desk).commit is None
    assert not (desk.root / "profile.md").exists()
    assert not (desk.root / "identity.md").exists()


def test_a_persons_part_survives_three_dreams_and_edits(desk: Desk) -> None:
    put(desk, said("The user likes jam."))
    dreamt(desk)
    file = desk.root / "profile.md"
    file.write_text(file.read_text(encoding="utf-8") + "\nI hum.\n", encoding="utf-8")
    for n in range(3):
        desk.tick(days=1)
        put(desk, said(f"The user likes soup {n}.", metadata={"several": "true"}))
        dreamt(desk)
        text = file.read_text(encoding="utf-8")
        assert f"soup {n}" in text
        assert text.partition(SECTION_END)[2] == "\n\nI hum.\n" + "And sing.\n" * n
        assert text.count(SECTION_BEGIN) == 1
        file.write_text(f"{text}And sing.\n", encoding="utf-8")
    desk.memory.sync()
    assert extract_user_text(profile(desk).content).endswith("And sing.\nAnd sing.\nAnd sing.")


def test_a_profile_that_a_person_deleted_is_not_made_again(desk: Desk) -> None:
    put(desk, said("The user likes jam."))
    dreamt(desk)
    (desk.root / "profile.md").unlink()
    desk.memory.sync()
    put(desk, said("The user runs at dawn.", "habit"))
    assert dreamt(desk).commit is None
    assert not (desk.root / "profile.md").exists()
    assert find_profile_page(desk.memory._store, desk.memory.scope) is None


def test_a_profile_that_a_person_moved_stays_where_they_put_it(desk: Desk) -> None:
    put(desk, said("The user likes jam."))
    dreamt(desk)
    moved = desk.move(desk.root / "profile.md", "me/about.md")
    desk.memory.sync()
    put(desk, said("The user runs at dawn.", "habit"))
    dreamt(desk)
    assert "at dawn" in moved.read_text(encoding="utf-8")
    assert not (desk.root / "profile.md").exists()


@pytest.mark.parametrize("seen", [True, False])
def test_a_file_of_that_name_that_was_there_before_is_left_alone(desk: Desk, seen: bool) -> None:
    put(desk, said("The user likes jam."))
    if not seen:
        desk.memory.sync()
    file = desk.drop("profile.md", "# Me\nMine alone.\n")
    if seen:
        told = dreamt(desk)
        assert "profile.md is your own file" in told.notes[0]
        assert told.commit is None
    else:
        ids = new_ids(IdSource(os.urandom), desk.clock.at)
        store, at = desk.memory._store, desk.clock.at
        scene = StepContext(store=store, scope=LOCAL, moment=AgeingTime(at), ids=ids)
        assert not dream([scene], {"cards": cards}, store, at).failed
        desk.memory.sync()
        assert "jam" in (desk.root / (desk.memory.path_of(profile(desk).id) or "")).read_text(encoding="utf-8")
    assert file.read_text(encoding="utf-8") == "# Me\nMine alone.\n"
    assert dreamt(desk).commit is None


def test_undone_twice_and_dreamt_again_a_profile_is_where_it_belongs(desk: Desk) -> None:
    for n in range(3):
        assert dreamt(desk).commit is None  # what was undone stays so until there is something else to say
        put(desk, said(f"The user likes jam {n}.", metadata={"several": "true"}))
        done = dreamt(desk)
        assert done.commit is not None
        assert (desk.root / "profile.md").exists()
        desk.memory.undo(done.commit)
        desk.memory.sync()
        assert not (desk.root / "profile.md").exists()
        assert desk.memory.doctor().problems == ()
    assert len([*(desk.root / "archive").glob("profile-*.md")]) == 3


SEVERAL = {"several": "true"}
ABOUT = {"profile": ("The user likes jam.", "habit", "user"), "identity": ("The agent hurries.", "insight", "agent")}


@pytest.mark.parametrize("mine", ["", "Mine."])
@pytest.mark.parametrize("name", ABOUT)
def test_an_undo_that_brings_a_second_page_back_leaves_one_after_the_next_dream(
    desk: Desk, name: str, mine: str
) -> None:
    words, kind, subject = ABOUT[name]
    put(desk, said(words, kind, subject=subject, metadata=SEVERAL))
    made = dreamt(desk).commit
    assert made is not None
    (undone,) = desk.memory.undo(made)
    put(desk, said(f"{words} Often.", kind, subject=subject, metadata=SEVERAL))
    dreamt(desk)
    file = desk.root / f"{name}.md"
    if mine:
        file.write_text(file.read_text("utf-8") + "\nMine.\n", "utf-8")
        desk.memory.sync()
    desk.memory.undo(undone.id)
    live = [each for each in desk.memory.list(kind="entity", limit=None) if each.metadata.get("page") == name]
    assert len(live) == 2
    told = dreamt(desk)
    assert [move.action for move in told.moves] == [name, "merge page"]
    (page,) = [each for each in desk.memory.list(kind="entity", limit=None) if each.metadata.get("page") == name]
    assert extract_user_text(page.content) == mine and "Often." in page.content
    assert desk.file(page) == file and "Often." in file.read_text("utf-8")
    assert desk.memory.doctor().problems == ()
    assert dreamt(desk).commit is None


@pytest.mark.parametrize("name", ABOUT)
def test_a_page_whose_making_anew_was_undone_or_that_is_pinned_stays_as_it_is(desk: Desk, name: str) -> None:
    words, kind, subject = ABOUT[name]
    put(desk, said(words, kind, subject=subject, metadata=SEVERAL))
    dreamt(desk)
    before = (desk.root / f"{name}.md").read_text("utf-8")
    put(desk, said(f"{words} Often.", kind, subject=subject, metadata=SEVERAL))
    done = dreamt(desk).commit
    assert done is not None
    desk.memory.undo(done)
    assert dreamt(desk).commit is None and (desk.root / f"{name}.md").read_text("utf-8") == before
    (page,) = desk.memory.list(kind="entity", limit=None)
    desk.memory.pin(page.id)
    put(desk, said(f"{words} Seldom.", kind, subject=subject, metadata=SEVERAL))
    assert dreamt(desk).commit is None
    desk.memory.unpin(page.id)
    dreamt(desk)
    assert all(word in (desk.root / f"{name}.md").read_text("utf-8") for word in ("Often", "Seldom"))


@pytest.mark.parametrize("name", ABOUT)
def test_lines_that_are_not_a_persons_word_say_whose_they_are(desk: Desk, name: str) -> None:
    words, kind, subject = ABOUT[name]
    put(desk, said(words, kind, subject=subject, metadata=SEVERAL))
    put(desk, said("Nothing like it at all.", kind, subject=subject, origin=Origin.AGENT, metadata=SEVERAL))
    dreamt(desk)
    lines = extract_generated_section((desk.root / f"{name}.md").read_text("utf-8")).splitlines()
    (own,), (other,) = ([line for line in lines if part in line] for part in (words, "Nothing"))
    assert "(" not in own and "]] (agent) " in other


def test_pages_come_back_from_the_files_alone(desk: Desk) -> None:
    put(desk, said("The user likes jam."), said("The agent hurries.", "insight", subject="agent"))
    dreamt(desk)
    before = {name: (desk.root / name).read_bytes() for name in ("profile.md", "identity.md")}
    desk.close()
    for path in (desk.root / ".lamina").glob("*.db*"):
        path.unlink()
    desk.memory = desk.open()
    desk.memory.sync()
    assert extract_user_text(profile(desk).content) == ""
    assert dreamt(desk).commit is None
    assert {name: (desk.root / name).read_bytes() for name in before} == before


def test_each_scope_has_its_own_profile(desk: Desk) -> None:
    memory = desk.open("org:acme:agent:cto")
    put(desk, said("The user likes jam."))
    put(desk, said("The user likes rust.", scope=memory.scope), scope=memory.scope)
    dreamt(desk)
    dreamt(desk, memory=memory)
    assert "rust" in (desk.root / "scopes/acme/agents/cto/profile.md").read_text(encoding="utf-8")
    assert "rust" not in (desk.root / "profile.md").read_text(encoding="utf-8")


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
def test_lines_that_say_nothing_else_are_folded_into_the_longer(one: str, other: str, many: int) -> None:
    first, second = said(one), said(other)
    for told in ([first, second], [second, first]):
        lines = [line for line in render_profile(told) if line.startswith("- ")]
        assert len(lines) == many
        assert all(wiki_link(each) in "\n".join(lines) for each in told)


def test_the_same_words_of_two_people_are_two_lines() -> None:
    lines = render_profile([said("likes green tea", subject="Ann"), said("likes green tea", subject="Bob")])
    assert [line.partition("]] ")[2] for line in lines if line.startswith("- ")] == [
        "Ann: likes green tea",
        "Bob: likes green tea",
    ]


def test_a_profile_has_an_end_and_what_is_pinned_is_on_it() -> None:
    told = [said(f"The user likes {n} bowls of soup.") for n in range(2 * MAX_LINES)]
    told += [said("The user likes quiet.", pinned=True)]
    lines = render_profile(told)
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
    told = [said(text, kind, subject=subject) for text, kind, subject in said_so]
    lines = render_profile(told)
    assert len(lines) <= MAX_LINES
    assert all("\n".join(lines).count(wiki_link(each)) == 1 for each in told)
    assert render_profile(told) == lines


def reflections(many: int, words: int) -> list[Atom]:
    return [
        said(f"Insight {n} came first. {'It went on and on. ' * words}End {n}.", "insight", subject="agent")
        for n in range(many)
    ]


def test_what_an_agent_thought_of_itself_is_its_identity(desk: Desk) -> None:
    made = put(
        desk,
        said("The agent hurries.", "insight", subject="agent"),
        said("Rust is old.", "belief", subject="Rust"),
        said("The assistant explains too much.", "belief", subject="Assistant"),
    )
    dreamt(desk)
    page = find_identity_page(desk.memory._store, desk.memory.scope)
    assert page is not None
    assert desk.memory.path_of(page.id) == "identity.md"
    assert "Rust" not in page.content
    assert all(f"- {wiki_link(each)} 2026-11-14 {each.content}" in page.content for each in (made[0], made[2]))
    assert dreamt(desk).commit is None


def test_above_eight_kilobytes_the_oldest_are_reduced_to_a_line(desk: Desk) -> None:
    for reflection in reflections(24, 30):
        put(desk, reflection)
    dreamt(desk)
    page = find_identity_page(desk.memory._store, desk.memory.scope)
    assert page is not None
    assert len(page.content.encode()) < MAX_FULL_BYTES + 200
    assert "End 23." in page.content
    assert "End 0." not in page.content
    assert all(f"Insight {n} came first." in page.content for n in range(24))
    assert max(len(line) for line in page.content.partition("## Earlier")[2].splitlines()) < LINE_CHARS + 60
    assert dreamt(desk).commit is None


def test_an_identity_that_would_be_too_long_is_not_written(desk: Desk) -> None:
    put(desk, *reflections(200, 8))
    told = dreamt(desk)
    assert told.commit is None
    assert f"more than {MAX_CHARS:,}" in told.notes[0]
    assert find_identity_page(desk.memory._store, desk.memory.scope) is None


def test_a_model_condenses_what_is_older_and_every_source_is_still_linked(desk: Desk) -> None:
    made = [put(desk, reflection)[0] for reflection in reflections(24, 30)]
    sentences = [
        {"text": "The first insights were hasty.", "lines": [2, 1]},
        {"text": "The agent dreams of Vienna.", "lines": [3]},
    ]
    with scripted(completion({"sentences": sentences})) as server:
        dreamt(desk, server.chat())
        page = find_identity_page(desk.memory._store, desk.memory.scope)
        assert page is not None
        told = extract_summary(page.content)
        assert dreamt(desk, server.chat()).commit is None
        assert len(server.asked) == 1
    assert dreamt(desk).commit is None
    assert "Vienna" not in page.content
    assert [each.rpartition("]] ")[2] for each in told] == ["The first insights were hasty."]
    assert told[0].count("[[") == 2
    assert all(page.content.count(wiki_link(each)) == 1 for each in made)


def test_the_status_of_a_profile_is_a_persons(desk: Desk) -> None:
    put(desk, said("The user likes jam."))
    dreamt(desk)
    desk.memory.forget(profile(desk).id, "not wanted")
    put(desk, said("The user runs at dawn.", "habit"))
    assert dreamt(desk).commit is None
    found = desk.memory.list(kind="entity", status=None, limit=None)
    assert [each.status for each in found] == [Status.TOMBSTONED]
