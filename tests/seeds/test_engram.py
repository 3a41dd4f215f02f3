"""What engram's description of its memories promises, tried on lamina: `docs/seeds/engram.md` names the tests."""

from __future__ import annotations

import json
import math
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from command_result import Cli
from lamina import Atom, FixedClock, Memory, Settings
from lamina.access import RateLimits, Right, ServedMemory
from lamina.atom.atom import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.provenance import TRUST, Origin
from lamina.atom.status import Status
from lamina.capture.store_reads import new_ids
from lamina.dream.dream import dream
from lamina.dream.probe_step import probe
from lamina.dream.report import StepReport
from lamina.dream.steps import STEPS
from lamina.errors import InvalidInput, TransitionRefused
from lamina.lifecycle.importance import WEIGHTS
from lamina.lifecycle.retention import RetentionMode, elastic, half_life_days, huber, l2, retention
from lamina.lifecycle.signals import AgeingSignals
from lamina.mcp.read_tools import get
from lamina.mcp.tool_arguments import GetArguments
from lamina.models.light_embedder import find_light_files
from lamina.server import run_server
from lamina.testing.admin import hits_of
from lamina.vectors.fisher_rao import frqad
from lamina.vectors.stored_vectors import pack, unpack
from llm_server import completion, scripted

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
PORT, AUDIT = "The API listens on port 8080.", "Run the audit before every release."
needs_light_model = pytest.mark.skipif(not find_light_files(), reason="the light model is not installed")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def open_light(root: Path, clock: FixedClock, **settings: Any) -> Memory:
    """Open a vault with the light embedding model, for what is about meaning."""
    chosen = Settings(embedder="light", watch=False, background=False, state_model="off", **settings)
    return lamina.open(root, clock=clock, watch=False, settings=chosen)


def later(memory: Memory, clock: FixedClock, **time: float) -> None:
    """Let time pass in a memory that stays in use."""
    clock.at += timedelta(**time)
    memory.remember(f"Someone was here at {clock.at:%Y-%m-%d %H:%M}.")


def step(memory: Memory, name: str, **options: Any) -> StepReport:
    report = memory.upkeep.dream([name], yes=not options.get("dry_run"), **options)
    (result,) = report.steps
    assert not result.failed
    return result


def actions(result: StepReport) -> list[tuple[str, AtomId]]:
    return [(str(move.action), move.atom_id) for move in result.moves]


def use(memory: Memory, clock: FixedClock, atom: Atom, times: int) -> None:
    for _ in range(times):
        clock.at += timedelta(days=1)
        memory.cite([atom.id])


def factor(memory: Memory, atom: Atom, name: str) -> float:
    return next(factor.value for factor in memory.why(atom.id).factors if factor.name == name)


# Layers


def test_memories_move_between_layers_gain_importance_and_are_archived(memory: Memory, clock: FixedClock) -> None:
    event, used = (memory.remember(f"Deployed version 2.{n}.", kind="event").atom for n in (1, 2))
    before = memory.why(used.id).importance
    use(memory, clock, used, 6)
    assert memory.why(used.id).importance > before
    assert ("promote", used.id) in actions(step(memory, "age"))
    later(memory, clock, days=120)
    assert ("archive", event.id) in actions(step(memory, "age"))
    assert memory.get(event.id).status is Status.ARCHIVED and memory.get(used.id).layer is Layer.SEMANTIC


