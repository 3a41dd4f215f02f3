"""Long unused statements are compared with later text that contradicts them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.atom import Atom, AtomId, IdSource, Signals
from lamina.atom.passage import render_passage
from lamina.atom.proposals_and_pairs import find_pair_link
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.clock import FixedClock
from lamina.dream.dream import dream
from lamina.dream.probe_step import MAX_PER_DAY, probe, select_idle
from lamina.dream.report import DreamReport
from lamina.dream.step import StepContext, StepPlan
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.models.chat import Chat
from lamina.store.base import Store
from lamina.store.sqlite.store import SqliteStore
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness
from llm_server import Scripted, completion, error, scripted
from vault_workspace import VaultWorkspace

BELIEF, OTHERWISE = "Bob lives in Oslo.", "Bob lives in Rome."
TRAIN, PERHAPS = "Ann takes the 7:40 train to work.", "I love that Ann takes the 8:10 train to work."
UNLIKE = "Ann cycles to the office since the strike, trains are no use for work."


def _ids(clock: FixedClock) -> Iterator[AtomId]:
    source = IdSource(lambda many: bytes(range(many)))
    while True:
        yield source.new(clock.now())


def scene_of(store: Store, clock: FixedClock, scope: Scope = LOCAL, chat: Chat | None = None) -> StepContext:
    return StepContext(store=store, scope=scope, moment=AgeingTime(clock.now()), ids=_ids(clock), chat=chat)


def pass_time(harness: StoreHarness, days: int = 30) -> None:
    harness.clock.at += timedelta(days=days)


def plan_step(harness: StoreHarness, chat: Chat | None = None) -> StepPlan:
    return probe(scene_of(harness.store, harness.clock, chat=chat))


def run_step(harness: StoreHarness, chat: Chat | None = None) -> DreamReport:
    scenes = [scene_of(harness.store, harness.clock, chat=chat)]
    return dream(scenes, {"probe": probe}, harness.store, harness.clock.now())


def add_segment(harness: StoreHarness, text: str, speaker: str = "Carl", **fields: object) -> Atom:
    words = render_passage(1, text, speaker, harness.clock.now())
    return harness.add(words, kind="narrative", segment_id="s-1", session_id="s", **fields)


AGAINST = {"contradictions": [{"line": 1, "was": "Oslo", "now": "Rome"}]}


def test_without_a_chat_model_nothing_is_probed(harness: StoreHarness) -> None:
    belief = harness.add(BELIEF, kind="belief")
    pass_time(harness, 1)
    harness.add(OTHERWISE)
    pass_time(harness)
    assert run_step(harness).moves == ()
    assert harness.current(belief) == belief


@pytest.mark.parametrize("days", [13, 14])
def test_atoms_used_or_stated_within_a_fortnight_are_left_alone(harness: StoreHarness, days: int) -> None:
    belief = harness.add(BELIEF)
    harness.clock.at += timedelta(hours=1)
    harness.add(OTHERWISE)
    harness.clock.at = NOON + timedelta(days=days)
    with scripted(completion(AGAINST), completion(AGAINST)) as server:
        assert bool(plan_step(harness, server.chat()).changes) is (days == 14)
        signals = harness.store.signals.get([belief.id]).signals.get(belief.id, Signals())
        harness.store.signals.put(belief.id, type(signals)(recall_count=1, last_recalled_at=harness.clock.now()))
        assert plan_step(harness, server.chat()).changes == ()


def test_untrusted_text_is_no_counter_evidence(harness: StoreHarness) -> None:
    belief = harness.add(BELIEF)
    pass_time(harness, 1)
    add_segment(harness, OTHERWISE, speaker="assistant")
    pass_time(harness)
    with scripted(completion(AGAINST)) as server:
        assert run_step(harness, server.chat()).moves == ()
        assert server.asked == []
    assert harness.current(belief) == belief


def test_a_sentence_without_a_statement_is_quoted_but_does_not_count(harness: StoreHarness) -> None:
    belief = harness.add(BELIEF)
    pass_time(harness, 1)
    words = add_segment(harness, OTHERWISE)
    pass_time(harness)
    with scripted(completion(AGAINST)) as server:
        assert [move.action for move in run_step(harness, server.chat()).moves] == ["ask"]
    (quote,) = [atom for atom in harness.read() if atom.origin is Origin.DREAM]
    assert (quote.content, quote.status, quote.derived_from, quote.evidence) == (
        OTHERWISE,
        Status.CHALLENGED,
        (words.id,),
        (),
    )
    assert find_pair_link(harness.current(belief), quote) is not None
    assert harness.current(words) == words


def test_a_pinned_atom_is_never_changed(harness: StoreHarness) -> None:
    belief = harness.add(BELIEF, pinned=True)
    pass_time(harness, 1)
    newer = harness.add(OTHERWISE)
    pass_time(harness)
    with scripted(completion(AGAINST)) as server:
        assert [move.action for move in run_step(harness, server.chat()).moves] == ["ask"]
    assert harness.current(belief) == belief
    assert find_pair_link(belief, harness.current(newer)) is not None


def test_two_contradicting_pinned_atoms_are_reported_and_left_alone(harness: StoreHarness) -> None:
    belief = harness.add(BELIEF, pinned=True)
    pass_time(harness, 1)
    newer = harness.add(OTHERWISE, pinned=True)
    pass_time(harness)
    with scripted(completion(AGAINST)) as server:
        plan = plan_step(harness, server.chat())
    assert plan.changes == () and newer.id in plan.notes[0] and belief.id in plan.notes[0]


def test_generated_atoms_are_neither_probed_nor_evidence(harness: StoreHarness) -> None:
    source = harness.add("Bob has a house.")
    harness.commit(harness.new_atom(BELIEF, origin=Origin.DREAM, derived_from=(source.id,)), origin=Origin.DREAM)
    pass_time(harness, 1)
    harness.commit(harness.new_atom(OTHERWISE, origin=Origin.DREAM, derived_from=(source.id,)), origin=Origin.DREAM)
    pass_time(harness)
    assert plan_step(harness).changes == ()


@pytest.mark.parametrize("decision", ["undo", "keep both"])
def test_an_undone_or_settled_pair_does_not_return(workspace: VaultWorkspace, decision: str) -> None:
    store = workspace.memory.engine.store
    belief = workspace.remember(BELIEF, kind="belief")
    workspace.tick(days=1)
    newer = workspace.remember(OTHERWISE)
    workspace.tick(days=30)
    with scripted(*[completion(AGAINST)] * 3) as server:

        def again() -> DreamReport:
            scene = scene_of(store, workspace.clock, belief.scope, server.chat())
            return dream([scene], {"probe": probe}, store, workspace.clock.now())

        (step,) = again().steps
        assert [(pair.a.id, pair.b.id) for pair in workspace.memory.review.pairs()] == [(belief.id, newer.id)]
        workspace.tick(days=1)
        if decision == "undo":
            workspace.memory.undo(step.commit)
        else:
            workspace.memory.review.both_valid(belief.id, newer.id)
        for _ in range(20):
            workspace.tick(days=1)
            assert again().moves == ()


def test_a_chat_models_answer_makes_a_pair_and_no_challenge(harness: StoreHarness) -> None:
    belief = harness.add(TRAIN)
    pass_time(harness, 1)
    add_segment(harness, UNLIKE)
    pass_time(harness)
    assert plan_step(harness).changes == ()
    answer = {"contradictions": [{"line": 1, "was": "takes the 7:40 train", "now": "cycles to the office"}]}
    with scripted(completion(answer)) as server:
        assert [move.action for move in run_step(harness, server.chat()).moves] == ["ask"]
        prompt = server.asked[0]["messages"][1]["content"]
        assert "<data>" in prompt and TRAIN in prompt
        assert run_step(harness, server.chat()).moves == ()
    assert harness.current(belief).status is Status.ACTIVE


def test_an_answer_without_a_valid_quote_is_ignored(harness: StoreHarness) -> None:
    harness.add(TRAIN)
    pass_time(harness, 1)
    add_segment(harness, UNLIKE)
    pass_time(harness)
    lies = [
        {"line": 1, "was": "takes a plane", "now": "cycles to the office"},
        {"line": 9, "was": "train", "now": "cycles"},
        {"line": 1, "was": "train", "now": "train"},
    ]
    with scripted(completion({"contradictions": lies})) as server:
        assert run_step(harness, server.chat()).moves == ()
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    "reply",
    [
        completion("garbage"),
        completion({"contradictions": "all"}),
        completion('{"contradictions": [', finish="length"),
        completion(None, refusal="I will not"),
        error(500, "down"),
    ],
)
def test_a_chat_failure_changes_nothing_and_is_reported(harness: StoreHarness, reply: Scripted) -> None:
    harness.add(TRAIN)
    pass_time(harness, 1)
    add_segment(harness, UNLIKE)
    pass_time(harness)
    before = harness.store.journal.position()
    with scripted(reply) as server:
        (step,) = run_step(harness, server.chat()).steps
    assert step.failed and "nothing was changed" in step.failed
    assert harness.store.journal.position() == before


def test_every_atom_is_probed_in_turn_five_a_day_and_rests_a_fortnight(harness: StoreHarness) -> None:
    atoms = [harness.add(f"thing {n} is blue") for n in range(23)]
    pass_time(harness)
    days: dict[AtomId, list[int]] = {atom.id: [] for atom in atoms}
    for day in range(40):
        idle = [atom.id for atom in select_idle(scene_of(harness.store, harness.clock))]
        assert len(idle) <= MAX_PER_DAY
        for atom_id in idle:
            days[atom_id].append(day)
        run_step(harness)
        assert select_idle(scene_of(harness.store, harness.clock)) == []
        pass_time(harness, 1)
    assert all(len(value) > 1 for value in days.values())
    assert all(other - one >= 14 for value in days.values() for one, other in pairwise(value))


def test_a_used_atom_loses_its_turn(harness: StoreHarness) -> None:
    atom = harness.add(BELIEF, kind="belief")
    pass_time(harness)
    assert [atom.id for atom in select_idle(scene_of(harness.store, harness.clock))] == [atom.id]
    harness.store.signals.put(atom.id, Signals(1.0, 1, harness.clock.now()))
    assert select_idle(scene_of(harness.store, harness.clock)) == []


SENTENCES = [
    BELIEF,
    OTHERWISE,
    TRAIN,
    PERHAPS,
    "The gate code is 4417.",
    "The gate code is 9921 now.",
    "The office has 12 desks.",
    "The office has 15 desks.",
    "Ann owns a boat.",
]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SENTENCES), st.booleans(), st.booleans()), min_size=2, max_size=9))
def test_a_second_dream_changes_nothing_and_no_pinned_atom_or_text_is_touched(
    result: list[tuple[str, bool, bool]],
) -> None:
    with TemporaryDirectory() as folder:
        clock = FixedClock(NOON)
        store = SqliteStore(Path(folder), clock)
        harness = StoreHarness(store, clock)
        stored = []
        for text, pinned, spoken in result:
            stored.append(add_segment(harness, text) if spoken else harness.add(text, pinned=pinned))
            pass_time(harness, 1)
        pass_time(harness)
        assert not run_step(harness).failed
        at = store.journal.position()
        assert run_step(harness).moves == () and store.journal.position() == at
        for atom in stored:
            head = harness.current(atom)
            assert head == atom or not atom.pinned
            assert head.with_(status=atom.status, relations=atom.relations) == atom
        store.close()
