"""Erased text is left nowhere, everything else is kept, and the text does not return.

Covers `lamina.engine.erasing`, `lamina.review.erasure_plan`, `lamina.review.file_cleanup` and
`lamina.store.sqlite.erasures`.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from canaries import Canaries, traces
from lamina import Atom, passages_of
from lamina.atom.atom import IdSource
from lamina.capture.receipt import Result
from lamina.capture.store_reads import new_ids
from lamina.dream.entity_pages import update_pages
from lamina.errors import Erased, InvalidInput, NotFound, Refused
from lamina.text.normal_form import normal_form
from vault_workspace import VaultWorkspace

PIN = "The code of the boathouse is kavodumbitarozk."


def captured(
    workspace: VaultWorkspace, *turns: tuple[str, str], session: str = "call", at: datetime | None = None
) -> list[Atom]:
    workspace.tick()
    sentence = [{"speaker": who, "content": text, "at": at or workspace.clock.at} for who, text in turns]
    return [outcome.atom for outcome in workspace.memory.capture(sentence, session_id=session, wait=True).outcomes]


def statement(atoms: list[Atom], word: str) -> Atom:
    return next(atom for atom in atoms if word in atom.content and not atom.is_segment)


def segment(workspace: VaultWorkspace, session: str = "call") -> Atom:
    return next(atom for atom in workspace.memory.list(status=None, session_id=session, limit=None) if atom.is_segment)


def all_text(workspace: VaultWorkspace) -> str:
    return "\n".join(atom.content for atom in workspace.memory.list(status=None, limit=None))


# What goes and what stays


def test_a_statement_is_erased_with_its_sentence_and_others_stay(workspace: VaultWorkspace) -> None:
    atoms = captured(
        workspace, ("user", f"{PIN} I like green tea. My dog is called Rex."), ("assistant", "Noted. Tea is nice.")
    )
    receipt = workspace.memory.erase(statement(atoms, "kavodumbitarozk").id, "private")
    assert receipt.finished
    assert dict(receipt.removed)["sentences"] == 1
    content = segment(workspace).content
    assert "[erased] I like green tea. My dog is called Rex. ^p1" in content
    assert "Noted. Tea is nice. ^p2" in content
    assert "kavodumbitarozk" not in all_text(workspace)
    assert statement(workspace.memory.list(limit=None), "green tea")
    assert not traces([workspace.root], ["kavodumbitarozk"])
    assert workspace.memory.upkeep.doctor(deep=True).healthy


def test_remaining_evidence_names_the_same_sentences_as_before(workspace: VaultWorkspace) -> None:
    captured(workspace, ("user", f"I like green tea. {PIN} My dog is called Rex."))
    before = {item.id: quoted_texts(workspace, item) for item in workspace.memory.list(limit=None) if item.evidence}
    atom = statement(workspace.memory.list(limit=None), "kavodumbitarozk")
    workspace.memory.erase(atom.id, "private")
    after = {item.id: quoted_texts(workspace, item) for item in workspace.memory.list(limit=None) if item.evidence}
    assert after == {item: quotes for item, quotes in before.items() if item != atom.id}
    versions = [
        version.atom
        for version in workspace.memory.history(statement(workspace.memory.list(limit=None), "dog").id).versions
    ]
    assert all(quoted_texts(workspace, version) == ["My dog is called Rex."] for version in versions)


def quoted_texts(workspace: VaultWorkspace, atom: Atom) -> list[str]:
    passages = {passage.n: passage.text for passage in passages_of(segment(workspace))}
    return [passages[evidence.passage][evidence.start : evidence.end] for evidence in atom.evidence]


def test_repetitions_and_copies_of_the_sentence_are_erased_everywhere(workspace: VaultWorkspace) -> None:
    atoms = captured(
        workspace,
        ("user", PIN),
        ("assistant", "I noted that kavodumbitarozk is the code of the boathouse. Enjoy the lake!"),
    )
    captured(workspace, ("user", f"As I said: {PIN.lower()} And it rains."), session="later")
    workspace.memory.erase(statement(atoms, "kavodumbitarozk").id, "private", everywhere=True)
    assert "kavodumbitarozk" not in all_text(workspace)
    assert "[erased] Enjoy the lake! ^p2" in segment(workspace).content
    assert "And it rains." in segment(workspace, "later").content
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_every_version_and_every_copy_of_a_statement_is_erased(workspace: VaultWorkspace) -> None:
    one = workspace.remember(
        "Ann banks with kavodumbitarozk.", subject="Ann", attribute="bank", value="kavodumbitarozk"
    )
    workspace.memory.revise(
        one.id, "Ann banks with the lake bank.", value="lake bank", reason="not kavodumbitarozk at all"
    )
    copy = workspace.memory.remember("Ann banks with kavodumbitarozk!", origin="web").atom
    assert copy.id != one.id
    receipt = workspace.memory.erase(one.id, "private", everywhere=True)
    assert set(receipt.erased) == {one.id, copy.id}
    assert not traces([workspace.root], ["kavodumbitarozk"])
    assert not any("kavodumbitarozk" in entry.reason for entry in workspace.memory.journal())


def test_boxes_and_pages_lose_the_line_and_keep_the_others(workspace: VaultWorkspace) -> None:
    captured(workspace, ("user", f"{PIN} The code of the boathouse gate is red. My dog is called Rex."))
    workspace.tick(hours=2)
    workspace.memory.read_waiting()
    texts = ("Ann bakes rye bread.", "Ann was born in Porto.", "Ann met kavodumbitarozk.", "Ann owns a red kite.")
    workspace.memory.remember_many([{"content": text, "entities": ["Ann"]} for text in texts])
    pages(workspace, "Ann")
    before = count_list_lines(workspace, "box")
    facts = workspace.memory.list(limit=None, kind="fact", status=None)
    workspace.memory.erase([fact.id for fact in facts if "kavodumbitarozk" in fact.content], "private")
    assert not traces([workspace.root], ["kavodumbitarozk"])
    assert count_list_lines(workspace, "entity") == 3
    assert count_list_lines(workspace, "box") == before - 1
    assert workspace.memory.upkeep.doctor(deep=True).healthy


def count_list_lines(workspace: VaultWorkspace, kind: str) -> int:
    return sum(atom.content.count("- [[") for atom in workspace.memory.list(kind=kind, limit=None))


def pages(workspace: VaultWorkspace, name: str) -> None:
    """Give somebody who is named again and again a page."""
    ids = new_ids(IdSource(os.urandom), workspace.clock.at)
    assert update_pages(workspace.memory.engine.store, workspace.memory.scope, {normal_form(name): name}, ids)
    workspace.memory.upkeep.sync()


def test_a_page_without_remaining_content_is_erased_with_its_name(workspace: VaultWorkspace) -> None:
    name = "Kavodumbitarozk"
    text = [{"content": f"{name} {deed}.", "entities": [name]} for deed in ("sings", "bakes", "sails")]
    receipt = workspace.memory.remember_many(text)
    pages(workspace, name)
    workspace.memory.erase([outcome.atom.id for outcome in receipt.outcomes], "private")
    assert workspace.memory.list(kind="entity", limit=None) == []
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_a_whole_session_is_erased_and_other_sessions_stay(workspace: VaultWorkspace) -> None:
    captured(workspace, ("user", f"{PIN} My dog is called Rex."), session="secret")
    captured(workspace, ("user", "My dog is called Rex. I like green tea."), session="open")
    receipt = workspace.memory.erase(session="secret", reason="private")
    assert dict(receipt.removed)["segments"] == 1
    assert workspace.memory.list(status=None, session_id="secret", limit=None) == []
    text = all_text(workspace)
    assert "kavodumbitarozk" not in text
    assert "My dog is called Rex. I like green tea." in text
    dog = statement(workspace.memory.list(limit=None), "Rex")
    assert {evidence.segment for evidence in dog.evidence} == {segment(workspace, "open").id}
    assert workspace.memory.upkeep.doctor(deep=True).healthy


def test_exports_and_originals_are_cleaned_and_foreign_files_are_named(workspace: VaultWorkspace) -> None:
    workspace.drop("inbox/letter.txt", f"Dear Ann,\n\nlisten: {PIN} It rains.\n")
    workspace.memory.upkeep.sync()
    captured(workspace, ("user", f"{PIN} My dog is called Rex."))
    exported = workspace.memory.export()
    for name in ("markdown", "okf", "csv"):
        workspace.tick()
        table = workspace.memory.export(format=name)
    workspace.drop("Notes.md", f"My own note: {PIN}")
    workspace.drop("atoms/old.md~", "a backup")
    (workspace.root / ".git").mkdir()
    atom = statement(workspace.memory.list(limit=None), "kavodumbitarozk")
    receipt = workspace.memory.erase(atom.id, "private", everywhere=True)
    removed = dict(receipt.removed)
    assert removed["exports"] >= 4
    assert removed["originals"] == 1
    document = json.loads(exported.read_text(encoding="utf-8"))
    assert any("Rex" in item["content"] for item in document["atoms"])
    assert "Rex" in table.read_text(encoding="utf-8")
    assert traces([workspace.root], ["kavodumbitarozk"]) == {"kavodumbitarozk": {"Notes.md"}}
    assert receipt.still_in == ("Notes.md",)
    text = " ".join(receipt.outside)
    assert "git repository" in text and "old.md~" in text and "backups" in text


def test_text_whose_file_a_person_deleted_is_erased_too(workspace: VaultWorkspace) -> None:
    captured(workspace, ("user", f"{PIN} My dog is called Rex."))
    workspace.file(segment(workspace)).unlink()
    atom = workspace.remember("Ann banks with kavodumbitarozk.", subject="Ann")
    workspace.file(atom).unlink()
    workspace.memory.upkeep.sync()
    atoms = workspace.memory.list(status=None, limit=None)
    workspace.memory.erase(
        [atom.id for atom in atoms if "kavodumbitarozk" in atom.content and not atom.is_segment], "private"
    )
    assert not traces([workspace.root], ["kavodumbitarozk"])
    assert workspace.memory.upkeep.doctor(deep=True).healthy


def test_an_original_that_cannot_be_rewritten_is_named(workspace: VaultWorkspace) -> None:
    docx = pytest.importorskip("docx")
    data, letter = io.BytesIO(), docx.Document()
    letter.add_paragraph(PIN)
    letter.save(data)
    workspace.drop("inbox/letter.docx", data.getvalue())
    workspace.memory.upkeep.sync()
    atoms = [atom for atom in workspace.memory.list(status=None, limit=None) if "kavodumbitarozk" in atom.content]
    assert atoms
    receipt = workspace.memory.erase([atom.id for atom in atoms], "private")
    assert any("letter.docx" in item for item in receipt.outside)


# What is left


def test_the_tombstone_names_who_erased_it_and_when(workspace: VaultWorkspace) -> None:
    atom = workspace.remember(PIN)
    workspace.memory.erase(atom.id[-8:], "the tenant asked")
    with pytest.raises(Erased, match=r"was erased on 2026-11-14 09:00 UTC by human \(the tenant asked\)") as caught:
        workspace.memory.get(atom.id)
    assert (caught.value.atom_id, caught.value.actor) == (atom.id, "human")
    for ask in (
        workspace.memory.history,
        workspace.memory.neighbours,
        workspace.memory.signals,
        workspace.memory.pin,
        workspace.memory.path_of,
    ):
        with pytest.raises(Erased):
            ask(atom.id)
    (stub,) = workspace.memory.engine.store.admin.erasures.list_stubs(workspace.memory.scopes)
    assert (stub.atom_id, stub.actor, stub.reason, len(stub.fingerprint)) == (atom.id, "human", "the tenant asked", 64)


def test_a_reason_that_quotes_the_text_is_not_stored(workspace: VaultWorkspace) -> None:
    atom = workspace.remember(PIN)
    workspace.memory.erase(atom.id, "nobody may know kavodumbitarozk")
    assert workspace.memory.journal()[-1].reason == "on request"
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_neither_the_erasure_nor_commits_it_touched_can_be_undone(workspace: VaultWorkspace) -> None:
    first = workspace.memory.remember(PIN)
    receipt = workspace.memory.erase(first.atom.id, "private")
    for commit in (first.commit, receipt.commit, None):
        with pytest.raises(Erased, match="erased text is gone"):
            workspace.memory.undo(commit)
        with pytest.raises(Erased):
            workspace.memory.undo(commit, cascade=True)


def test_a_capture_that_lost_one_sentence_can_still_be_undone(workspace: VaultWorkspace) -> None:
    workspace.memory.capture([{"speaker": "user", "content": "I like tea. It rains in Porto."}], session_id="call")
    segment_ = segment(workspace)
    workspace.memory.capture([{"speaker": "user", "content": f"{PIN} The dog sleeps."}], session_id="other", wait=True)
    workspace.memory.erase(statement(workspace.memory.list(limit=None), "kavodumbitarozk").id, "private")
    workspace.memory.undo(workspace.memory.history(segment_.id).versions[0].commit)
    assert workspace.memory.get(segment_.id).status.value == "tombstoned"


def test_dangling_links_to_erased_atoms_are_harmless(workspace: VaultWorkspace) -> None:
    old = workspace.remember("Ann lives in kavodumbitarozk.", subject="Ann", attribute="home", value="kavodumbitarozk")
    new = workspace.remember("Ann lives in Porto.", subject="Ann", attribute="home", value="Porto")
    other = workspace.remember("The move was hard.")
    workspace.memory.relate(other.id, "depends_on", old.id)
    assert workspace.memory.get(new.id).supersedes == (old.id,)
    workspace.memory.erase(old.id, "private")
    assert workspace.memory.get(new.id).supersedes == (old.id,)
    assert [item.content for _, item in workspace.memory.neighbours(other.id)] == []
    assert workspace.texts("where does Ann live")[0] == "Ann lives in Porto."
    assert workspace.texts("where does Ann live", include="history")
    assert workspace.memory.upkeep.doctor(deep=True).healthy
    workspace.reopen()
    assert workspace.memory.upkeep.doctor(deep=True).healthy


def test_the_index_can_be_rebuilt_and_deleted_afterwards(workspace: VaultWorkspace) -> None:
    atom = workspace.remember(PIN)
    receipt = workspace.remember("The dog sleeps in the boathouse.")
    workspace.memory.erase(atom.id, "private")
    workspace.memory.upkeep.rebuild()
    assert workspace.texts("boathouse") == [receipt.content]
    workspace.close()
    for file in (workspace.root / ".lamina").glob("index.db*"):
        file.unlink()
    workspace.reopen()
    assert workspace.texts("boathouse") == [receipt.content]
    assert not traces([workspace.root], ["kavodumbitarozk"])


def test_stats_and_doctor_still_work(workspace: VaultWorkspace) -> None:
    atom, _ = workspace.remember(PIN), workspace.remember("The dog sleeps.")
    before = workspace.memory.upkeep.stats()["atoms"]
    workspace.memory.erase(atom.id, "private")
    assert workspace.memory.upkeep.stats()["atoms"] == before - 1
    assert workspace.memory.upkeep.doctor().healthy


# Who may, and when


def test_only_a_person_erases(workspace: VaultWorkspace) -> None:
    atom = workspace.remember(PIN)
    agent = workspace.open(ceiling="agent", actor="agent:bot")
    with pytest.raises(Refused, match="may not erase"):
        agent.erase(atom.id, "told to")
    assert workspace.memory.get(atom.id).content == PIN


def test_a_dry_run_reports_what_would_be_erased_and_changes_nothing(workspace: VaultWorkspace) -> None:
    atoms = captured(workspace, ("user", f"{PIN} My dog is called Rex."))
    atom = statement(atoms, "kavodumbitarozk")
    with workspace.memory.trial() as trial:
        receipt = trial.erase(atom.id, "private")
    assert receipt.erased == (atom.id,)
    assert dict(receipt.removed)["sentences"] == 1
    assert receipt.commit is None and not receipt.finished
    assert workspace.memory.get(atom.id).content == atom.content


def test_an_unknown_atom_cannot_be_erased(workspace: VaultWorkspace) -> None:
    with pytest.raises(NotFound):
        workspace.memory.erase("zzzzzzzz", "private")
    with pytest.raises(NotFound):
        workspace.memory.erase(session="nowhere", reason="private")
    with pytest.raises(NotFound):
        workspace.memory.erase([], "private")
    with pytest.raises(InvalidInput):
        workspace.memory.erase(workspace.remember(PIN).id, " ")


def test_another_scope_is_never_touched(workspace: VaultWorkspace) -> None:
    atom = workspace.remember(PIN)
    theirs = workspace.open("org:other")
    stored = theirs.remember(PIN).atom
    workspace.memory.erase(atom.id, "private")
    assert theirs.get(stored.id).content == PIN
    with pytest.raises(NotFound):
        theirs.get(atom.id)
    assert theirs.remember("The code of the boathouse is another.").atom.status.value == "active"


# It does not come back


OLD = datetime.fromisoformat("2026-11-01T09:00:00+00:00")


@pytest.fixture
def erased(workspace: VaultWorkspace) -> Iterator[VaultWorkspace]:
    """A desk where a sentence of an old transcript was erased."""
    captured(
        workspace,
        ("user", f"{PIN} My dog is called Rex."),
        ("assistant", "The boathouse code kavodumbitarozk it is."),
        at=OLD,
    )
    workspace.memory.export(workspace.root.parent / "export.json")
    workspace.memory.erase(statement(workspace.memory.list(limit=None), "kavodumbitarozk").id, "private")
    workspace.tick(hours=1)
    yield workspace


def test_the_old_transcript_does_not_restore_it(erased: VaultWorkspace) -> None:
    for session in ("call", "another"):
        captured(
            erased,
            ("user", f"{PIN} My dog is called Rex."),
            ("assistant", "The boathouse code kavodumbitarozk it is."),
            session=session,
            at=OLD,
        )
    assert "kavodumbitarozk" not in all_text(erased)
    assert "My dog is called Rex." in segment(erased, "another").content
    assert not traces([erased.root], ["kavodumbitarozk"])


def test_a_repetition_in_other_words_does_not_restore_it(erased: VaultWorkspace) -> None:
    captured(erased, ("assistant", "So the boathouse opens with kavodumbitarozk, I think."), session="x", at=OLD)
    assert "kavodumbitarozk" not in all_text(erased)


@pytest.mark.parametrize("origin", ["web", "tool", "document", "import"])
def test_text_without_a_new_assertion_does_not_restore_it(erased: VaultWorkspace, origin: str) -> None:
    erased.memory.capture([{"speaker": "user", "content": PIN}], session_id="page", origin=origin, wait=True)
    assert "kavodumbitarozk" not in all_text(erased)
    (outcome,) = erased.memory.remember(PIN, origin=origin).outcomes
    assert outcome.result is Result.REFUSED
    assert "it was erased on 2026-11-14" in outcome.reason
    assert "kavodumbitarozk" not in all_text(erased)


def test_an_agent_remembering_it_does_not_restore_it(erased: VaultWorkspace) -> None:
    agent = erased.open(ceiling="agent", actor="agent:bot")
    (outcome,) = agent.remember(PIN).outcomes
    assert outcome.result is Result.REFUSED
    assert "kavodumbitarozk" not in all_text(erased)


def test_the_same_value_of_the_same_claim_in_other_words_is_recognised(workspace: VaultWorkspace) -> None:
    one = workspace.remember("Ann's bank: kavodumbitarozk", subject="Ann", attribute="bank", value="kavodumbitarozk")
    workspace.memory.erase(one.id, "private")
    fields: dict[str, Any] = {"subject": "ann", "attribute": "Bank", "value": "Kavodumbitarozk", "observed_at": OLD}
    (outcome,) = workspace.memory.remember("She banks there.", **fields).outcomes
    assert outcome.result is Result.REFUSED


def test_a_reimported_export_does_not_restore_it(erased: VaultWorkspace) -> None:
    erased.memory.import_(erased.root.parent / "export.json")
    assert "kavodumbitarozk" not in all_text(erased)
    assert not traces([erased.root], ["kavodumbitarozk"])


def test_a_file_restored_from_a_backup_is_not_imported(workspace: VaultWorkspace) -> None:
    atom = workspace.remember(PIN)
    file, data = workspace.file(atom), workspace.file(atom).read_bytes()
    workspace.memory.erase(atom.id, "private")
    assert not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    workspace.memory.upkeep.sync()
    (problem,) = (problem for problem in workspace.memory.upkeep.doctor().problems)
    assert "was erased on" in problem.message
    assert "kavodumbitarozk" not in all_text(workspace)
    file.unlink()
    assert workspace.memory.upkeep.doctor().healthy


def test_a_person_stating_it_anew_is_accepted(erased: VaultWorkspace) -> None:
    captured(erased, ("user", PIN), session="today")
    assert "kavodumbitarozk" in segment(erased, "today").content
    assert statement(erased.memory.list(limit=None), "kavodumbitarozk")
    erased.memory.remember("The code of the boathouse is kavodumbitarozk, says Ann.", observed_at=erased.clock.at)


def test_a_used_idempotency_key_does_not_restore_it(workspace: VaultWorkspace) -> None:
    first = workspace.memory.remember(PIN, key=PIN)
    workspace.memory.erase(first.atom.id, "private")
    workspace.tick()
    with pytest.raises(Erased):
        workspace.memory.remember(PIN, key=PIN)
    assert not traces([workspace.root], ["kavodumbitarozk"])


# Nothing is left


def test_no_byte_is_left_of_two_hundred_erased_atoms(workspace: VaultWorkspace, tmp_path: Path) -> None:
    canaries = Canaries(7)
    ids = [
        *_conversations(workspace, canaries),
        *_statements(workspace, canaries),
        *_files(workspace, canaries, tmp_path),
    ]
    workspace.tick(hours=2)
    workspace.memory.read_waiting()
    pages(workspace, "Aunt")
    assert {"box", "entity"} <= workspace.memory.upkeep.stats()["by_kind"].keys()
    for name in ("json", "markdown", "okf", "csv"):
        workspace.tick()
        workspace.memory.export(format=name)
    atom_ids = [workspace.remember(f"Something harmless, number {n}.").id for n in range(20)]
    assert len(set(ids)) >= 200
    assert traces([workspace.root], canaries.made).keys() == set(canaries.made)
    receipt = workspace.memory.erase(ids, "private")
    assert receipt.finished
    assert traces([workspace.root], canaries.made) == {}
    assert all(workspace.memory.get(atom_id) for atom_id in atom_ids)
    assert workspace.memory.upkeep.doctor(deep=True).healthy
    workspace.reopen()
    workspace.memory.upkeep.rebuild()
    assert workspace.memory.upkeep.doctor(deep=True).healthy
    assert traces([workspace.root], canaries.made) == {}


def _conversations(workspace: VaultWorkspace, canaries: Canaries) -> list[str]:
    """Said in conversations, with echoes, about somebody who gets a page."""
    for n in range(25):
        one, other = canaries.new(), canaries.new()
        captured(
            workspace,
            ("user", f"I like walking. My locker code is {one}. Remember that Ann sails a dinghy called {other}."),
            ("assistant", f"Your locker code {one} is noted, and Ann sails a dinghy called {other}. Good night."),
            session=f"s{n % 6}",
        )
    atoms = workspace.memory.list(status=None, limit=None)
    return [atom.id for atom in atoms if _contains_canary(atom, canaries) and not atom.is_segment]


def _statements(workspace: VaultWorkspace, canaries: Canaries) -> list[str]:
    """Remembered; some revised, superseded, pinned, forgotten or linked."""
    result: list[str] = []
    for n in range(150):
        word = canaries.new()
        slot = {"subject": f"Boat {n}", "attribute": "name", "value": word, "tags": [word[:20]]} if n % 2 else {}
        named = {"entities": ["Aunt"]} if n % 3 == 0 else {}
        atom = workspace.remember(
            f"It is called {word} by everybody.", metadata={"note": f"so {word}"}, **slot, **named
        )
        result.append(atom.id)
        if n % 5 == 0:
            workspace.memory.revise(atom.id, f"It is called {canaries.new()} now.", reason=f"{word} is over")
        elif n % 5 == 1:
            other = canaries.new()
            result.append(workspace.remember(f"Now it is {other}.", **{**slot, "value": other, "tags": []}).id)
        elif n % 5 == 2:
            workspace.memory.pin(atom.id)
        elif n % 5 == 3:
            workspace.memory.forget(atom.id, f"{word} was wrong")
        else:
            workspace.memory.relate(result[-2], "supports", atom.id)
    return result


def _files(workspace: VaultWorkspace, canaries: Canaries, tmp_path: Path) -> list[str]:
    """Written by a person as files, edited in an editor, dropped into the inbox, imported."""
    before = {atom.id for atom in workspace.memory.list(status=None, limit=None)}
    for n in range(10):
        word = canaries.new()
        workspace.drop(f"atoms/{word}.md", f"Aunt {n} lives in {word}.\n")
    workspace.memory.upkeep.sync()
    for n in range(5):
        workspace.drop(f"inbox/letter{n}.txt", f"Dear all,\n\nmy bicycle code is {canaries.new()}. It rains.\n")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for n in range(5):
        (folder / f"note{n}.md").write_text(f"# Note {n}\n\nMy cousin lives in {canaries.new()}.\n", encoding="utf-8")
    workspace.memory.upkeep.sync()
    workspace.memory.import_(folder)
    atoms = [atom for atom in workspace.memory.list(status=None, limit=None) if atom.id not in before]
    for atom in atoms[:5]:
        if atom.kind == "fact" and atom.status.value == "active":
            workspace.edit(atom, "lives in", f"lives in {canaries.new()} or")
    workspace.memory.upkeep.sync()
    return [atom.id for atom in atoms]


def _contains_canary(atom: Atom, canaries: Canaries) -> bool:
    return any(item in atom.content for item in canaries.made)


def test_a_second_erasure_of_the_same_text_leaves_a_verifiable_chain(workspace: VaultWorkspace) -> None:
    captured(workspace, ("user", f"{PIN} My dog is called Rex. The gate code is mavutogapulorak."))
    workspace.memory.erase(statement(workspace.memory.list(limit=None), "kavodumbitarozk").id, "private")
    workspace.memory.erase(statement(workspace.memory.list(limit=None), "mavutogapulorak").id, "private")
    assert segment(workspace).content.count("[erased]") == 2
    assert workspace.memory.upkeep.doctor(deep=True).healthy
    assert not traces([workspace.root], ["kavodumbitarozk", "mavutogapulorak"])
    db = workspace.memory.engine.store.history.db
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
            assert workspace.memory.engine.store.history.find_broken_links() != [], mischief
    assert workspace.memory.engine.store.history.find_broken_links() == []


def test_past_queries_return_the_text_without_the_sentence(workspace: VaultWorkspace) -> None:
    captured(workspace, ("user", f"{PIN} My dog is called Rex."))
    captured(workspace, ("user", "I like green tea."))
    workspace.memory.erase(statement(workspace.memory.list(limit=None), "kavodumbitarozk").id, "private")
    versions = workspace.memory.history(segment(workspace).id).versions
    assert ["green tea" in version.atom.content for version in versions] == [False, True, True]
    assert all("[erased] My dog is called Rex." in version.atom.content for version in versions)


def test_vectors_are_erased_and_another_process_notices(workspace: VaultWorkspace) -> None:
    workspace.close()
    one, other = workspace.open(), workspace.open()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMINA_EMBEDDER", "light")
        patch.setenv("LAMINA_STATE_MODEL", "off")
        workspace.close()
        one, other = workspace.open(), workspace.open()
        stored = one.remember("The dog sleeps on the sofa.").atom
        atom = one.remember(PIN).atom
        one.embed()
        assert atom.id in {hit.atom.id for hit in other.recall("what opens the boathouse").hits}
        receipt = one.erase(atom.id, "private")
        assert receipt.finished
        assert dict(receipt.removed)["vectors"] == 1
        for memory in (one, other):
            assert [hit.atom.id for hit in memory.recall("what opens the boathouse, or the dog").hits] == [stored.id]
        with pytest.raises(Erased):
            other.get(atom.id)
        assert other.remember("It rains.").atom.status.value == "active"
        assert not traces([workspace.root], ["kavodumbitarozk"])


def test_an_erasure_applies_to_a_watched_vault(workspace: VaultWorkspace) -> None:
    workspace.close()
    with lamina.open(workspace.root, clock=workspace.clock, watch=True) as memory:
        atom = memory.remember(PIN).atom
        turns = [{"speaker": "user", "content": f"{PIN} It rains."}]
        memory.capture(turns, session_id="call", wait=True)
        memory.erase(atom.id, "private", everywhere=True)
        assert not traces([workspace.root], ["kavodumbitarozk"])
    workspace.clock.at += timedelta(seconds=1)
    with lamina.open(workspace.root, clock=workspace.clock, watch=False) as memory:
        assert memory.upkeep.doctor(deep=True).healthy
        assert not traces([workspace.root], ["kavodumbitarozk"])