def test_working_memory_becomes_episodic_after_half_an_hour_or_two_uses(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("The current task is the invoice page.", layer="working").atom
    clock.at += timedelta(minutes=29)
    used = memory.remember("The test of the invoice page fails.", layer="working").atom
    memory.cite([used.id])
    assert actions(step(memory, "age")) == []
    memory.cite([used.id])
    assert actions(step(memory, "age")) == [("promote", used.id)]
    clock.at += timedelta(minutes=2)
    step(memory, "age")
    assert memory.get(old.id).layer is memory.get(used.id).layer is Layer.EPISODIC


def test_episodes_fade_with_a_half_life_of_thirty_days_and_the_other_layers_do_not(memory: Memory) -> None:
    half_lives = {
        layer: memory.why(memory.remember(f"Note on {layer}.", layer=layer).atom.id).half_life_days
        for layer in ("episodic", "semantic", "procedural", "codebase", "profile")
    }
    assert half_lives.pop("episodic") == 30.0
    assert set(half_lives.values()) == {math.inf}


def test_a_codebase_becomes_compressed_knowledge_that_does_not_fade(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "pay.py").write_text("def charge(cents: int) -> None:\n    print(cents)\n")
    memory.capture_codebase(tmp_path / "app")
    (atom,) = [atom for atom in memory.list(kind="code") if atom.subject.endswith("pay.py")]
    assert atom.layer is Layer.CODEBASE and "charge" in atom.content and "print" not in atom.content
    assert memory.why(atom.id).retention == 1.0


# Memory types


def test_every_memory_has_a_type_beside_its_layer_and_can_be_listed_by_it(memory: Memory, cli: Cli) -> None:
    for kind in ("fact", "procedure", "event"):
        memory.remember(f"This is some {kind}.", kind=kind)
    memory.remember("Always use a real database in tests.", memory_type="procedure", layer="episodic")
    types = {atom.content: (atom.memory_type, atom.layer) for atom in memory.list()}
    assert types["This is some event."] == ("narrative", "episodic")
    assert types["Always use a real database in tests."] == ("procedure", "episodic")
    procedures = cli("list", "--memory-type", "procedure", "--json", "--vault", str(memory.root)).data["atoms"]
    assert {atom["content"] for atom in procedures} == {
        "This is some procedure.",
        "Always use a real database in tests.",
    }


@pytest.mark.parametrize(
    ("mode", "types"),
    [
        ("facts_only", {"fact"}),
        ("facts_plus_rules", {"fact", "procedure"}),
        ("full_context", {"fact", "procedure", "narrative"}),
        (None, {"fact", "procedure", "narrative"}),
    ],
)
def test_recall_takes_a_mode(memory: Memory, mode: str | None, types: set[str]) -> None:
    memory.remember(f"{PORT} This is a fact.")
    memory.remember(f"{PORT} This is how to restart it.", kind="procedure")
    memory.remember(f"{PORT} This is a story.", kind="event")
    recalled = memory.recall("port API", mode=mode) if mode else memory.recall("port API")
    assert {hit.atom.memory_type.value for hit in recalled.hits} == types


def test_types_come_from_the_file_from_extraction_and_from_the_caller(memory: Memory) -> None:
    file = memory.root / "atoms" / "old.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("---\nkind: procedure\n---\nRestart the queue first.\n", encoding="utf-8")
    memory.upkeep.sync()
    memory.capture([{"speaker": "Ann", "content": "I live in Lisbon now."}], session_id="s1", wait=True)
    by_content = {atom.content: atom.memory_type.value for atom in memory.list(limit=None) if not atom.is_segment}
    assert by_content["Restart the queue first."] == "procedure"
    assert by_content["I live in Lisbon now."] == "fact"
    assert memory.remember("A long day.", memory_type="narrative").atom.memory_type == "narrative"


# Statuses


def test_every_status_has_its_meaning_and_only_live_memories_answer(memory: Memory) -> None:
    atoms = {
        status: memory.remember(f"Server {n} is in rack {n}.").atom
        for n, status in enumerate(("active", "challenged", "invalidated", "merged", "superseded"))
    }
    for status, atom in atoms.items():
        if status != "active":
            memory.update_status(atom.id, status, f"it is {status}")
    answered = {hit.atom.id for n in range(5) for hit in memory.recall(f"rack of server {n}").relevant}
    assert atoms["active"].id in answered
    assert answered.isdisjoint(atoms[status].id for status in ("invalidated", "merged", "superseded"))
    doubted = memory.recall("rack of server 1", include=["challenged"]).hits
    assert atoms["challenged"].id in {hit.atom.id for hit in doubted if hit.notes}


def test_transitions_are_audited_with_reason_and_time(memory: Memory, clock: FixedClock) -> None:
    atom = memory.remember(PORT).atom
    clock.at += timedelta(hours=1)
    memory.update_status(atom.id, "challenged", reason="conflicting info from new source")
    created, challenged = memory.status_history(atom.id)
    assert (created.old, created.new) == (None, Status.ACTIVE)
    assert (challenged.old, challenged.new, challenged.at) == (Status.ACTIVE, Status.CHALLENGED, clock.at)
    assert challenged.reason == "conflicting info from new source"
    memory.update_status(atom.id, "invalidated", reason="it was 8081")
    with pytest.raises(TransitionRefused):
        memory.update_status(atom.id, "merged", reason="out of order")
    assert [transition.new for transition in memory.status_history(atom.id)][-1] is Status.INVALIDATED


def test_a_newer_value_supersedes_an_older_one(memory: Memory, clock: FixedClock) -> None:
    old = memory.remember("Billing runs on port 80.", subject="billing", attribute="port", value="80").atom
    clock.at += timedelta(days=1)
    new = memory.remember("Billing runs on port 81.", subject="billing", attribute="port", value="81").atom
    assert memory.get(old.id).status is Status.SUPERSEDED and memory.get(old.id).superseded_by == (new.id,)


# Importance


def test_the_nine_factors_are_shown_and_add_up_everywhere(memory: Memory, cli: Cli) -> None:
    atom = memory.remember("My grandmother died in March, I was so sad.", kind="event", importance=0.6).atom
    report = memory.why(atom.id)
    assert [factor.name for factor in report.factors] == list(WEIGHTS) and len(WEIGHTS) == 9
    assert sum(factor.contribution for factor in report.factors) == pytest.approx(report.importance)
    shown = cli("get", atom.id, "--why", "--vault", str(memory.root)).out
    data = cli("get", atom.id, "--why", "--json", "--vault", str(memory.root)).data["why"]
    assert all(f"\n{name} " in shown for name in WEIGHTS) and "archival" in shown
    assert data["importance"] == pytest.approx(sum(factor["contribution"] for factor in data["factors"]), abs=1e-3)
    assert [factor["name"] for factor in data["factors"]] == list(WEIGHTS)
    document = get(memory, GetArguments(id=atom.id, why=True)).document.data()
    assert document["why"]["importance"] == round(report.importance, 4)


def test_http_and_the_web_page_show_the_factors(memory: Memory) -> None:
    atom = memory.remember(PORT, kind="event").atom
    served = ServedMemory.for_memory(memory, RateLimits(1000, 1000))
    _, token = served.tokens.create("owner", memory.scope, Right.ADMIN, Origin.HUMAN)

    def read(url: str) -> str:
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request) as reply:
            return str(reply.read().decode())

    with run_server(served, port=0) as (_, url):
        why = json.loads(read(f"{url.rstrip('/')}/v1/atoms/{atom.id}/why"))
        page = read(f"{url.rstrip('/')}/atom/{atom.id}")
    assert [factor["name"] for factor in why["factors"]] == list(WEIGHTS)
    assert "the sum of nine factors" in page and "activation" in page


