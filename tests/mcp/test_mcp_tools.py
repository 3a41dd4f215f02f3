"""Every tool works with the SDK's client in both protocol versions, which checks answers against schemas.

Covers `lamina.mcp.prompts`, `lamina.mcp.read_tools`, `lamina.mcp.resources`, `lamina.mcp.review_tool` and
`lamina.mcp.write_tools`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp.types as types
import pytest
from mcp.client.client import Client
from mcp.server import Server
from mcp_client import ERAS, Agent, run_agent

import lamina
from lamina.atom.atom import Evidence
from lamina.atom.passage import passages_of
from lamina.mcp.server import make_server
from lamina.memory import Memory

pytestmark = pytest.mark.parametrize("era", ERAS)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", watch=False) as opened_memory:
        yield opened_memory


@pytest.fixture
def server(memory: Memory) -> Server[Any]:
    """A server whose visitors speak as agents."""
    return make_server(lambda visit: memory.for_caller(actor=visit.client_name, ceiling="agent"))


@pytest.fixture
def clerk(memory: Memory) -> Server[Any]:
    """A server that speaks for a person."""
    return make_server(lambda visit: memory.for_caller())


def test_a_remembered_fact_is_recalled(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        coffee = await agent.remember("Ann takes her coffee black.", kind="preference", subject="Ann")
        answer = await agent.call("recall", question="how does Ann take her coffee?", k=3)
        assert answer["known"]
        assert answer["hits"][0]["id"] == coffee
        assert answer["hits"][0]["text"] == "Ann takes her coffee black."
        assert answer["explained"] is None
        text = await agent.read_result("recall", question="how does Ann take her coffee?")
        assert "Ann takes her coffee black." in text
        assert coffee in text

    run_agent(server, work, era)


def test_an_unknown_answer_is_reported(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        assert not (await agent.call("recall", question="where is the ladder?"))["known"]
        assert "nothing known" in await agent.read_result("recall", question="where is the ladder?")

    run_agent(server, work, era)


def test_a_recall_explains_its_scores_on_request(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.remember("The ladder stands in the shed.")
        answer = await agent.call("recall", question="where is the ladder?", explain=True)
        (hit,) = answer["explained"]
        assert hit["relevance"] == pytest.approx(sum(hit["terms"].values()))

    run_agent(server, work, era)


def test_a_new_value_supersedes_the_old_one(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        claim = {"subject": "Ann", "attribute": "employer"}
        old = await agent.remember("Ann works at Acme.", value="Acme", **claim)
        written = await agent.call("remember", content="Ann works at Borealis.", value="Borealis", **claim)
        assert [outcome["result"] for outcome in written["outcomes"]] == ["supersedes"]
        assert (await agent.call("get", id=old))["status"] == "superseded"
        answer = await agent.call("recall", question="where does Ann work?")
        assert [hit["text"] for hit in answer["hits"]] == ["Ann works at Borealis."]
        past = await agent.call("recall", question="where does Ann work?", include=["history"])
        assert old in [hit["id"] for hit in past["hits"]]

    run_agent(server, work, era)


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

    run_agent(server, work, era)


def test_turns_are_stored_verbatim_and_read_for_statements(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        turns = [
            {"speaker": "Ann", "content": "I live in Porto.", "at": "2026-03-02T09:00Z"},
            {"role": "assistant", "content": "Noted.", "at": "2026-03-02T09:01Z"},
        ]
        written = await agent.call("capture", turns=turns, session_id="s1", wait=True)
        assert "kept" in [outcome["result"] for outcome in written["outcomes"]]
        answer = await agent.call("recall", question="where does Ann live?")
        assert any("Porto" in hit["text"] for hit in answer["hits"])
        segment = next(outcome["atom"]["id"] for outcome in written["outcomes"] if outcome["result"] == "kept")
        assert "Noted." in (await agent.call("get", id=segment))["content"]

    run_agent(server, work, era)


@pytest.mark.parametrize("verb", ["capture", "remember"])
def test_a_key_reused_with_other_text_is_reported(server: Server[Any], era: str, verb: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.remember("The hall is locked.", key="k1")
        fields = {"words": "The hall is open."} if verb == "capture" else {"content": "The hall is open."}
        text = await agent.read_result(verb, key="k1", **fields)
        assert "nothing was written" in text
        assert "words: kept" not in text
        assert "The hall is locked." in text
        assert (await agent.call("status"))["atoms"] == 1

    run_agent(server, work, era)


def test_a_capture_is_summarised_briefly(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        written = await agent.call("capture", words="The harbour was quiet that morning. " * 200)
        assert all(len(outcome["atom"]["content"]) < 400 for outcome in written["outcomes"])

    run_agent(server, work, era)


def test_feedback_counts_once(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        used = await agent.remember("The spare key hangs behind the door.")
        answer = await agent.call("recall", question="where is the spare key?")
        fields = {"recall_id": answer["recall_id"], "cited": [used], "verdict": "up"}
        learnt = (await agent.call("feedback", **fields))["learnt"]
        assert learnt == [{"id": used, "quality": 1.1, "uses": 1}]
        assert (await agent.call("feedback", **fields))["learnt"] == []

    run_agent(server, work, era)


def test_feedback_names_what_was_cited_and_counts_what_was_ignored(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        used = await agent.remember("The spare key hangs behind the door.")
        await agent.remember("The spare key of the car hangs in the hall.")
        answer = await agent.call("recall", question="where is the spare key?")
        text = await agent.read_result("feedback", recall_id=answer["recall_id"], cited=[used[-8:]])
        assert text.splitlines() == [
            f"{used}: quality 1.1, uses 1",
            "recalled but not cited, so ranked a little lower next time: 1",
        ]

    run_agent(server, work, era)


def test_get_returns_an_atom_with_its_history_and_links(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The gate is painted green.")
        other = await agent.remember("The fence is painted green.")
        await agent.call("revise", id=one, content="The gate is painted dark green.", reason="looked again")
        await agent.call("relate", a=one, relation="supports", b=other, confidence=0.8)
        got = await agent.call("get", id=one[-8:], history=True, neighbours=True)
        assert got["id"] == one
        assert [version["content"] for version in got["history"]["versions"]][:2] == [
            "The gate is painted green.",
            "The gate is painted dark green.",
        ]
        assert [(item["relation"], item["atom"]["id"]) for item in got["neighbours"]] == [("supports", other)]
        plain = await agent.call("get", id=one)
        assert (plain["quality_score"], plain["recall_count"], plain["last_recalled_at"]) == (1.0, 0, None)
        assert plain["history"] is None
        assert plain["neighbours"] is None

    run_agent(server, work, era)


def test_get_shows_the_evidence_the_versions_and_the_neighbours(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        turns = [{"speaker": "Ann", "content": "Well, I live in Porto."}, {"speaker": "Bob", "content": "Since when?"}]
        written = await agent.call("capture", turns=turns, wait=True)
        home = next(outcome["atom"]["id"] for outcome in written["outcomes"] if outcome["result"] == "new")
        other = await agent.remember("Porto lies by the sea.")
        await agent.call("revise", id=home, content="Ann lives in the old part of Porto.", reason="asked her")
        await agent.call("relate", a=home, relation="supports", b=other)
        inside = (await agent.read_result("get", id=home, history=True, neighbours=True)).partition("<memories>")[2]
        assert "; it rests on this] Ann: Well, I live in Porto." in inside
        assert "; earlier: revision 1] Well, I live in Porto." in inside
        assert "; out supports] Porto lies by the sea." in inside
        plain = await agent.read_result("get", id=home)
        assert "earlier" not in plain
        assert "by the sea" not in plain

    run_agent(server, work, era)


def test_get_quotes_every_sentence_an_atom_rests_on(server: Server[Any], memory: Memory, era: str) -> None:
    atom = memory.capture([{"speaker": "Ann", "content": "I like tea. It rains. I like it black."}]).outcomes[0].atom
    (turn,) = passages_of(atom)
    places = [turn.text.index(text) for text in ("I like tea.", "I like it black.")]
    spans = tuple(Evidence(atom.id, turn.n, at, turn.text.index(".", at) + 1) for at in places)
    tea = memory.remember("Ann likes black tea.", evidence=spans).atom

    async def work(agent: Agent) -> None:
        assert "Ann: I like tea. … I like it black." in await agent.read_result("get", id=tea.id)

    run_agent(server, work, era)


def test_get_names_the_successor_of_an_atom(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        claim = {"subject": "Ann", "attribute": "employer"}
        old = await agent.remember("Ann works at Acme.", value="Acme", **claim)
        new = await agent.remember("Ann works at Globex.", value="Globex", **claim)
        assert f"superseded by {new}" in await agent.read_result("get", id=old)

    run_agent(server, work, era)


def test_get_returns_what_was_known_at_another_time(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The well is dry.")
        assert "NotFound" in await agent.fails("get", id=one, known_at="2020-01-01")

    run_agent(server, work, era)


def test_revise_changes_one_field_at_a_time(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        promise = await agent.remember("Bring the drill back.", kind="commitment")

        async def revised(action: str, **fields: Any) -> dict[str, Any]:
            await agent.call("revise", id=promise, action=action, reason="asked", **fields)
            return await agent.call("get", id=promise)

        assert (await revised("pin"))["pinned"]
        assert not (await revised("unpin"))["pinned"]
        high = (await agent.call("get", id=promise))["layer"]
        assert (await revised("demote"))["layer"] != high
        assert (await revised("promote"))["layer"] == high
        assert (await revised("text", valid_until="2026-12-24", tags=["tools"]))["tags"] == ["tools"]
        assert (await revised("resolve"))["resolved"]
        assert (await revised("status", status="challenged"))["status"] == "challenged"

    run_agent(server, work, era)


@pytest.mark.parametrize(
    ("action", "text"), [("pin", "pinned"), ("unpin", "unchanged"), ("demote", "demoted"), ("text", "revised")]
)
def test_a_revision_reports_its_effect_and_keeps_the_reason(
    server: Server[Any], era: str, action: str, text: str
) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The ladder is in the shed.")
        fields = {"content": "The ladder is in the barn."} if action == "text" else {}
        result = await agent.read_result("revise", id=one, action=action, reason="looked there", **fields)
        assert result.startswith(f"{text}: {one}, active, layer ")
        past = (await agent.call("get", id=one, history=True))["history"]["versions"]
        assert [version["reason"] for version in past[1:]] == ([] if action == "unpin" else ["looked there"])

    run_agent(server, work, era)


def test_a_revision_without_a_change_has_no_commit(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The pump is loud.")
        assert (await agent.call("revise", id=one, action="pin", reason="asked"))["commit"]
        assert (await agent.call("revise", id=one, action="pin", reason="asked"))["commit"] is None

    run_agent(server, work, era)


def test_a_forgotten_atom_is_not_recalled_and_is_kept(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("The blue bicycle was sold.")
        answer = await agent.call("forget", id=one, reason="asked to")
        assert answer["atom"]["status"] == "tombstoned"
        assert answer["commit"]
        assert not (await agent.call("recall", question="what about the blue bicycle?"))["hits"]
        assert (await agent.call("get", id=one))["content"] == "The blue bicycle was sold."

    run_agent(server, work, era)


def test_text_from_the_web_is_pending_and_an_agent_may_only_list_it(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        receipt = await agent.remember("The shop closes at noon.", origin="web", source_id="page")
        listed = await agent.call("review")
        assert listed["waiting"] == 1
        assert listed["items"][0]["ids"] == [receipt]
        for action in ("confirm", "reject"):
            assert "person" in await agent.fails("review", action=action, id=receipt)
        assert not (await agent.call("recall", question="when does the shop close?"))["hits"]

    run_agent(server, work, era)


def test_a_clerk_passes_on_a_persons_decision(clerk: Server[Any], era: str) -> None:
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

    run_agent(clerk, work, era)


@pytest.mark.parametrize("action", ["keep", "both", "merge", "later"])
def test_a_pair_can_be_settled_in_every_way(clerk: Server[Any], era: str, action: str) -> None:
    async def work(agent: Agent) -> None:
        one = await agent.remember("Ann trains at Northside.")
        other = await agent.remember("She goes to the gym by the river.")
        await agent.call("relate", a=other, relation="contradicts", b=one, confidence=0.5)
        (pair,) = (await agent.call("review", kind="pair"))["items"]
        assert set(pair["ids"]) == {one, other}
        fields = {"content": "Ann trains at Northside and by the river."} if action == "merge" else {}
        decided = await agent.call("review", action=action, id=one, other=other, reason="asked Ann", **fields)
        assert decided["decisions"][0]["commit"]
        assert decided["waiting"] == 0
        status = (await agent.call("get", id=one))["status"]
        assert status == ("merged" if action == "merge" else "active")

    run_agent(clerk, work, era)


def test_status_reports_counts_and_no_content(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.remember("The safe is behind the mirror.")
        status = await agent.call("status")
        assert status["atoms"] == 1
        assert status["by_status"] == {"active": 1}
        assert "mirror" not in str(status)
        assert "1 atoms" in await agent.read_result("status")

    run_agent(server, work, era)


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

    run_agent(server, work, era)


def test_prompts_present_stored_text_to_a_model(server: Server[Any], era: str) -> None:
    async def text(agent: Agent, name: str, **fields: str) -> str:
        (message,) = (await agent.client.get_prompt(name, fields)).messages
        assert message.role == "user"
        assert isinstance(message.content, types.TextContent)
        return message.content.text

    async def work(agent: Agent) -> None:
        await agent.remember("Ann prefers tea.", kind="preference", subject="Ann")
        await agent.remember("Ann collects stamps.", origin="web")
        assert "Ann prefers tea." in await text(agent, "recall_context", question="what does Ann drink?")
        assert "Ann collects stamps." in await text(agent, "review_inbox")

    run_agent(server, work, era)


@pytest.mark.parametrize("name", ["human", "Lamina"])
def test_no_client_can_use_the_name_of_a_person_or_of_lamina(
    server: Server[Any], memory: Memory, era: str, name: str
) -> None:
    async def visited() -> None:
        implementation = types.Implementation(name=name, version="1")
        async with Client(server, mode=era, client_info=implementation) as client:
            await Agent(client).remember("The lamp is on.")

    anyio.run(visited)
    assert [entry.actor for entry in memory.journal()] == [f"client {name}"]


def test_the_journal_names_the_client(server: Server[Any], memory: Memory, era: str) -> None:
    async def work(agent: Agent) -> None:
        await agent.remember("The lamp is on.")

    run_agent(server, work, era)
    assert [entry.actor for entry in memory.journal()] == ["mcp"]
    assert [entry.origin for entry in memory.journal()] == ["agent"]


def test_metadata_keeps_its_types_and_a_missing_key_is_named(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        metadata = {"workflow": "deploy", "canonical": True, "minutes": 12, "steps": ["test", "push"]}
        steps = await agent.remember("Test, then push.", metadata=metadata, layer="procedural")
        assert (await agent.call("get", id=steps))["metadata"] == metadata
        refused = await agent.fails("remember", content="Dark.", metadata={"profile_key": "theme", "value": "dark"})
        assert "needs reason in its metadata" in refused
        await agent.call("revise", id=steps, metadata={"minutes": 15, "steps": ""}, reason="timed")
        changed = {"workflow": "deploy", "canonical": True, "minutes": 15}
        assert (await agent.call("get", id=steps))["metadata"] == changed

    run_agent(server, work, era)


def test_recall_searches_the_layers_and_statuses_that_are_named(server: Server[Any], memory: Memory, era: str) -> None:
    memory.propose("Deploys need two people.")

    async def work(agent: Agent) -> None:
        steps = await agent.remember("Test, then deploy.", metadata={"workflow": "deploy"})
        await agent.remember("Deploys are on Mondays.")
        answer = await agent.call("recall", question="deploy", layer=["procedural"])
        assert [hit["id"] for hit in answer["hits"]] == [steps]
        pending = await agent.call("recall", question="deploy", status=["constrained"])
        assert [hit["text"] for hit in pending["hits"]] == ["Deploys need two people."]

    run_agent(server, work, era)
