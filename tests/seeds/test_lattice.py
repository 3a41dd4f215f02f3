"""Every statement of the first seed text, executed on a real vault; `docs/seeds/lattice.md` has the table."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from lattice_vault import NOON, SeedVault, open_vault

import lamina
from lamina import InvalidInput, Result, Status
from lamina.atom.atom import is_atom_id
from lamina.atom.kinds import KINDS, Layer
from llm_server import Json, completion, scripted

SEED_KINDS = ("fact", "preference", "goal", "decision", "event", "question", "insight", "synthesis")
SEED_FILE = """---
id: a1b2c3d4e5f6
kind: preference
subject: coffee preference
content: Prefers dark roast coffee, specifically Ethiopian single origin.
observed_at: 2025-11-14T09:12:00Z
source_id: telegram
session_id: sess_20251114_0912
segment_id: seg_3
quality_score: 1.3
recall_count: 4
last_recalled_at: 2025-12-01T14:30:00Z
tier: semantic
is_superseded: false
---
Prefers dark roast coffee, specifically Ethiopian single origin.
"""
PAGE = Path(__file__).parents[2] / "docs" / "seeds" / "lattice.md"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[SeedVault]:
    opened = open_vault(tmp_path / "vault")
    yield opened
    opened.memory.close()


def test_every_row_of_the_page_names_a_test_here_and_none_is_absent() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| L\d+ \|", line)]
    ids = [row.split("|")[1].strip() for row in rows]
    assert ids == [f"L{number}" for number in range(1, len(rows) + 1)]
    assert len(rows) >= 50
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 5
        assert all(cells)
        assert "absent" not in row.lower()
        assert cells[4].strip("`") in globals()


def test_an_atom_is_one_typed_timestamped_statement_in_one_markdown_file(vault: SeedVault) -> None:
    atom = vault.remember("Ann rows on Sundays.", kind="habit", subject="Ann")
    text = vault.file(atom).read_text()
    assert vault.file(atom).suffix == ".md"
    assert text.startswith("---\nid: ")
    assert text.endswith("---\n\nAnn rows on Sundays.\n")
    for line in (f"id: {atom.id}", "kind: habit", "observed_at: 2026-03-02T12:01:00Z"):
        assert line in text.splitlines()
    assert len(list(vault.memory.root.glob("atoms/**/*.md"))) == 1


def test_the_file_of_the_seed_text_is_read_as_it_is(vault: SeedVault) -> None:
    atom = vault.drop("coffee.md", SEED_FILE)
    assert (atom.kind, atom.subject, atom.status) == ("preference", "coffee preference", Status.ACTIVE)
    assert atom.content == "Prefers dark roast coffee, specifically Ethiopian single origin."
    assert (atom.source_id, atom.session_id, atom.segment_id) == ("telegram", "sess_20251114_0912", "seg_3")
    assert atom.observed_at == datetime(2025, 11, 14, 9, 12, tzinfo=UTC)
    assert atom.layer is Layer.SEMANTIC
    counters = vault.memory.signals(atom.id)
    assert (counters.quality_score, counters.recall_count) == (1.3, 4)
    assert counters.last_recalled_at == datetime(2025, 12, 1, 14, 30, tzinfo=UTC)
    text = vault.file(atom).read_text()
    assert all(line in text for line in SEED_FILE.splitlines() if not line.startswith("id:"))


def test_ids_are_unique_and_an_id_of_lattice_still_finds_its_atom(vault: SeedVault) -> None:
    first, second = vault.remember("Ann rows."), vault.remember("Bob sails.")
    assert first.id != second.id
    assert is_atom_id(first.id)
    assert len(first.id) == 26
    adopted = vault.drop("coffee.md", SEED_FILE)
    assert vault.memory.get("a1b2c3d4e5f6") == adopted
    assert adopted.source_ref == "a1b2c3d4e5f6"


@pytest.mark.parametrize("kind", SEED_KINDS)
def test_every_kind_of_the_seed_is_a_kind_and_can_be_listed(vault: SeedVault, kind: str) -> None:
    assert kind in KINDS
    atom = vault.remember(f"A statement of the kind {kind}.", kind=kind, subject="kinds")
    assert vault.memory.list(kind=kind) == [vault.memory.get(atom.id)]
    assert f"kind: {kind}" in vault.file(atom).read_text()


def test_the_subject_joins_atoms_in_the_graph(vault: SeedVault) -> None:
    boat = vault.remember("The Kittiwake is moored at Howth.", subject="Kittiwake")
    paint = vault.remember("Its hull was painted green in May.", subject="kittiwake!")
    assert {atom.id for atom in vault.memory.list(subject="KITTIWAKE")} == {boat.id, paint.id}
    edges = vault.memory.engine.store.graph.edges([boat.id, paint.id], vault.memory.scopes)
    assert {edge.source for edge in edges if edge.target == "subject:kittiwake"} == {boat.id, paint.id}


def test_observed_at_is_when_it_was_said_and_recorded_at_when_it_was_stored(vault: SeedVault) -> None:
    atom = vault.remember("Ann rows.", observed_at=NOON - timedelta(days=30))
    assert atom.observed_at == NOON - timedelta(days=30)
    assert atom.recorded_at == NOON + timedelta(minutes=1)


def test_the_channel_the_session_and_the_segment_are_kept(vault: SeedVault) -> None:
    words = [{"speaker": "Ann", "content": "My boat is moored at Howth."}]
    receipt = vault.memory.capture(words, session_id="standup", source_id="telegram", wait=True)
    segment = receipt.outcomes[0].atom
    assert (segment.source_id, segment.session_id) == ("telegram", "standup")
    assert segment.segment_id
    assert {atom.session_id for atom in vault.memory.list(session_id="standup")} == {"standup"}
    statement = next(outcome.atom for outcome in receipt.outcomes if outcome.result is Result.NEW)
    assert (statement.source_id, statement.session_id) == ("telegram", "standup")
    assert statement.evidence[0].segment == segment.id


def test_the_content_is_the_statement_and_a_content_key_counts_if_the_body_is_empty(vault: SeedVault) -> None:
    head, _, _ = SEED_FILE.rpartition("---\n")
    atom = vault.drop("coffee.md", f"{head}---\n")
    assert atom.content == "Prefers dark roast coffee, specifically Ethiopian single origin."
    assert vault.remember("Ann rows.").content == "Ann rows."
    with pytest.raises(InvalidInput):
        vault.memory.remember("   ")


def test_valid_times_are_optional_and_decide_what_was_true_when(vault: SeedVault) -> None:
    atom = vault.remember("Ann lives in Cork.", subject="Ann", valid_from="2025-01-01", valid_until="2025-06-30")
    assert vault.remember("Bob sails.").valid_from is None
    assert atom.valid_until == datetime(2025, 7, 1, tzinfo=UTC)
    assert atom.id in [listed.id for listed in vault.memory.list(as_of="2025-03-01")]
    assert atom.id not in [listed.id for listed in vault.memory.list(as_of="2025-08-01")]


def test_quality_starts_at_one_and_the_file_gets_what_was_learnt(vault: SeedVault) -> None:
    atom = vault.remember("Ann rows.")
    assert vault.quality(atom) == 1.0
    vault.rate(atom, times=2)
    vault.memory.upkeep.sync()
    counters = vault.memory.signals(atom.id)
    text = vault.file(atom).read_text()
    assert f"quality_score: {counters.quality_score}" in text
    assert "recall_count: 2" in text
    assert "last_recalled_at: 2026-03-02T12:03:00Z" in text
    vault.rate(atom)
    vault.memory.upkeep.dream()
    assert "recall_count: 3" in vault.file(atom).read_text()


def test_the_counters_come_back_when_only_the_files_are_left(tmp_path: Path) -> None:
    vault = open_vault(tmp_path / "vault")
    atom = vault.remember("Ann rows.")
    vault.rate(atom, times=5)
    vault.memory.upkeep.sync()
    vault.memory.close()
    shutil.rmtree(tmp_path / "vault" / ".lamina")
    again = open_vault(tmp_path / "vault")
    assert again.quality(atom) == 1.5
    assert again.memory.signals(atom.id).recall_count == 5
    again.memory.close()


def test_a_citation_counts_as_a_use_and_being_shown_does_not(vault: SeedVault) -> None:
    atom = vault.remember("Ann rows.")
    vault.answers("who rows?")
    assert vault.memory.signals(atom.id).recall_count == 0
    vault.rate(atom, "down")
    after = vault.memory.signals(atom.id)
    assert (after.recall_count, after.last_recalled_at) == (1, NOON + timedelta(minutes=2))


@pytest.mark.parametrize(("tier", "layer"), [("stm", "episodic"), ("episodic", "episodic"), ("semantic", "semantic")])
def test_a_tier_is_read_as_the_layer(vault: SeedVault, tier: str, layer: str) -> None:
    atom = vault.drop("a.md", SEED_FILE.replace("tier: semantic", f"tier: {tier}"))
    assert atom.layer == layer
    assert f"tier: {tier}" in vault.file(atom).read_text()


def test_an_episode_is_the_day_and_the_session_and_selects_its_atoms(vault: SeedVault) -> None:
    first = vault.remember("Ann rows.", session_id="standup")
    vault.remember("Bob sails.", session_id="other")
    next_day = vault.remember("Eve swims.", session_id="standup", observed_at=NOON + timedelta(days=1))
    assert (first.episode_id, next_day.episode_id) == ("2026-03-02:standup", "2026-03-03:standup")
    assert vault.memory.list(episode_id="2026-03-02:standup") == [vault.memory.get(first.id)]
    assert 'episode_id: "2026-03-02:standup"' in vault.file(first).read_text()
    episode_file = SEED_FILE.replace("tier: semantic", "tier: semantic\nepisode_id: 2025-11-14:mine")
    assert vault.drop("coffee.md", episode_file).episode_id == "2025-11-14:mine"


def test_supersession_is_written_on_both_atoms_and_nothing_is_deleted(vault: SeedVault) -> None:
    fields = {"kind": "preference", "subject": "coffee", "attribute": "roast"}
    old = vault.remember("I prefer dark roast.", value="dark", **fields)
    new = vault.remember("I have switched to light roast.", value="light", **fields)
    old = vault.memory.get(old.id)
    assert (old.status, old.superseded_by, new.supersedes) == (Status.SUPERSEDED, (new.id,), (old.id,))
    assert "status: superseded" in vault.file(old).read_text()
    assert new.id in vault.file(old).read_text()
    assert old.id in vault.file(new).read_text()
    assert "I prefer dark roast." in vault.file(old).read_text()
    assert vault.answers("which roast of coffee?") == ["I have switched to light roast."]
    assert "I prefer dark roast." in [
        hit.text for hit in vault.memory.recall("which roast of coffee?", include=["history"]).hits
    ]


def test_one_atom_may_supersede_several(vault: SeedVault) -> None:
    one, other = vault.remember("The pier is green."), vault.remember("The pier is painted blue.")
    vault.memory.relate(one.id, "contradicts", other.id)
    merged = vault.memory.review.merge(one.id, other.id, "The pier was green and is blue now.").atom
    assert merged.supersedes == (one.id, other.id)
    assert [vault.memory.get(atom.id).superseded_by for atom in (one, other)] == [(merged.id,)] * 2
    assert vault.answers("what colour is the pier?") == ["The pier was green and is blue now."]


def test_a_file_that_is_superseded_by_its_own_words_stays_out_of_answers(vault: SeedVault) -> None:
    flagged = SEED_FILE.replace("is_superseded: false", "is_superseded: true\nsuperseded_by: ffffffffffff")
    atom = vault.drop("coffee.md", flagged)
    assert atom.status is Status.SUPERSEDED
    assert vault.answers("dark roast coffee") == []


def test_a_newer_file_of_a_person_supersedes_the_older_one(vault: SeedVault) -> None:
    claim = "kind: preference\nsubject: coffee\nattribute: roast"
    new = f"---\n{claim}\nvalue: light\nobserved_at: 2026-02-01T09:00:00Z\n---\nLight roast.\n"
    old = f"---\n{claim}\nvalue: dark\nobserved_at: 2026-01-01T09:00:00Z\n---\nDark roast.\n"
    newer, older = vault.drop("new.md", new), vault.drop("old.md", old)
    assert vault.memory.get(newer.id).status is Status.ACTIVE
    assert older.superseded_by == (newer.id,)
    assert vault.memory.upkeep.doctor().healthy


def test_different_preferences_of_one_person_stay_side_by_side(vault: SeedVault) -> None:
    vault.remember("Ann prefers tea in the morning.", kind="preference", subject="Ann")
    vault.remember("Ann prefers window seats on trains.", kind="preference", subject="Ann")
    assert len(vault.memory.list(kind="preference")) == 2


def test_words_are_split_by_their_format(vault: SeedVault) -> None:
    chat = (
        vault.memory.capture(
            "user: I row on Sundays.\nassistant: Noted: you row on Sundays.\nuser: And I sail.",
            session_id="chat",
            wait=True,
        )
        .outcomes[0]
        .atom
    )
    notes = "# Boats\n\nThe Kittiwake is green.\n\n# Harbours\n\nHowth has a pier.\n"
    markdown = vault.memory.capture(notes, name="boats.md", session_id="notes", wait=True).outcomes[0].atom
    code = vault.memory.capture("Run this:\n\n```python\nprint(1)\n```\n\nThen stop.", session_id="code", wait=True)
    passages = [lamina.passages_of(atom) for atom in (chat, markdown, code.outcomes[0].atom)]
    assert [passage.speaker for passage in passages[0]] == ["user", "assistant", "user"]
    assert len(passages[1]) >= 2
    assert any("print(1)" in passage.text for passage in passages[2])


def test_a_chat_model_extracts_one_or_many_atoms_from_a_segment(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="chat needs pip install 'lamina[llm]'")
    words = "I moved to Lisbon. My dentist is Dr Reyes."

    def statement(quote: str, content: str, attribute: str, value: str) -> Json:
        fields = {"quote": quote, "content": content, "subject": "Ann", "attribute": attribute}
        return {**fields, "value": value, "date": ""}

    reply = [
        statement("I moved to Lisbon", "Ann moved to Lisbon.", "home", "Lisbon"),
        statement("My dentist is Dr Reyes", "Ann's dentist is Dr Reyes.", "dentist", "Dr Reyes"),
    ]
    with scripted(completion({"statements": reply})) as server:
        chat = {"chat": "openai:m", "chat_url": f"{server.address}/v1", "chat_key": "key", "chat_retries": 0}
        vault = open_vault(tmp_path / "vault", **chat)
        receipt = vault.memory.capture([{"speaker": "Ann", "content": words}], session_id="s", wait=True)
        vault.memory.close()
    contents = {outcome.atom.content for outcome in receipt.outcomes if outcome.result is Result.NEW}
    assert contents >= {"Ann moved to Lisbon.", "Ann's dentist is Dr Reyes."}


def test_captured_words_become_atoms_files_and_graph_edges_without_a_chat_model(vault: SeedVault) -> None:
    words = [{"speaker": "Ann", "content": "My office is in Cork. My boat is moored at Howth."}]
    receipt = vault.memory.capture(words, session_id="s", wait=True)
    statements = [outcome.atom for outcome in receipt.outcomes if outcome.result is Result.NEW]
    assert len(statements) == 2
    assert all(vault.file(atom).exists() for atom in statements)
    edges = vault.memory.engine.store.graph.edges([atom.id for atom in statements], vault.memory.scopes)
    assert {edge.name for edge in edges} >= {"evidence", "session"}


def test_new_words_end_the_statement_that_they_replace(vault: SeedVault) -> None:
    for day, text in enumerate(("My office is in Cork.", "My office is in Galway now.")):
        turn = {"speaker": "Ann", "content": text, "at": f"2026-02-0{day + 1}T09:00:00Z"}
        vault.memory.capture([turn], session_id=f"s{day}", wait=True)
    old, new = sorted((atom for atom in vault.memory.list(status=None) if atom.evidence), key=lambda a: a.observed_at)
    assert (old.status, old.superseded_by, new.supersedes) == (Status.SUPERSEDED, (new.id,), (old.id,))


def test_a_synthesis_is_made_of_current_statements_only(vault: SeedVault) -> None:
    fields = {"subject": "Kittiwake", "entities": ["Kittiwake"]}
    for text in ("moored at Howth", "painted green", "owned by Ann", "nine metres long"):
        vault.remember(f"The Kittiwake is {text}.", **fields)
    old = vault.remember("The Kittiwake has a red sail.", attribute="sail", value="red", **fields)
    vault.remember("The Kittiwake has a white sail.", attribute="sail", value="white", **fields)
    vault.memory.upkeep.dream(["merge"], yes=True)
    (synthesis,) = vault.memory.list(kind="synthesis", status=None)
    assert old.id not in synthesis.derived_from
    assert "red sail" not in synthesis.content
    assert "white sail" in synthesis.content


def test_insights_are_looked_for_by_a_step_of_the_dream(tmp_path: Path) -> None:
    vault = open_vault(tmp_path / "vault", insights=True)
    vault.remember("Ann rows.", entities=["Ann"])
    report = vault.memory.upkeep.dream(["bridge"])
    assert [step.step for step in report.steps] == ["bridge"]
    insight = vault.remember("Rowing and sailing both depend on the tide.", kind="insight", subject="tide")
    assert vault.memory.list(kind="insight") == [vault.memory.get(insight.id)]
    vault.memory.close()


def test_quality_is_a_weight_of_the_score(vault: SeedVault) -> None:
    one, other = vault.remember("Howth has a green pier."), vault.remember("Howth has a green tower.")
    vault.rate(one, times=5)
    vault.rate(other, "wrong", times=2)
    hits = {hit.atom.id: hit for hit in vault.memory.recall("what is green in Howth?").hits}
    assert dict(hits[one.id].weights)["quality"] == pytest.approx(vault.quality(one) ** 0.5)
    assert hits[one.id].score > hits[other.id].score
    assert other.id in hits, "a low quality never hides an atom"


def test_feedback_moves_quality_by_the_amounts_of_the_seed(vault: SeedVault) -> None:
    cited, ignored = vault.remember("Howth has a green pier."), vault.remember("Howth has a green tower.")
    recalled = vault.memory.recall("what is green in Howth?")
    assert {hit.atom.id for hit in recalled.hits} == {cited.id, ignored.id}
    vault.memory.feedback(recalled.id, [cited.id], "up")
    assert (vault.quality(cited), vault.quality(ignored)) == (1.1, 0.95)
    again = vault.memory.recall("what is green in Howth?")
    vault.memory.feedback(again.id, [cited.id], "wrong")
    assert (vault.quality(cited), vault.quality(ignored)) == (0.9, 0.9)


def test_quality_stays_between_a_tenth_and_two_and_the_atom_is_still_found(vault: SeedVault) -> None:
    low, high = vault.remember("Ann rows a boat."), vault.remember("Bob plays the cello.")
    vault.rate(low, "wrong", times=7)
    vault.rate(high, times=13)
    assert (vault.quality(low), vault.quality(high)) == (0.1, 2.0)
    assert "Ann rows a boat." in vault.answers("who rows a boat?")


def test_an_edit_of_any_field_takes_effect_immediately(vault: SeedVault) -> None:
    atom = vault.remember("Ann rows.", subject="Ann")
    vault.memory.upkeep.sync()
    file = vault.file(atom)
    edited = file.read_text().replace("Ann rows.", "Ann rows a Kittiwake.").replace("subject: Ann", "subject: boats")
    file.write_text(edited.replace("---\n\n", "quality_score: 1.7\nrecall_count: 3\n---\n\n"))
    assert vault.answers("who rows a Kittiwake?") == ["Ann rows a Kittiwake."]
    assert vault.memory.get(atom.id).subject == "boats"
    assert (vault.quality(atom), vault.memory.signals(atom.id).recall_count) == (1.7, 3)


def test_the_graph_follows_an_edited_subject_without_a_command(vault: SeedVault) -> None:
    atom = vault.remember("The hull is green.", subject="Kittiwake")
    file = vault.file(atom)
    file.write_text(file.read_text().replace("subject: Kittiwake", "subject: Fulmar"))
    assert vault.memory.get(atom.id).subject == "Fulmar"
    targets = {edge.target for edge in vault.memory.engine.store.graph.edges([atom.id], vault.memory.scopes)}
    assert "subject:fulmar" in targets
    assert "subject:kittiwake" not in targets
    assert vault.memory.upkeep.rebuild() == 1
