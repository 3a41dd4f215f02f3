"""Step 5: what nobody has used for a while is held against what was said since."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desk import Desk
from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.pair import find_pair_link
from lamina.atom.passage import render_passage
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.clock import FixedClock
from lamina.dream.dream import dream
from lamina.dream.probe import MAX_PER_DAY, probe, select_idle
from lamina.dream.report import DreamReport
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import StepPlan
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.models.chat import Chat
from lamina.store.base import Store
from lamina.store.sqlite.store import SqliteStore
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness
from llm_server import Scripted, completion, error, scripted

BELIEF, OTHERWISE = "Bob lives in Oslo.", "Bob lives in Rome."
TRAIN, PERHAPS = "Ann takes the 7:40 train to work.", "I love that Ann takes the 8:10 train to work."
UNLIKE = "Ann cycles to the office since the strike, trains are no use for work."


def _ids(clock: FixedClock) -> Iterator[AtomId]:
    source = IdSource(lambda many: bytes(range(many)))
    while True:
        yield source.new(clock.now())


def scene_of(store: Store, clock: FixedClock, scope: Scope = LOCAL, chat: Chat | None = None) -> StepContext:
    return StepContext(store=store, scope=scope, moment=AgeingTime(clock.now()), ids=_ids(clock), chat=chat)


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    yield StoreHarness(store, clock)
    store.close()


def later(hand: StoreHarness, days: int = 30) -> None:
    hand.clock.at += timedelta(days=days)


def planned(hand: StoreHarness, chat: Chat | None = None) -> StepPlan:
    return probe(scene_of(hand.store, hand.clock, chat=chat))


def dreamt(hand: StoreHarness, chat: Chat | None = None) -> DreamReport:
    scenes = [scene_of(hand.store, hand.clock, chat=chat)]
    return dream(scenes, {"probe": probe}, hand.store, hand.clock.now())


def said(hand: StoreHarness, text: str, speaker: str = "Carl", **fields: object) -> Atom:
    words = render_passage(1, text, speaker, hand.clock.now())
    return hand.add(words, kind="narrative", segment_id="s-1", session_id="s", **fields)


AGAINST = {"contradictions": [{"line": 1, "was": "Oslo", "now": "Rome"}]}


def test_without_a_chat_model_nothing_is_probed(hand: StoreHarness) -> None:
    belief = hand.add(BELIEF, kind="belief")
    later(hand, 1)
    hand.add(OTHERWISE)
    later(hand)
    assert dreamt(hand).moves == ()
    assert hand.current(belief) == belief


@pytest.mark.parametrize("days", [13, 14])
def test_what_was_used_or_said_within_a_fortnight_is_left_alone(hand: StoreHarness, days: int) -> None:
    belief = hand.add(BELIEF)
    hand.clock.at += timedelta(hours=1)
    hand.add(OTHERWISE)
    hand.clock.at = NOON + timedelta(days=days)
    with scripted(completion(AGAINST), completion(AGAINST)) as server:
        assert bool(planned(hand, server.chat()).changes) is (days == 14)
        signals = hand.store.ledger.signals(belief.id)
        hand.store.ledger.set_signals(belief.id, type(signals)(recall_count=1, last_recalled_at=hand.clock.now()))
        assert planned(hand, server.chat()).changes == ()


def test_words_nobody_vouches_for_speak_against_nothing(hand: StoreHarness) -> None:
    belief = hand.add(BELIEF)
    later(hand, 1)
    said(hand, OTHERWISE, speaker="assistant")
    later(hand)
    with scripted(completion(AGAINST)) as server:
        assert dreamt(hand, server.chat()).moves == ()
        assert server.asked == []
    assert hand.current(belief) == belief


def test_a_sentence_without_a_statement_is_quoted_and_counts_for_nothing_itself(hand: StoreHarness) -> None:
    belief = hand.add(BELIEF)
    later(hand, 1)
    words = said(hand, OTHERWISE)
    later(hand)
    with scripted(completion(AGAINST)) as server:
        assert [move.action for move in dreamt(hand, server.chat()).moves] == ["ask"]
    (quote,) = [each for each in hand.read() if each.origin is Origin.DREAM]
    assert (quote.content, quote.status, quote.derived_from, quote.evidence) == (
        OTHERWISE,
        Status.CHALLENGED,
        (words.id,),
        (),
    )
    assert find_pair_link(hand.current(belief), quote) is not None
    assert hand.current(words) == words


def test_a_pin_is_never_moved(hand: StoreHarness) -> None:
    belief = hand.add(BELIEF, pinned=True)
    later(hand, 1)
    newer = hand.add(OTHERWISE)
    later(hand)
    with scripted(completion(AGAINST)) as server:
        assert [move.action for move in dreamt(hand, server.chat()).moves] == ["ask"]
    assert hand.current(belief) == belief
    assert find_pair_link(belief, hand.current(newer)) is not None


def test_two_pins_are_told_and_not_touched(hand: StoreHarness) -> None:
    belief = hand.add(BELIEF, pinned=True)
    later(hand, 1)
    newer = hand.add(OTHERWISE, pinned=True)
    later(hand)
    with scripted(completion(AGAINST)) as server:
        plan = planned(hand, server.chat())
    assert plan.changes == () and newer.id in plan.notes[0] and belief.id in plan.notes[0]


def test_what_a_dream_made_is_neither_probed_nor_evidence(hand: StoreHarness) -> None:
    source = hand.add("Bob has a house.")
    hand.commit(hand.new_atom(BELIEF, origin=Origin.DREAM, derived_from=(source.id,)), origin=Origin.DREAM)
    later(hand, 1)
    hand.commit(hand.new_atom(OTHERWISE, origin=Origin.DREAM, derived_from=(source.id,)), origin=Origin.DREAM)
    later(hand)
    assert planned(hand).changes == ()


@pytest.mark.parametrize("decision", ["undo", "keep both"])
def test_a_pair_that_was_undone_or_settled_does_not_come_back(desk: Desk, decision: str) -> None:
    store = desk.memory._store
    belief = desk.remember(BELIEF, kind="belief")
    desk.tick(days=1)
    newer = desk.remember(OTHERWISE)
    desk.tick(days=30)
    with scripted(*[completion(AGAINST)] * 3) as server:

        def again() -> DreamReport:
            scene = scene_of(store, desk.clock, belief.scope, server.chat())
            return dream([scene], {"probe": probe}, store, desk.clock.now())

        (step,) = again().steps
        assert [(pair.a.id, pair.b.id) for pair in desk.memory.review.pairs()] == [(belief.id, newer.id)]
        desk.tick(days=1)
        if decision == "undo":
            desk.memory.undo(step.commit)
        else:
            desk.memory.review.both_valid(belief.id, newer.id)
        for _ in range(20):
            desk.tick(days=1)
            assert again().moves == ()


def test_a_chat_models_word_makes_a_pair_and_no_doubt(hand: StoreHarness) -> None:
    belief = hand.add(TRAIN)
    later(hand, 1)
    said(hand, UNLIKE)
    later(hand)
    assert planned(hand).changes == ()
    answer = {"contradictions": [{"line": 1, "was": "takes the 7:40 train", "now": "cycles to the office"}]}
    with scripted(completion(answer)) as server:
        assert [move.action for move in dreamt(hand, server.chat()).moves] == ["ask"]
        prompt = server.asked[0]["messages"][1]["content"]
        assert "<data>" in prompt and TRAIN in prompt
        assert dreamt(hand, server.chat()).moves == ()
    assert hand.current(belief).status is Status.ACTIVE


def test_what_a_chat_model_does_not_quote_is_not_believed(hand: StoreHarness) -> None:
    hand.add(TRAIN)
    later(hand, 1)
    said(hand, UNLIKE)
    later(hand)
    lies = [
        {"line": 1, "was": "takes a plane", "now": "cycles to the office"},
        {"line": 9, "was": "train", "now": "cycles"},
        {"line": 1, "was": "train", "now": "train"},
    ]
    with scripted(completion({"contradictions": lies})) as server:
        assert dreamt(hand, server.chat()).moves == ()
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
def test_a_chat_model_that_fails_changes_nothing_and_is_told(hand: StoreHarness, reply: Scripted) -> None:
    hand.add(TRAIN)
    later(hand, 1)
    said(hand, UNLIKE)
    later(hand)
    before = hand.store.position()
    with scripted(reply) as server:
        (step,) = dreamt(hand, server.chat()).steps
    assert step.failed and "nothing was changed" in step.failed
    assert hand.store.position() == before


def test_everything_has_its_turn_five_a_day_and_rests_a_fortnight(hand: StoreHarness) -> None:
    atoms = [hand.add(f"thing {n} is blue") for n in range(23)]
    later(hand)
    days: dict[AtomId, list[int]] = {atom.id: [] for atom in atoms}
    for day in range(40):
        idle = [each.id for each in select_idle(scene_of(hand.store, hand.clock))]
        assert len(idle) <= MAX_PER_DAY
        for each in idle:
            days[each].append(day)
        dreamt(hand)
        assert select_idle(scene_of(hand.store, hand.clock)) == []
        later(hand, 1)
    assert all(len(each) > 1 for each in days.values())
    assert all(other - one >= 14 for each in days.values() for one, other in pairwise(each))


def test_what_is_used_again_loses_its_turn(hand: StoreHarness) -> None:
    atom = hand.add(BELIEF, kind="belief")
    later(hand)
    assert [each.id for each in select_idle(scene_of(hand.store, hand.clock))] == [atom.id]
    hand.store.ledger.set_signals(atom.id, Signals(1.0, 1, hand.clock.now()))
    assert select_idle(scene_of(hand.store, hand.clock)) == []


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
def test_a_second_dream_at_one_clock_changes_nothing_and_no_pin_or_word_is_touched(
    told: list[tuple[str, bool, bool]],
) -> None:
    with TemporaryDirectory() as folder:
        clock = FixedClock(NOON)
        store = SqliteStore(Path(folder), clock)
        hand = StoreHarness(store, clock)
        kept = []
        for text, pinned, spoken in told:
            kept.append(said(hand, text) if spoken else hand.add(text, pinned=pinned))
            later(hand, 1)
        later(hand)
        assert not dreamt(hand).failed
        at = store.position()
        assert dreamt(hand).moves == () and store.position() == at
        for atom in kept:
            head = hand.current(atom)
            assert head == atom or not atom.pinned
            assert head.with_(status=atom.status, relations=atom.relations) == atom
        store.close()
