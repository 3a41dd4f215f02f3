from __future__ import annotations

from datetime import datetime, timedelta
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.kinds import Layer
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import Status, TransitionCause
from lamina.atom.trust import Origin
from lamina.dream.dream import dream
from lamina.dream.policy import (
    IMPORTANT,
    MAX_NOTES,
    MIN_CONFIDENCE,
    UNKNOWN_CONTEXT,
    ActionSource,
    PolicyAction,
    PolicyContext,
    PolicyRuling,
    apply_policy,
    classify_change,
    context_reader,
    decide,
    filter_plan,
    parse_action,
    parse_context,
)
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import Move, StepPlan
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.lifecycle_state import LifecycleState
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness

FINE = {"confidence": 0.9, "lifecycle_state": "active", "importance": 0.4, "source": "extraction"}
OVER = (LifecycleState.STALE, LifecycleState.ARCHIVED)
SURE_OF = PolicyContext(1.0, LifecycleState.ACTIVE, 0.5, ActionSource.CONSOLIDATION)

shares = st.floats(0, 1)
contexts = st.builds(PolicyContext, shares, st.sampled_from(LifecycleState), shares, st.sampled_from(ActionSource))
json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


class _Sly(str):
    """A text that equals everything."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


def scene_of(hand: StoreHarness) -> StepContext:
    ids = IdSource(lambda n: bytes(n))
    return StepContext(
        store=hand.store, scope=LOCAL, moment=AgeingTime(hand.clock.at), ids=iter(lambda: ids.new(NOON), None)
    )


def thing(n: int = 1, **fields: Any) -> Atom:
    own: dict[str, Any] = {"kind": "fact", "content": "tea is green", "revision": 1, **fields}
    return Atom(id=AtomId(f"01m7fh87g0yejj059w76d6q{n:03}"), scope=LOCAL, observed_at=NOON, **own)


def let_through(before: Atom, after: Atom, hand: StoreHarness) -> StepPlan:
    plan = StepPlan((after,), (Move("move", before.id, before.content, "because"),))
    return filter_plan(plan, {before.id: before}, context_reader(scene_of(hand)))


@pytest.mark.parametrize("action", PolicyAction)
def test_an_action_is_read_by_its_exact_name(action: PolicyAction) -> None:
    assert parse_action(action.value) is action is parse_action(action)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "STORE_NOTE",
        " store_note",
        "store_note\n",
        "forget",
        None,
        1,
        True,
        b"store_note",
        ["store_note"],
        {"action": "store_note"},
        _Sly("x"),
        nan,
    ],
)
def test_every_other_action_is_discard(raw: object) -> None:
    assert parse_action(raw) is PolicyAction.DISCARD


@given(json)
def test_reading_an_action_never_fails(raw: object) -> None:
    named = isinstance(raw, str) and raw in {each.value for each in PolicyAction}
    assert parse_action(raw) == (raw if named else PolicyAction.DISCARD)


def test_a_context_is_read_whole() -> None:
    read = parse_context(FINE)
    assert read == PolicyContext(0.9, LifecycleState.ACTIVE, 0.4, ActionSource.EXTRACTION)
    assert parse_context({**FINE, "confidence": 1, "importance": 0}) == PolicyContext(
        1.0, LifecycleState.ACTIVE, 0.0, ActionSource.EXTRACTION
    )


@pytest.mark.parametrize("key", ["confidence", "importance"])
@pytest.mark.parametrize(
    "value", [nan, inf, -inf, True, False, "0.5", None, -0.001, 1.001, 10**400, -(10**400), [0.5], {"value": 0.5}, 1j]
)
def test_a_figure_that_is_no_share_makes_the_whole_context_unread(key: str, value: object) -> None:
    assert (
        parse_context({**FINE, key: value})
        == UNKNOWN_CONTEXT
        == PolicyContext(0.0, LifecycleState.CANDIDATE, 0.0, ActionSource.UNKNOWN)
    )


@pytest.mark.parametrize("key", ["lifecycle_state", "source"])
@pytest.mark.parametrize("value", ["", "Active", "live", None, 0, True, ["active"], _Sly("x")])
def test_a_word_that_is_not_among_those_known_makes_the_whole_context_unread(key: str, value: object) -> None:
    assert parse_context({**FINE, key: value}) == UNKNOWN_CONTEXT


@pytest.mark.parametrize("key", FINE)
def test_a_context_with_a_hole_is_unread(key: str) -> None:
    assert parse_context({name: value for name, value in FINE.items() if name != key}) == UNKNOWN_CONTEXT


def test_a_context_with_more_in_it_than_there_is_to_know_is_unread() -> None:
    assert parse_context({**FINE, "sudo": True}) == UNKNOWN_CONTEXT
    assert parse_context({"context": FINE}) == UNKNOWN_CONTEXT
    assert parse_context([FINE]) == UNKNOWN_CONTEXT == parse_context(None)


@given(json | st.fixed_dictionaries(dict.fromkeys(FINE, json)))
def test_reading_a_context_never_fails_and_gives_only_shares(raw: object) -> None:
    read = parse_context(raw)
    assert 0 <= read.confidence <= 1 and 0 <= read.importance <= 1
    assert isinstance(read.lifecycle_state, LifecycleState) and isinstance(read.source, ActionSource)


@given(json, json)
def test_what_nobody_understands_is_never_done(action: object, context: object) -> None:
    assert parse_context(context) == UNKNOWN_CONTEXT
    assert decide(parse_action(action), UNKNOWN_CONTEXT) is PolicyRuling.DEFER


@given(st.sampled_from(PolicyAction), contexts)
def test_the_rules_are_these_and_no_others(action: PolicyAction, context: PolicyContext) -> None:
    kept = action is PolicyAction.DISCARD and context.importance >= IMPORTANT
    builds = action in (PolicyAction.UPDATE_NOTE, PolicyAction.CREATE_ARTIFACT, PolicyAction.LINK_GRAPH)
    if kept or (builds and context.lifecycle_state in OVER):
        assert decide(action, context) is PolicyRuling.DENY
    else:
        assert (decide(action, context) is PolicyRuling.DEFER) == (context.confidence < MIN_CONFIDENCE)


def test_the_bounds_belong_to_the_careful_side() -> None:
    assert decide(PolicyAction.DISCARD, PolicyContext(1.0, LifecycleState.ACTIVE, 0.8)) is PolicyRuling.DENY
    assert decide(PolicyAction.DISCARD, PolicyContext(1.0, LifecycleState.ACTIVE, 0.7999)) is PolicyRuling.ALLOW
    assert decide(PolicyAction.STORE_NOTE, PolicyContext(0.35)) is PolicyRuling.ALLOW
    assert decide(PolicyAction.STORE_NOTE, PolicyContext(0.3499)) is PolicyRuling.DEFER


@given(st.sampled_from(PolicyAction), st.sampled_from(LifecycleState))
def test_a_figure_that_is_no_number_allows_nothing(action: PolicyAction, state: LifecycleState) -> None:
    assert decide(action, PolicyContext(nan, state, 0.0)) is not PolicyRuling.ALLOW
    assert decide(PolicyAction.DISCARD, PolicyContext(1.0, state, nan)) is PolicyRuling.DENY


@pytest.mark.parametrize(
    ("made", "action"),
    [
        ({"kind": "synthesis", "derived_from": (AtomId("a"),)}, PolicyAction.SUMMARIZE_NODE),
        ({"kind": "entity"}, PolicyAction.SUMMARIZE_NODE),
        ({"kind": "insight", "derived_from": (AtomId("a"),)}, PolicyAction.CREATE_ARTIFACT),
        ({"kind": "preference"}, PolicyAction.STORE_NOTE),
        ({"kind": "event"}, PolicyAction.STORE_EPISODE),
    ],
)
def test_what_is_made_is_an_artifact_a_summary_or_something_stored(made: dict[str, Any], action: PolicyAction) -> None:
    assert classify_change(None, thing(revision=0, **made)) == (action,)


@pytest.mark.parametrize(
    ("stands", "becomes", "actions"),
    [
        ({}, {"status": Status.ARCHIVED}, [PolicyAction.DISCARD]),
        ({}, {"status": Status.TOMBSTONED}, [PolicyAction.DISCARD]),
        ({"status": Status.ARCHIVED}, {"status": Status.TOMBSTONED}, [PolicyAction.DISCARD]),
        ({}, {"status": Status.SUPERSEDED}, [PolicyAction.DISCARD]),
        ({}, {"status": Status.SUPERSEDED, "superseded_by": (AtomId("b"),)}, [PolicyAction.UPDATE_NOTE]),
        ({}, {"status": Status.CHALLENGED}, [PolicyAction.UPDATE_NOTE]),
        ({"status": Status.ARCHIVED}, {"kind": "goal", "layer": Layer.PROFILE}, [PolicyAction.STORE_NOTE]),
        ({"status": Status.ARCHIVED}, {"kind": "event"}, [PolicyAction.STORE_EPISODE]),
        ({"layer": Layer.EPISODIC}, {"layer": Layer.SEMANTIC}, [PolicyAction.UPDATE_NOTE]),
        ({"kind": "synthesis"}, {"kind": "synthesis", "content": "more"}, [PolicyAction.SUMMARIZE_NODE]),
        ({}, {"relations": (Relation(RelationName.SUPPORTS, AtomId("b")),)}, [PolicyAction.LINK_GRAPH]),
        ({}, {}, []),
    ],
)
def test_what_happens_to_what_is_there_has_a_name(
    stands: dict[str, Any], becomes: dict[str, Any], actions: list[PolicyAction]
) -> None:
    assert list(classify_change(thing(**stands), thing(**becomes))) == actions


def test_a_link_that_only_weakens_is_no_action() -> None:
    strong = thing(relations=(Relation(RelationName.SUPPORTS, AtomId("b"), 0.9),))
    weak = thing(relations=(Relation(RelationName.SUPPORTS, AtomId("b"), 0.8, NOON),))
    assert classify_change(strong, weak) == ()


def test_a_plan_that_harms_nothing_is_the_same_plan() -> None:
    plan = StepPlan((thing(layer=Layer.SEMANTIC),))
    assert filter_plan(plan, {thing().id: thing(layer=Layer.EPISODIC)}, lambda _: SURE_OF) is plan


def test_what_is_important_is_not_let_go_and_the_notes_say_so(hand: StoreHarness) -> None:
    dear, cheap = hand.add("the key is under the mat", importance=0.85), hand.add("it rained", importance=0.2)
    plan = StepPlan(
        tuple(each.with_(status=Status.ARCHIVED) for each in (dear, cheap)),
        tuple(Move("archive", each.id, each.content, "old") for each in (dear, cheap)),
        ("seen",),
    )
    left = apply_policy(plan, scene_of(hand))
    assert [change.id for change in left.changes] == [move.atom_id for move in left.moves] == [cheap.id]
    assert left.notes[0] == "seen" and dear.id[-6:] in left.notes[1] and "0.85" in left.notes[1]


def test_what_was_counted_after_the_step_is_still_counted(hand: StoreHarness) -> None:
    dear, done = hand.add(importance=0.9), list[str]()
    apply_policy(
        StepPlan((dear.with_(status=Status.ARCHIVED),), after_commit=lambda: done.append("counted")), scene_of(hand)
    ).after_commit()
    assert done == ["counted"]


def test_what_is_made_without_being_sure_waits(hand: StoreHarness) -> None:
    source = hand.add()
    doubtful = hand.new_atom("perhaps", kind="insight", derived_from=(source.id,), origin=Origin.DREAM, confidence=0.3)
    left = apply_policy(StepPlan((doubtful,)), scene_of(hand))
    assert left.changes == () and "deferred" in left.notes[0]


def test_what_is_made_for_a_person_to_decide_about_is_made(hand: StoreHarness) -> None:
    source = hand.add()
    made = [
        hand.new_atom("tea is red", derived_from=(source.id,), origin=Origin.DREAM, confidence=0.5, status=status)
        for status in (Status.CHALLENGED, Status.CONSTRAINED)
    ]
    assert apply_policy(StepPlan(tuple(made)), scene_of(hand)).changes == tuple(made)


def test_a_doubtful_memory_may_still_be_forgotten(hand: StoreHarness) -> None:
    guess = hand.add("perhaps it rains", confidence=0.2)
    assert let_through(guess, guess.with_(status=Status.TOMBSTONED), hand).changes


def test_a_statement_nobody_asked_for_in_years_may_still_be_doubted_and_linked(hand: StoreHarness) -> None:
    old = hand.add("src/app.py starts it", recorded_at=NOON - timedelta(days=900), confidence=0.5)
    assert let_through(old, old.with_(status=Status.CHALLENGED), hand).changes
    linked = old.with_(relations=(Relation(RelationName.SUPPORTS, AtomId("b")),))
    assert let_through(old, linked, hand).changes


@pytest.mark.parametrize("status", [Status.ARCHIVED, Status.CHALLENGED])
def test_what_is_laid_aside_or_doubted_is_not_built_on(hand: StoreHarness, status: Status) -> None:
    old = hand.commit(hand.add(layer=Layer.EPISODIC).with_(status=status)).atoms[0]
    for after in (
        old.with_(layer=Layer.SEMANTIC),
        old.with_(relations=(Relation(RelationName.SUPPORTS, AtomId("b")),)),
    ):
        left = let_through(old, after, hand)
        assert left.changes == () and left.moves == () and "denied" in left.notes[0]


def test_what_is_used_again_comes_back_from_the_archive(hand: StoreHarness) -> None:
    old = hand.commit(hand.add(layer=Layer.EPISODIC).with_(status=Status.ARCHIVED)).atoms[0]
    assert let_through(old, old.with_(status=Status.ACTIVE, layer=Layer.SEMANTIC), hand).changes


def test_what_a_dream_made_may_be_let_go_however_important(hand: StoreHarness) -> None:
    source = hand.add()
    made = hand.new_atom("all tea", kind="synthesis", origin=Origin.DREAM, derived_from=(source.id,), importance=0.95)
    made = hand.commit(made, origin=Origin.DREAM, actor="lamina", way=TransitionCause.UPKEEP).atoms[0]
    assert let_through(made, made.with_(status=Status.TOMBSTONED), hand).changes


def test_what_a_person_had_a_hand_in_is_not_the_dreams_to_let_go(hand: StoreHarness) -> None:
    source = hand.add()
    made = hand.new_atom("all tea", kind="synthesis", origin=Origin.DREAM, derived_from=(source.id,), importance=0.95)
    made = hand.commit(made, origin=Origin.DREAM, actor="lamina", way=TransitionCause.UPKEEP).atoms[0]
    kept = hand.commit(made.with_(content="all tea is green"), actor="ann").atoms[0]
    assert let_through(kept, kept.with_(status=Status.TOMBSTONED), hand).changes == ()


def test_what_hangs_together_is_left_out_together(hand: StoreHarness) -> None:
    source, other = hand.add(), hand.add("unlike")
    old = hand.new_atom("tea", kind="synthesis", origin=Origin.DREAM, derived_from=(source.id,))
    old = hand.commit(old, origin=Origin.DREAM, actor="lamina").atoms[0]
    fresh = hand.new_atom(
        "teas", kind="synthesis", origin=Origin.DREAM, derived_from=(source.id,), confidence=0.1, supersedes=(old.id,)
    )
    over = old.with_(status=Status.SUPERSEDED, superseded_by=(fresh.id,))
    left = apply_policy(StepPlan((over, fresh, other.with_(status=Status.ARCHIVED))), scene_of(hand))
    assert [change.id for change in left.changes] == [other.id]
    assert left.notes[-1].endswith(": 1")


def test_old_links_do_not_bind_two_changes_together(hand: StoreHarness) -> None:
    dear = hand.add(importance=0.9)
    cheap = hand.add("cheap", relations=(Relation(RelationName.SUPPORTS, dear.id),))
    plan = StepPlan((dear.with_(status=Status.ARCHIVED), cheap.with_(status=Status.ARCHIVED)))
    assert [change.id for change in apply_policy(plan, scene_of(hand)).changes] == [cheap.id]


def test_many_that_are_left_out_are_told_in_few_lines() -> None:
    plan = StepPlan(tuple(thing(n, status=Status.ARCHIVED) for n in range(MAX_NOTES + 5)))
    before = {change.id: change.with_(status=Status.ACTIVE) for change in plan.changes}
    left = filter_plan(plan, before, lambda _: PolicyContext(1.0, LifecycleState.ACTIVE, 0.9))
    assert left.changes == () and len(left.notes) == MAX_NOTES + 1 and left.notes[-1].endswith("5 more")


@given(
    st.lists(st.tuples(contexts, st.sampled_from([Status.ARCHIVED, Status.TOMBSTONED, Status.CHALLENGED])), max_size=8)
)
def test_a_gate_only_ever_leaves_out(drawn: list[tuple[PolicyContext, Status]]) -> None:
    seen = {thing(n).id: context for n, (context, _) in enumerate(drawn)}
    before = {thing(n).id: thing(n) for n in range(len(drawn))}
    plan = StepPlan(tuple(thing(n, status=status) for n, (_, status) in enumerate(drawn)))
    left = filter_plan(plan, before, lambda atom: seen[atom.id])
    wanted = [
        change
        for change in plan.changes
        if all(decide(one, seen[change.id]) is PolicyRuling.ALLOW for one in classify_change(before[change.id], change))
    ]
    assert list(left.changes) == wanted
    assert filter_plan(left, before, lambda atom: seen[atom.id]).changes == left.changes


def test_a_dream_whose_steps_pass_the_gate_leaves_the_important_in_place(hand: StoreHarness) -> None:
    dear, cheap = hand.add("dear", importance=0.9), hand.add("cheap", importance=0.1)

    def tidy(scene: StepContext) -> StepPlan:
        stands = [each for each in hand.read() if each.status is Status.ACTIVE]
        return apply_policy(StepPlan(tuple(stand.with_(status=Status.ARCHIVED) for stand in stands)), scene)

    at: datetime = hand.clock.at
    first = dream([scene_of(hand)], {"tidy": tidy}, hand.store, at)
    assert first.steps[0].commit and first.steps[0].notes
    assert hand.current(dear).status is Status.ACTIVE and hand.current(cheap).status is Status.ARCHIVED
    position = hand.store.position()
    assert dream([scene_of(hand)], {"tidy": tidy}, hand.store, at).steps[0].commit is None
    assert hand.store.position() == position