def test_access_recency_stability_and_activation_follow_the_uses(memory: Memory, clock: FixedClock) -> None:
    steady, burst = (memory.remember(f"Rule {n}.", kind="event").atom for n in (1, 2))
    assert factor(memory, steady, "access") == factor(memory, steady, "activation") == 0.0
    memory.cite([burst.id])
    memory.cite([burst.id])
    memory.cite([burst.id])
    use(memory, clock, steady, 3)
    assert factor(memory, steady, "access") == pytest.approx(math.log(4) / math.log(11))
    assert factor(memory, steady, "stability") == 0.75 > factor(memory, burst, "stability")
    assert factor(memory, steady, "activation") > factor(memory, burst, "activation") > 0.0
    clock.at += timedelta(days=30)
    assert factor(memory, steady, "recency") == pytest.approx(0.5)


def test_emotion_is_computed_from_the_words_or_given(memory: Memory) -> None:
    sad = memory.remember("The accident was terrible and I was scared.").atom
    calm = memory.remember(PORT).atom
    given = memory.remember("We met on a Tuesday.", valence=0.9).atom
    assert sad.valence < -0.5 and calm.valence == 0.0 and given.valence == 0.9
    assert factor(memory, sad, "emotion") > factor(memory, calm, "emotion") == 0.0
    assert memory.revise(sad.id, "The accident was harmless.", reason="it was").valence > sad.valence
    with pytest.raises(InvalidInput):
        memory.remember("It rained.", valence=2)


