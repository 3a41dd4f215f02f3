from __future__ import annotations

from datetime import datetime, timedelta
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import Atom, AtomId, IdSource, Relation, RelationName
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Origin
from lamina.atom.status import Status, TransitionCause
from lamina.dream.change_policy import MAX_NOTES, apply_policy, context_reader, filter_plan
from lamina.dream.dream import dream
from lamina.dream.step import Move, StepContext, StepPlan
from lamina.lifecycle.action_policy import (
    IMPORTANT,
    MIN_CONFIDENCE,
    PolicyAction,
    PolicyContext,
    PolicyRuling,
    classify_change,
    decide,
)
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.standing import LifecycleState
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness

FADED_STATES = (LifecycleState.STALE, LifecycleState.ARCHIVED)
SURE_OF = PolicyContext(1.0, LifecycleState.ACTIVE, 0.5)

shares = st.floats(0, 1)
contexts = st.builds(PolicyContext, shares, st.sampled_from(LifecycleState), shares)


def scene_of(harness: StoreHarness) -> StepContext:
    ids = IdSource(lambda n: bytes(n))
    return StepContext(
        store=harness.store, scope=LOCAL, moment=AgeingTime(harness.clock.at), ids=iter(lambda: ids.new(NOON), None)
    )


def make_atom(n: int = 1, **fields: Any) -> Atom:
    actual: dict[str, Any] = {"kind": "fact", "content": "tea is green", "revision": 1, **fields}
    return Atom(id=AtomId(f"01m7fh87g0yejj059w76d6q{n:03}"), scope=LOCAL, observed_at=NOON, **actual)


def filter_change(before: Atom, after: Atom, harness: StoreHarness) -> StepPlan:
    plan = StepPlan((after,), (Move("move", before.id, before.content, "because"),))
    return filter_plan(plan, {before.id: before}, context_reader(scene_of(harness)))


@given(st.sampled_from(PolicyAction), contexts)
def test_exactly_these_rules_exist(action: PolicyAction, context: PolicyContext) -> None:
    stored = action is PolicyAction.DISCARD and context.importance >= IMPORTANT
    builds = action in (PolicyAction.UPDATE_NOTE, PolicyAction.CREATE_ARTIFACT, PolicyAction.LINK_GRAPH)
    if stored or (builds and context.lifecycle_state in FADED_STATES):
        assert decide(action, context) is PolicyRuling.DENY
    else:
        assert (decide(action, context) is PolicyRuling.DEFER) == (context.confidence < MIN_CONFIDENCE)


def test_the_thresholds_belong_to_the_careful_side() -> None:
    assert decide(PolicyAction.DISCARD, PolicyContext(1.0, LifecycleState.ACTIVE, 0.8)) is PolicyRuling.DENY
    assert decide(PolicyAction.DISCARD, PolicyContext(1.0, LifecycleState.ACTIVE, 0.7999)) is PolicyRuling.ALLOW
    assert decide(PolicyAction.STORE_NOTE, PolicyContext(0.35)) is PolicyRuling.ALLOW
    assert decide(PolicyAction.STORE_NOTE, PolicyContext(0.3499)) is PolicyRuling.DEFER


@given(st.sampled_from(PolicyAction), st.sampled_from(LifecycleState))
def test_a_nan_figure_allows_nothing(action: PolicyAction, state: LifecycleState) -> None:
    assert decide(action, PolicyContext(nan, state, 0.0)) is not PolicyRuling.ALLOW
    assert decide(PolicyAction.DISCARD, PolicyContext(1.0, state, nan)) is PolicyRuling.DENY


@pytest.mark.parametrize(
    ("fields", "action"),
    [
        ({"kind": "synthesis", "derived_from": (AtomId("a"),)}, PolicyAction.SUMMARIZE_NODE),
        ({"kind": "entity"}, PolicyAction.SUMMARIZE_NODE),
        ({"kind": "insight", "derived_from": (AtomId("a"),)}, PolicyAction.CREATE_ARTIFACT),
        ({"kind": "preference"}, PolicyAction.STORE_NOTE),
        ({"kind": "event"}, PolicyAction.STORE_EPISODE),
    ],
)
def test_every_creation_is_an_artifact_a_summary_or_a_stored_atom(fields: dict[str, Any], action: PolicyAction) -> None:
    assert classify_change(None, make_atom(revision=0, **fields)) == (action,)


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
def test_every_change_of_an_existing_atom_has_an_action(
    stands: dict[str, Any], becomes: dict[str, Any], actions: list[PolicyAction]
) -> None:
    assert list(classify_change(make_atom(**stands), make_atom(**becomes))) == actions


