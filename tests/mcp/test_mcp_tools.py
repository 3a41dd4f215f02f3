"""Every tool, driven by the SDK's own client in both eras; the client checks each answer against its schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp.types as types
import pytest
from mcp.server import Server
from mcp_agent import ERAS, Agent, visit

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
    return make_server(lambda visit: memory.seat(actor=visit.client, ceiling="agent"))


@pytest.fixture
def clerk(memory: Memory) -> Server[Any]:
    """A server that speaks for a person."""
    return make_server(lambda visit: memory.seat())


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


def test_the_journal_names_the_client(server: Server[Any], memory: Memory, era: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.remember("The lamp is on.")

    visit(server, work, era)
    assert [entry.actor for entry in memory.journal()] == ["mcp"]
    assert [entry.origin for entry in memory.journal()] == ["agent"]