def test_layers_and_sources_have_their_weight(memory: Memory) -> None:
    semantic, episodic = (memory.remember(f"On {layer}.", layer=layer).atom for layer in ("semantic", "episodic"))
    assert factor(memory, semantic, "layer") > factor(memory, episodic, "layer")
    agent = memory.remember("The build is green.", origin="agent").atom
    assert (factor(memory, semantic, "trust"), factor(memory, agent, "trust")) == (1.0, 0.7)
    assert TRUST[Origin.IMPORT] == TRUST[Origin.DOCUMENT] == 0.5


def test_independent_confirmations_count(memory: Memory) -> None:
    for session in ("s1", "s2"):
        memory.capture([{"speaker": "Ann", "content": "I live in Lisbon now."}], session_id=session, wait=True)
    (atom,) = [atom for atom in memory.list() if not atom.is_segment and "Lisbon" in atom.content]
    assert memory.confirmations(atom.id) == 1 and factor(memory, atom, "confirmations") > 0.3


def test_importance_orders_the_core_and_what_fits_into_a_context(memory: Memory, clock: FixedClock) -> None:
    first, second = (memory.remember(f"Principle {n}: test it.", kind="principle").atom for n in (1, 2))
    plain = [memory.remember(f"Seat {n} is in row {n}.", importance=0.1).atom for n in range(6)]
    dear = memory.remember("Ann is allergic to nuts.", importance=1.0).atom
    for n in range(4):
        memory.remember(f"Row {n} is empty.", importance=0.1)
    use(memory, clock, second, 3)
    assert [atom.id for atom in memory.top(2)] == [second.id, first.id]
    budget = 200
    context = memory.beginning(budget=budget).text
    assert dear.content in context and not all(atom.content in context for atom in plain)


# Surprise


@needs_light_model
def test_news_gains_importance_and_what_is_known_loses_some(tmp_path: Path, clock: FixedClock) -> None:
    with open_light(tmp_path / "vault", clock) as memory:
        memory.remember("Ann takes her coffee black, without sugar.")
        memory.embed()
        known = memory.remember("Ann drinks her coffee black and without any sugar.").atom
        news = memory.remember("The harbour bridge closes for repairs in March.").atom
        chosen = memory.remember("A comet was seen.", importance=0.3).atom
        assert known.importance < 0.5 < news.importance <= 0.8
        assert known.surprise is not None and news.surprise is not None and known.surprise < 0.1 < news.surprise
        assert chosen.importance == 0.3 and chosen.surprise is not None
        assert memory.get(news.id).surprise == news.surprise
        captured = memory.capture("Remember that the ferry is cancelled on Sunday.", wait=True)
        assert any(outcome.atom.surprise for outcome in captured.outcomes if not outcome.atom.is_segment)


def test_a_repetition_is_a_duplicate_and_not_stored_twice(memory: Memory) -> None:
    first = memory.remember(PORT)
    again = memory.remember("the API listens on port 8080")
    assert again.outcomes[0].result == "duplicate" and again.atom.id == first.atom.id


# Retention


def test_l2_and_every_other_curve_halve_after_one_half_life(memory: Memory, clock: FixedClock) -> None:
    atom = memory.remember("Deployed version 2.1.", kind="event").atom
    clock.at += timedelta(days=30)
    for mode in (RetentionMode.L2, RetentionMode.HUBER, RetentionMode.ELASTIC):
        assert retention(memory.get(atom.id), AgeingSignals(), clock.at, mode) == pytest.approx(0.5)


def test_huber_is_l2_near_term_and_then_a_straight_line() -> None:
    assert [huber(t) for t in (0.2, 0.9, 1.0)] == [l2(t) for t in (0.2, 0.9, 1.0)]
    assert huber(1.2) - huber(1.4) == pytest.approx(huber(1.4) - huber(1.6))
    assert Settings().retention == "huber"


def test_elastic_keeps_the_strong_and_lets_the_weak_go_sooner() -> None:
    assert elastic(2.0, 1.5) / 1.5 > elastic(2.0, 1.0) > elastic(2.0, 0.5) / 0.5
    assert elastic(10.0, 0.5) == 0.0


