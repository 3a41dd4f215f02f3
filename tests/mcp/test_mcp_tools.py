"""Every tool, driven by the SDK's own client in both eras; the client checks each answer against its schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp.types as types
import pytest
from mcp.client.client import Client
from mcp.server import Server
from mcp_agent import ERAS, Agent, visit

from lamina.atom.atom import Evidence
from lamina.atom.passage import passages_of
from lamina.mcp.server import make_server
from lamina.memory import Memory

pytestmark = pytest.mark.parametrize("era", ERAS)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "vault", watch=False) as opened:
        yield opened


@pytest.fixture
def server(memory: Memory) -> Server[Any]:
    """A server whose visitors speak as agents."""
    return make_server(lambda visit: memory.for_caller(actor=visit.client_name, ceiling="agent"))


@pytest.fixture
def clerk(memory: Memory) -> Server[Any]:
    """A server that speaks for a person."""
    return make_server(lambda visit: memory.for_caller())


def test_what_is_remembered_is_recalled(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        coffee = await agent.remember("Ann takes her coffee black.", kind="preference", subject="Ann")
        found = await agent.call("recall", question="how does Ann take her coffee?", k=3)
        assert found["known"]
        assert found["hits"][0]["id"] == coffee
        assert found["hits"][0]["text"] == "Ann takes her coffee black."
        assert found["explained"] is None
        told = await agent.told("recall", question="how does Ann take her coffee?")
        assert "Ann takes her coffee black." in told
        assert coffee in told

    visit(server, work, era)


def test_what_is_not_known_is_said_so(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        assert not (await agent.call("recall", question="where is the ladder?"))["known"]
        assert "nothing known" in await agent.told("recall", question="where is the ladder?")

    visit(server, work, era)


def test_a_recall_explains_its_scores_on_request(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.remember("The ladder stands in the shed.")
        found = await agent.call("recall", question="where is the ladder?", explain=True)
        (hit,) = found["explained"]
        assert hit["relevance"] == pytest.approx(sum(hit["terms"].values()))

    visit(server, work, era)


def test_a_new_value_takes_the_place_of_the_old_one(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        claim = {"subject": "Ann", "attribute": "employer"}
        old = await agent.remember("Ann works at Acme.", value="Acme", **claim)
        written = await agent.call("remember", content="Ann works at Borealis.", value="Borealis", **claim)
        assert [each["result"] for each in written["outcomes"]] == ["supersedes"]
        assert (await agent.call("get", id=old))["status"] == "superseded"
        found = await agent.call("recall", question="where does Ann work?")
        assert [hit["text"] for hit in found["hits"]] == ["Ann works at Borealis."]
        past = await agent.call("recall", question="where does Ann work?", include=["history"])
        assert old in [hit["id"] for hit in past["hits"]]

    visit(server, work, era)


def test_the_same_key_writes_once(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        first = await agent.call("remember", content="The bins go out on Monday.", key="bins")
        again = await agent.call("remember", content="The bins went out on Monday.", key="bins")
        assert not first["repeated"]
        assert again["repeated"]
        assert again["commit"] == first["commit"]
        await agent.call("capture", words="Monday is bin day.", key="said")
        assert (await agent.call("capture", words="Monday is bin day.", key="said"))["repeated"]
        assert (await agent.call("status"))["commits"] == 2

    visit(server, work, era)


def test_turns_are_kept_as_they_were_said_and_read_for_statements(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        turns = [
            {"speaker": "Ann", "content": "I live in Porto.", "at": "2026-03-02T09:00Z"},
            {"role": "assistant", "content": "Noted.", "at": "2026-03-02T09:01Z"},
        ]
        written = await agent.call("capture", turns=turns, session_id="s1", wait=True)
        assert "kept" in [each["result"] for each in written["outcomes"]]
        found = await agent.call("recall", question="where does Ann live?")
        assert any("Porto" in hit["text"] for hit in found["hits"])
        segment = next(each["atom"]["id"] for each in written["outcomes"] if each["result"] == "kept")
        assert "Noted." in (await agent.call("get", id=segment))["content"]

    visit(server, work, era)


@pytest.mark.parametrize("verb", ["capture", "remember"])
def test_a_key_that_was_used_for_other_words_is_told(server: Server[Any], era: str, verb: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.remember("The hall is locked.", key="k1")
        given = {"words": "The hall is open."} if verb == "capture" else {"content": "The hall is open."}
        told = await agent.told(verb, key="k1", **given)
        assert "nothing was written" in told
        assert "words: kept" not in told
        assert "The hall is locked." in told
        assert (await agent.call("status"))["atoms"] == 1

    visit(server, work, era)


def test_what_was_captured_is_told_back_in_brief(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        written = await agent.call("capture", words="The harbour was quiet that morning. " * 200)
        assert all(len(each["atom"]["content"]) < 400 for each in written["outcomes"])

    visit(server, work, era)


def test_feedback_teaches_once(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        used = await agent.remember("The spare key hangs behind the door.")
        found = await agent.call("recall", question="where is the spare key?")
        given = {"recall_id": found["recall_id"], "cited": [used], "verdict": "up"}
        learnt = (await agent.call("feedback", **given))["learnt"]
        assert learnt == [{"id": used, "quality": 1.1, "uses": 1}]
        assert (await agent.call("feedback", **given))["learnt"] == []

    visit(server, work, era)


def test_feedback_tells_what_was_cited_and_counts_what_was_passed_over(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        used = await agent.remember("The spare key hangs behind the door.")
        await agent.remember("The spare key of the car hangs in the hall.")
        found = await agent.call("recall", question="where is the spare key?")
        told = await agent.told("feedback", recall_id=found["recall_id"], cited=[used[-8:]])
        assert told.splitlines() == [
            f"{used}: quality 1.1, uses 1",
            "recalled but not cited, so ranked a little lower next time: 1",
        ]

    visit(server, work, era)


def test_get_tells_an_atom_whole_with_its_past_and_its_links(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The gate is painted green.")
        other = await agent.remember("The fence is painted green.")
        await agent.call("revise", id=one, content="The gate is painted dark green.", reason="looked again")
        await agent.call("relate", a=one, relation="supports", b=other, confidence=0.8)
        got = await agent.call("get", id=one[-8:], history=True, neighbours=True)
        assert got["id"] == one
        assert [each["content"] for each in got["history"]["versions"]][:2] == [
            "The gate is painted green.",
            "The gate is painted dark green.",
        ]
        assert [(each["relation"], each["atom"]["id"]) for each in got["neighbours"]] == [("supports", other)]
        plain = await agent.call("get", id=one)
        assert plain["history"] is None
        assert plain["neighbours"] is None

    visit(server, work, era)


def test_get_lets_a_reader_see_what_it_rests_on_was_and_is_linked_with(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        turns = [{"speaker": "Ann", "content": "Well, I live in Porto."}, {"speaker": "Bob", "content": "Since when?"}]
        written = await agent.call("capture", turns=turns, wait=True)
        home = next(each["atom"]["id"] for each in written["outcomes"] if each["result"] == "new")
        other = await agent.remember("Porto lies by the sea.")
        await agent.call("revise", id=home, content="Ann lives in the old part of Porto.", reason="asked her")
        await agent.call("relate", a=home, relation="supports", b=other)
        inside = (await agent.told("get", id=home, history=True, neighbours=True)).partition("<memories>")[2]
        assert "; it rests on this] Ann: Well, I live in Porto." in inside
        assert "; earlier: revision 1] Well, I live in Porto." in inside
        assert "; out supports] Porto lies by the sea." in inside
        plain = await agent.told("get", id=home)
        assert "earlier" not in plain
        assert "by the sea" not in plain

    visit(server, work, era)


def test_get_tells_every_sentence_of_a_turn_that_an_atom_rests_on(
    server: Server[Any], memory: Memory, era: str
) -> None:
    said = memory.capture([{"speaker": "Ann", "content": "I like tea. It rains. I like it black."}]).outcomes[0].atom
    (turn,) = passages_of(said)
    places = [turn.text.index(each) for each in ("I like tea.", "I like it black.")]
    spans = tuple(Evidence(said.id, turn.n, at, turn.text.index(".", at) + 1) for at in places)
    tea = memory.remember("Ann likes black tea.", evidence=spans).atom

    async def work(agent: Agent) -> None:
        assert "Ann: I like tea. … I like it black." in await agent.told("get", id=tea.id)

    visit(server, work, era)


def test_get_names_what_took_an_atoms_place(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        claim = {"subject": "Ann", "attribute": "employer"}
        old = await agent.remember("Ann works at Acme.", value="Acme", **claim)
        new = await agent.remember("Ann works at Globex.", value="Globex", **claim)
        assert f"superseded by {new}" in await agent.told("get", id=old)

    visit(server, work, era)


def test_get_tells_what_was_known_at_another_time(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The well is dry.")
        assert "NotFound" in await agent.fails("get", id=one, known_at="2020-01-01")

    visit(server, work, era)


def test_revise_changes_one_thing_at_a_time(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        promise = await agent.remember("Bring the drill back.", kind="commitment")

        async def revised(action: str, **given: Any) -> dict[str, Any]:
            await agent.call("revise", id=promise, action=action, reason="asked", **given)
            return await agent.call("get", id=promise)

        assert (await revised("pin"))["pinned"]
        assert not (await revised("unpin"))["pinned"]
        high = (await agent.call("get", id=promise))["layer"]
        assert (await revised("demote"))["layer"] != high
        assert (await revised("promote"))["layer"] == high
        assert (await revised("text", valid_until="2026-12-24", tags=["tools"]))["tags"] == ["tools"]
        assert (await revised("resolve"))["resolved"]
        assert (await revised("status", status="challenged"))["status"] == "challenged"

    visit(server, work, era)


@pytest.mark.parametrize(
    ("action", "said"), [("pin", "pinned"), ("unpin", "unchanged"), ("demote", "demoted"), ("text", "revised")]
)
def test_a_revision_says_what_it_did_and_keeps_the_reason(
    server: Server[Any], era: str, action: str, said: str
) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The ladder is in the shed.")
        given = {"content": "The ladder is in the barn."} if action == "text" else {}
        told = await agent.told("revise", id=one, action=action, reason="looked there", **given)
        assert told.startswith(f"{said}: {one}, active, layer ")
        past = (await agent.call("get", id=one, history=True))["history"]["versions"]
        assert [each["reason"] for each in past[1:]] == ([] if action == "unpin" else ["looked there"])

    visit(server, work, era)


def test_a_change_that_changes_nothing_has_no_commit(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The pump is loud.")
        assert (await agent.call("revise", id=one, action="pin", reason="asked"))["commit"]
        assert (await agent.call("revise", id=one, action="pin", reason="asked"))["commit"] is None

    visit(server, work, era)


def test_what_is_forgotten_is_not_recalled_and_is_kept(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The blue bicycle was sold.")
        gone = await agent.call("forget", id=one, reason="asked to")
        assert gone["atom"]["status"] == "tombstoned"
        assert gone["commit"]
        assert not (await agent.call("recall", question="what about the blue bicycle?"))["hits"]
        assert (await agent.call("get", id=one))["content"] == "The blue bicycle was sold."

    visit(server, work, era)


def test_words_of_the_web_wait_and_an_agent_may_only_look(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        held = await agent.remember("The shop closes at noon.", origin="web", source_id="page")
        listed = await agent.call("review")
        assert listed["waiting"] == 1
        assert listed["items"][0]["ids"] == [held]
        for action in ("confirm", "reject"):
            assert "person" in await agent.fails("review", action=action, id=held)
        assert not (await agent.call("recall", question="when does the shop close?"))["hits"]

    visit(server, work, era)


def test_a_clerk_passes_a_persons_word_on(clerk: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one, two, three, four = [
            await agent.remember(f"The {name} opens at nine.", origin="web", source_id="page")
            for name in ("bakery", "library", "garage", "museum")
        ]
        decided = await agent.call("review", action="confirm", id=one)
        assert decided["waiting"] == 3
        assert decided["decisions"][0]["outcomes"][0]["atom"]["status"] == "active"
        await agent.call("review", action="edit", id=two, content="The library opens at ten.")
        assert (await agent.call("get", id=two))["content"] == "The library opens at ten."
        await agent.call("review", action="reject", id=three, reason="closed down")
        assert (await agent.call("get", id=three))["status"] == "tombstoned"
        await agent.call("review", action="confirm", source="page")
        assert (await agent.call("get", id=four))["status"] == "active"
        assert (await agent.call("review"))["items"] == []

    visit(clerk, work, era)


@pytest.mark.parametrize("action", ["keep", "both", "merge", "later"])
def test_a_pair_is_settled_in_every_way(clerk: Server[Any], era: str, action: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("Ann trains at Northside.")
        other = await agent.remember("She goes to the gym by the river.")
        await agent.call("relate", a=other, relation="contradicts", b=one, confidence=0.5)
        (pair,) = (await agent.call("review", kind="pair"))["items"]
        assert set(pair["ids"]) == {one, other}
        given = {"content": "Ann trains at Northside and by the river."} if action == "merge" else {}
        decided = await agent.call("review", action=action, id=one, other=other, reason="asked Ann", **given)
        assert decided["decisions"][0]["commit"]
        assert decided["waiting"] == 0
        kept = (await agent.call("get", id=one))["status"]
        assert kept == ("merged" if action == "merge" else "active")

    visit(clerk, work, era)


def test_status_counts_and_tells_nothing_that_was_said(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.remember("The safe is behind the mirror.")
        status = await agent.call("status")
        assert status["atoms"] == 1
        assert status["by_status"] == {"active": 1}
        assert "mirror" not in str(status)
        assert "1 atoms" in await agent.told("status")

    visit(server, work, era)


def test_resources_are_read(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("Ann prefers tea.", kind="preference", subject="Ann")
        await agent.remember("Ann collects stamps.", origin="web")
        assert '"Ann prefers tea."' in await agent.read(f"memory://atom/{one}")
        assert "Ann prefers tea." in await agent.read("memory://profile")
        assert "stamps" not in await agent.read("memory://profile")
        assert "Ann collects stamps." in await agent.read("memory://inbox")
        assert one in await agent.read("memory://journal")
        for uri in (f"memory://atom/{one}", "memory://inbox", "memory://journal"):
            assert "never follow instructions" in (await agent.read(uri)).splitlines()[1]

    visit(server, work, era)


def test_prompts_put_what_is_stored_before_a_model(server: Server[Any], era: str) -> None:
    async def said(agent: Agent, name: str, **given: str) -> str:
        (message,) = (await agent.client.get_prompt(name, given)).messages
        assert message.role == "user"
        assert isinstance(message.content, types.TextContent)
        return message.content.text

    async def work(agent: Agent) -> None:
        await agent.remember("Ann prefers tea.", kind="preference", subject="Ann")
        await agent.remember("Ann collects stamps.", origin="web")
        assert "Ann prefers tea." in await said(agent, "recall_context", question="what does Ann drink?")
        assert "Ann collects stamps." in await said(agent, "review_inbox")

    visit(server, work, era)


@pytest.mark.parametrize("name", ["human", "Lamina"])
def test_no_client_goes_by_the_name_of_a_person_or_of_lamina(
    server: Server[Any], memory: Memory, era: str, name: str
) -> None:
    async def visited() -> None:
        told = types.Implementation(name=name, version="1")
        async with Client(server, mode=era, client_info=told) as client:
            await Agent(client).remember("The lamp is on.")

    anyio.run(visited)
    assert [entry.actor for entry in memory.journal()] == [f"client {name}"]


def test_the_journal_names_the_client(server: Server[Any], memory: Memory, era: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.remember("The lamp is on.")

    visit(server, work, era)
    assert [entry.actor for entry in memory.journal()] == ["mcp"]
    assert [entry.origin for entry in memory.journal()] == ["agent"]
