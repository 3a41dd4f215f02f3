"""An import from beginning to end: words are found at once, statements wait, nothing comes in twice.

Covers `lamina.engine.imports`.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from exports import START, chatgpt, message, note, write, zip_bytes
from pydantic import SecretStr

import lamina
from lamina import FixedClock, InvalidInput, Memory, NotFound, Result, Settings, Status, passages_of
from lamina.atom.provenance import Origin
from lamina.capture.receipt import Outcome
from lamina.importers.import_writer import MAX_LISTED, ImportTally

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOON), watch=False) as opened_memory:
        yield opened_memory


def conversation(n: int) -> list[dict[str, object]]:
    cities = ("Rome", "Oslo", "Bern", "Lima", "Cairo")
    return [
        message("user", f"My cousin number {n} likes walking. I live in {cities[n % 5]}{n}.", START + 86400 * n),
        message("assistant", f"That is good to hear, cousin {n}.", START + 86400 * n + 5),
    ]


def export(path: Path, count: int = 3) -> Path:
    return zip_bytes(path, conversations=[chatgpt(f"c{n}", conversation(n), title=f"Talk {n}") for n in range(count)])


def passages(memory: Memory) -> list[str]:
    atoms = memory.list(status=None, limit=None)
    return sorted(passage.text for atom in atoms if atom.is_segment for passage in passages_of(atom))


def test_text_is_evidence_immediately_and_statements_are_pending(memory: Memory, tmp_path: Path) -> None:
    report = memory.import_(export(tmp_path / "export.zip"))
    assert (report.source, report.conversations, report.turns) == ("ChatGPT export", 3, 6)
    assert report.statements == report.held_count == len(report.top_held) > 0
    assert all(proposal.result is Result.HELD and proposal.atom.evidence for proposal in report.top_held)
    hit = memory.recall("which cousin likes walking").hits[0]
    assert hit.atom.is_segment
    assert (hit.atom.status, hit.atom.origin) == (Status.ACTIVE, Origin.IMPORT)
    assert hit.atom.source_id is not None
    assert hit.atom.source_id.startswith("chatgpt:c")
    assert hit.atom.metadata_text("heading").startswith("Talk ")
    assert hit.passage.at in {datetime.fromtimestamp(START + day * 86400, UTC) for day in range(3)}
    statements = [atom for atom in memory.list(status=None, limit=None) if not atom.is_segment]
    assert {atom.status for atom in statements if atom.kind != "entity"} == {Status.CONSTRAINED}


def test_importing_again_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    first = memory.import_(export(tmp_path / "export.zip"))
    position, words = memory.upkeep.stats()["commits"], passages(memory)
    again = memory.import_(tmp_path / "export.zip")
    assert (again.conversations, again.statements, dict(again.skipped)) == (0, 0, {"imported before": 3})
    assert memory.upkeep.stats()["commits"] == position
    assert passages(memory) == words
    assert first.conversations == 3


def test_a_continued_conversation_adds_the_rest(memory: Memory, tmp_path: Path) -> None:
    text = conversation(0)
    memory.import_(write(tmp_path / "may" / "conversations.json", [chatgpt("c0", text)]))
    more = [*text, message("user", "And now I have a dog.", START + 99)]
    report = memory.import_(write(tmp_path / "june" / "conversations.json", [chatgpt("c0", more)]))
    assert (report.conversations, report.turns) == (1, 1)
    assert len(passages(memory)) == 3


def test_a_dry_run_reports_the_same_and_stores_nothing(memory: Memory, tmp_path: Path) -> None:
    export(tmp_path / "export.zip")
    with memory.trial() as trial:
        tried = trial.import_(tmp_path / "export.zip")
    assert memory.list(status=None) == []
    report = memory.import_(tmp_path / "export.zip")
    assert (tried.conversations, tried.turns, tried.held_count) == (
        report.conversations,
        report.turns,
        report.held_count,
    )
    assert [proposal.atom.content for proposal in tried.top_held] == [
        proposal.atom.content for proposal in report.top_held
    ]


def test_a_folder_of_notes_is_imported_with_tags_and_its_problems_are_reported(memory: Memory, tmp_path: Path) -> None:
    note(tmp_path / "notes" / "tea.md", "---\ntags: [drink, hot]\n---\n# Tea\n\nThe pot is blue.\n")
    note(tmp_path / "notes" / "yet again.md", "# Tea\n\nThe pot is blue.\n")
    note(tmp_path / "notes" / "empty.md", " \n")
    (tmp_path / "notes" / "bad.md").write_bytes(b"a\0b")
    report = memory.import_(tmp_path / "notes")
    assert report.documents == 1
    assert dict(report.skipped) == {"it is empty": 1, "duplicate of another item": 1}
    assert [(problem.path, problem.reason) for problem in report.problems] == [("bad.md", "it is not text")]
    (segment,) = [atom for atom in memory.list(limit=None) if atom.is_segment]
    assert (segment.tags, segment.origin, segment.source_id) == (("drink", "hot"), Origin.DOCUMENT, "file:tea.md")


def lattice(folder: Path, own_id: str, body: str, **fields: str) -> None:
    front = {"atom_id": own_id, "kind": "fact", "subject": "Ann", "observed_at": "2024-05-01T10:00:00Z", **fields}
    note(folder / f"{own_id}.md", "---\n" + "".join(f"{k}: {v}\n" for k, v in front.items()) + f"---\n{body}\n")


def test_foreign_facts_are_pending_and_ended_ones_are_history(memory: Memory, tmp_path: Path) -> None:
    old = tmp_path / "lattice"
    lattice(old, "a1", "Ann lived in Rome.", is_superseded="true", superseded_by="z9")
    lattice(old, "m5", "Ann lived in Bern.", is_superseded="true", superseded_by="a1")
    lattice(old, "z9", "Ann lives in Oslo.", observed_at="2024-06-01T10:00:00Z")
    lattice(old, "b2", "Ann has a dog.")
    report = memory.import_(old)
    assert (report.source, report.facts, report.held_count) == ("Lattice vault", 4, 2)
    atoms = {atom.source_ref: atom for atom in memory.list(status=None, limit=None)}
    assert {name: atom.status for name, atom in atoms.items()} == {
        "a1": Status.SUPERSEDED,
        "m5": Status.SUPERSEDED,
        "z9": Status.CONSTRAINED,
        "b2": Status.CONSTRAINED,
    }
    assert atoms["a1"].superseded_by == (atoms["z9"].id,)
    assert atoms["m5"].superseded_by == (atoms["a1"].id,)
    assert atoms["z9"].supersedes == (atoms["a1"].id,)
    assert atoms["a1"].valid_until == atoms["z9"].observed_at
    assert "replaced_by" not in atoms["a1"].metadata
    assert {atom.origin for atom in atoms.values()} == {Origin.IMPORT}
    assert memory.recall("where does Ann live").hits == ()
    assert dict(memory.import_(old).skipped) == {"imported before": 4}
    assert memory.upkeep.doctor(deep=True).healthy


def test_a_successor_from_a_later_import_is_linked(memory: Memory, tmp_path: Path) -> None:
    lattice(tmp_path / "one", "a1", "Ann lived in Rome.", is_superseded="true", superseded_by="z9")
    memory.import_(tmp_path / "one")
    (before,) = memory.list(status=None)
    assert (before.superseded_by, before.metadata["replaced_by"]) == ((), "z9")
    lattice(tmp_path / "two", "z9", "Ann lives in Oslo.")
    memory.import_(tmp_path / "two")
    assert memory.get(before.id).superseded_by == (memory.review.held()[0].id,)


def test_facts_in_a_successor_cycle_are_imported_without_it(memory: Memory, tmp_path: Path) -> None:
    lattice(tmp_path / "v", "a1", "Ann lived in Rome.", is_superseded="true", superseded_by="b2")
    lattice(tmp_path / "v", "b2", "Ann lived in Oslo.", is_superseded="true", superseded_by="a1")
    assert memory.import_(tmp_path / "v").facts == 2
    assert memory.upkeep.doctor(deep=True).healthy


def test_no_byte_of_a_secret_is_imported(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    front = f"---\ntitle: My {SECRET}\ntags: [{SECRET}]\n---\n"
    note(folder / f"keys {SECRET}.md", f"{front}# Key {SECRET}\n\nIt is {SECRET}.")
    (folder / f"bad {SECRET}.md").write_bytes(b"a\0b")
    note(folder / "talk.txt", f"Ann: the key is {SECRET}\nBob {SECRET}: thanks\nAnn: good\n")
    lattice(tmp_path / "other", "a1", f"The key is {SECRET}.", source_id=SECRET)
    text = [message("user", f"Remember that the key is {SECRET}.")]
    talks = write(tmp_path / "conversations.json", [chatgpt("c1", text, title=f"Key {SECRET}")])
    for place in (folder, tmp_path / "other", talks):
        report = memory.import_(place)
        assert report.secret_count > 0
        assert SECRET not in repr(report)
    memory.close()
    files = [file for file in (tmp_path / "vault").rglob("*") if file.is_file()]
    assert [file for file in files if SECRET in str(file) or SECRET.encode() in file.read_bytes()] == []


def test_only_the_most_important_statements_are_listed_and_all_are_counted(memory: Memory) -> None:
    atom = memory.remember("Ann has a cousin.").atom
    values = [n / 1000 for n in range(MAX_LISTED + 100)]
    shuffled = random.Random(1).sample(values, len(values))
    tally = ImportTally()
    tally.add_outcomes([Outcome(Result.HELD, atom.with_(importance=value), "held") for value in shuffled])
    report = tally.report("an export")
    assert report.held_count == len(values)
    assert [proposal.atom.importance for proposal in report.top_held] == values[::-1][:MAX_LISTED]


def test_files_of_the_vault_itself_are_not_imported(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="inbox"):
        memory.import_(tmp_path / "vault" / "sessions")
    with pytest.raises(InvalidInput, match="contains this vault"):
        memory.import_(tmp_path)
    with pytest.raises(NotFound):
        memory.import_(tmp_path / "nowhere")


def test_an_agent_may_import_without_gaining_trust(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "v", "org:local:agent:bob", watch=False, ceiling="agent", actor="bob") as agent:
        agent.import_(export(tmp_path / "export.zip"))
        assert {atom.origin for atom in agent.list(status=None, limit=None) if atom.kind != "entity"} == {Origin.IMPORT}
        assert {atom.scope for atom in agent.list(status=None, limit=None)} == {"org:local"}


IMPORTING = """
import datetime, sys, lamina
clock = lamina.FixedClock(datetime.datetime.fromisoformat(sys.argv[3]))
with lamina.open(sys.argv[1], watch=False, clock=clock) as memory:
    def tell(text, done, total):
        print(done, flush=True)
    memory.import_(sys.argv[2], progress=tell)
