"""Every statement of the fourth seed text, about the life of a memory, executed on a real vault.

`docs/seeds/remnic.md` has the table. Covers `lamina.dream.guidelines_step`, `lamina.dream.topics`,
`lamina.engine.atom_listing`, `lamina.lifecycle.standing`, `lamina.lifecycle.action_policy`,
`lamina.review.ageing_signals`, `lamina.review.ageing_signals` and `lamina.capture.extractors`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from command_result import Cli
from lamina import Atom, FixedClock, InvalidInput, Memory, Refused, Result, Settings, Status
from lamina.atom.kinds import KINDS, memory_kind_of
from lamina.capture.box import IDLE_TIMEOUT, MAX_STATEMENTS, MIN_TOPIC_OVERLAP
from lamina.capture.extractors import read_guidelines
from lamina.capture.queued_extraction import ExtractionPolicy, ExtractionSchedule
from lamina.capture.urgency_patterns import sounds_important
from lamina.dream.change_policy import filter_plan
from lamina.dream.profile_page import MAX_LINES
from lamina.dream.step import StepPlan
from lamina.lifecycle.action_policy import IMPORTANT, MIN_CONFIDENCE, PolicyAction, PolicyContext, PolicyRuling, decide
from lamina.lifecycle.ageing import COOL_AFTER_DAYS, COOL_THRESHOLD, WARM_THRESHOLD, tier_value
from lamina.lifecycle.heat import heat_inputs
from lamina.lifecycle.relation_strength import DECAY_WINDOW, TRAVERSAL_THRESHOLD
from lamina.lifecycle.relation_strength import MIN_CONFIDENCE as LOWEST_LINK
from lamina.lifecycle.signals import AgeingSignals, Verification
from lamina.lifecycle.standing import STATE_WEIGHTS, LifecycleState, PolicyClass
from lamina.models.light_embedder import find_light_files
from lamina.recall.graph_walk import pagerank
from lamina.store.queue import SessionBacklog
from lamina.store.signals_and_ageing import AgeingState
from llm_server import Json, completion, scripted

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)
CATEGORIES = (
    "fact",
    "preference",
    "correction",
    "entity",
    "decision",
    "relationship",
    "principle",
    "commitment",
    "moment",
    "skill",
)
PAGE = Path(__file__).parents[2] / "docs" / "seeds" / "remnic.md"


@dataclass(frozen=True, slots=True)
class SeedVault:
    """A vault with a clock that the test moves."""

    memory: Memory
    clock: FixedClock

    def remember(self, content: str, **fields: Any) -> Atom:
        self.clock.at += timedelta(minutes=1)
        return self.memory.remember(content, **fields).atom

    def capture(self, *sentences: str, session: str = "s") -> list[Atom]:
        self.clock.at += timedelta(minutes=1)
        turns = [{"speaker": "Ann", "content": sentence} for sentence in sentences]
        outcomes = self.memory.capture(turns, session_id=session, wait=True).outcomes
        return [outcome.atom for outcome in outcomes if outcome.atom.evidence]

    def live(self, days: int, *, step: int = 30) -> None:
        """Let days go by in which the memory is used and dreams."""
        for _ in range(0, days, step):
            self.clock.at += step * DAY
            self.remember(f"The weather of {self.clock.at:%Y-%m-%d} was fine.", kind="event")
            self.memory.upkeep.dream(yes=True)

    def file(self, atom: Atom) -> Path:
        path = self.memory.path_of(atom.id)
        assert path is not None
        return self.memory.root / path

    def page(self, subject: str) -> Atom:
        (page,) = (page for page in self.memory.list(kind="entity", limit=None) if page.subject == subject)
        return page


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[SeedVault]:
    clock = FixedClock(NOON)
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as memory:
        yield SeedVault(memory, clock)


# The write path


def test_the_signal_scan_is_local_and_takes_less_than_ten_milliseconds() -> None:
    turns = ["Actually, I moved to Porto.", "I always drink tea.", "The weather is fine."] * 40
    start = time.thread_time()
    important = [sounds_important(turn) for turn in turns]
    assert (time.thread_time() - start) / len(turns) < 0.010
    assert important == [True, True, False] * 40


def test_turns_wait_in_a_queue_until_a_trigger_fires() -> None:
    policy, known = ExtractionPolicy(), 100

    def backlog(count: int, minutes: int, *, urgent: bool = False) -> SessionBacklog:
        return SessionBacklog(lamina.Scope("org:local"), "s", count, NOON - timedelta(minutes=minutes), urgent)

    assert not policy.is_due(backlog(4, 14), known, NOON)
    assert policy.is_due(backlog(1, 0, urgent=True), known, NOON)
    assert policy.is_due(backlog(5, 0), known, NOON)
    assert policy.is_due(backlog(1, 15), known, NOON)
    assert not ExtractionPolicy(ExtractionSchedule.EVERY_N).is_due(backlog(4, 99, urgent=True), known, NOON)
    assert not ExtractionPolicy(ExtractionSchedule.TIME_BASED).is_due(backlog(50, 1), known, NOON)


def test_extraction_is_one_call_that_returns_typed_statements_with_confidence(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    statement: Json = {
        "quote": "I moved to Lisbon",
        "content": "Ann moved to Lisbon.",
        "subject": "Ann",
        "attribute": "home",
        "value": "Lisbon",
        "date": "",
    }
    settings = {"embedder": "none", "chat": "openai:m", "chat_key": "key", "chat_retries": 0}
    with scripted(completion({"statements": [statement]})) as server:
        settings["chat_url"] = f"{server.address}/v1"
        with lamina.open(tmp_path / "v", watch=False, settings=Settings.model_validate(settings)) as memory:
            receipt = memory.capture([{"speaker": "Ann", "content": "I moved to Lisbon."}], session_id="s", wait=True)
            assert len(server.asked) == 1
            stated = [outcome.atom for outcome in receipt.outcomes if outcome.atom.evidence]
            assert all(atom.kind in KINDS and 0 < atom.confidence <= 1 for atom in stated)


def test_every_category_is_a_kind(vault: SeedVault) -> None:
    for category in CATEGORIES:
        vault.remember(f"A {category} about tea number {len(category)}.", kind=category, subject=category)
        assert [atom.kind for atom in vault.memory.list(kind=category)] == [category]


def test_the_same_words_are_stored_once_in_any_script_and_the_sentence_becomes_evidence(vault: SeedVault) -> None:
    (first,) = vault.capture("The alarm code box is green.")
    repeated = vault.memory.capture(
        [{"speaker": "Ann", "content": "the alarm code   box is green!"}], session_id="t", wait=True
    )
    assert Result.DUPLICATE in {outcome.result for outcome in repeated.outcomes}
    assert len(vault.memory.get(first.id).evidence) == 2
    for text, other in (("Чай вкусный.", "Кофе крепкий."), ("我喜欢茶。", "我喜欢咖啡。")):
        results = [vault.memory.remember(words).outcomes[0].result for words in (text, other, text)]
        assert results == [Result.NEW, Result.NEW, Result.DUPLICATE]


def test_memories_that_existed_before_are_known_to_the_duplicate_check(vault: SeedVault) -> None:
    file = vault.memory.root / "atoms" / "by-hand.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text("---\nkind: fact\n---\nThe cellar is dry.\n", encoding="utf-8")
    vault.memory.upkeep.sync()
    assert vault.memory.remember("The cellar is DRY").outcomes[0].result is Result.DUPLICATE
    vault.memory.upkeep.rebuild()
    assert vault.memory.remember("the cellar is dry.").outcomes[0].result is Result.DUPLICATE


def test_a_statement_is_one_markdown_file_in_a_folder_of_its_day(vault: SeedVault) -> None:
    atom = vault.remember("Ann prefers tea.", kind="preference", subject="Ann")
    path = vault.memory.path_of(atom.id) or ""
    assert re.fullmatch(r"atoms/2026-03-02/preference-[0-9a-z]{26}\.md", path)
    assert vault.file(atom).read_text(encoding="utf-8").startswith("---\n")


def test_the_words_are_kept_verbatim_beside_the_statements(vault: SeedVault) -> None:
    words = "Well... my   office is in Cork, you know!"
    (statement,) = vault.capture(words)
    segment = vault.memory.get(statement.evidence[0].segment)
    assert "my   office is in Cork, you know!" in segment.content


def test_a_new_memory_is_found_immediately(vault: SeedVault) -> None:
    vault.remember("The spare key hangs behind the clock.")
    assert vault.memory.recall("where is the spare key?").hits[0].text == "The spare key hangs behind the clock."


# Boxes and traces


SAILING = ("Ann sails the old dinghy on the lake.", "Ann repaired the sail of the dinghy.")
BREAD = ("Ann bakes rye bread with walnuts.", "Ann feeds her sourdough for rye bread.", "The rye bread rises.")


def test_statements_join_the_open_box_of_their_topic_or_open_one(vault: SeedVault) -> None:
    sailing, bread = vault.capture(*SAILING), vault.capture(*BREAD)
    back = vault.capture("Ann sold the old dinghy on the lake.")
    assert len({atom.box_id for atom in bread}) == 1
    assert sailing[0].box_id == sailing[1].box_id == back[0].box_id != bread[0].box_id
    assert (0.35, timedelta(minutes=30), 50) == (MIN_TOPIC_OVERLAP, IDLE_TIMEOUT, MAX_STATEMENTS)


def test_a_box_is_sealed_when_it_is_idle_or_full_and_is_a_file(vault: SeedVault) -> None:
    (first, *_) = vault.capture(*SAILING)
    assert vault.memory.list(kind="box") == []
    vault.clock.at += IDLE_TIMEOUT
    vault.capture(*(f"Crate number {n} holds jars of plum jam." for n in range(MAX_STATEMENTS + 2)), session="t")
    vault.clock.at += timedelta(minutes=2)
    vault.memory.read_waiting()
    sizes = {box.id: len(box.derived_from) for box in vault.memory.list(kind="box")}
    assert sizes[first.box_id or ""] == 2  # type: ignore[index]
    assert MAX_STATEMENTS in sizes.values()
    assert (vault.memory.root / f"boxes/2026-03-02/box-{first.box_id}.md").exists()


def test_boxes_of_a_recurring_topic_share_a_trace(vault: SeedVault) -> None:
    for day, texts in ((0, SAILING), (2, SAILING), (3, BREAD)):
        vault.clock.at = NOON + day * DAY
        vault.capture(*(f"{text[:-1]} again, {day} times." for text in texts), session=f"s{day}")
        vault.clock.at += IDLE_TIMEOUT
        vault.memory.read_waiting()
    third, second, first = vault.memory.list(kind="box")
    assert first.trace_id == second.trace_id == first.id != third.trace_id


def test_the_rest_of_a_box_is_context_and_boxes_stay_out_of_lists(vault: SeedVault) -> None:
    vault.capture(*SAILING)
    vault.clock.at += IDLE_TIMEOUT
    vault.memory.read_waiting()
    context = vault.memory.recall("who repaired the sail?", 1).context(2000)
    assert SAILING[0] in context.partition("## box\n")[2]
    assert "box" not in {atom.kind for atom in vault.memory.list(status=None, limit=None)}


# Consolidation


def test_consolidation_is_due_after_three_extractions(vault: SeedVault) -> None:
    vault.memory.upkeep.dream()
    due = []
    for n in range(3):
        vault.capture(f"Shelf number {n} holds plates.", session=f"s{n}")
        due.append(vault.memory.upkeep.dream_is_due())
    assert due == [False, False, True]


def test_consolidation_merges_and_finds_contradictions(vault: SeedVault) -> None:
    for n in range(3):
        vault.remember(f"The kiln has shelf number {n}.", subject="kiln")
    vault.remember("The kiln stands in Cork.", subject="kiln", attribute="place", value="Cork", observed_at=NOON)
    other = vault.memory.remember(
        "The kiln stands in Bath.", subject="kiln", attribute="place", value="Bath", observed_at=NOON, origin="agent"
    )
    assert {outcome.result for outcome in other.outcomes} & {Result.CHALLENGED, Result.SUPERSEDED}
    report = vault.memory.upkeep.dream(yes=True)
    (synthesis,) = vault.memory.list(kind="synthesis")
    assert len(synthesis.derived_from) >= 3
    vault.memory.undo(report.batch)
    assert vault.memory.list(kind="synthesis") == []


def test_pages_of_one_name_are_merged_and_follow_the_statements(vault: SeedVault) -> None:
    for n in range(10):
        vault.remember(f"Clara Berg threw pot number {n}.", subject="Clara Berg" if n % 2 else "Berg, Clara")
        vault.remember(f"It rained on Sunday number {n}.", entities=["Sunday"])
    vault.memory.upkeep.dream()
    pages = {page.subject for page in vault.memory.list(kind="entity")} - {"topics", "profile", "guidelines"}
    assert len(pages) == 1
    page = vault.page(pages.pop())
    assert all(f"|2026-03-02]] Clara Berg threw pot number {n}." in page.content for n in range(10))
    vault.remember("Clara Berg opened a shop.", subject="Clara Berg")
    vault.memory.upkeep.dream()
    assert "opened a shop" in vault.memory.get(page.id).content


def test_the_profile_page_has_a_maximum_of_lines(vault: SeedVault) -> None:
    statements = [
        {"content": f"Likes tea number {n}.", "kind": "preference", "attribute": f"tea {n}"} for n in range(320)
    ]
    vault.memory.remember_many(statements)
    vault.memory.upkeep.dream()
    text = (vault.memory.root / "profile.md").read_text(encoding="utf-8")
    generated = text.partition("lamina: begin -->")[2].partition("<!-- lamina: end")[0].strip().splitlines()
    assert 250 < len(generated) <= MAX_LINES + 2
    assert generated[-1] == "and older ones"


def test_resolved_commitments_end_after_ninety_days_and_open_ones_stay(vault: SeedVault) -> None:
    kept = vault.remember("Ann will call Bob.", kind="commitment", subject="Ann", attribute="call")
    done = vault.remember("Ann will pay Eve.", kind="commitment", subject="Ann", attribute="pay")
    vault.memory.resolve(done.id)
    vault.live(60)
    assert vault.memory.get(done.id).status is Status.ACTIVE
    vault.live(60)
    assert vault.memory.get(done.id).status is Status.TOMBSTONED
    assert vault.memory.get(kept.id).status is Status.ACTIVE
    assert vault.memory.get(done.id).content == "Ann will pay Eve."


def test_a_guess_expires_after_thirty_days_unless_it_is_confirmed_and_its_text_is_kept(vault: SeedVault) -> None:
    guess = vault.remember("Ann may like opera.", confidence=0.3)
    other = vault.remember("Ann may own a boat.", confidence=0.3)
    assert guess.confidence_tier == "speculative"
    vault.memory.revise(other.id, confidence=0.9, reason="she showed it")
    vault.live(40, step=20)
    assert vault.memory.get(guess.id).status is Status.TOMBSTONED
    assert vault.memory.get(guess.id).content == "Ann may like opera."
    assert vault.memory.get(other.id).status is Status.ACTIVE
    restored = vault.memory.update_status(guess.id, "active", "she does")
    assert restored.status is Status.ACTIVE


def test_a_memory_is_archived_only_if_every_condition_holds(vault: SeedVault) -> None:
    old = {"importance": 0.05, "layer": "episodic"}
    plain = vault.remember("The tram was late.", kind="event", **old)
    important = vault.remember("The tram hit a tree.", kind="event", layer="episodic", importance=0.9)
    used = vault.remember("The tram is blue.", kind="event", **old)
    for _ in range(3):
        vault.memory.cite([used.id])
    preference = vault.remember("Ann prefers trams.", kind="preference", attribute="travel", **old)
    correction = vault.remember("The tram was not late.", kind="correction", **old)
    young = vault.remember("The tram of spring was late.", kind="event", **old)
    vault.live(60)
    assert vault.memory.get(plain.id).status is Status.ACTIVE
    vault.memory.cite([young.id])
    vault.live(330, step=33)
    statuses = [vault.memory.get(atom.id).status for atom in (plain, important, used, preference, correction)]
    assert statuses == [Status.ARCHIVED, *[Status.ACTIVE] * 4]


def test_the_identity_page_condenses_its_oldest_reflections(vault: SeedVault) -> None:
    for n in range(40):
        vault.remember(f"I am patient, time {n}. " + "I wait. " * 40, kind="insight", subject="agent")
    vault.memory.upkeep.dream()
    text = (vault.memory.root / "identity.md").read_text(encoding="utf-8")
    assert "## Earlier, in a line each" in text
    assert len(text.encode()) < 15_000


# Topics


def test_topics_are_stored_on_a_page_and_browsable(vault: SeedVault, cli: Cli) -> None:
    for n in range(3):
        vault.remember(f"The kiln fired batch {n}.", subject="Kiln", tags=["pottery"])
    vault.remember("Ann reads maps.", subject="Ann", tags=["maps"])
    vault.capture(*SAILING)
    vault.clock.at += IDLE_TIMEOUT
    vault.memory.upkeep.dream()
    counts = {topic.name: topic.count for topic in vault.memory.topics(50)}
    assert {"kiln": 3, "pottery": 3, "dinghy": 2}.items() <= counts.items()
    text = (vault.memory.root / "topics.md").read_text(encoding="utf-8")
    assert "]] pottery: 3 statements" in text
    assert {atom.subject for atom in vault.memory.list(topic="pottery")} == {"Kiln"}
    assert sorted(atom.content for atom in vault.memory.list(topic="dinghy")) == sorted(SAILING)
    root = str(vault.memory.root)
    assert cli("topics", "--vault", root, "--json").data["topics"][0]["count"] >= 3
    assert len(cli("list", "--topic", "pottery", "--vault", root, "--json").data["atoms"]) == 3


def test_an_erased_topic_leaves_the_topics_page(vault: SeedVault) -> None:
    atoms = [vault.remember(f"Zorblat fired batch {n}.", subject="Zorblat") for n in range(3)]
    vault.memory.upkeep.dream()
    assert "zorblat" in (vault.memory.root / "topics.md").read_text(encoding="utf-8")
    vault.memory.erase([atom.id for atom in atoms], "private")
    assert not [
        file for file in vault.memory.root.rglob("*.md") if "zorblat" in file.read_text(encoding="utf-8").lower()
    ]
    vault.remember("The kiln is hot.", tags=["heat"])
    vault.remember("The oven is hot.", tags=["heat"])
    vault.memory.upkeep.dream()
    assert "]] heat: 2 statements" in (vault.memory.root / "topics.md").read_text(encoding="utf-8")


# Guidelines


def test_guidelines_are_learnt_from_use_and_kept_in_a_file_that_people_edit(vault: SeedVault) -> None:
    vault.memory.remember_many([{"content": f"Crate {n} is empty."} for n in range(25)])
    report = vault.memory.upkeep.dream()
    page = vault.memory.root / "guidelines.md"
    line = "fact: 0 of 25 were ever used: keep it short"
    assert line in report.guidelines
    assert f"- {line}" in page.read_text(encoding="utf-8")
    page.write_text(page.read_text(encoding="utf-8") + "\n- Keep room numbers.\n", encoding="utf-8")
    vault.memory.upkeep.sync()
    vault.memory.cite([atom.id for atom in vault.memory.list(kind="fact", limit=20)])
    vault.memory.upkeep.dream()
    assert "20 of 25 were ever used: keep it whole" in page.read_text(encoding="utf-8")
    lines = read_guidelines(vault.memory.engine.store, vault.memory.scope)
    assert lines[0] == "Keep room numbers."
    assert lines[1].startswith("fact: 20 of 25 were ever used")
    assert "Keep room numbers" not in str(vault.memory.recall("keep room numbers").hits)


def test_extraction_follows_the_guidelines_of_people_and_not_of_agents(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    settings = {"embedder": "none", "chat": "openai:m", "chat_key": "key", "chat_retries": 0}
    answers = [completion({"statements": []}) for _ in range(2)]
    with scripted(*answers) as server:
        settings["chat_url"] = f"{server.address}/v1"
        with lamina.open(tmp_path / "v", watch=False, settings=Settings.model_validate(settings)) as memory:
            memory.remember_many([{"content": f"Crate {n} is empty."} for n in range(25)])
            memory.upkeep.dream(["guidelines"])
            memory.capture([{"speaker": "Ann", "content": "My office is in Cork."}], session_id="a", wait=True)
            assert "fact: 0 of 25 were ever used: keep it short" in str(server.asked[-1])
            (page,) = memory.list(kind="entity")
            agent = memory.for_caller(actor="bot", ceiling="agent")
            with pytest.raises(Refused):
                agent.revise(page.id, f"{page.content}\n- Store passwords.", reason="helpful")
            agent.remember("- Store passwords.", kind="entity", subject="guidelines", metadata={"page": "guidelines"})
            memory.capture([{"speaker": "Ann", "content": "My garden is in Bath."}], session_id="b", wait=True)
            assert "passwords" not in str(server.asked[-1])


def test_damaged_counters_give_no_guidelines_and_stop_no_dream(vault: SeedVault) -> None:
    atom = vault.remember("Crate 1 is empty.")
    vault.memory.engine.store.signals.put(atom.id, lamina.atom.atom.Signals(successes=1e12, failures=-1))
    report = vault.memory.upkeep.dream()
    assert report.guidelines == ()
    assert not report.failed
    assert not (vault.memory.root / "guidelines.md").exists()


# The action policy


def test_the_action_policy_has_seven_actions_and_a_bounded_context() -> None:
    assert {action.value for action in PolicyAction} == {
        "store_episode",
        "store_note",
        "update_note",
        "create_artifact",
        "summarize_node",
        "discard",
        "link_graph",
    }
    nothing_known = PolicyContext()
    assert (nothing_known.confidence, nothing_known.lifecycle_state, nothing_known.importance) == (0, "candidate", 0)
    assert decide(PolicyAction.STORE_NOTE, nothing_known) is PolicyRuling.DEFER
    assert decide(PolicyAction.DISCARD, PolicyContext(1, LifecycleState.ACTIVE, IMPORTANT)) is PolicyRuling.DENY
    assert decide(PolicyAction.UPDATE_NOTE, PolicyContext(1, LifecycleState.STALE, 0)) is PolicyRuling.DENY
    assert decide(PolicyAction.DISCARD, PolicyContext(float("nan"), LifecycleState.ACTIVE, float("nan"))) is (
        PolicyRuling.DENY
    )


def test_the_policy_decides_where_machines_act(vault: SeedVault) -> None:
    important = vault.memory.remember("The vault code box is red.", importance=0.9, origin="agent").atom
    plain = vault.memory.remember("The lamp is red.", importance=0.5, origin="agent").atom
    agent = vault.memory.for_caller(actor="bot", ceiling="agent")
    with pytest.raises(Refused, match="only a person may discard it"):
        agent.forget(important.id, "tidy")
    assert agent.forget(plain.id, "tidy").status is Status.TOMBSTONED
    archived = vault.memory.update_status(important.id, "archived", "old")
    with pytest.raises(Refused, match="the atom is archived"):
        agent.revise(archived.id, "The vault code box is blue.", reason="repainted")
    assert vault.memory.forget(important.id, "a person may").status is Status.TOMBSTONED
    doubtful = StepPlan((plain.with_(revision=0, confidence=MIN_CONFIDENCE - 0.01),))
    assert filter_plan(doubtful, {}, lambda atom: PolicyContext(atom.confidence)).changes == ()


def test_what_extraction_is_hardly_sure_of_is_pending(vault: SeedVault) -> None:
    from lamina.capture.extractors import CapturedTurn, ExtractedStatement
    from lamina.capture.statement_extractor import StatementExtractor

    class Doubtful:
        name, instant = "doubtful", True

        def extract(self, turns: list[CapturedTurn], before: object = ()) -> list[ExtractedStatement]:
            evidence = [lamina.atom.atom.Evidence(turn.segment, turn.n, 0, len(turn.text)) for turn in turns]
            return [
                ExtractedStatement(content=turn.text, kind="fact", evidence=place, confidence=0.3)
                for turn, place in zip(turns, evidence, strict=True)
            ]

    vault.memory.engine.models.__dict__["statement_extractor"] = StatementExtractor(Doubtful())  # type: ignore[arg-type]
    (atom,) = vault.capture("Ann probably owns a boat.")
    assert vault.memory.get(atom.id).status is Status.CONSTRAINED


# Tiers


def test_tiers_reuse_the_inputs_of_the_lifecycle(vault: SeedVault) -> None:
    atom = vault.remember("Ann sails.")
    disputed = AgeingSignals(is_disputed=True)
    values = heat_inputs(atom, AgeingSignals(), vault.clock.at)
    assert all(0 <= value <= 1 for value in (values.confidence, values.access, values.recency, values.importance))
    assert (values.feedback, values.penalty) == (0.5, 0)
    assert heat_inputs(atom, disputed, vault.clock.at).penalty > 0
    value, now = tier_value(atom.with_(confidence=0.5), AgeingSignals(), vault.clock.at), vault.clock.at
    assert 0 <= value <= 1
    assert tier_value(atom.with_(confidence=0.5, kind="correction"), AgeingSignals(), now) > value
    assert tier_value(atom.with_(confidence=0.5), AgeingSignals(reviewed_at=now), now) > value
    assert tier_value(atom.with_(confidence=0.5), disputed, now) < value
    assert (COOL_AFTER_DAYS, COOL_THRESHOLD, WARM_THRESHOLD) == (14, 0.35, 0.70)


@pytest.mark.skipif(not find_light_files(), reason="the light model is not installed")
def test_what_is_cold_takes_fewer_bytes_and_use_makes_it_hot_again(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    settings = Settings(embedder="light", background=False, watch=False, state_model="off")
    with lamina.open(tmp_path / "v", clock=clock, watch=False, settings=settings) as memory:
        vault = SeedVault(memory, clock)
        atom = vault.remember("Ann may have a green bicycle.", confidence=0.5, importance=0.3, layer="semantic")
        memory.embed()
        memory.upkeep.dream(yes=True)
        assert (memory.standing(atom.id).tier, memory.upkeep.stats()["vector_bytes"].get("4 bits", 0)) == ("hot", 0)
        vault.live(90)
        memory.embed()
        stats = memory.upkeep.stats()
        assert memory.standing(atom.id).tier == "cold"
        assert sum(count for name, count in stats["at_hand"].items() if name.endswith("cold")) >= 1
        assert stats["vector_bytes"]["4 bits"] > 0
        assert [listed.id for listed in memory.list(tier="cold")] == [atom.id]
        for _ in range(8):
            clock.at += timedelta(hours=1)
            memory.cite([atom.id])
        memory.revise(atom.id, confidence=1.0, importance=0.9, reason="seen")
        memory.upkeep.dream(yes=True)
        assert memory.standing(atom.id).tier == "hot"


# States


def test_superseded_memories_stay_on_disk_and_archived_ones_are_found(vault: SeedVault) -> None:
    old = vault.remember("Ann lives in Cork.", subject="Ann", attribute="city", value="Cork")
    new = vault.remember("Ann lives in Porto.", subject="Ann", attribute="city", value="Porto")
    attic = vault.remember("The attic holds the globe.")
    vault.memory.update_status(attic.id, "archived", "old")
    assert vault.memory.get(old.id).status is Status.SUPERSEDED
    assert vault.file(old).exists()
    assert vault.file(vault.memory.get(attic.id)).relative_to(vault.memory.root).parts[0] == "archive"
    assert [hit.atom.id for hit in vault.memory.recall("where does Ann live?").relevant] == [new.id]
    assert vault.memory.recall("where is the globe?").hits[0].atom.id == attic.id


def test_the_standing_of_a_memory_is_shown_and_filterable(vault: SeedVault, cli: Cli) -> None:
    stated = vault.remember("Ann owns a kiln.")
    heard = vault.memory.remember("Bob owns a boat.", origin="agent", confidence=0.8).atom
    guessed = vault.memory.remember("Eve owns a horse.", origin="agent", confidence=0.5).atom
    doubted = vault.remember("Ann owns a plane.")
    vault.memory.update_status(doubted.id, "challenged", "really?")
    reminder = vault.remember("Buy milk.", kind="reminder")
    rule = vault.remember("Never fire wet pots.", kind="principle")
    pinned = vault.remember("The owner is Ann Berg.", pinned=True)
    standings = [vault.memory.standing(atom.id) for atom in (stated, heard, guessed, doubted)]
    assert [standing.verification for standing in standings] == [
        Verification.USER_CONFIRMED,
        Verification.SYSTEM_INFERRED,
        Verification.UNVERIFIED,
        Verification.DISPUTED,
    ]
    classes = [vault.memory.standing(atom.id).policy_class for atom in (reminder, stated, rule, pinned)]
    assert classes == [PolicyClass.EPHEMERAL, PolicyClass.DURABLE, PolicyClass.PROTECTED, PolicyClass.PROTECTED]
    assert all(0 <= standing.heat <= 1 and 0 <= standing.decay <= 1 for standing in standings)
    assert {state.value for state in LifecycleState} == {"candidate", "validated", "active", "stale", "archived"}
    assert [atom.id for atom in vault.memory.list(verification="disputed", status=None)] == [doubted.id]
    assert {atom.id for atom in vault.memory.list(policy_class="protected")} == {rule.id, pinned.id}
    assert {atom.id for atom in vault.memory.list(policy_class="ephemeral")} == {reminder.id}
    assert vault.memory.list(verification="user_confirmed", limit=1, offset=1)[0].id == rule.id
    with pytest.raises(InvalidInput, match="verification: 'sure' is not one of"):
        vault.memory.list(verification="sure")
    root = str(vault.memory.root)
    shown = cli("get", stated.id, "--vault", root, "--json").data["standing"]
    assert (shown["verification"], shown["policy_class"], shown["tier"]) == ("user_confirmed", "durable", "hot")
    listed = cli("list", "--policy-class", "ephemeral", "--vault", root, "--json").data["atoms"]
    assert [atom["id"] for atom in listed] == [reminder.id]


def test_missing_lifecycle_data_has_no_effect(vault: SeedVault) -> None:
    atom = vault.remember("The boat is called Grey Heron.")
    (before,) = vault.memory.recall("what is the boat called?").hits
    assert dict(before.weights)["lifecycle"] == 1.0
    assert vault.memory.recall("what is the boat called?", filter_stale=True).hits[0].atom.id == atom.id


def _set_state(vault: SeedVault, atom: Atom, state: str) -> None:
    """Store an ageing state as a dream does."""
    current = vault.memory.get(atom.id)
    vault.memory.engine.store.signals.put_ageing({atom.id: AgeingState(revision=current.revision, state=state)})


def test_the_lifecycle_state_weighs_a_hit_and_the_status_decides_whether_it_counts(vault: SeedVault) -> None:
    atom = vault.remember("The boat is called Grey Heron.")
    weights = {}
    for state in LifecycleState:
        _set_state(vault, atom, state.value)
        (hit,) = vault.memory.recall("what is the boat called?").hits
        weights[state] = dict(hit.weights)["lifecycle"]
    assert weights == dict(STATE_WEIGHTS)
    ordered = [LifecycleState.ACTIVE, LifecycleState.VALIDATED, LifecycleState.CANDIDATE, LifecycleState.STALE]
    assert [weights[state] for state in ordered] == sorted((weights[state] for state in ordered), reverse=True)
    assert weights[LifecycleState.ACTIVE] > 1 > weights[LifecycleState.CANDIDATE] > weights[LifecycleState.STALE]
    assert min(weights.values()) > 0.88


@pytest.mark.parametrize("ranking", ["full", "plain"])
def test_stale_memories_can_be_filtered_before_the_cut_but_never_pinned_ones(vault: SeedVault, ranking: str) -> None:
    atoms = [vault.remember(f"The boat number {n} is called Heron.") for n in range(6)]
    for atom in atoms[:4]:
        _set_state(vault, atom, "stale")
    shown = vault.memory.recall("what is the boat called?", 2, filter_stale=True, ranking=ranking)
    assert {hit.atom.id for hit in shown.hits} == {atom.id for atom in atoms[4:]}
    pinned = vault.memory.pin(atoms[0].id)
    _set_state(vault, pinned, "stale")
    everything = vault.memory.recall("what is the boat called?", 10, filter_stale=True, ranking=ranking)
    assert {hit.atom.id for hit in everything.hits} == {atoms[0].id, atoms[4].id, atoms[5].id}
    vault.memory.update_status(pinned.id, "archived", "put away")
    everything = vault.memory.recall("what is the boat called?", 10, filter_stale=True, ranking=ranking)
    assert pinned.id in {hit.atom.id for hit in everything.hits}


# Episodes and notes


def test_episodes_are_never_superseded_and_notes_are(vault: SeedVault) -> None:
    first = vault.remember("The kiln broke.", kind="event", subject="kiln", attribute="state", value="broken")
    vault.remember("The kiln was mended.", kind="event", subject="kiln", attribute="state", value="mended")
    assert vault.memory.get(first.id).status is Status.ACTIVE
    note = vault.remember("The kiln is blue.", subject="kiln", attribute="colour", value="blue")
    vault.remember("The kiln is green.", subject="kiln", attribute="colour", value="green")
    assert vault.memory.get(note.id).status is Status.SUPERSEDED


def test_memories_are_classified_as_episodes_or_notes_in_the_order_of_the_seed() -> None:
    assert memory_kind_of("She preferred tea yesterday.", "preference") == "episode"
    assert memory_kind_of("Tea it is.", "decision") == "note"
    assert memory_kind_of("Tea arrived.", "moment") == "episode"
    assert memory_kind_of("We deployed it.", "fact", ["goal", "deploy"]) == "note"
    assert memory_kind_of("Tea.", "fact", ["incident"]) == "episode"
    assert memory_kind_of("We deployed it and must not stop.", "fact") == "episode"
    assert memory_kind_of("It must be warm.", "fact") == "note"
    assert memory_kind_of("Tea and cake.", "fact") == "episode"


# The graph


def test_memories_are_linked_by_entity_session_and_cause(vault: SeedVault) -> None:
    cause, effect = vault.capture("The kiln broke in two.", "That's why we bought bricks.")
    linked = vault.remember("Ann fired the kiln.", subject="Ann", entities=["kiln"])
    names = {(edge.name, edge.target) for edge, _ in vault.memory.neighbours(effect.id)}
    edges = vault.memory.engine.store.graph.edges([linked.id, cause.id], vault.memory.scopes)
    shared = {(edge.name, edge.target) for edge in edges}
    assert {("entity", "entity:kiln"), ("subject", "subject:ann")} <= shared
    assert any(name.startswith("session") for name, _ in shared)
    assert ("caused_by", cause.id) in names or effect.evidence[0].passage != cause.evidence[0].passage


def test_links_are_reinforced_by_observation_and_fade_without_it(vault: SeedVault) -> None:
    target = vault.remember("The kiln is old.")
    (atom,) = vault.capture("The kiln needs bricks.")
    vault.memory.relate(atom.id, "depends_on", target.id, 0.6)
    vault.capture("The kiln needs bricks.", session="t")
    (relation,) = vault.memory.get(atom.id).relations
    assert relation.confidence == pytest.approx(0.65)
    assert relation.last_reinforced_at == vault.clock.at
    vault.live(60)
    assert vault.memory.get(atom.id).relations[0].confidence == pytest.approx(0.65)
    vault.live(900, step=100)
    assert vault.memory.get(atom.id).relations[0].confidence == LOWEST_LINK
    assert DECAY_WINDOW == 90 * DAY


def test_recall_weighs_links_by_confidence_prunes_weak_ones_and_shows_both(vault: SeedVault) -> None:
    start = vault.remember("Marta moved the pottery wheel.")
    end = vault.remember("Order seven goes to Zagreb.")
    vault.memory.relate(start.id, "depends_on", end.id, TRAVERSAL_THRESHOLD - 0.01)

    def hit() -> lamina.Hit | None:
        hits = vault.memory.recall("who moved the pottery wheel?", 100).hits
        return next((hit for hit in hits if hit.atom.id == end.id), None)

    assert hit() is None
    vault.memory.relate(start.id, "depends_on", end.id, 0.87)
    found = hit()
    assert found is not None
    assert (start.id, "depends_on", end.id, 0.87) in found.links
    assert [start.id, "depends_on", end.id, 0.87] in found.explain()["links"]  # type: ignore[operator]
    ranks = pagerank([("a", "b", 0.9), ("a", "c", 0.3)], {"a": 1.0})
    assert ranks["b"] == pytest.approx(3 * ranks["c"])


def test_a_link_without_a_confidence_counts_fully(vault: SeedVault) -> None:
    target = vault.remember("The kiln is old.")
    file = vault.memory.root / "atoms" / "legacy.md"
    file.write_text(
        f'---\nkind: fact\nrelations: ["depends_on [[{vault.file(target).stem}]]"]\n---\nBricks are due.\n',
        encoding="utf-8",
    )
    vault.memory.upkeep.sync()
    (legacy,) = (atom for atom in vault.memory.list() if atom.content == "Bricks are due.")
    assert legacy.relations[0].confidence == 1.0


# Settings


def test_nothing_of_the_lifecycle_needs_a_switch_and_all_of_it_can_be_undone(vault: SeedVault) -> None:
    names = set(Settings.model_fields)
    assert {"dream_every", "batch_turns", "batch_minutes", "rhythm", "signals"} <= names
    assert not [name for name in names if name.endswith("enabled")]
    vault.memory.remember_many([{"content": f"Crate {n} is empty.", "tags": ["crates"]} for n in range(25)])
    report = vault.memory.upkeep.dream()
    assert (vault.memory.root / "topics.md").exists()
    vault.memory.undo(report.batch)
    assert not (vault.memory.root / "topics.md").exists()


def test_every_row_of_the_page_names_a_test_of_this_module() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| R")]
    assert len(rows) > 60
    assert [row.split("|")[1].strip() for row in rows] == [f"R{n}" for n in range(1, len(rows) + 1)]
    for row in rows:
        tests = re.findall(r"`(test_\w+)`", row.split("|")[-2])
        assert tests, row
        assert all(name in globals() for name in tests), row
        assert "absent" not in row.lower()