def test_a_link_that_only_weakens_is_no_action() -> None:
    strong = make_atom(relations=(Relation(RelationName.SUPPORTS, AtomId("b"), 0.9),))
    weak = make_atom(relations=(Relation(RelationName.SUPPORTS, AtomId("b"), 0.8, NOON),))
    assert classify_change(strong, weak) == ()


def test_a_harmless_plan_is_unchanged() -> None:
    plan = StepPlan((make_atom(layer=Layer.SEMANTIC),))
    assert filter_plan(plan, {make_atom().id: make_atom(layer=Layer.EPISODIC)}, lambda _: SURE_OF) is plan


def test_important_atoms_are_not_archived_and_the_notes_say_so(harness: StoreHarness) -> None:
    dear, cheap = harness.add("the key is under the mat", importance=0.85), harness.add("it rained", importance=0.2)
    plan = StepPlan(
        tuple(item.with_(status=Status.ARCHIVED) for item in (dear, cheap)),
        tuple(Move("archive", item.id, item.content, "old") for item in (dear, cheap)),
        ("seen",),
    )
    remaining = apply_policy(plan, scene_of(harness))
    assert [change.id for change in remaining.changes] == [move.atom_id for move in remaining.moves] == [cheap.id]
    assert remaining.notes[0] == "seen" and dear.id[-6:] in remaining.notes[1] and "0.85" in remaining.notes[1]


def test_counters_of_a_filtered_step_are_kept(harness: StoreHarness) -> None:
    dear, atoms = harness.add(importance=0.9), list[str]()
    apply_policy(
        StepPlan((dear.with_(status=Status.ARCHIVED),), after_commit=lambda: atoms.append("counted")), scene_of(harness)
    ).after_commit()
    assert atoms == ["counted"]


def test_an_uncertain_creation_is_pending(harness: StoreHarness) -> None:
    source = harness.add()
    doubtful = harness.new_atom(
        "perhaps", kind="insight", derived_from=(source.id,), origin=Origin.DREAM, confidence=0.3
    )
    plan = apply_policy(StepPlan((doubtful,)), scene_of(harness))
    assert plan.changes == () and "deferred" in plan.notes[0]


def test_a_creation_for_review_is_made(harness: StoreHarness) -> None:
    source = harness.add()
    result = [
        harness.new_atom("tea is red", derived_from=(source.id,), origin=Origin.DREAM, confidence=0.5, status=status)
        for status in (Status.CHALLENGED, Status.CONSTRAINED)
    ]
    assert apply_policy(StepPlan(tuple(result)), scene_of(harness)).changes == tuple(result)


def test_a_doubtful_atom_may_still_be_forgotten(harness: StoreHarness) -> None:
    guess = harness.add("perhaps it rains", confidence=0.2)
    assert filter_change(guess, guess.with_(status=Status.TOMBSTONED), harness).changes


def test_a_long_unused_statement_may_still_be_challenged_and_linked(harness: StoreHarness) -> None:
    old = harness.add("src/app.py starts it", recorded_at=NOON - timedelta(days=900), confidence=0.5)
    assert filter_change(old, old.with_(status=Status.CHALLENGED), harness).changes
    linked = old.with_(relations=(Relation(RelationName.SUPPORTS, AtomId("b")),))
    assert filter_change(old, linked, harness).changes


@pytest.mark.parametrize("status", [Status.ARCHIVED, Status.CHALLENGED])
def test_archived_and_challenged_atoms_are_not_built_on(harness: StoreHarness, status: Status) -> None:
    old = harness.commit(harness.add(layer=Layer.EPISODIC).with_(status=status)).atoms[0]
    for after in (
        old.with_(layer=Layer.SEMANTIC),
        old.with_(relations=(Relation(RelationName.SUPPORTS, AtomId("b")),)),
    ):
        plan = filter_change(old, after, harness)
        assert plan.changes == () and plan.moves == () and "denied" in plan.notes[0]


def test_a_used_atom_returns_from_the_archive(harness: StoreHarness) -> None:
    old = harness.commit(harness.add(layer=Layer.EPISODIC).with_(status=Status.ARCHIVED)).atoms[0]
    assert filter_change(old, old.with_(status=Status.ACTIVE, layer=Layer.SEMANTIC), harness).changes


def test_a_generated_atom_may_be_removed_however_important(harness: StoreHarness) -> None:
    source = harness.add()
    atom = harness.new_atom(
        "all tea", kind="synthesis", origin=Origin.DREAM, derived_from=(source.id,), importance=0.95
    )
    atom = harness.commit(atom, origin=Origin.DREAM, actor="lamina", way=TransitionCause.UPKEEP).atoms[0]
    assert filter_change(atom, atom.with_(status=Status.TOMBSTONED), harness).changes


