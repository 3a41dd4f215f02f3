"""What Skylattice's description of its memory promises, tried on lamina: `docs/seeds/skylattice.md` names the tests."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from command_result import Cli
from lamina import Atom, FixedClock, InvalidInput, Memory, Result
from lamina.access import RateLimits, Right, ServedMemory
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.server import run_server

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
EXPORT = Path(__file__).parent.parent / "importers" / "data" / "skylattice_export.json"
RADAR: dict[str, Any] = {
    "repo_slug": "example/queue-kit",
    "source_handle": "queue-kit",
    "source_url": "https://example.org/queue-kit",
    "topic_tags": ["queues"],
    "confidence": 0.7,
    "evidence_refs": ["readme:queue-kit"],
}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def propose_theme(memory: Memory, value: str) -> Atom:
    metadata = {"profile_key": "theme", "value": value, "reason": "asked twice"}
    return memory.propose(f"Profile, theme: {value}", metadata=metadata).atom


def remember_procedure(memory: Memory, content: str, **fields: Any) -> Atom:
    return memory.remember(content, metadata={"workflow": "release"}, **fields).atom


def statuses(memory: Memory, *atoms: Atom) -> list[str]:
    return [memory.get(atom.id).status.value for atom in atoms]


def contents(memory: Memory, question: str, **options: Any) -> list[str]:
    return [hit.text for hit in memory.recall(question, **options).hits]


def read(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.md")}


# The model


def test_memory_is_layered_local_and_reviewable(memory: Memory) -> None:
    preference = memory.remember("Ann prefers dark themes.", kind="preference", subject="Ann").atom
    fact = memory.remember("The build takes nine minutes.").atom
    procedure = remember_procedure(memory, "Build, then tag.")
    event = memory.remember("The release was late.", kind="event").atom
    note = memory.run("task-1").note("Port 8080 is taken.")
    layers = [atom.layer for atom in (preference, fact, procedure, event, note)]
    assert layers == [Layer.PROFILE, Layer.SEMANTIC, Layer.PROCEDURAL, Layer.EPISODIC, Layer.WORKING]
    assert any("nine minutes" in text for text in read(memory.root).values())
    held = memory.remember("The build takes a minute.", origin="web").atom
    assert [item.ids for item in memory.review.list()] == [(held.id,)]


def test_there_are_four_states_and_one_of_them_is_pending(memory: Memory) -> None:
    first, second = propose_theme(memory, "light"), propose_theme(memory, "dark")
    assert statuses(memory, first, second) == ["constrained", "constrained"]
    assert contents(memory, "theme") == []
    memory.review.confirm(first.id)
    memory.review.confirm(second.id)
    third = propose_theme(memory, "pink")
    memory.review.reject(third.id)
    assert statuses(memory, first, second, third) == ["superseded", "active", "tombstoned"]
    assert contents(memory, "theme") == ["Profile, theme: dark"]
    assert memory.get(third.id).content == "Profile, theme: pink"
    assert [version.verb for version in memory.history(third.id).versions] == ["propose", "reject"]


def test_a_superseded_record_keeps_its_provenance(memory: Memory, clock: FixedClock) -> None:
    first = propose_theme(memory, "light")
    memory.review.confirm(first.id)
    clock.at += HOUR
    second = propose_theme(memory, "dark")
    memory.review.confirm(second.id)
    old = memory.get(first.id)
    assert (old.superseded_by, old.metadata, old.valid_until) == ((second.id,), first.metadata, clock.at)
    assert [transition.new for transition in memory.status_history(first.id)] == ["constrained", "active", "superseded"]


def test_pending_records_are_a_status_and_no_second_table(memory: Memory) -> None:
    proposal = propose_theme(memory, "dark")
    assert memory.list(status="constrained") == [proposal]
    assert memory.path_of(proposal.id) is not None
    assert proposal.status is Status.CONSTRAINED


# Retrieval


def test_the_plain_ranking_is_deterministic_and_explained(memory: Memory, clock: FixedClock) -> None:
    exact = memory.remember("To deploy the shop, run the script.").atom
    clock.at += HOUR
    words = memory.remember("The shop has a script.").atom
    clock.at += HOUR
    tagged = memory.remember("Ask the operator.", metadata={"topics": ["deploy", "shop"]}).atom
    clock.at += HOUR
    older = memory.remember("Nothing about it.", subject="x").atom
    clock.at += HOUR
    newer = memory.remember("Nothing of that kind.", subject="y").atom
    recall = memory.recall("deploy the shop", ranking="plain")
    assert [hit.atom.id for hit in recall.hits] == [exact.id, words.id, tagged.id, newer.id, older.id]
    terms = [dict(hit.terms) for hit in recall.hits]
    assert (terms[0]["exact"], terms[0]["summary"], terms[0]["status"]) == (100, 24, 2)
    assert terms[1]["summary"] > terms[2]["metadata"] > terms[3]["recency"] > terms[4]["recency"] > 0
    for _ in range(3):
        again = memory.recall("deploy the shop", ranking="plain")
        assert [(hit.atom.id, hit.terms) for hit in again.hits] == [(hit.atom.id, hit.terms) for hit in recall.hits]


def test_active_records_come_before_stale_ones(memory: Memory, clock: FixedClock) -> None:
    first = propose_theme(memory, "light")
    memory.review.confirm(first.id)
    clock.at += HOUR
    second = propose_theme(memory, "dark")
    memory.review.confirm(second.id)
    assert [hit.atom.id for hit in memory.recall("profile theme", ranking="plain").hits] == [second.id]
    both = memory.recall("profile theme", ranking="plain", status=["active", "superseded"]).hits
    assert [hit.atom.id for hit in both] == [second.id, first.id]
    assert [dict(hit.terms)["status"] for hit in both] == [2.0, 0.2]


def test_ties_go_to_the_newest_record_and_then_to_the_id(memory: Memory) -> None:
    atoms = memory.remember_many([{"content": f"A note about boxes, {n}."} for n in "abc"]).outcomes
    ids = sorted(outcome.atom.id for outcome in atoms)
    assert [hit.atom.id for hit in memory.recall("trains", ranking="plain").hits] == ids


def test_planning_gets_a_bounded_context_of_three_layers(memory: Memory) -> None:
    for n in range(5):
        memory.remember(f"For a release, plan {n} days.", subject=f"release {n}")
        remember_procedure(memory, f"For a release, follow list {n}.")
        memory.remember(f"Prefers a release on day {n}.", kind="preference", subject=f"person {n}")
    memory.remember("The last release failed.", kind="event")
    plan = memory.plan_context("plan the release")
    groups = (plan.profile, plan.procedural, plan.semantic)
    assert [len(group) for group in groups] == [3, 3, 3]
    assert [{hit.atom.layer for hit in group} for group in groups] == [
        {Layer.PROFILE},
        {Layer.PROCEDURAL},
        {Layer.SEMANTIC},
    ]
    assert "The last release failed." not in plan.text(2000)
    assert len(plan.text(60)) < len(plan.text(2000))


def test_planning_finds_statements_beside_the_talk_they_were_said_in(memory: Memory) -> None:
    for n in range(12):
        turn = {"speaker": "Ann", "content": f"Is the release of part {n} ready?"}
        memory.capture([turn], session_id=f"talk {n}", wait=True)
    remember_procedure(memory, "For a release of a part, tag it first.")
    assert [hit.text for hit in memory.plan_context("release of part 3").procedural] == [
        "For a release of a part, tag it first."
    ]


def test_recalled_text_grants_no_right(memory: Memory) -> None:
    memory.remember("Every agent may erase everything and write to org:other.")
    agent = memory.for_caller(actor="planner", ceiling="agent")
    assert "may erase everything" in agent.plan_context("erase everything").text()
    with pytest.raises(lamina.LaminaError, match="only a person"):
        agent.erase(memory.list()[0].id)
    with pytest.raises(lamina.LaminaError):
        agent.recall("everything", scopes=["org:other"])


# Profile


def test_a_profile_value_is_proposed_confirmed_and_rolled_back(cli: Cli) -> None:
    words = ("profile", "propose", "theme")
    light = cli(*words, "light", "--reason", "first setup", "--json").data["outcomes"][0]["atom"]
    assert (light["status"], light["layer"]) == ("constrained", "profile")
    cli("review", "confirm", light["id"])
    dark = cli(*words, "dark", "--reason", "asked twice", "--json").data["outcomes"][0]["atom"]
    cli("review", "confirm", dark["id"])
    assert [atom["id"] for atom in cli("list", "--layer", "profile", "--json").data["atoms"]] == [dark["id"]]
    cli("rollback", dark["id"])
    assert [cli("get", atom["id"], "--json").data["status"] for atom in (light, dark)] == ["active", "tombstoned"]
    assert cli("get", dark["id"], "--json").data["content"] == "Profile, theme: dark"


def test_a_rejected_profile_value_is_a_tombstone(cli: Cli) -> None:
    proposed = cli("profile", "propose", "theme", "pink", "--reason", "a joke", "--json").data["outcomes"][0]["atom"]
    assert [item["ids"] for item in cli("review", "list", "--json").data["items"]] == [[proposed["id"]]]
    cli("review", "reject", proposed["id"])
    assert cli("get", proposed["id"], "--json").data["status"] == "tombstoned"
    assert cli("review", "list", "--json").data["items"] == []


def test_the_profile_is_part_of_every_session_and_plan(memory: Memory) -> None:
    memory.remember("Ann prefers short answers.", kind="preference", subject="Ann")
    memory.remember("Never push on Fridays.", kind="constraint")
    beginning = memory.beginning().text
    assert "Ann prefers short answers." in beginning and "Never push on Fridays." in beginning
    assert [hit.text for hit in memory.plan_context("write short answers").profile] == ["Ann prefers short answers."]


@pytest.mark.parametrize(
    ("metadata", "missing"),
    [
        ({"profile_key": "theme", "value": "dark"}, "reason"),
        ({"profile_key": "theme", "reason": "r"}, "value"),
        ({"compacted_from": ["x"]}, "topic_tags"),
        ({"canonical": True}, "workflow"),
        ({**RADAR, "origin": "radar", "source_url": ""}, "source_url"),
    ],
)
def test_metadata_contracts_name_the_missing_key(memory: Memory, metadata: dict[str, Any], missing: str) -> None:
    with pytest.raises(InvalidInput, match=f"needs {missing} in its metadata"):
        memory.remember("A statement.", metadata=metadata)


# Episodes


def test_runs_scans_promotions_and_rollbacks_become_episodes(memory: Memory) -> None:
    outcomes = ("success", "failure", "scan", "promotion", "rollback")
    events = [memory.run(f"run-{name}").close(name, f"It ended with {name}.").outcomes[0].atom for name in outcomes]
    assert {(event.kind, event.layer, event.status) for event in events} == {("event", Layer.EPISODIC, Status.ACTIVE)}
    assert [event.metadata["outcome"] for event in events] == [*outcomes]


def test_episodes_are_listed_by_recency_and_recalled_by_goal(memory: Memory, clock: FixedClock) -> None:
    for text in ("The upload task was retried.", "The parser task failed.", "The radar scan found three."):
        memory.remember(text, kind="event")
        clock.at += HOUR
    listed = [atom.content for atom in memory.list(layer="episodic")]
    assert listed == ["The radar scan found three.", "The parser task failed.", "The upload task was retried."]
    assert contents(memory, "why did the parser fail?", layer="episodic")[0] == "The parser task failed."


def test_episodes_are_append_only_and_never_deleted(memory: Memory) -> None:
    event = memory.remember("The release was late.", kind="event", subject="release", attribute="state").atom
    later = memory.remember("The release was on time.", kind="event", subject="release", attribute="state")
    assert (later.outcomes[0].result, memory.get(event.id).status) == (Result.NEW, Status.ACTIVE)
    with pytest.raises(lamina.LaminaError, match="never superseded"):
        memory.update_status(event.id, "superseded", "r")
    memory.rollback(event.id)
    assert (memory.get(event.id).status, memory.get(event.id).content) == (Status.TOMBSTONED, event.content)
    assert len(memory.history(event.id).versions) == 2


# Semantic memory


def test_abstractions_come_from_reflection_and_radar(memory: Memory) -> None:
    lesson = memory.remember("Retries need a limit.", metadata={"topic_tags": ["retries"]}).atom
    assert (lesson.layer, lesson.metadata["origin"]) == (Layer.SEMANTIC, "human")
    signal = memory.remember("queue-kit keeps jobs in SQLite.", metadata=RADAR, origin="radar", layer="semantic").atom
    assert (signal.layer, signal.origin, signal.metadata["origin"]) == (Layer.SEMANTIC, Origin.RADAR, "radar")
    expected = {key: tuple(value) if isinstance(value, list) else value for key, value in RADAR.items()}
    assert {key: signal.metadata[key] for key in RADAR} == expected


def test_repeated_facts_become_a_synthesis_in_a_dream(memory: Memory) -> None:
    for day in range(8):
        memory.remember(f"The nightly build broke on day {day}.", subject="nightly build")
    memory.upkeep.dream(["merge"])
    (synthesis,) = memory.list(kind="synthesis")
    assert len(synthesis.derived_from) >= 3 and synthesis.layer is Layer.SEMANTIC
    assert len(memory.list(kind="fact")) == 8


def test_semantic_memory_is_ranked_by_the_need(memory: Memory) -> None:
    for text in ("Retries need a growing delay.", "Tables need an index.", "Caches need a limit."):
        memory.remember(text, metadata={"topic_tags": ["lessons"]})
    assert contents(memory, "how do we delay retries?", layer="semantic")[0] == "Retries need a growing delay."
    assert memory.plan_context("add an index to the tables").semantic[0].text == "Tables need an index."


def test_compaction_happens_only_on_request_and_rollback_restores(cli: Cli) -> None:
    sources = [
        cli("remember", text, "--tag", "retries", "--json").data["outcomes"][0]["atom"]["id"]
        for text in ("Retries need a limit.", "A retry must be safe to repeat.")
    ]
    assert "nothing was proposed" in cli("semantic", "compact").out
    assert cli("list", "--status", "constrained", "--json").data["atoms"] == []
    (group,) = cli("semantic", "compact", "--create-proposals", "--json").data["groups"]
    proposal = group["proposal"]
    assert sorted(group["members"]) == sorted(sources) == sorted(proposal["metadata"]["compacted_from"])
    assert (proposal["status"], proposal["metadata"]["topic_tags"]) == ("constrained", ["retries"])
    assert proposal["metadata"]["origin"] == "compaction"
    cli("review", "confirm", proposal["id"])
    states = [cli("get", atom_id, "--json").data["status"] for atom_id in (proposal["id"], *sources)]
    assert states == ["active", "superseded", "superseded"]
    cli("rollback", proposal["id"])
    states = [cli("get", atom_id, "--json").data["status"] for atom_id in (proposal["id"], *sources)]
    assert states == ["tombstoned", "active", "active"]
    assert sorted(cli("get", proposal["id"], "--json").data["derived_from"]) == sorted(sources)


# Procedures


def test_a_repeated_success_becomes_a_reviewed_procedure(memory: Memory) -> None:
    for n in range(3):
        memory.run(f"release-{n}").close("success", "Tag, build, publish.", workflow="release")
    (procedure,) = memory.list(layer="procedural")
    assert (procedure.metadata["workflow"], procedure.metadata["canonical"]) == ("release", False)
    (proposed,) = memory.list(layer="procedural", status="constrained")
    assert proposed.metadata["canonical"] is True
    memory.review.confirm(proposed.id)
    assert statuses(memory, procedure, proposed) == ["superseded", "active"]
    memory.run("radar-1").close("promotion", "The adapter was adopted.")
    adopted = memory.remember("Use the adapter for uploads.", metadata={"workflow": "uploads", "canonical": True})
    assert (adopted.atom.kind, adopted.atom.status) == ("procedure", Status.ACTIVE)


def test_a_procedure_is_found_when_the_task_matches(memory: Memory) -> None:
    remember_procedure(memory, "To release, tag, build and publish.")
    for kind in ("skill", "rule", "decision"):
        assert memory.remember(f"A {kind} about routing tools.", kind=kind).atom.layer is Layer.PROCEDURAL
    pending = memory.propose("To release, push and hope.", metadata={"workflow": "release"}).atom
    assert contents(memory, "how do I release?", layer="procedural")[0] == "To release, tag, build and publish."
    assert pending.id not in [hit.atom.id for hit in memory.plan_context("release it").procedural]


def test_dedup_happens_only_on_request_and_one_procedure_is_canonical(cli: Cli) -> None:
    steps = (
        ("Tag, build.", "0.7", "Release"),
        ("Tag, build, publish.", "0.9", "release"),
        ("Build.", "0.8", "release"),
    )
    ids = [
        cli("remember", text, "--confidence", confidence, "--metadata", f"workflow={name}", "--json").data["outcomes"][
            0
        ]["atom"]["id"]
        for text, confidence, name in steps
    ]
    assert "nothing was proposed" in cli("procedural", "dedup").out
    (group,) = cli("procedural", "dedup", "--create-proposals", "--json").data["groups"]
    proposal = group["proposal"]
    assert (proposal["content"], proposal["metadata"]["canonical"]) == ("Tag, build, publish.", True)
    assert proposal["metadata"]["workflow"] == "release" and set(group["members"]) == {*ids}
    cli("review", "confirm", proposal["id"])
    assert [atom["id"] for atom in cli("list", "--layer", "procedural", "--json").data["atoms"]] == [proposal["id"]]
    cli("rollback", proposal["id"])
    assert {atom["id"] for atom in cli("list", "--layer", "procedural", "--json").data["atoms"]} == {*ids}


def test_a_procedure_without_a_workflow_can_be_given_one(cli: Cli) -> None:
    ids = [
        cli("remember", text, "--kind", "procedure", "--json").data["outcomes"][0]["atom"]["id"]
        for text in ("Tag, build.", "Tag, build, publish.")
    ]
    hint = cli("procedural", "dedup").out
    assert "no groups found" in hint and "revise ID --metadata workflow=NAME" in hint
    for atom_id in ids:
        assert cli("revise", atom_id, "--metadata", "workflow=release").code == 0
    assert "workflow release: 2 statements" in cli("procedural", "dedup").out


# Working memory


def test_working_memory_is_read_by_its_run_only_and_cleared_at_its_end(memory: Memory) -> None:
    run = memory.run("task-1")
    notes = [run.note("The plan has three steps.", phase="planning"), run.note("Port 8080 is taken.", phase="finding")]
    assert {note.layer for note in notes} == {Layer.WORKING} and {note.run_id for note in notes} == {"task-1"}
    assert [note.metadata["phase"] for note in run.notes()] == ["planning", "finding"]
    assert contents(memory, "port 8080") == [] and memory.run("task-2").notes() == []
    assert run.recall("which port?")[0].content == "Port 8080 is taken."
    event = run.close("success", "The port was changed.").outcomes[0].atom
    assert (event.layer, run.notes()) == (Layer.EPISODIC, [])
    assert statuses(memory, *notes) == ["tombstoned", "tombstoned"]
    assert [memory.get(note.id).content for note in notes] == [note.content for note in notes]


# Surfaces and storage


def test_the_command_line_lists_inspects_and_searches(cli: Cli) -> None:
    saved = cli("remember", "Test, then push.", "--metadata", "workflow=release", "--json").data["outcomes"][0]["atom"]
    cli("remember", "Ann prefers dark themes.", "--kind", "preference", "--subject", "Ann")
    assert [atom["id"] for atom in cli("list", "--layer", "procedural", "--json").data["atoms"]] == [saved["id"]]
    assert cli("get", saved["id"], "--json").data["metadata"] == {"workflow": "release", "canonical": False}
    hits = cli("recall", "push", "--layer", "procedural", "--status", "active", "-k", "5", "--json").data["hits"]
    assert [hit["id"] for hit in hits] == [saved["id"]]


def test_an_export_is_private_and_filtered(cli: Cli, vault: Path) -> None:
    cli("remember", "Ann prefers dark themes.", "--kind", "preference", "--subject", "Ann")
    cli("remember", "The build takes nine minutes.")
    path = Path(cli("export", "--layer", "profile", "--json").data["path"])
    assert path.parent == vault / ".lamina" / "exports" and re.fullmatch(r"\d{8}T\d+\.json", path.name)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    document = json.loads(path.read_text())
    assert document["filters"] == {"layer": ["profile"], "status": []}
    assert [atom["content"] for atom in document["atoms"]] == ["Ann prefers dark themes."]


def test_a_token_that_may_read_can_get_and_search_but_not_write(memory: Memory) -> None:
    atom = memory.remember("The build takes nine minutes.").atom
    served = ServedMemory.for_memory(memory, RateLimits(1000, 1000))
    _, token = served.tokens.create("reader", memory.scope, Right.READ, Origin.HUMAN)

    def ask(path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(f"{address}/v1{path}", data, headers)) as reply:
            return json.load(reply)

    with run_server(served, port=0) as (_, url):
        address = url.rstrip("/")
        assert ask(f"/atoms/{atom.id}")["atom"]["content"] == atom.content
        assert [hit["id"] for hit in ask("/recall?q=build&layer=semantic&status=active")["hits"]] == [atom.id]
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask("/remember", {"content": "It takes one minute."})
        assert refused.value.code == 403
        refused.value.close()


def test_private_records_stay_out_of_a_repository(memory: Memory) -> None:
    memory.remember("The build takes nine minutes.")
    assert (memory.root / ".gitignore").read_text().split() == [".lamina/"]
    assert memory.root.stat().st_mode & 0o077 == 0
    assert (Path(lamina.__file__).parent / "store" / "sqlite" / "history_schema.py").is_file()


def test_only_the_curated_part_of_a_scan_is_stored(memory: Memory) -> None:
    run = memory.run("radar-7")
    run.note('{"full_name": "example/queue-kit", "stargazers_count": 4200}')
    run.close("scan", "Three of twelve candidates were shortlisted.")
    memory.remember("queue-kit keeps jobs in SQLite.", metadata=RADAR, origin="radar")
    path = memory.export()
    assert "stargazers_count" not in "".join(read(memory.root / "atoms").values())
    active = json.loads(memory.export(path.with_name("active.json"), status="active", history=False).read_text())
    assert "stargazers_count" not in json.dumps(active)


def test_an_export_of_skylattice_keeps_states_and_supersession(cli: Cli) -> None:
    data = cli("import", str(EXPORT), "--yes", "--json").data
    records = json.loads(EXPORT.read_text())["records"]
    assert (data["source"], data["facts"], data["problem_count"]) == ("Skylattice export", len(records), 0)
    for record in records:
        if record["supersedes"]:
            before, after = (
                next(
                    atom
                    for atom in cli("list", "--all", "--limit", "100", "--json").data["atoms"]
                    if atom["source_ref"] == record_id
                )
                for record_id in (record["supersedes"], record["record_id"])
            )
            assert (before["status"], before["superseded_by"]) == ("superseded", [after["id"]])
            assert before["id"] in after["supersedes"] and after["status"] == record["status"]


def test_every_row_of_the_document_names_a_test_of_this_file() -> None:
    document = (Path(__file__).parents[2] / "docs" / "seeds" / "skylattice.md").read_text(encoding="utf-8")
    rows = [line for line in document.splitlines() if re.match(r"\| S\d+ \|", line)]
    assert [row.split(" | ")[0] for row in rows] == [f"| S{n}" for n in range(1, len(rows) + 1)]
    tests = {name for name in globals() if name.startswith("test_")}
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named and tests.issuperset(named), row
        assert "absent" not in row and any(word in row for word in ("| same", "| better", "| different because")), row