def test_the_curve_is_a_setting(tmp_path: Path, clock: FixedClock) -> None:
    left = {}
    for mode in ("l2", "huber", "power"):
        settings = Settings(embedder="none", watch=False, background=False, retention=mode)
        with lamina.open(tmp_path / mode, clock=FixedClock(NOON), watch=False, settings=settings) as memory:
            atom = memory.remember("Deployed.", kind="event").atom
            assert isinstance(memory.engine.clock, FixedClock)
            memory.engine.clock.at += timedelta(days=60)
            left[mode] = memory.why(atom.id).retention
    assert left["huber"] < left["l2"] < left["power"]


def test_uses_strengthen_retention_by_a_third_at_most(memory: Memory, clock: FixedClock) -> None:
    atom = memory.remember("Deployed version 2.1.", kind="event").atom
    long_ago = clock.at + timedelta(days=900)

    def left(count: int) -> float:
        signals = AgeingSignals(count=count, uses=(clock.at,) if count else ())
        return retention(atom, signals, long_ago)

    assert 0.0 == left(0) < left(1) < left(10) <= 0.3 and left(10**6) == pytest.approx(0.3)


def test_extracted_statements_fade_three_times_as_fast_as_a_persons_own(memory: Memory) -> None:
    event = memory.remember("Lunch was at noon.", kind="event").atom
    memory.capture([{"speaker": "Ann", "content": "I live in Lisbon now."}], session_id="s1", wait=True)
    extracted = next(atom for atom in memory.list() if atom.evidence).with_(layer=Layer.EPISODIC)
    assert half_life_days(event, AgeingSignals()) == 30.0
    assert half_life_days(extracted, AgeingSignals()) == pytest.approx(10.0)


# Promotion and pins


def test_promotion_needs_five_uses_and_an_importance_of_seven_tenths(memory: Memory, clock: FixedClock) -> None:
    used, dull = (
        memory.remember(f"Habit {n}.", layer="episodic", importance=value).atom for n, value in ((1, 0.6), (2, 0.1))
    )
    use(memory, clock, used, 4)
    assert actions(step(memory, "age")) == []
    use(memory, clock, used, 1)
    use(memory, clock, dull, 5)
    assert actions(step(memory, "age")) == [("promote", used.id)]


def test_a_person_promotes_and_demotes(memory: Memory, cli: Cli) -> None:
    atom = memory.remember("Deployed version 2.1.", kind="event").atom
    assert cli("promote", atom.id, "--vault", str(memory.root)).code == 0
    assert memory.get(atom.id).layer is Layer.SEMANTIC
    assert memory.upkeep.demote(atom.id).layer is Layer.EPISODIC


def test_a_pin_protects_from_forgetting(memory: Memory, clock: FixedClock) -> None:
    pinned, loose = (memory.remember(f"Old event {n}.", kind="event").atom for n in (1, 2))
    memory.pin(pinned.id)
    later(memory, clock, days=400)
    assert actions(step(memory, "age")) == [("archive", loose.id)]


# The dream cycle


def test_the_cycle_runs_all_steps_in_order_and_one_undo_reverts_it(memory: Memory, clock: FixedClock) -> None:
    atom = memory.remember("Old event.", kind="event").atom
    later(memory, clock, days=400)
    report = memory.upkeep.dream()
    assert [step.step for step in report.steps] == list(STEPS)
    steps = [step for step in STEPS if step not in {"topics", "guidelines"}]
    assert steps == ["age", "merge", "cards", "bridge", "probe", "drift", "prune", "precision"]
    assert all(step.examined for step in report.steps if step.step in steps)
    assert memory.get(atom.id).status is Status.ARCHIVED
    memory.undo(report.batch)
    assert memory.get(atom.id).status is Status.ACTIVE


def test_steps_say_how_much_they_examined_and_why_nothing_moved(memory: Memory) -> None:
    memory.remember(PORT)
    examined = {step.step: step.examined for step in memory.upkeep.dream().steps}
    assert examined["age"] == ("1 memories were due for a check; none changed: semantic memories are not archived (1)")
    assert "fewer than 5" in examined["merge"] and "insights are off" in examined["bridge"]
    assert "no chat model" in examined["probe"] and "no folders of code" in examined["drift"]