"""


def test_an_import_killed_repeatedly_stores_everything_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_EXTRACTOR", "none")
    count = 30
    source = write(tmp_path / "conversations.json", [chatgpt(f"c{n}", conversation(n)) for n in range(count)])
    facts = tmp_path / "facts"
    for n in range(130):
        lattice(facts, f"f{n:03}", f"Ann owns book number {n}.")
    # Each import begins after the lease of the killed one has expired.
    begin = datetime(2026, 11, 14, 12, tzinfo=UTC)
    for n, (victim, path) in enumerate(((4, source), (13, source), (22, source), (60, facts), (115, facts))):
        at = begin + timedelta(minutes=n)
        with subprocess.Popen(
            [sys.executable, "-c", IMPORTING, str(tmp_path / "vault"), str(path), at.isoformat()],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LAMINA_EMBEDDER": "none", "LAMINA_BACKGROUND": "false"},
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if int(line) >= victim:
                    process.send_signal(signal.SIGKILL)
                    break
    with lamina.open(tmp_path / "vault", watch=False, clock=FixedClock(begin + timedelta(minutes=9))) as memory:
        rest = memory.import_(source), memory.import_(facts)
        assert 0 < rest[0].conversations < count
        assert 0 < rest[1].facts < 130
        atoms = memory.list(status=None, limit=None)
        texts = [passage.text for atom in atoms if atom.is_segment for passage in passages_of(atom)]
        turns = [turn for n in range(count) for turn in conversation(n)]
        assert sorted(texts) == sorted(str(turn["content"]["parts"][0]) for turn in turns)  # type: ignore[index]
        books = [atom.content for atom in atoms if "book" in atom.content]
        assert sorted(books) == sorted(f"Ann owns book number {n}." for n in range(130))
        stated = [atom.content for atom in atoms if not atom.is_segment and atom.kind != "box"]
        assert len(stated) == len(set(stated))
        assert memory.upkeep.doctor(deep=True).healthy
    with lamina.open(tmp_path / "whole", watch=False) as whole:
        whole.import_(source)
        whole.import_(facts)
        result = sorted(atom.content for atom in whole.list(status=None, limit=None) if not atom.is_segment)
        assert result == sorted(atom.content for atom in atoms if not atom.is_segment)


class Broken(Exception):
    """Somebody pulls the plug."""


def test_with_a_chat_model_all_text_is_stored_before_any_is_read(tmp_path: Path) -> None:
    """The server is not there, so the rules read; what was not read when the import was broken off is read later."""
    chosen = Settings(
        embedder="none",
        watch=False,
        background=False,
        chat="openai:none",
        chat_url="http://127.0.0.1:9/v1",
        chat_key=SecretStr("none"),
        chat_timeout=1,
    )
    export(tmp_path / "export.zip", 2)

    def pull(text: str, done: int, total: int) -> None:
        if text == "reading":
            raise Broken

    with lamina.open(tmp_path / "vault", settings=chosen, clock=FixedClock(NOON)) as memory:
        with pytest.raises(Broken):
            memory.import_(tmp_path / "export.zip", progress=pull)
        assert (len(passages(memory)), memory.review.held()) == (4, [])
        assert memory.waiting() > 0
        report = memory.import_(tmp_path / "export.zip")
        assert dict(report.skipped) == {"imported before": 2}
        assert report.held_count == len(memory.review.held()) > 0
        assert memory.waiting() == 0
        with memory.trial() as trial:
            assert trial.import_(export(tmp_path / "more.zip", 3)).held_count == 0