def test_atoms_a_person_touched_are_not_removed_by_a_dream(harness: StoreHarness) -> None:
    source = harness.add()
    result = harness.new_atom(
        "all tea", kind="synthesis", origin=Origin.DREAM, derived_from=(source.id,), importance=0.95
    )
    result = harness.commit(result, origin=Origin.DREAM, actor="lamina", way=TransitionCause.UPKEEP).atoms[0]
    atom = harness.commit(result.with_(content="all tea is green"), actor="ann").atoms[0]
    assert filter_change(atom, atom.with_(status=Status.TOMBSTONED), harness).changes == ()


def test_dependent_changes_are_left_out_together(harness: StoreHarness) -> None:
    source, other = harness.add(), harness.add("unlike")
    old = harness.new_atom("tea", kind="synthesis", origin=Origin.DREAM, derived_from=(source.id,))
    old = harness.commit(old, origin=Origin.DREAM, actor="lamina").atoms[0]
    fresh = harness.new_atom(
        "teas", kind="synthesis", origin=Origin.DREAM, derived_from=(source.id,), confidence=0.1, supersedes=(old.id,)
    )
    over = old.with_(status=Status.SUPERSEDED, superseded_by=(fresh.id,))
    plan = apply_policy(StepPlan((over, fresh, other.with_(status=Status.ARCHIVED))), scene_of(harness))
    assert [change.id for change in plan.changes] == [other.id]
    assert plan.notes[-1].endswith(": 1")


def test_existing_links_do_not_make_two_changes_dependent(harness: StoreHarness) -> None:
    dear = harness.add(importance=0.9)
    cheap = harness.add("cheap", relations=(Relation(RelationName.SUPPORTS, dear.id),))
    plan = StepPlan((dear.with_(status=Status.ARCHIVED), cheap.with_(status=Status.ARCHIVED)))
    assert [change.id for change in apply_policy(plan, scene_of(harness)).changes] == [cheap.id]


def test_many_omissions_are_reported_in_few_lines() -> None:
    plan = StepPlan(tuple(make_atom(n, status=Status.ARCHIVED) for n in range(MAX_NOTES + 5)))
    before = {change.id: change.with_(status=Status.ACTIVE) for change in plan.changes}
    remaining = filter_plan(plan, before, lambda _: PolicyContext(1.0, LifecycleState.ACTIVE, 0.9))
    assert remaining.changes == () and len(remaining.notes) == MAX_NOTES + 1 and remaining.notes[-1].endswith("5 more")


@given(
    st.lists(st.tuples(contexts, st.sampled_from([Status.ARCHIVED, Status.TOMBSTONED, Status.CHALLENGED])), max_size=8)
)
def test_the_policy_only_ever_leaves_out(drawn: list[tuple[PolicyContext, Status]]) -> None:
    result = {make_atom(n).id: context for n, (context, _) in enumerate(drawn)}
    before = {make_atom(n).id: make_atom(n) for n in range(len(drawn))}
    plan = StepPlan(tuple(make_atom(n, status=status) for n, (_, status) in enumerate(drawn)))
    remaining = filter_plan(plan, before, lambda atom: result[atom.id])
    wanted = [
        change
        for change in plan.changes
        if all(
            decide(one, result[change.id]) is PolicyRuling.ALLOW for one in classify_change(before[change.id], change)
        )
    ]
    assert list(remaining.changes) == wanted
    assert filter_plan(remaining, before, lambda atom: result[atom.id]).changes == remaining.changes


def test_a_dream_under_the_policy_leaves_important_atoms_in_place(harness: StoreHarness) -> None:
    dear, cheap = harness.add("dear", importance=0.9), harness.add("cheap", importance=0.1)

    def tidy(scene: StepContext) -> StepPlan:
        stands = [atom for atom in harness.read() if atom.status is Status.ACTIVE]
        return apply_policy(StepPlan(tuple(stand.with_(status=Status.ARCHIVED) for stand in stands)), scene)

    at: datetime = harness.clock.at
    first = dream([scene_of(harness)], {"tidy": tidy}, harness.store, at)
    assert first.steps[0].commit and first.steps[0].notes
    assert harness.current(dear).status is Status.ACTIVE and harness.current(cheap).status is Status.ARCHIVED
    position = harness.store.journal.position()
    assert dream([scene_of(harness)], {"tidy": tidy}, harness.store, at).steps[0].commit is None
    assert harness.store.journal.position() == position