@needs_light_model
def test_five_statements_of_one_meaning_become_a_synthesis(tmp_path: Path, clock: FixedClock) -> None:
    what = ("is starting", "is preparing", "wants to open", "is opening", "will soon open")
    with open_light(tmp_path / "vault", clock) as memory:
        sources = [memory.remember(f"Jon {words} his own dance studio.").atom for words in what]
        memory.remember("The printer is out of paper.")
        memory.embed()
        result = step(memory, "merge")
        (synthesis,) = memory.list(kind="synthesis")
        assert "above 0.7: 1" in result.examined
        assert set(synthesis.derived_from) <= {atom.id for atom in sources} and len(synthesis.derived_from) >= 5
        assert all(memory.get(atom.id).status is Status.ACTIVE for atom in sources)


def test_entities_with_enough_data_get_a_card(memory: Memory) -> None:
    for n, fact in enumerate(("plays chess", "lives in Lisbon", "rides a bike", "works at Acme", "has two cats")):
        memory.remember(f"Clara {fact}.", subject="Clara", session_id=f"s{n}")
    step(memory, "cards")
    (page,) = [atom for atom in memory.list(kind="entity") if atom.subject == "Clara"]
    assert "plays chess" in page.content and memory.path_of(page.id) is not None


@needs_light_model
def test_similar_names_that_nothing_links_become_a_question(tmp_path: Path, clock: FixedClock) -> None:
    with open_light(tmp_path / "vault", clock, insights=True) as memory:
        for what in ("restores antique clocks and watches", "repairs old clocks", "sells spare parts of old clocks"):
            memory.remember(f"We met Martha, who {what}.")
            memory.remember(f"We met Viktor, who {what}.")
        memory.embed()
        result = step(memory, "bridge")
        assert [move.action for move in result.moves] == ["propose"], result.examined
        (insight,) = memory.list(kind="insight", status="constrained")
        assert {"Martha", "Viktor"} <= set(insight.entities)


def test_old_beliefs_are_probed_and_a_person_decides(memory: Memory, clock: FixedClock) -> None:
    belief = memory.remember("Bob lives in Oslo.").atom
    clock.at += timedelta(days=1)
    newer = memory.remember("Bob lives in Rome.").atom
    later(memory, clock, days=30)
    answer = {"contradictions": [{"line": 1, "was": "Oslo", "now": "Rome"}]}
    engine = memory.engine
    with scripted(completion(answer)) as server:
        context = engine.models.make_dream_context(
            engine.store, memory.scopes[0], new_ids(engine.ids, clock.at), lambda: False
        )
        dream([replace(context, chat=server.chat())], {"probe": probe}, engine.store, clock.at)
    (pair,) = memory.review.pairs()
    assert {pair.a.id, pair.b.id} == {belief.id, newer.id}
    assert memory.get(belief.id).importance == belief.importance


def test_claims_about_files_that_are_gone_are_challenged(tmp_path: Path, clock: FixedClock) -> None:
    (tmp_path / "app" / "src").mkdir(parents=True)
    (tmp_path / "app" / "src" / "main.py").write_text("print()\n")
    settings = Settings(embedder="none", watch=False, background=False, roots={"org:local": (tmp_path / "app",)})
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, settings=settings) as memory:
        stale = memory.remember("The entry point is `src/start.py`.").atom
        right = memory.remember("The entry point is `src/main.py`.").atom
        step(memory, "drift")
        assert memory.get(stale.id).status is Status.CHALLENGED
        assert memory.get(right.id).status is Status.ACTIVE


def test_old_access_logs_are_pruned_and_the_journal_is_kept(memory: Memory, clock: FixedClock) -> None:
    memory.remember(PORT)
    recalled = memory.recall("which port?")
    later(memory, clock, days=91)
    commits = memory.engine.store.journal.count(memory.scopes)
    step(memory, "prune")
    assert hits_of(memory.engine.store.admin.recalls, recalled.id, memory.scope) is None
    assert memory.engine.store.journal.count(memory.scopes) == commits


# Archival


