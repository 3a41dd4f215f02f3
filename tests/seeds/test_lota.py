"""The statements of the seed 002 (Lota), as `docs/seeds/lota.md` lists them, tried with the shipped program.

Covers `lamina.capture.change.change_nomination` and `lamina.recall.related_memories`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from starlette.testclient import TestClient

import lamina
from command_result import Cli
from lamina import InvalidScope, Memory, Result, Settings, Status
from lamina.access import RateLimits, Right, ServedMemory
from lamina.atom.atom import AtomId
from lamina.atom.kinds import EXTRACTED_KINDS, Durability
from lamina.atom.provenance import Origin
from lamina.clock import FixedClock
from lamina.http.app import make_api, secure_app
from lamina.http.change_feed import ChangeFeed
from lamina.mcp.server import make_server
from lamina.recall.scoring_profiles import RERANKED_COUNT
from llm_server import Json, Scripted, completion, scripted

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)
SEVEN_TYPES = ("fact", "preference", "interaction", "summary", "user_request", "entity", "interest")
SEVEN_RELATIONS = ("contradicts", "supports", "supersedes", "caused_by", "depends_on", "part_of", "implements")
CTO, CFO = "org:local:agent:cto", "org:local:agent:cfo"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", watch=False, clock=clock) as opened_memory:
        yield opened_memory


@contextmanager
def open_with_chat(folder: Path, *answers: Scripted, **more: object) -> Iterator[tuple[Memory, list[Json]]]:
    """A memory whose chat model answers by script, and the requests that the model gets."""
    pytest.importorskip("openai", reason="chat needs pip install 'lamina[llm]'")
    with scripted(*answers) as server:
        settings = Settings.model_validate(
            {
                "embedder": "none",
                "watch": False,
                "background": False,
                "chat": "openai:m",
                "chat_url": f"{server.address}/v1",
                "chat_key": "key",
                "chat_retries": 0,
                **more,
            }
        )
        with lamina.open(folder / "vault", settings=settings) as opened_memory:
            yield opened_memory, server.asked


def found_statement(quote: str, **more: str) -> Json:
    """A statement as a chat model returns it."""
    empty = dict.fromkeys(("subject", "attribute", "value", "date", "relation", "target"), "")
    return {"quote": quote, "content": quote, "kind": "fact", **empty, **more}


def found_statements(*statements: Json) -> Scripted:
    return completion({"statements": list(statements)})


def remember(memory: Memory, content: str, **fields: Any) -> AtomId:
    return memory.remember(content, **fields).atom.id


def texts(memory: Memory, question: str, **options: Any) -> list[str]:
    return [hit.text for hit in memory.recall(question, **options).hits]


def section(context: str, name: str) -> list[str]:
    """The lines under a heading of a context."""
    match = re.search(rf"^## {name}\n((?:- .*\n)*)", context, re.MULTILINE)
    return match[1].splitlines() if match else []


# Storage and records


def test_facts_of_a_conversation_answer_later_by_words_and_by_meaning(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False, settings=Settings(embedder="light", watch=False)) as memory:
        receipt = memory.capture([{"speaker": "Ann", "content": "My flat is in Lisbon."}], session_id="s")
        assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT, Result.NEW]
        memory.embed()
        hit = memory.recall("where does Ann live?").hits[0]
        terms = dict(hit.terms)
        assert hit.text == "My flat is in Lisbon."
        assert terms["vector"] > 0
        assert terms["text"] > 0
        assert memory.recall("flat").model.startswith("wordllama")


def test_a_record_has_content_scope_type_durability_and_importance(memory: Memory) -> None:
    atom = memory.get(remember(memory, "We use PostgreSQL.", kind="decision", importance=0.8))
    assert (atom.content, atom.scope, atom.kind, atom.durability, atom.importance) == (
        "We use PostgreSQL.",
        "org:local",
        "decision",
        Durability.CORE,
        0.8,
    )
    with pytest.raises(lamina.InvalidInput):
        memory.remember("Too much.", importance=1.5)


def test_an_endpoint_may_compute_vectors_of_1536_numbers(tmp_path: Path) -> None:
    vector = [1.0, *(0.0,) * 1535]
    with scripted(Scripted({"data": [{"index": 0, "embedding": vector}]})) as server:
        settings = Settings.model_validate(
            {
                "embedder": "openai:text-embedding-3-small",
                "embedder_url": f"{server.address}/v1",
                "embedder_key": "key",
                "watch": False,
            }
        )
        with lamina.open(tmp_path / "vault", settings=settings) as memory:
            atom = memory.remember("The kettle is blue.").atom
            memory.embed()
            encodings = memory.engine.store.passages.encodings
            (model,) = [name for name in encodings.count().encoded if "text-embedding-3-small" in name]
            assert encodings.vectors(model, [(atom.id, 1)])[atom.id, 1].rows.shape == (1, 1536)


def test_the_same_words_are_stored_once_in_a_scope_and_may_be_in_two_scopes(memory: Memory) -> None:
    first = memory.remember("The build takes 9 minutes.")
    again = memory.remember("the  build takes 9 minutes")
    assert again.outcomes[0].result is Result.DUPLICATE
    assert again.atom.id == first.atom.id
    private = memory.for_caller(CTO).remember("The build takes 9 minutes.", private=True)
    assert private.outcomes[0].result is Result.NEW
    assert private.atom.scope == CTO


# Types and durability


@pytest.mark.parametrize("kind", SEVEN_TYPES)
def test_each_of_the_seven_types_is_extracted_with_a_chat_model(tmp_path: Path, kind: str) -> None:
    words = "The reading circle meets in the library."
    with open_with_chat(tmp_path, found_statements(found_statement(words, subject="circle", kind=kind))) as (
        memory,
        requests,
    ):
        memory.capture([{"speaker": "Ann", "content": words}], session_id="s")
        (atom,) = memory.list(kind=kind)
        assert (atom.content, bool(atom.evidence)) == (words, True)
        schema = requests[0]["response_format"]["json_schema"]["schema"]["properties"]["statements"]["items"]
        assert set(SEVEN_TYPES) < set(schema["properties"]["kind"]["enum"]) == set(EXTRACTED_KINDS)


@pytest.mark.parametrize("label", [*SEVEN_TYPES, "User request", "- Interest"])
@pytest.mark.parametrize("extractor", ["auto", "none"])
def test_each_of_the_seven_types_is_extracted_without_a_chat_model_where_the_words_name_it(
    tmp_path: Path, label: str, extractor: str
) -> None:
    settings = Settings.model_validate({"extractor": extractor, "watch": False})
    with lamina.open(tmp_path / "vault", settings=settings) as memory:
        memory.capture([{"speaker": "Ann", "content": f"Hello! {label}: quiet rooms by the river."}], session_id="s")
        kind = label.removeprefix("- ").replace(" ", "_").lower()
        (atom,) = memory.list(kind=kind)
        assert (atom.content, atom.subject, atom.confidence) == ("quiet rooms by the river.", "Ann", 1.0)


def test_an_assistant_and_code_label_nothing(memory: Memory) -> None:
    turns = [
        {"role": "assistant", "content": "Preference: quiet rooms by the river."},
        {"speaker": "Ann", "content": "```\nSummary: quiet rooms by the river.\n```"},
    ]
    memory.capture(turns, session_id="s")
    assert [atom.kind for atom in memory.list() if atom.evidence] == []


def test_two_labelled_preferences_are_both_kept(memory: Memory) -> None:
    turns = [
        {"speaker": "Ann", "content": f"Preference: {what}."} for what in ("tea at noon", "window seats on trains")
    ]
    memory.capture(turns, session_id="s")
    assert {atom.content for atom in memory.list(kind="preference")} == {"tea at noon.", "window seats on trains."}


def test_core_never_fades_and_ephemeral_fades_before_standard(memory: Memory, clock: FixedClock) -> None:
    for durability in Durability:
        memory.remember(f"A {durability} note on the harbour.", kind="event", durability=durability.value)
    clock.at = NOON + 40 * DAY
    memory.upkeep.dream(["age"])
    ids = {atom.durability: atom.id for atom in memory.list(status=None)}
    ageing = memory.engine.store.signals.get(ids.values())[1]
    retention = {durability: ageing[atom_id].retention for durability, atom_id in ids.items()}
    assert retention[Durability.CORE] == 1.0
    assert retention[Durability.CORE] > retention[Durability.STANDARD] > retention[Durability.EPHEMERAL]


def test_durability_follows_from_the_type_and_can_be_set(memory: Memory) -> None:
    durability = {kind: memory.remember(f"A note on {kind}.", kind=kind).atom.durability for kind in SEVEN_TYPES}
    assert {kind for kind, value in durability.items() if value is Durability.EPHEMERAL} == {
        "interaction",
        "user_request",
    }
    assert memory.remember("We ship weekly.", kind="decision").atom.durability is Durability.CORE
    assert memory.remember("Likes tea.", kind="preference", durability="ephemeral").atom.durability == "ephemeral"


# Scopes


def test_an_agent_finds_what_it_learnt_first_and_the_organisation_finds_all(memory: Memory) -> None:
    cto, cfo = memory.for_caller(CTO, ceiling="agent"), memory.for_caller(CFO, ceiling="agent")
    remember(cto, "The release needs a review by Ann.")
    remember(cfo, "The release needs a budget of nine.")
    assert texts(cto, "the release")[0] == "The release needs a review by Ann."
    assert texts(cfo, "the release")[0] == "The release needs a budget of nine."
    assert len(texts(memory, "the release")) == 2
    best = cto.recall("the release").hits[0]
    assert dict(best.terms)["agent"] > 0
    assert "learnt by this agent" in best.why


def test_what_an_agent_learnt_is_searched_alone(memory: Memory) -> None:
    cto, cfo = memory.for_caller(CTO, ceiling="agent"), memory.for_caller(CFO, ceiling="agent")
    remember(memory, "The release is on Monday.")
    remember(cto, "The release needs a review.")
    remember(cto, "The release worries me.", private=True)
    remember(cfo, "The release needs a budget.")
    learnt = {"The release needs a review.", "The release worries me."}
    for options in ({}, {"fast": True}, {"ranking": "plain"}, {"known_at": NOON + DAY}, {"as_of": NOON + DAY}):
        assert set(texts(cto, "the release", scopes=[CTO], **options)) == learnt, options
    assert "The release worries me." not in texts(memory, "the release") + texts(cfo, "the release")
    with pytest.raises(InvalidScope):
        cfo.recall("the release", scopes=[CTO])
    assert len(texts(cto, "the release", scopes=[CTO, "org:local"])) == 4


def test_words_captured_by_one_agent_or_for_several_are_theirs(memory: Memory) -> None:
    cto = memory.for_caller(CTO, ceiling="agent")
    cto.capture([{"speaker": "Ann", "content": "My boat is moored in Faro."}], session_id="a")
    memory.capture([{"speaker": "Ann", "content": "My rent is 900 a month."}], session_id="b", agents=["cfo", "cto"])
    assert set(texts(cto, "boat or rent", scopes=[CTO])) == {"My boat is moored in Faro.", "My rent is 900 a month."}
    assert texts(memory.for_caller(CFO), "boat or rent", scopes=[CFO]) == ["My rent is 900 a month."]
    assert {atom.agents for atom in memory.list() if atom.evidence} == {("cto",), ("cfo", "cto")}
    for wrong in (["CTO"], ["a b"], ["*"]):
        with pytest.raises(InvalidScope):
            memory.capture("My rent is 950.", agents=wrong)


def test_a_fact_that_two_agents_learn_is_stored_once_and_names_both(memory: Memory) -> None:
    cto, cfo = memory.for_caller(CTO, ceiling="agent"), memory.for_caller(CFO, ceiling="agent")
    remember(cto, "The audit is in May.")
    assert cfo.remember("The audit is in May.").outcomes[0].result is Result.DUPLICATE
    assert [atom.agents for atom in memory.list()] == [("cto", "cfo")]
    assert texts(cfo, "audit", scopes=[CFO]) == ["The audit is in May."]


def test_the_words_of_two_agents_in_one_session_stay_apart(memory: Memory) -> None:
    for scope, words in ((CTO, "My boat is moored in Faro."), (CFO, "My rent is 900 a month.")):
        memory.for_caller(scope, ceiling="agent").capture([{"speaker": "Ann", "content": words}], session_id="s")
    assert texts(memory.for_caller(CFO), "boat or rent", scopes=[CFO]) == ["My rent is 900 a month."]


def test_agents_are_named_on_the_command_line(cli: Cli) -> None:
    cli("remember", "The audit is in May.", "--agent", "cfo")
    cli("capture", "--speaker", "Ann", "--agent", "cfo", "My rent is 900 a month.")
    hits = cli("--scope", CFO, "recall", "audit or rent", "--only", CFO, "--json").data["hits"]
    assert {hit["text"] for hit in hits} == {"The audit is in May.", "My rent is 900 a month."}
    assert cli("--scope", CTO, "recall", "audit or rent", "--only", CTO, "--json").data["hits"] == []


# Extraction


def test_a_capture_is_normalised_into_turns_and_greetings_state_nothing(memory: Memory) -> None:
    turns = [
        {"role": "user", "content": " Hi there! Thanks!\r\n"},
        {"role": "assistant", "content": "My home is Rome."},
    ]
    receipt = memory.capture(turns, session_id="s")
    assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT]
    assert "**user** 2026-11-14" in receipt.outcomes[0].atom.content


def test_a_statement_has_importance_confidence_and_durability(memory: Memory) -> None:
    memory.capture([{"speaker": "Ann", "content": "I am allergic to nuts, never serve me any."}], session_id="s")
    memory.capture([{"speaker": "Ann", "content": "Perhaps I like the harbour."}], session_id="t")
    (severe,) = [atom for atom in memory.list() if atom.evidence]
    assert severe.importance > 0.6
    assert severe.confidence == 0.9
    assert severe.durability is Durability.STANDARD


def test_each_fact_is_new_superseding_contradicting_enriching_or_a_duplicate(memory: Memory) -> None:
    def say(words: str, session: str) -> Result:
        receipt = memory.capture([{"speaker": "Ann", "content": words}], session_id=session)
        return receipt.outcomes[-1].result

    assert say("My editor is vim on the laptop.", "a") is Result.NEW
    assert say("My editor is vim on the laptop.", "b") is Result.DUPLICATE
    assert say("My editor is vim on the laptop in the kitchen.", "c") is Result.ENRICHES
    claim: dict[str, Any] = {"subject": "Ann", "attribute": "employer"}
    memory.remember("Ann works for Acme.", value="Acme", valid_from=NOON - DAY, **claim)
    successor = memory.remember("Ann works for Bolt.", value="Bolt", **claim)
    assert successor.outcomes[0].result is Result.SUPERSEDES
    start = successor.atom.valid_from
    contradicting = memory.remember("Ann works for Cray.", value="Cray", valid_from=start, **claim)
    assert contradicting.outcomes[0].result is Result.CHALLENGED
    assert [str(relation.name) for relation in contradicting.atom.relations] == ["contradicts"]
    ended = {atom.value: atom.status for atom in memory.list(status=None) if atom.attribute}
    assert ended == {"Acme": Status.SUPERSEDED, "Bolt": Status.ACTIVE, "Cray": Status.CHALLENGED}


def test_extraction_runs_later_if_work_in_the_background_is_enabled(tmp_path: Path, clock: FixedClock) -> None:
    settings = Settings(watch=False, background=True, rhythm="every_n", batch_turns=3)
    with lamina.open(tmp_path / "vault", settings=settings, clock=clock) as memory:
        for n, words in enumerate(("My rent is 900 a month.", "My boat is moored in Faro.")):
            receipt = memory.capture([{"speaker": "Ann", "content": words}], session_id="s", key=str(n))
            assert dict(receipt.stages)["statements"] == "queued for extraction"
        assert memory.waiting() == 2
        receipts = memory.read_waiting()
        assert {outcome.result for receipt in receipts for outcome in receipt.outcomes} == {Result.NEW}
        assert memory.waiting() == 0


# Retrieval


def test_a_chat_model_may_rerank_the_best_twelve(tmp_path: Path) -> None:
    picks = completion({"picks": [{"note": 2, "fits": 90}]})
    with open_with_chat(tmp_path, picks, reranker="chat:", extractor="none") as (memory, requests):
        for place in ("Faro", "Oslo", "Bergen", "Genoa", "Malmo", "Cork", "Brest", "Bari") * 2:
            number = len(memory.list()) + 1
            memory.remember(f"{place} has a harbour crane {'and a tall red lamp ' * number}at the quay.")
        recalled = memory.recall("harbour crane", 6)
        assert len(recalled.hits) == 6
        assert len(requests) == 1
        assert str(requests[0]["messages"]).count("has a harbour crane") == RERANKED_COUNT == 12
        assert [hit for hit in recalled.hits if dict(hit.terms).get("reranker")] == [recalled.hits[0]]
        memory.recall("harbour crane", 6, fast=True)
        assert len(requests) == 1


def test_a_context_is_text_in_sections_within_a_budget(memory: Memory) -> None:
    remember(memory, "Ann prefers the harbour room.", kind="preference")
    remember(memory, "Always book the harbour room early.", kind="rule")
    remember(memory, "The harbour room has a view.")
    memory.capture([{"speaker": "Bo", "content": "What about the harbour room?"}], session_id="s")
    context = memory.recall("harbour room").context(600)
    # A rule is core and one of the hits: it is listed once, with the hits.
    assert re.findall(r"^## (\w+)", context, re.MULTILINE) == ["profile", "rules", "facts", "evidence"]
    assert (context.startswith("<memories>\n"), context.endswith("\n</memories>")) == (True, True)


# Pre-seeded memories


def test_core_memories_begin_every_context_without_a_query(memory: Memory) -> None:
    remember(memory, "The company is called Fern.", durability="core", importance=0.9)
    remember(memory, "The kettle is blue.")
    assert section(memory.recall("zebra").context(), "core")[0].endswith("The company is called Fern.")
    assert section(memory.beginning().text, "core")[0].endswith("The company is called Fern.")
    assert [atom.content for atom in memory.top()] == ["The company is called Fern."]


def test_core_memories_are_ordered_by_effective_importance_which_use_raises(memory: Memory, clock: FixedClock) -> None:
    seldom = remember(memory, "We sell in Peru.", durability="core", importance=0.55)
    often = remember(memory, "We sell in Chile.", durability="core", importance=0.5)
    assert [atom.id for atom in memory.top()] == [seldom, often]
    for _ in range(3):
        clock.at += DAY
        memory.cite([often])
    assert [atom.id for atom in memory.top()] == [often, seldom]
    assert [line[3:29] for line in section(memory.recall("zebra").context(), "core")] == [often, seldom]
    memory.pin(seldom)
    assert memory.top()[0].id == seldom


def test_a_core_memory_whose_value_changed_leaves(memory: Memory, clock: FixedClock) -> None:
    claim = {"subject": "Fern", "attribute": "office", "durability": "core"}
    remember(memory, "The office of Fern is in Rome.", value="Rome", **claim)
    remember(memory, "Ann moored her boat in Faro.", subject="Ann", durability="core")
    clock.at += DAY
    remember(memory, "The office of Fern is in Oslo.", value="Oslo", **claim)
    assert "The office of Fern is in Rome." not in {atom.content for atom in memory.top()}
    # A change that is only likely: the newer statement contradicts the older with little confidence.
    doubted = next(atom for atom in memory.top() if atom.subject == "Ann")
    newer = remember(memory, "Ann moored her boat in Porto.", subject="Ann")
    memory.relate(newer, "contradicts", doubted.id, 0.4)
    assert doubted.id not in {atom.id for atom in memory.top()}
    assert doubted.id in {hit.atom.id for hit in memory.recall("where is the boat of Ann moored?").hits}
    memory.pin(doubted.id)
    assert "possibly outdated" in section(memory.recall("zebra").context(), "core")[0]


# Memory blocks


def test_a_block_belongs_to_a_workstream_has_roles_and_is_compacted_above_fifteen(memory: Memory) -> None:
    block = memory.block("launch")
    for n in range(16):
        block.add("chief" if n % 2 else "cto", f"Note number {n} is short.")
    assert len(block.entries) < 16
    assert block.lines[-1] == "chief: Note number 15 is short."
    assert memory.block("hiring").lines == ()
    assert memory.recall("note number").hits == ()


def test_blocks_are_part_of_the_context_in_python_and_on_the_command_line(cli: Cli, memory: Memory) -> None:
    memory.block("launch").add("chief", "Freeze on Friday.")
    line = "- [launch] chief: Freeze on Friday."
    assert section(memory.recall("zebra").context(blocks=[memory.block("launch")]), "workstream") == [line]
    assert section(memory.beginning(blocks=[memory.block("launch")]).text, "workstream") == [line]
    cli("block", "add", "launch", "chief", "Freeze on Friday.")
    assert line in cli("recall", "zebra", "--context", "--block", "launch").out
    assert line not in cli("recall", "zebra", "--context").out


def test_blocks_are_part_of_the_context_over_http(memory: Memory) -> None:
    memory.block("launch").add("chief", "Freeze on Friday.")
    served = ServedMemory.for_memory(memory, RateLimits(10**6, 10**6))
    token = served.tokens.create("owner", "org:local", Right.ADMIN, Origin.HUMAN)[1]
    app = secure_app(make_api(served, ChangeFeed(served)))
    with TestClient(app, base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {token}"}) as client:
        answers = [
            client.get("/v1/recall", params={"q": "zebra", "blocks": ["launch", "hiring"]}),
            client.post("/v1/recall", json={"question": "zebra", "blocks": ["launch"]}),
            client.get("/v1/context", params={"blocks": "launch"}),
        ]
        for answer in answers:
            assert section(answer.json()["context"], "workstream") == ["- [launch] chief: Freeze on Friday."]
        assert "workstream" not in client.get("/v1/context").json()["context"]


def test_blocks_are_part_of_the_context_over_mcp(memory: Memory) -> None:
    memory.block("launch").add("chief", "Freeze on Friday.")
    server = make_server(lambda visit: memory.for_caller(actor=visit.client_name, ceiling="agent"))

    async def ask() -> str:
        async with Client(server, mode="2026-07-28", read_timeout_seconds=60) as client:
            result = await client.call_tool("recall", {"question": "zebra", "blocks": ["launch"]})
            return str(result.content[0])

    assert "[launch] chief: Freeze on Friday." in anyio.run(ask)


# Consolidation


def test_consolidation_runs_every_day_archives_what_is_stale_and_settles_contradictions(
    memory: Memory, clock: FixedClock
) -> None:
    assert memory.settings.dream_hours == 24
    stale = remember(memory, "The bus was late on Monday.", kind="interaction", importance=0.1)
    used = remember(memory, "The bus stops at the harbour.", importance=0.5)
    clock.at += 200 * DAY
    memory.cite([used])
    report = memory.upkeep.dream()
    assert memory.get(stale).status is Status.ARCHIVED
    assert memory.get(used).status is Status.ACTIVE
    signals, ageing = memory.engine.store.signals.get([used, stale])
    assert signals[used].recall_count == 1
    assert ageing[used].importance > ageing[stale].importance
    assert {"age", "probe"} <= {step.step for step in report.steps}


# Relations


@pytest.mark.parametrize("name", SEVEN_RELATIONS)
def test_each_of_the_seven_relations_is_stored_as_a_link(memory: Memory, name: str) -> None:
    first, second = remember(memory, "The shop page is new."), remember(memory, "The billing service is old.")
    memory.relate(first, name, second, 0.7)
    ((edge, other),) = memory.neighbours(first)
    assert (edge.name, edge.confidence, other.id) == (name, 0.7, second)


@pytest.mark.parametrize("name", SEVEN_RELATIONS)
def test_each_of_the_seven_relations_is_drawn_by_a_chat_model(tmp_path: Path, name: str) -> None:
    words = "The shop page runs on the billing service."
    answer = found_statements(found_statement(words, subject="shop page", relation=name, target="memory 1"))
    no_pairs = completion({"answers": []})
    with open_with_chat(tmp_path, answer, no_pairs) as (memory, requests):
        stored = remember(memory, "The billing service is run by Acme.", subject="billing service")
        memory.capture([{"speaker": "Ann", "content": words}], session_id="s")
        assert "\nmemory 1 | The billing service is run by Acme.\n" in requests[0]["messages"][-1]["content"]
        (atom,) = [atom for atom in memory.list() if atom.evidence]
        (relation,) = atom.relations
        # That a statement is no longer so is only likely if a model alone says it: it marks and ends nothing.
        drawn = "contradicts" if name == "supersedes" else name
        (hit,) = [hit for hit in memory.recall("who runs billing?").hits if hit.atom.id == stored]
        assert (relation.name, relation.target) == (drawn, stored)
        assert relation.confidence <= 0.5
        assert memory.get(stored).status is Status.ACTIVE
        assert ("possibly outdated" in hit.notes) == (drawn == "contradicts")


def test_a_chat_model_relates_statements_of_one_answer_and_wrong_targets_are_ignored(tmp_path: Path) -> None:
    answer = found_statements(
        found_statement("The pump broke in May.", subject="pump", relation="caused_by", target="statement 2"),
        found_statement("The filter was full of sand.", subject="filter", relation="supports", target="memory 7"),
        found_statement("We ordered another filter.", kind="novel", relation="likes", target="statement 3"),
    )
    turn = "The pump broke in May. The filter was full of sand. We ordered another filter."
    with open_with_chat(tmp_path, answer, completion({"answers": []})) as (memory, _):
        memory.capture([{"speaker": "Ann", "content": turn}], session_id="s")
        atoms = {atom.content: atom for atom in memory.list() if atom.evidence}
        (link,) = atoms["The pump broke in May."].relations
        assert (link.name, link.target) == ("caused_by", atoms["The filter was full of sand."].id)
        assert atoms["The filter was full of sand."].relations == ()
        assert (atoms["We ordered another filter."].kind, atoms["We ordered another filter."].relations) == ("fact", ())


def test_a_model_that_calls_everything_a_change_is_not_believed(tmp_path: Path) -> None:
    sentences = ("The pump is loud.", "The pump is green.", "The pump is heavy.")
    answer = found_statements(
        *(found_statement(words, relation="supersedes", target="memory 1") for words in sentences)
    )
    with open_with_chat(tmp_path, answer, completion({"answers": []})) as (memory, _):
        remember(memory, "The pump is in the cellar.")
        memory.capture([{"speaker": "Ann", "content": " ".join(sentences)}], session_id="s")
        assert memory.review.pairs() == []


def test_a_guessed_dependency_challenges_nothing_and_a_declared_one_does(memory: Memory, clock: FixedClock) -> None:
    claim = {"subject": "Fern", "attribute": "host"}
    host = remember(memory, "Fern is hosted by Acme.", value="Acme", **claim)
    guessed, declared = remember(memory, "The backup goes to Acme."), remember(memory, "The invoice comes from Acme.")
    memory.relate(guessed, "depends_on", host, 0.5)
    memory.relate(declared, "depends_on", host)
    clock.at += DAY
    remember(memory, "Fern is hosted by Bolt.", value="Bolt", **claim)
    assert (memory.get(guessed).status, memory.get(declared).status) == (Status.ACTIVE, Status.CHALLENGED)


def test_a_cause_stated_in_one_turn_is_linked_without_a_model(memory: Memory) -> None:
    words = "The pump broke in May. Therefore we bought a filter."
    memory.capture([{"speaker": "Ann", "content": words}], session_id="s")
    (effect,) = [atom for atom in memory.list() if atom.relations]
    assert [str(relation.name) for relation in effect.relations] == ["caused_by"]


@pytest.mark.parametrize("name", [name for name in SEVEN_RELATIONS if name != "supersedes"])
def test_a_relation_expands_the_context_of_a_vault_of_five_atoms(memory: Memory, name: str) -> None:
    page = remember(memory, "The shop page shows prices.")
    other = remember(memory, "Stripe settles at midnight.")
    for words in ("The kettle is blue.", "Bo sings.", "Rain falls."):
        remember(memory, words)
    memory.relate(page, name, other)
    recalled = memory.recall("what does the shop page show?")
    (line,) = section(recalled.context(), "related")
    assert line.endswith("] Stripe settles at midnight.")
    assert f"; {page} {name} this" in line
    (backwards,) = section(memory.recall("when does Stripe settle?").context(), "related")
    assert backwards.endswith("] The shop page shows prices.")
    assert f"; this {name} {other}" in backwards


def test_a_relation_changes_no_rank_of_what_was_found_anyway(memory: Memory) -> None:
    ids = [remember(memory, f"The shop page shows price {n}.") for n in range(5)]
    before = [hit.atom.id for hit in memory.recall("shop page", fast=True).hits]
    memory.relate(ids[0], "part_of", ids[3])
    assert [hit.atom.id for hit in memory.recall("shop page", fast=True).hits] == before


def test_the_confidence_of_a_lone_relation_decides_whether_and_where_it_is_shown(memory: Memory) -> None:
    page, till = remember(memory, "The shop page shows prices."), remember(memory, "The shop till prints.")
    lender, printer = remember(memory, "Stripe settles at midnight."), remember(memory, "Epson needs paper.")
    memory.relate(page, "depends_on", lender, 0.3)
    memory.relate(till, "depends_on", printer, 0.9)
    related = memory.recall("shop").related()
    assert [(link.atom.id, link.confidence) for link in related] == [(printer, 0.9), (lender, 0.3)]
    assert "confidence 0.3]" in memory.recall("shop page prices").context()
    memory.relate(page, "depends_on", lender, 0.1)
    assert lender not in {link.atom.id for link in memory.recall("shop").related()}


def test_related_memories_stay_within_the_budget_and_leave_room_for_hits(memory: Memory) -> None:
    page = remember(memory, "The shop page shows prices.")
    for n in range(12):
        memory.relate(page, "part_of", remember(memory, f"Stripe settles batch {n} at midnight in the evening."))
    assert len(memory.recall("shop page").related()) == 8
    for budget in (200, 400, 1000):
        context = memory.recall("shop page").context(budget, count=len)
        assert len(context) <= budget
        assert "The shop page shows prices." in context or budget < 300


def test_a_related_memory_is_current_and_never_a_pending_or_forgotten_one(memory: Memory, clock: FixedClock) -> None:
    page = remember(memory, "The shop page shows prices.")
    claim = {"subject": "Stripe", "attribute": "time"}
    old = remember(memory, "Stripe settles at midnight.", value="midnight", **claim)
    gone = remember(memory, "Epson needs paper.")
    held = remember(memory, "Cash is king.", origin="web")
    for other in (old, gone, held):
        memory.relate(page, "supports", other)
    clock.at += DAY
    new = remember(memory, "Stripe settles at noon.", value="noon", **claim)
    memory.forget(gone, "sold")
    assert [link.atom.id for link in memory.recall("shop page prices").related()] == [new]
    assert memory.recall("shop page prices", as_of=NOON).related() == ()


def test_a_related_memory_is_listed_once_also_if_it_is_core(memory: Memory) -> None:
    page = remember(memory, "The shop page shows prices.")
    settles = remember(memory, "Stripe settles at midnight.", durability="core")
    memory.relate(page, "depends_on", settles)
    for context in (memory.recall("shop page prices").context(), memory.beginning("shop page prices").text):
        assert context.count("Stripe settles at midnight.") == 1
        assert context.count("The shop page shows prices.") == 1


def test_a_guessed_contradiction_leads_to_the_newer_statement_only(memory: Memory, clock: FixedClock) -> None:
    older = remember(memory, "The till prints receipts.")
    clock.at += DAY
    newer = remember(memory, "Paper is abolished everywhere.")
    memory.relate(newer, "contradicts", older, 0.4)
    assert [link.atom.id for link in memory.recall("what prints receipts?").related()] == [newer]
    assert memory.recall("what is abolished?").related() == ()


def test_a_session_begins_with_what_its_topic_depends_on(memory: Memory) -> None:
    page = remember(memory, "The shop page shows prices.", durability="core")
    memory.relate(page, "depends_on", remember(memory, "Stripe settles at midnight."))
    start = memory.beginning("shop page prices")
    assert section(start.text, "related")[0].endswith("Stripe settles at midnight.")
    assert len(start.ids) == 2


def test_relations_of_other_scopes_are_not_followed(memory: Memory) -> None:
    cto = memory.for_caller(CTO)
    page = remember(memory, "The shop page shows prices.")
    note = remember(cto, "Stripe worries me.", private=True)
    cto.relate(note, "supports", page)
    assert [link.atom.id for link in cto.recall("shop page prices").related()] == [note]
    assert memory.recall("shop page prices").related() == ()


# The table


def test_every_row_of_the_table_names_a_test(request: pytest.FixtureRequest) -> None:
    page = (Path(__file__).parents[2] / "docs" / "seeds" / "lota.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\| A\d+ \|", line)]
    functions: dict[str, Callable[..., object]] = vars(request.module)
    assert [row[0] for row in rows] == [f"A{n}" for n in range(1, len(rows) + 1)]
    assert len(rows) > 50
    for row in rows:
        assert len(row) == 5, row
        assert row[3].startswith(("same", "better because ", "different because ")), row
        assert all(name.strip("`") in functions for name in row[4].split(", ")), row
