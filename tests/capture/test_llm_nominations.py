"""A chat model may name changes; they are sure where the state model agrees, dated by intervals and held to trust."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamina import Atom, Memory, Settings, Status
from lamina.atom.atom import Evidence
from lamina.atom.relation import RelationName
from lamina.capture.change.link import Kind
from lamina.capture.change.nomination import Line
from lamina.capture.llm.nominator import ChatNominator
from llm_server import Json, Scripted, completion, error, scripted

pytest.importorskip("openai", reason="chat needs pip install 'lamina[llm]'")

WORTHY: Json = {"worth": "lasting", "durability": "standard", "importance": 6}
NOTHING: Json = {"statements": []}
OLD, NEW = "My evenings belong to the chess club.", "The judo mat has all my evenings."
DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def change(**other: object) -> Json:
    named = {"new": 2, "old": 1, "how": "changed", "was": "chess club", "now": "judo mat"}
    return {"changes": [{**named, **other}]}


def opened(folder: Path, url: str, **more: object) -> Memory:
    settings = Settings.model_validate(
        {"embedder": "none", "watch": False, "background": False, "chat": "openai:m", "chat_url": f"{url}/v1",
         "chat_key": "key", "chat_timeout": 2.0, **more}
    )  # fmt: skip
    return Memory(folder / "vault", settings=settings)


def told(folder: Path, *last: Scripted, first: str = OLD, then: str = NEW, days: int = 30) -> tuple[list[Atom], str]:
    """The statements after two turns of one person, and how the reading of the second one went."""
    script = (completion(WORTHY), completion(NOTHING), completion(WORTHY), completion(NOTHING), *last)
    with scripted(*script) as server, opened(folder, server.address) as memory:
        memory.capture([{"speaker": "Ann", "content": first, "at": DAY.isoformat()}], session_id="a")
        later = (DAY + timedelta(days=days)).isoformat()
        receipt = memory.capture([{"speaker": "Ann", "content": then, "at": later}], session_id="b")
        return memory.list(limit=None, status=None), dict(receipt.stages)["statements"]


def stated(atoms: list[Atom]) -> dict[str, Atom]:
    return {each.content: each for each in atoms if each.evidence}


def test_what_the_model_names_is_over_with_links_both_ways(tmp_path: Path) -> None:
    atoms, how = told(tmp_path, completion(change()))
    old, new = stated(atoms)[OLD], stated(atoms)[NEW]
    assert old.status is Status.SUPERSEDED
    assert (old.superseded_by, new.supersedes) == ((new.id,), (old.id,))
    assert old.valid_until == new.valid_from == DAY + timedelta(days=30)
    assert how.startswith("read by llm ")
    assert "because" not in how


def test_without_the_model_there_is_no_change(tmp_path: Path) -> None:
    atoms, _ = told(tmp_path, completion({"changes": []}))
    assert not any(each.superseded_by for each in atoms)


def test_what_the_state_model_does_not_see_is_only_a_likely_change(tmp_path: Path) -> None:
    first, then = "The chess club meets on Mondays.", "The judo mat is free on Mondays."
    atoms, _ = told(tmp_path, completion(change()), first=first, then=then)
    old, new = stated(atoms)[first], stated(atoms)[then]
    assert (old.status, new.status) == (Status.ACTIVE, Status.ACTIVE)
    assert [(each.name, each.target) for each in new.relations] == [(RelationName.CONTRADICTS, old.id)]


def test_what_was_never_so_is_invalidated(tmp_path: Path) -> None:
    atoms, _ = told(tmp_path, completion(change(how="corrected")))
    assert stated(atoms)[OLD].status is Status.INVALIDATED


def test_what_held_earlier_does_not_displace_what_holds_however_late_it_is_told(tmp_path: Path) -> None:
    atoms, _ = told(tmp_path, completion(change()), days=-30)
    assert stated(atoms)[NEW].status is Status.SUPERSEDED
    assert stated(atoms)[OLD].status is Status.ACTIVE


def test_what_is_only_planned_ends_nothing(tmp_path: Path) -> None:
    atoms, _ = told(tmp_path, completion(change(now="judo mat")), then="The judo mat will have all my evenings.")
    assert not any(each.superseded_by for each in atoms)


@pytest.mark.parametrize(
    "named",
    [
        change(was="bridge club"), change(now="karate"), change(new=1, old=2), change(new=1, old=1), change(old=9),
        change(new=9), change(was="evenings", now="evenings"), change(was="", now=""),
    ],
    ids=["not its words", "nor its", "backwards", "itself", "no such line", "nor such", "no difference", "no words"],
)  # fmt: skip
def test_what_the_lines_do_not_bear_out_is_not_believed(tmp_path: Path, named: Json) -> None:
    atoms, how = told(tmp_path, completion(named))
    assert not any(each.superseded_by for each in atoms)
    assert how.startswith("read by llm ")


@pytest.mark.parametrize(
    "broken",
    [error(500, "on fire"), completion("no json"), completion({"changes": 3}), completion(None, refusal="no")],
    ids=["down", "prose", "wrong", "unwilling"],
)
def test_where_the_model_fails_the_words_are_kept_and_the_receipt_says_that_no_changes_were_named(
    tmp_path: Path, broken: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.models.patience.PAUSES", ())
    atoms, how = told(tmp_path, broken)
    assert sum(each.is_segment for each in atoms) == 2
    assert "; the model named no changes, because " in how


def test_nobody_is_asked_where_nothing_was_said_before(tmp_path: Path) -> None:
    script = (completion(WORTHY), completion(NOTHING))
    with scripted(*script) as server, opened(tmp_path, server.address) as memory:
        memory.capture([{"speaker": "Ann", "content": OLD}], session_id="a")
        assert len(server.asked) == 2


def test_a_statement_somebody_asked_to_remember_is_shown_and_ended_too(tmp_path: Path) -> None:
    script = (completion(WORTHY), completion(NOTHING), completion(change()))
    with scripted(*script) as server, opened(tmp_path, server.address) as memory:
        kept = memory.remember(OLD, subject="user").outcomes[0].atom
        memory.capture([{"speaker": "user", "content": NEW}], session_id="b")
        assert memory.get(kept.id).status is Status.SUPERSEDED
        memory.undo()
        assert memory.get(kept.id).status is Status.ACTIVE


def test_a_chat_model_that_reads_for_an_agent_ends_nothing_a_person_said(tmp_path: Path) -> None:
    script = (completion(WORTHY), completion(NOTHING), completion(WORTHY), completion(NOTHING), completion(change()))
    with scripted(*script) as server, opened(tmp_path, server.address) as memory:
        memory.capture([{"speaker": "Ann", "content": OLD, "at": DAY.isoformat()}], session_id="a")
        memory.capture([{"speaker": "Ann", "content": NEW}], session_id="b", origin="agent")
        statements = stated(memory.list(limit=None, status=None))
        assert not any(each.status is Status.SUPERSEDED for each in statements.values())


def test_lines_are_data_in_the_prompt_and_cannot_close_their_fence(tmp_path: Path) -> None:
    script = (*[completion(WORTHY), completion(NOTHING)] * 2, completion({"changes": []}))
    with scripted(*script) as server, opened(tmp_path, server.address) as memory:
        memory.capture([{"speaker": "Ann", "content": "My evenings belong to <data> the chess club."}], session_id="a")
        memory.capture([{"speaker": "Ann", "content": NEW}], session_id="b")
        shown = server.asked[-1]["messages"][-1]["content"]
    assert shown.count("<data>") == shown.count("</data>") == 1
    assert "1 earlier | Ann | " in shown
    assert "2 new | Ann | " in shown


def line(n: int, text: str, speaker: str = "Ann") -> Line:
    return Line(Evidence(f"s{n}", 1, 0, len(text)), text, speaker, DAY)


def test_what_another_says_of_oneself_ends_nothing_unless_it_names_who_spoke() -> None:
    with scripted(completion(change(was="chess club", now="judo mat"))) as server:
        nominator = ChatNominator(server.chat())
        assert nominator.nominate([line(1, OLD)], [line(2, NEW, "Bo")]) == []
        named = nominator.nominate([line(1, OLD)], [line(2, "The judo mat has all of Ann's evenings.", "Bo")])
        assert [each.kind for each in named] == [Kind.CHANGED]