def test_all_conditions_of_archival_are_needed(memory: Memory, clock: FixedClock) -> None:
    event = memory.remember("Event one took place.", kind="event").atom
    memory.capture([{"speaker": "Ann", "content": "We had soup on Tuesday."}], session_id="s1", wait=True)
    spared = [
        memory.remember("Event two took place.", kind="event", importance=0.9).atom,
        memory.remember("Event three was terrible, I cried.", kind="event", importance=0.6).atom,
        memory.remember(AUDIT, kind="procedure").atom,
        memory.remember("Event four took place.", kind="event", pinned=True).atom,
        memory.remember("Event five took place.", kind="event", layer="semantic").atom,
    ]
    used = memory.remember("Event six took place.", kind="event").atom
    use(memory, clock, used, 3)
    later(memory, clock, days=89 - 3)
    assert actions(step(memory, "age")) == []
    later(memory, clock, days=30)
    archived = {atom_id for action, atom_id in actions(step(memory, "age")) if action == "archive"}
    segment = next(atom for atom in memory.list(status=None, limit=None) if atom.is_segment)
    assert event.id in archived and segment.id in archived
    assert archived.isdisjoint({used.id, *(atom.id for atom in spared)})
    assert memory.recall("event one").hits[0].atom.id == event.id


def test_a_simulation_shows_what_a_later_dream_would_archive(memory: Memory, cli: Cli, clock: FixedClock) -> None:
    atom = memory.remember("Event one took place.", kind="event").atom
    soon, late = (f"{clock.at + timedelta(days=days):%Y-%m-%d}" for days in (30, 200))
    assert actions(step(memory, "age", dry_run=True, at=soon)) == []
    assert actions(step(memory, "age", dry_run=True, at=late)) == [("archive", atom.id)]
    assert memory.get(atom.id).status is Status.ACTIVE and memory.engine.store.journal.count(memory.scopes) == 1
    with pytest.raises(InvalidInput, match="dry_run"):
        memory.upkeep.dream(["age"], at=late)
    with pytest.raises(InvalidInput, match="future"):
        memory.upkeep.dream(["age"], dry_run=True, at="2020-01-01")
    shown = cli("dream", "--dry-run", "--step", "age", "--at", "2090-01-01", "--vault", str(memory.root)).out
    assert "age: 1 archive" in shown and "importance 0.2" in shown


def test_scores_at_day_ten_and_day_twenty_differ(memory: Memory, clock: FixedClock) -> None:
    atom = memory.remember("Event one took place.", kind="event").atom
    step(memory, "age")
    scores = []
    for _ in range(2):
        later(memory, clock, days=10)
        step(memory, "age")
        state = memory.engine.store.signals.get([atom.id])[1][atom.id]
        scores.append((state.retention, state.importance))
    assert scores[0][0] > scores[1][0] and scores[0][1] > scores[1][1]


# Vectors


@pytest.mark.parametrize(
    ("bits", "ratio", "fidelity"), [(32, 1.0, 1.0), (8, 3.9, 0.9999), (4, 7.5, 0.97), (2, 14.0, 0.59)]
)
def test_vectors_in_fewer_bits_are_smaller_and_still_alike(bits: int, ratio: float, fidelity: float) -> None:
    vectors = np.random.default_rng(7).standard_normal((8, 384)).astype(np.float32)
    stored = pack(vectors, bits)
    decoded = unpack(stored)
    cosines = (vectors * decoded).sum(axis=1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(decoded, axis=1)
    assert len(pack(vectors, 32).data) / len(stored.data) >= ratio
    assert cosines.min() >= fidelity - 1e-4


@needs_light_model
def test_faded_memories_get_smaller_vectors_and_the_file_shrinks(tmp_path: Path, clock: FixedClock) -> None:
    with open_light(tmp_path / "vault", clock) as memory:
        memory.remember_many([{"content": f"Event {n} had {n * 7} guests.", "kind": "event"} for n in range(400)])
        memory.embed()
    with open_light(tmp_path / "vault", clock) as memory:
        before = memory.upkeep.stats()
        later(memory, clock, days=70)
        memory.upkeep.dream(["age", "precision"], yes=True)
        after = memory.upkeep.stats()
        assert before["vector_bytes"].keys() == {"32 bits", "token states"} and "2 bits" in after["vector_bytes"]
        assert after["bytes"]["index.db"] < 0.7 * before["bytes"]["index.db"] and after["unused_bytes"] < 100_000
        assert memory.recall("which event had 70 guests?").hits[0].text == "Event 10 had 70 guests."


def test_distances_between_two_precisions_are_defined() -> None:
    vector = np.random.default_rng(7).standard_normal(64)
    same, coarse = (frqad(vector, 1.0, 32, vector, 1.0, bits) for bits in (32, 2))
    assert same == pytest.approx(0.0) and coarse > 0.0
