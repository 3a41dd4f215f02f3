"""Erase: nothing is left of what a person had erased, everything else is, and it does not come back."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from canaries import Canaries, traces
from desk import Desk
from lamina import Atom, Memory, passages_of
from lamina.atom.identity import IdSource
from lamina.capture.receipt import Result
from lamina.capture.statement_commit import new_ids
from lamina.dream.entity_pages import update_pages
from lamina.errors import Erased, InvalidInput, NotFound, Refused
from lamina.text.normal_form import normal_form

PIN = "The code of the boathouse is kavodumbitarozk."


def captured(desk: Desk, *turns: tuple[str, str], session: str = "call", at: datetime | None = None) -> list[Atom]:
    desk.tick()
    said = [{"speaker": who, "content": text, "at": at or desk.clock.at} for who, text in turns]
    return [outcome.atom for outcome in desk.memory.capture(said, session_id=session, wait=True).outcomes]


def statement(atoms: list[Atom], word: str) -> Atom:
    return next(atom for atom in atoms if word in atom.content and not atom.is_segment)


def segment(desk: Desk, session: str = "call") -> Atom:
    return next(each for each in desk.memory.list(status=None, session_id=session, limit=None) if each.is_segment)


def words(desk: Desk) -> str:
    return "\n".join(each.content for each in desk.memory.list(status=None, limit=None))


# What goes and what stays


def test_a_statement_goes_with_the_sentence_it_rests_on_and_others_stay(desk: Desk) -> None:
    atoms = captured(
        desk, ("user", f"{PIN} I like green tea. My dog is called Rex."), ("assistant", "Noted. Tea is nice.")
    )
    receipt = desk.memory.erase(statement(atoms, "kavodumbitarozk").id, "private")
    assert receipt.finished
    assert dict(receipt.removed)["sentences"] == 1
    told = segment(desk).content
    assert "[erased] I like green tea. My dog is called Rex. ^p1" in told
    assert "Noted. Tea is nice. ^p2" in told
    assert "kavodumbitarozk" not in words(desk)
    assert statement(desk.memory.list(limit=None), "green tea")
    assert not traces([desk.root], ["kavodumbitarozk"])
    assert desk.memory.doctor(deep=True).healthy


def test_evidence_of_what_stays_names_the_same_sentences_as_before(desk: Desk) -> None:
    captured(desk, ("user", f"I like green tea. {PIN} My dog is called Rex."))
    before = {each.id: quoted(desk, each) for each in desk.memory.list(limit=None) if each.evidence}
    gone = statement(desk.memory.list(limit=None), "kavodumbitarozk")
    desk.memory.erase(gone.id, "private")
    after = {each.id: quoted(desk, each) for each in desk.memory.list(limit=None) if each.evidence}
    assert after == {each: quotes for each, quotes in before.items() if each != gone.id}
    versions = [
        version.atom for version in desk.memory.history(statement(desk.memory.list(limit=None), "dog").id).versions
    ]
    assert all(quoted(desk, version) == ["My dog is called Rex."] for version in versions)


def quoted(desk: Desk, atom: Atom) -> list[str]:
    passages = {passage.n: passage.text for passage in passages_of(segment(desk))}
    return [passages[each.passage][each.start : each.end] for each in atom.evidence]


def test_echoes_and_copies_of_the_sentence_go_with_it(desk: Desk) -> None:
    atoms = captured(
        desk, ("user", PIN), ("assistant", "I noted that kavodumbitarozk is the code of the boathouse. Enjoy the lake!")
    )
    captured(desk, ("user", f"As I said: {PIN.lower()} And it rains."), session="later")
    desk.memory.erase(statement(atoms, "kavodumbitarozk").id, "private")
    assert "kavodumbitarozk" not in words(desk)
    assert "[erased] Enjoy the lake! ^p2" in segment(desk).content
    assert "And it rains." in segment(desk, "later").content
    assert not traces([desk.root], ["kavodumbitarozk"])


def test_every_version_and_every_copy_of_a_statement_goes(desk: Desk) -> None:
    one = desk.remember("Ann banks with kavodumbitarozk.", subject="Ann", attribute="bank", value="kavodumbitarozk")
    desk.memory.revise(one.id, "Ann banks with the lake bank.", value="lake bank", reason="not kavodumbitarozk at all")
    copy = desk.memory.remember("Ann banks with kavodumbitarozk!", origin="web").atom
    assert copy.id != one.id
    receipt = desk.memory.erase(one.id, "private")
    assert set(receipt.erased) == {one.id, copy.id}
    assert not traces([desk.root], ["kavodumbitarozk"])
    assert not any("kavodumbitarozk" in each.reason for each in desk.memory.journal())


def test_boxes_and_pages_lose_the_line_and_keep_the_others(desk: Desk) -> None:
    captured(desk, ("user", f"{PIN} The code of the boathouse gate is red. My dog is called Rex."))
    desk.tick(hours=2)
    desk.memory.read_waiting()
    said = ("Ann bakes rye bread.", "Ann was born in Porto.", "Ann met kavodumbitarozk.", "Ann owns a red kite.")
    desk.memory.remember_many([{"content": each, "entities": ["Ann"]} for each in said])
    pages(desk, "Ann")
    before = listed(desk, "box")
    facts = desk.memory.list(limit=None, kind="fact", status=None)
    desk.memory.erase([fact.id for fact in facts if "kavodumbitarozk" in fact.content], "private")
    assert not traces([desk.root], ["kavodumbitarozk"])
    assert listed(desk, "entity") == 3
    assert listed(desk, "box") == before - 1
    assert desk.memory.doctor(deep=True).healthy


def listed(desk: Desk, kind: str) -> int:
    return sum(each.content.count("- [[") for each in desk.memory.list(kind=kind, limit=None))


def pages(desk: Desk, name: str) -> None:
    """Give somebody who is named again and again a page."""
    ids = new_ids(IdSource(os.urandom), desk.clock.at)
    assert update_pages(desk.memory._store, desk.memory.scope, {normal_form(name): name}, ids)
    desk.memory.sync()


def test_a_page_of_which_nothing_is_left_goes_with_its_name(desk: Desk) -> None:
    name = "Kavodumbitarozk"
    said = [{"content": f"{name} {deed}.", "entities": [name]} for deed in ("sings", "bakes", "sails")]
    made = desk.memory.remember_many(said)
    pages(desk, name)
    desk.memory.erase([outcome.atom.id for outcome in made.outcomes], "private")
    assert desk.memory.list(kind="entity", limit=None) == []
    assert not traces([desk.root], ["kavodumbitarozk"])


def test_a_whole_session_goes_and_what_was_said_elsewhere_stays(desk: Desk) -> None:
    captured(desk, ("user", f"{PIN} My dog is called Rex."), session="secret")
    captured(desk, ("user", "My dog is called Rex. I like green tea."), session="open")
    receipt = desk.memory.erase(session="secret", reason="private")
    assert dict(receipt.removed)["segments"] == 1
    assert desk.memory.list(status=None, session_id="secret", limit=None) == []
    told = words(desk)
    assert "kavodumbitarozk" not in told
    assert "My dog is called Rex. I like green tea." in told
    dog = statement(desk.memory.list(limit=None), "Rex")
    assert {each.segment for each in dog.evidence} == {segment(desk, "open").id}
    assert desk.memory.doctor(deep=True).healthy


def test_exports_and_originals_are_cleaned_and_what_others_made_is_named(desk: Desk) -> None:
    desk.drop("inbox/letter.txt", f"Dear Ann,\n\nlisten: {PIN} It rains.\n")
    desk.memory.sync()
    captured(desk, ("user", f"{PIN} My dog is called Rex."))
    exported = desk.memory.export()
    for each in ("markdown", "okf", "csv"):
        desk.tick()
        table = desk.memory.export(format=each)
    desk.drop("Notes.md", f"My own note: {PIN}")
    desk.drop("atoms/old.md~", "a backup")
    (desk.root / ".git").mkdir()
    gone = statement(desk.memory.list(limit=None), "kavodumbitarozk")
    receipt = desk.memory.erase(gone.id, "private")
    removed = dict(receipt.removed)
    assert removed["exports"] >= 4
    assert removed["originals"] == 1
    kept = json.loads(exported.read_text(encoding="utf-8"))
    assert any("Rex" in each["content"] for each in kept["atoms"])
    assert "Rex" in table.read_text(encoding="utf-8")
    assert traces([desk.root], ["kavodumbitarozk"]) == {"kavodumbitarozk": {"Notes.md"}}
    assert receipt.still_in == ("Notes.md",)
    told = " ".join(receipt.outside)
    assert "git repository" in told and "old.md~" in told and "backups" in told


def test_words_whose_file_a_person_deleted_are_gone_too(desk: Desk) -> None:
    captured(desk, ("user", f"{PIN} My dog is called Rex."))
    desk.file(segment(desk)).unlink()
    atom = desk.remember("Ann banks with kavodumbitarozk.", subject="Ann")
    desk.file(atom).unlink()
    desk.memory.sync()
    found = desk.memory.list(status=None, limit=None)
    desk.memory.erase(
        [each.id for each in found if "kavodumbitarozk" in each.content and not each.is_segment], "private"
    )
    assert not traces([desk.root], ["kavodumbitarozk"])
    assert desk.memory.doctor(deep=True).healthy


def test_an_original_that_cannot_be_rewritten_is_named(desk: Desk) -> None:
    docx = pytest.importorskip("docx")
    data, letter = io.BytesIO(), docx.Document()
    letter.add_paragraph(PIN)
    letter.save(data)
    desk.drop("inbox/letter.docx", data.getvalue())
    desk.memory.sync()
    found = [each for each in desk.memory.list(status=None, limit=None) if "kavodumbitarozk" in each.content]
    assert found
    receipt = desk.memory.erase([each.id for each in found], "private")
    assert any("letter.docx" in each for each in receipt.outside)


# What is left


def test_what_is_left_says_who_erased_it_and_when(desk: Desk) -> None:
    atom = desk.remember(PIN)
    desk.memory.erase(atom.id[-8:], "the tenant asked")
    with pytest.raises(Erased, match=r"was erased on 2026-11-14 09:00 UTC by human \(the tenant asked\)") as caught:
        desk.memory.get(atom.id)
    assert (caught.value.atom_id, caught.value.actor) == (atom.id, "human")
    for ask in (desk.memory.history, desk.memory.neighbours, desk.memory.signals, desk.memory.pin, desk.memory.path_of):
        with pytest.raises(Erased):
            ask(atom.id)
    (stub,) = desk.memory._store.fingerprints.list_stubs(desk.memory.scopes)
    assert (stub.atom_id, stub.actor, stub.reason, len(stub.fingerprint)) == (atom.id, "human", "the tenant asked", 64)


def test_a_reason_that_quotes_the_words_is_not_kept(desk: Desk) -> None:
    atom = desk.remember(PIN)
    desk.memory.erase(atom.id, "nobody may know kavodumbitarozk")
    assert desk.memory.journal()[-1].reason == "on request"
    assert not traces([desk.root], ["kavodumbitarozk"])


def test_nothing_that_touched_it_can_be_undone_and_neither_can_the_erasure(desk: Desk) -> None:
    first = desk.memory.remember(PIN)
    receipt = desk.memory.erase(first.atom.id, "private")
    for commit in (first.commit, receipt.commit, None):
        with pytest.raises(Erased, match="erased text is gone"):
            desk.memory.undo(commit)
        with pytest.raises(Erased):
            desk.memory.undo(commit, cascade=True)


def test_a_capture_of_which_one_sentence_went_can_still_be_undone(desk: Desk) -> None:
    desk.memory.capture([{"speaker": "user", "content": "I like tea. It rains in Porto."}], session_id="call")
    segment_ = segment(desk)
    desk.memory.capture([{"speaker": "user", "content": f"{PIN} The dog sleeps."}], session_id="other", wait=True)
    desk.memory.erase(statement(desk.memory.list(limit=None), "kavodumbitarozk").id, "private")
    desk.memory.undo(desk.memory.history(segment_.id).versions[0].commit)
    assert desk.memory.get(segment_.id).status.value == "tombstoned"


def test_links_to_what_is_gone_hang_in_the_air_and_harm_nobody(desk: Desk) -> None:
    old = desk.remember("Ann lives in kavodumbitarozk.", subject="Ann", attribute="home", value="kavodumbitarozk")
    new = desk.remember("Ann lives in Porto.", subject="Ann", attribute="home", value="Porto")
    other = desk.remember("The move was hard.")
    desk.memory.relate(other.id, "depends_on", old.id)
    assert desk.memory.get(new.id).supersedes == (old.id,)
    desk.memory.erase(old.id, "private")
    assert desk.memory.get(new.id).supersedes == (old.id,)
    assert [each.content for _, each in desk.memory.neighbours(other.id)] == []
    assert desk.texts("where does Ann live")[0] == "Ann lives in Porto."
    assert desk.texts("where does Ann live", include="history")
    assert desk.memory.doctor(deep=True).healthy
    desk.reopen()
    assert desk.memory.doctor(deep=True).healthy


def test_the_index_can_be_rebuilt_and_deleted_afterwards(desk: Desk) -> None:
    atom = desk.remember(PIN)
    kept = desk.remember("The dog sleeps in the boathouse.")
    desk.memory.erase(atom.id, "private")
    desk.memory.rebuild()
    assert desk.texts("boathouse") == [kept.content]
    desk.close()
    for file in (desk.root / ".lamina").glob("index.db*"):
        file.unlink()
    desk.reopen()
    assert desk.texts("boathouse") == [kept.content]
    assert not traces([desk.root], ["kavodumbitarozk"])


def test_stats_and_doctor_go_on_as_before(desk: Desk) -> None:
    atom, _ = desk.remember(PIN), desk.remember("The dog sleeps.")
    before = desk.memory.stats()["atoms"]
    desk.memory.erase(atom.id, "private")
    assert desk.memory.stats()["atoms"] == before - 1
    assert desk.memory.doctor().healthy


# Who may, and when


def test_only_a_person_erases(desk: Desk) -> None:
    atom = desk.remember(PIN)
    agent = desk.open(ceiling="agent", actor="agent:bot")
    with pytest.raises(Refused, match="may not erase"):
        agent.erase(atom.id, "told to")
    assert desk.memory.get(atom.id).content == PIN


def test_a_dry_run_tells_what_would_go_and_changes_nothing(desk: Desk) -> None:
    atoms = captured(desk, ("user", f"{PIN} My dog is called Rex."))
    gone = statement(atoms, "kavodumbitarozk")
    with desk.memory.trial():
        receipt = desk.memory.erase(gone.id, "private")
    assert receipt.erased == (gone.id,)
    assert dict(receipt.removed)["sentences"] == 1
    assert receipt.commit is None and not receipt.finished
    assert desk.memory.get(gone.id).content == gone.content


def test_what_is_not_there_cannot_be_erased(desk: Desk) -> None:
    with pytest.raises(NotFound):
        desk.memory.erase("zzzzzzzz", "private")
    with pytest.raises(NotFound):
        desk.memory.erase(session="nowhere", reason="private")
    with pytest.raises(NotFound):
        desk.memory.erase([], "private")
    with pytest.raises(InvalidInput):
        desk.memory.erase(desk.remember(PIN).id, " ")


def test_another_scope_is_never_touched(desk: Desk) -> None:
    atom = desk.remember(PIN)
    theirs = desk.open("org:other")
    kept = theirs.remember(PIN).atom
    desk.memory.erase(atom.id, "private")
    assert theirs.get(kept.id).content == PIN
    with pytest.raises(NotFound):
        theirs.get(atom.id)
    assert theirs.remember("The code of the boathouse is another.").atom.status.value == "active"


# It does not come back


OLD = datetime.fromisoformat("2026-11-01T09:00:00+00:00")


@pytest.fixture
def erased(desk: Desk) -> Iterator[Desk]:
    """A desk where a sentence of an old transcript was erased."""
    captured(
        desk,
        ("user", f"{PIN} My dog is called Rex."),
        ("assistant", "The boathouse code kavodumbitarozk it is."),
        at=OLD,
    )
    desk.memory.export(desk.root.parent / "export.json")
    desk.memory.erase(statement(desk.memory.list(limit=None), "kavodumbitarozk").id, "private")
    desk.tick(hours=1)
    yield desk


def test_the_old_transcript_does_not_bring_it_back(erased: Desk) -> None:
    for session in ("call", "another"):
        captured(
            erased,
            ("user", f"{PIN} My dog is called Rex."),
            ("assistant", "The boathouse code kavodumbitarozk it is."),
            session=session,
            at=OLD,
        )
    assert "kavodumbitarozk" not in words(erased)
    assert "My dog is called Rex." in segment(erased, "another").content
    assert not traces([erased.root], ["kavodumbitarozk"])


def test_an_echo_in_other_words_does_not_bring_it_back(erased: Desk) -> None:
    captured(erased, ("assistant", "So the boathouse opens with kavodumbitarozk, I think."), session="x", at=OLD)
    assert "kavodumbitarozk" not in words(erased)


@pytest.mark.parametrize("origin", ["web", "tool", "document", "import"])
def test_what_nobody_says_anew_does_not_bring_it_back(erased: Desk, origin: str) -> None:
    erased.memory.capture([{"speaker": "user", "content": PIN}], session_id="page", origin=origin, wait=True)
    assert "kavodumbitarozk" not in words(erased)
    (outcome,) = erased.memory.remember(PIN, origin=origin).outcomes
    assert outcome.result is Result.REFUSED
    assert "it was erased on 2026-11-14" in outcome.reason
    assert "kavodumbitarozk" not in words(erased)


def test_an_agent_that_remembers_it_does_not_bring_it_back(erased: Desk) -> None:
    agent = erased.open(ceiling="agent", actor="agent:bot")
    (outcome,) = agent.remember(PIN).outcomes
    assert outcome.result is Result.REFUSED
    assert "kavodumbitarozk" not in words(erased)


def test_the_same_value_of_the_same_claim_in_other_words_is_known_again(desk: Desk) -> None:
    one = desk.remember("Ann's bank: kavodumbitarozk", subject="Ann", attribute="bank", value="kavodumbitarozk")
    desk.memory.erase(one.id, "private")
    told: dict[str, Any] = {"subject": "ann", "attribute": "Bank", "value": "Kavodumbitarozk", "observed_at": OLD}
    (outcome,) = desk.memory.remember("She banks there.", **told).outcomes
    assert outcome.result is Result.REFUSED


def test_an_export_imported_again_does_not_bring_it_back(erased: Desk) -> None:
    erased.memory.import_(erased.root.parent / "export.json")
    assert "kavodumbitarozk" not in words(erased)
    assert not traces([erased.root], ["kavodumbitarozk"])


def test_a_file_put_back_from_a_backup_is_not_taken_in(desk: Desk) -> None:
    atom = desk.remember(PIN)
    file, data = desk.file(atom), desk.file(atom).read_bytes()
    desk.memory.erase(atom.id, "private")
    assert not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    desk.memory.sync()
    (problem,) = (each for each in desk.memory.doctor().problems)
    assert "was erased on" in problem.message
    assert "kavodumbitarozk" not in words(desk)
    file.unlink()
    assert desk.memory.doctor().healthy


def test_a_person_who_says_it_anew_is_heard(erased: Desk) -> None:
    captured(erased, ("user", PIN), session="today")
    assert "kavodumbitarozk" in segment(erased, "today").content
    assert statement(erased.memory.list(limit=None), "kavodumbitarozk")
    erased.memory.remember("The code of the boathouse is kavodumbitarozk, says Ann.", observed_at=erased.clock.at)


def test_a_key_that_was_used_before_does_not_bring_it_back(desk: Desk) -> None:
    first = desk.memory.remember(PIN, key=PIN)
    desk.memory.erase(first.atom.id, "private")
    desk.tick()
    with pytest.raises(Erased):
        desk.memory.remember(PIN, key=PIN)
    assert not traces([desk.root], ["kavodumbitarozk"])


# Nothing is left


def test_no_byte_is_left_of_two_hundred_erased_atoms(desk: Desk, tmp_path: Path) -> None:
    canaries = Canaries(7)
    ids = [*_conversations(desk, canaries), *_statements(desk, canaries), *_files(desk, canaries, tmp_path)]
    desk.tick(hours=2)
    desk.memory.read_waiting()
    pages(desk, "Aunt")
    assert {"box", "entity"} <= {each.kind for each in desk.memory.list(limit=None)}
    for each in ("json", "markdown", "okf", "csv"):
        desk.tick()
        desk.memory.export(format=each)
    kept = [desk.remember(f"Something harmless, number {n}.").id for n in range(20)]
    assert len(set(ids)) >= 200
    assert traces([desk.root], canaries.made).keys() == set(canaries.made)
    receipt = desk.memory.erase(ids, "private")
    assert receipt.finished
    assert traces([desk.root], canaries.made) == {}
    assert all(desk.memory.get(each) for each in kept)
    assert desk.memory.doctor(deep=True).healthy
    desk.reopen()
    desk.memory.rebuild()
    assert desk.memory.doctor(deep=True).healthy
    assert traces([desk.root], canaries.made) == {}


def _conversations(desk: Desk, canaries: Canaries) -> list[str]:
    """Said in conversations, with echoes, about somebody who gets a page."""
    for n in range(25):
        one, other = canaries.new(), canaries.new()
        captured(
            desk,
            ("user", f"I like walking. My locker code is {one}. Remember that Ann sails a dinghy called {other}."),
            ("assistant", f"Your locker code {one} is noted, and Ann sails a dinghy called {other}. Good night."),
            session=f"s{n % 6}",
        )
    found = desk.memory.list(status=None, limit=None)
    return [each.id for each in found if _holds(each, canaries) and not each.is_segment]


def _statements(desk: Desk, canaries: Canaries) -> list[str]:
    """Remembered; some revised, superseded, pinned, forgotten or linked."""
    found: list[str] = []
    for n in range(150):
        word = canaries.new()
        slot = {"subject": f"Boat {n}", "attribute": "name", "value": word, "tags": [word[:20]]} if n % 2 else {}
        named = {"entities": ["Aunt"]} if n % 3 == 0 else {}
        atom = desk.remember(f"It is called {word} by everybody.", metadata={"note": f"so {word}"}, **slot, **named)
        found.append(atom.id)
        if n % 5 == 0:
            desk.memory.revise(atom.id, f"It is called {canaries.new()} now.", reason=f"{word} is over")
        elif n % 5 == 1:
            other = canaries.new()
            found.append(desk.remember(f"Now it is {other}.", **{**slot, "value": other, "tags": []}).id)
        elif n % 5 == 2:
            desk.memory.pin(atom.id)
        elif n % 5 == 3:
            desk.memory.forget(atom.id, f"{word} was wrong")
        else:
            desk.memory.relate(found[-2], "supports", atom.id)
    return found


def _files(desk: Desk, canaries: Canaries, tmp_path: Path) -> list[str]:
    """Written by a person as files, edited in an editor, dropped into the inbox, imported."""
    before = {each.id for each in desk.memory.list(status=None, limit=None)}
    for n in range(10):
        word = canaries.new()
        desk.drop(f"atoms/{word}.md", f"Aunt {n} lives in {word}.\n")
    desk.memory.sync()
    for n in range(5):
        desk.drop(f"inbox/letter{n}.txt", f"Dear all,\n\nmy bicycle code is {canaries.new()}. It rains.\n")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for n in range(5):
        (folder / f"note{n}.md").write_text(f"# Note {n}\n\nMy cousin lives in {canaries.new()}.\n", encoding="utf-8")
    desk.memory.sync()
    desk.memory.import_(folder)
    found = [each for each in desk.memory.list(status=None, limit=None) if each.id not in before]
    for atom in found[:5]:
        if atom.kind == "fact" and atom.status.value == "active":
            desk.edit(atom, "lives in", f"lives in {canaries.new()} or")
    desk.memory.sync()
    return [each.id for each in found]


def _holds(atom: Atom, canaries: Canaries) -> bool:
    return any(each in atom.content for each in canaries.made)


def test_a_second_erasure_in_the_same_words_leaves_a_chain_that_verifies(desk: Desk) -> None:
    captured(desk, ("user", f"{PIN} My dog is called Rex. The gate code is mavutogapulorak."))
    desk.memory.erase(statement(desk.memory.list(limit=None), "kavodumbitarozk").id, "private")
    desk.memory.erase(statement(desk.memory.list(limit=None), "mavutogapulorak").id, "private")
    assert segment(desk).content.count("[erased]") == 2
    assert desk.memory.doctor(deep=True).healthy
    assert not traces([desk.root], ["kavodumbitarozk", "mavutogapulorak"])
    db = desk.memory._store._journal.db
    for mischief in (
        "UPDATE versions SET body=replace(body, 'Rex', 'Max') WHERE body LIKE '%Rex%'",
        "UPDATE retold SET digest=zeroblob(32)",
        "DELETE FROM retold WHERE by_seq=(SELECT max(by_seq) FROM retold)",
        "INSERT INTO retold VALUES(1, 1, 1, zeroblob(32))",
        "UPDATE versions SET salt=NULL WHERE body IS NOT NULL",
        "UPDATE commits SET batch=NULL",
    ):
        with db.trial_transaction():
            db.run(mischief)
            assert desk.memory._store._journal.find_broken_links() != [], mischief
    assert desk.memory._store._journal.find_broken_links() == []


def test_what_was_known_then_is_told_without_the_sentence(desk: Desk) -> None:
    captured(desk, ("user", f"{PIN} My dog is called Rex."))
    captured(desk, ("user", "I like green tea."))
    desk.memory.erase(statement(desk.memory.list(limit=None), "kavodumbitarozk").id, "private")
    versions = desk.memory.history(segment(desk).id).versions
    assert ["green tea" in version.atom.content for version in versions] == [False, True, True]
    assert all("[erased] My dog is called Rex." in version.atom.content for version in versions)


def test_vectors_go_and_another_program_learns_of_it(desk: Desk) -> None:
    desk.close()
    one, other = desk.open(), desk.open()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMINA_EMBEDDER", "light")
        desk.close()
        one, other = desk.open(), desk.open()
        kept = one.remember("The dog sleeps on the sofa.").atom
        gone = one.remember(PIN).atom
        one.embed()
        assert gone.id in {hit.atom.id for hit in other.recall("what opens the boathouse").hits}
        receipt = one.erase(gone.id, "private")
        assert receipt.finished
        assert dict(receipt.removed)["vectors"] == 1
        for memory in (one, other):
            assert [hit.atom.id for hit in memory.recall("what opens the boathouse, or the dog").hits] == [kept.id]
        with pytest.raises(Erased):
            other.get(gone.id)
        assert other.remember("It rains.").atom.status.value == "active"
        assert not traces([desk.root], ["kavodumbitarozk"])


def test_a_watched_vault_loses_it_too(desk: Desk) -> None:
    desk.close()
    with Memory(desk.root, clock=desk.clock, watch=True) as memory:
        gone = memory.remember(PIN).atom
        said = [{"speaker": "user", "content": f"{PIN} It rains."}]
        memory.capture(said, session_id="call", wait=True)
        memory.erase(gone.id, "private")
        assert not traces([desk.root], ["kavodumbitarozk"])
    desk.clock.at += timedelta(seconds=1)
    with Memory(desk.root, clock=desk.clock, watch=False) as memory:
        assert memory.doctor(deep=True).healthy
        assert not traces([desk.root], ["kavodumbitarozk"])
