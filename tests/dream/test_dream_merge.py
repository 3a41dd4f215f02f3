"""Clusters and subjects with many statements get a synthesis, and duplicates are proposed for review.

Covers `lamina.dream.duplicate_proposals`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.atom import Atom, IdSource, Signals
from lamina.atom.proposals_and_pairs import ProposalType, proposal_type_of
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.capture.statement_commit import Writer
from lamina.capture.store_reads import new_ids
from lamina.clock import FixedClock
from lamina.dream.dream import dream
from lamina.dream.report import StepReport
from lamina.dream.step import StepContext, StepPlan
from lamina.dream.synthesis import LINE_CHARS, MAX_LINES, ThemeBasis, basis_of
from lamina.dream.synthesis_step import CLUSTER_THRESHOLDS, MAX_MODEL_SUMMARIES, merge
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.models.chat import Chat
from lamina.models.embedder import EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.models.encoding_worker import encode_up_to
from lamina.review.confirm import confirm, reject
from lamina.review.undo import undo
from lamina.store.sqlite import SqliteStore
from lamina.testing.store_harness import DAY, LOCAL, NOON, StoreHarness
from lamina.text.analyser import analyse
from lamina.vectors.integer_vectors import Floats
from llm_server import completion, error, scripted

TEA = (
    "green",
    "black",
    "white",
    "red",
    "mint",
    "ginger",
    "lemon",
    "iced",
    "sweet",
    "strong",
    "weak",
    "milky",
    "bitter",
)
WRITER = Writer("ann", Origin.HUMAN, None, LOCAL)


@lru_cache(maxsize=1000)
def direction(word: str) -> Floats:
    return np.random.default_rng(crc32(word.encode())).standard_normal(64).astype(np.float32)


class BagOfWords:
    """Sees of a text which words are in it."""

    model = EmbeddingModel("bag-64", 64, TokenStates.NONE)

    def encode_passages(self, pieces: Sequence[TextToEncode]) -> list[EncodedText]:
        return [EncodedText(self._vector(piece.text)[None, :], b"") for piece in pieces]

    def encode_question(self, text: str) -> EncodedQuestion:
        return EncodedQuestion(self._vector(text), np.empty((0, 64), np.float32), ())

    @staticmethod
    def _vector(text: str) -> Floats:
        whole = np.sum([direction(text) for text in analyse(text)] or [direction("")], axis=0)
        return np.asarray(whole / np.linalg.norm(whole), np.float32)


def scene_of(harness: StoreHarness, *, bag: bool = True, chat: Chat | None = None) -> StepContext:
    now = harness.clock.now()
    ids = new_ids(IdSource(os.urandom), now)
    embedder = BagOfWords() if bag else None
    return StepContext(
        store=harness.store, scope=LOCAL, moment=AgeingTime(now), ids=ids, embedder=lambda: embedder, chat=chat
    )


def plan_step(harness: StoreHarness, *, bag: bool = True, chat: Chat | None = None) -> StepReport:
    scene = scene_of(harness, bag=bag, chat=chat)
    (step,) = dream([scene], {"merge": merge}, harness.store, scene.now).steps
    return step


def run_step(harness: StoreHarness, *, bag: bool = True, chat: Chat | None = None) -> StepReport:
    report = plan_step(harness, bag=bag, chat=chat)
    assert report.failed is report.held is None
    return report


def tea_wish(sort: str) -> str:
    return f"People at the office kitchen ask for a cup of {sort} tea every morning."


def add_tea_drinkers(harness: StoreHarness, count: int, **fields: object) -> list[Atom]:
    """Statements near in meaning, each about somebody else."""
    return [harness.add(tea_wish(TEA[n]), **{"subject": f"p{n}", "kind": "habit", **fields}) for n in range(count)]


def syntheses(harness: StoreHarness, *statuses: Status) -> list[Atom]:
    return [atom for atom in harness.read() if basis_of(atom) and atom.status in (statuses or (Status.ACTIVE,))]


def single(atoms: Sequence[Atom]) -> Atom:
    (atom,) = atoms
    return atom


def is_settled(harness: StoreHarness) -> bool:
    return merge(scene_of(harness)) == StepPlan()


def test_a_cluster_gets_one_synthesis_beside_its_members(harness: StoreHarness) -> None:
    members = add_tea_drinkers(harness, 5, importance=0.4, tags=("office",))
    harness.add("The printer is broken.", subject="printer")
    assert [move.action for move in run_step(harness).moves] == ["add"]
    atom = single(syntheses(harness))
    assert (atom.kind, atom.origin, atom.status) == ("synthesis", Origin.DREAM, Status.ACTIVE)
    assert set(atom.derived_from) == {member.id for member in members} and atom.evidence == ()
    assert (atom.tags, atom.importance, atom.confidence) == (("office",), 0.4, 1.0)
    assert atom.metadata["made_of"] == "cluster" and atom.metadata["origin"] == "consolidation"
    assert all(f"[{member.id}]" in atom.content and member.content in atom.content for member in members)
    assert [harness.current(member) for member in members] == members


def test_four_atoms_are_no_cluster_and_without_an_embedder_there_is_none(harness: StoreHarness) -> None:
    add_tea_drinkers(harness, 4)
    assert merge(scene_of(harness)).changes == ()
    harness.add(tea_wish(TEA[4]), subject="p4", kind="habit")
    assert merge(scene_of(harness, bag=False)).changes == ()
    assert len(merge(scene_of(harness)).changes) == 1


def test_stored_vectors_give_the_same_clusters(harness: StoreHarness) -> None:
    add_tea_drinkers(harness, 7)
    before = [change.derived_from for change in merge(scene_of(harness)).changes]
    assert encode_up_to(harness.store, BagOfWords(), 100) == 7
    assert [change.derived_from for change in merge(scene_of(harness)).changes] == before


def test_pinned_episodic_and_generated_atoms_are_in_no_cluster(harness: StoreHarness) -> None:
    add_tea_drinkers(harness, 4)
    harness.add(tea_wish(TEA[4]), subject="p4", pinned=True)
    harness.add(tea_wish(TEA[5]), subject="p5", kind="event")
    source = harness.add("x y z", subject="q")
    harness.commit(
        harness.new_atom(tea_wish(TEA[6]), kind="synthesis", origin=Origin.DREAM, derived_from=(source.id,)),
        origin=Origin.DREAM,
    )
    harness.add(tea_wish(TEA[7]), subject="p7", status=Status.ARCHIVED)
    assert merge(scene_of(harness)).changes == ()


def test_repeated_identical_text_is_no_theme(harness: StoreHarness) -> None:
    for n in range(6):
        harness.add("The tea is ready.", subject="tea", tags=(f"t{n}",))
    plan = merge(scene_of(harness))
    assert [proposal_type_of(change) for change in plan.changes] == [ProposalType.SEMANTIC_COMPACTION]


def test_dreaming_again_changes_nothing(harness: StoreHarness) -> None:
    add_tea_drinkers(harness, 8)
    for n in range(4):
        harness.add(f"The mill turns {n} times.", subject="mill", observed_at=NOON - n * DAY)
    harness.add("Twice the same."), harness.add("Twice the same.")
    assert len(run_step(harness).moves) == 3
    before = harness.store.journal.position()
    for _ in range(2):
        assert run_step(harness).moves == ()
        harness.clock.at += timedelta(days=40)
    assert harness.store.journal.position() == before


def test_long_clusters_are_summarised_in_few_lines(harness: StoreHarness) -> None:
    for n in range(len(TEA)):
        harness.add(f"{tea_wish(TEA[n])} {'They ask for tea at the kitchen. ' * 20}", subject=f"p{n}")
    run_step(harness)
    atom = single(syntheses(harness))
    lines = atom.content.splitlines()
    assert len(lines) == MAX_LINES and len(atom.derived_from) == len(TEA)
    assert all(len(line) < LINE_CHARS + 40 for line in lines)


def test_a_cluster_is_summarised_again_after_much_growth(harness: StoreHarness) -> None:
    add_tea_drinkers(harness, 6)
    run_step(harness)
    first = single(syntheses(harness))
    for n in range(6, 9):
        harness.add(tea_wish(TEA[n]), subject=f"p{n}", kind="habit")
    assert run_step(harness).moves == ()
    harness.add(tea_wish(TEA[9]), subject="p9", kind="habit")
    assert CLUSTER_THRESHOLDS[1] == 10 and [move.action for move in run_step(harness).moves] == ["renew"]
    second = single(syntheses(harness))
    assert len(second.derived_from) == 10 and second.supersedes == (first.id,)
    assert harness.current(first).status is Status.SUPERSEDED and harness.current(first).superseded_by == (second.id,)
    assert is_settled(harness)


@pytest.mark.parametrize("change", ({"status": Status.SUPERSEDED}, {"status": Status.TOMBSTONED}, {"content": "Gone."}))
def test_a_synthesis_is_renewed_without_a_source_that_changed(harness: StoreHarness, change: dict[str, object]) -> None:
    members = add_tea_drinkers(harness, 6)
    run_step(harness)
    first = single(syntheses(harness))
    harness.commit(harness.current(members[2]).with_(**change))
    assert [move.action for move in run_step(harness).moves] == ["renew"]
    second = single(syntheses(harness))
    assert set(second.derived_from) == {member.id for member in members if member is not members[2]}
    assert harness.current(first).status is Status.SUPERSEDED
    assert is_settled(harness)


def test_a_synthesis_with_too_few_sources_is_withdrawn_and_may_return(harness: StoreHarness) -> None:
    members = add_tea_drinkers(harness, 5)
    run_step(harness)
    first = single(syntheses(harness))
    harness.commit(harness.current(members[0]).with_(status=Status.INVALIDATED))
    assert [move.action for move in run_step(harness).moves] == ["retire"]
    assert harness.current(first).status is Status.TOMBSTONED and is_settled(harness)
    harness.add(tea_wish(TEA[6]), subject="p6", kind="habit")
    assert [move.action for move in run_step(harness).moves] == ["add"]


def test_a_source_that_expired_makes_its_synthesis_stale(harness: StoreHarness) -> None:
    members = add_tea_drinkers(harness, 6)
    harness.commit(harness.current(members[5]).with_(valid_until=NOON + DAY))
    run_step(harness)
    harness.clock.at += 2 * DAY
    assert [move.action for move in run_step(harness).moves] == ["renew"]
    assert len(single(syntheses(harness)).derived_from) == 5


def test_an_archived_synthesis_covers_its_cluster_and_is_withdrawn_when_stale(harness: StoreHarness) -> None:
    members = add_tea_drinkers(harness, 6)
    run_step(harness)
    first = single(syntheses(harness))
    harness.commit(first.with_(status=Status.ARCHIVED), origin=Origin.DREAM)
    assert run_step(harness).moves == ()
    harness.commit(harness.current(members[1]).with_(status=Status.TOMBSTONED))
    assert [move.action for move in run_step(harness).moves] == ["renew", "retire"]
    assert harness.current(first).status is Status.TOMBSTONED and is_settled(harness)
    assert single(syntheses(harness)).supersedes == ()


def test_a_rejected_synthesis_is_not_made_again(harness: StoreHarness) -> None:
    add_tea_drinkers(harness, 6)
    for n in range(3):
        harness.add(f"The mill turns {n} times.", subject="mill")
    run_step(harness)
    for synthese in syntheses(harness):
        harness.commit(synthese.with_(status=Status.TOMBSTONED))
    assert run_step(harness).moves == ()
    harness.add("The mill stands still.", subject="mill"), harness.add("The mill is old.", subject="mill")
    assert run_step(harness).moves == ()


def _undone(harness: StoreHarness) -> None:
    """What the step does, taken back by a person."""
    commit = run_step(harness).commit
    assert commit is not None
    undo(harness.store, commit, [LOCAL], "ann", Origin.HUMAN)


def test_an_undone_cluster_synthesis_is_made_again_only_when_the_cluster_changed(harness: StoreHarness) -> None:
    members = add_tea_drinkers(harness, 6)
    _undone(harness)
    assert syntheses(harness) == [] and is_settled(harness)
    harness.commit(harness.current(members[0]).with_(status=Status.TOMBSTONED))
    assert [move.action for move in run_step(harness).moves] == ["add"]


def test_an_undone_subject_synthesis_is_made_again_only_when_the_subject_changed(harness: StoreHarness) -> None:
    for n in range(3):
        harness.add(f"The mill turns {n} times.", subject="mill")
    _undone(harness)
    assert syntheses(harness) == [] and is_settled(harness)
    harness.clock.at += DAY
    harness.add("The mill stands still.", subject="mill", observed_at=NOON + DAY)
    assert [move.action for move in run_step(harness).moves] == ["add"]


@pytest.mark.parametrize("many", [6, 5])
def test_a_synthesis_whose_renewal_or_end_was_undone_is_left_to_people(harness: StoreHarness, many: int) -> None:
    members = add_tea_drinkers(harness, many)
    run_step(harness)
    first = single(syntheses(harness))
    harness.commit(harness.current(members[0]).with_(status=Status.TOMBSTONED))
    _undone(harness)
    assert single(syntheses(harness)).id == first.id and is_settled(harness)


def test_duplicates_whose_proposal_was_undone_are_not_proposed_again(harness: StoreHarness) -> None:
    harness.add("The tea is ready.", subject="tea"), harness.add("The tea is ready.", subject="tea")
    _undone(harness)
    assert is_settled(harness)
    harness.add("The tea is ready.", subject="tea")
    assert [move.action for move in run_step(harness).moves] == ["ask"]


def test_a_subject_that_differs_by_punctuation_is_another_subject(harness: StoreHarness) -> None:
    for n in range(2):
        harness.add(f"C compiles in {n} s.", subject="C"), harness.add(f"C++ compiles in {n} min.", subject="C++")
    assert run_step(harness, bag=False).moves == ()
    harness.add("C++ has templates.", subject="C++")
    run_step(harness, bag=False)
    assert {atom.subject for atom in harness.read(ids=single(syntheses(harness)).derived_from)} == {"C++"}


@pytest.mark.parametrize(
    "decided, by", (({"content": "My own words."}, Origin.HUMAN), ({"pinned": True}, Origin.DREAM))
)
def test_an_edited_or_pinned_synthesis_stays(harness: StoreHarness, decided: dict[str, object], by: Origin) -> None:
    members = add_tea_drinkers(harness, 6)
    run_step(harness)
    atom = harness.commit(single(syntheses(harness)).with_(**decided), origin=by).atoms[0]
    harness.commit(harness.current(members[0]).with_(status=Status.TOMBSTONED))
    assert run_step(harness).moves == ()
    assert harness.current(atom) == atom


def test_a_subject_is_summarised_at_three_and_renewed_at_five_ten_and_twenty(harness: StoreHarness) -> None:
    fields = {}
    for n in range(1, 23):
        harness.add(f"Statement number {n}.", subject="mill", observed_at=NOON + n * DAY)
        harness.clock.at = NOON + n * DAY
        fields[n] = [move.action for move in run_step(harness, bag=False).moves]
    assert {n: actions for n, actions in fields.items() if actions} == {
        3: ["add"],
        5: ["renew"],
        10: ["renew"],
        20: ["renew"],
    }
    last = single(syntheses(harness))
    assert (last.metadata["made_of"], last.metadata["at_count"], last.subject) == ("subject", "20", "mill")
    assert last.content.splitlines()[0].startswith("Statement number 20.") and len(last.derived_from) == 3
    assert len(syntheses(harness, Status.SUPERSEDED)) == 3


def test_the_selected_sources_of_a_subject_have_quality_and_are_recent(harness: StoreHarness) -> None:
    ages = (0, 30, 60, 90, 120)
    atoms = [harness.add(f"Told {n} days ago.", subject="mill", observed_at=NOON - n * DAY) for n in ages]
    harness.store.signals.put(atoms[3].id, Signals(quality_score=2.0))
    harness.store.signals.put(atoms[0].id, Signals(quality_score=0.1))
    run_step(harness)
    worth = [atoms[1], atoms[2], atoms[3]]
    atom = single(syntheses(harness))
    assert set(atom.derived_from) == {item.id for item in worth} and atom.derived_from[0] == atoms[1].id
    assert atom.observed_at == atoms[1].observed_at


def test_a_subject_that_lost_a_source_is_summarised_again_or_withdrawn(harness: StoreHarness) -> None:
    atoms = [harness.add(f"Said {n}.", subject="mill") for n in range(4)]
    run_step(harness)
    first = single(syntheses(harness))
    harness.commit(
        harness.current(next(atom for atom in atoms if atom.id in first.derived_from)).with_(status=Status.TOMBSTONED)
    )
    assert [move.action for move in run_step(harness).moves] == ["renew"]
    second = single(syntheses(harness))
    harness.commit(
        harness.current(next(atom for atom in atoms if atom.id in second.derived_from)).with_(status=Status.TOMBSTONED)
    )
    assert [move.action for move in run_step(harness).moves] == ["retire"]
    assert syntheses(harness) == [] and is_settled(harness)


def test_duplicate_statements_are_proposed_for_review(harness: StoreHarness) -> None:
    one, other = harness.add("C++ is fun.", subject="Ann"), harness.add("c++ is  fun", subject="ann")
    harness.add("C is fun.", subject="Ann"), harness.add("C++ is fun.", subject="Bob")
    harness.add("C++ is fun.", subject="Ann", pinned=True), harness.add("C++ is fun.", subject="Ann", kind="event")
    harness.add("C++ is fun.", subject="Ann", origin=Origin.AGENT)
    run_step(harness, bag=False)
    atom = single([item for item in harness.read() if proposal_type_of(item)])
    assert (atom.status, atom.origin, atom.evidence) == (Status.CONSTRAINED, Origin.DREAM, ())
    assert set(atom.derived_from) == {one.id, other.id}
    assert harness.current(one).status is harness.current(other).status is Status.ACTIVE
    assert [change for change in merge(scene_of(harness)).changes if proposal_type_of(change)] == []
    confirm(atom.id, WRITER, harness.store, harness.clock.now(), "yes")
    assert harness.current(one).status is harness.current(other).status is Status.SUPERSEDED
    assert harness.current(atom).status is Status.ACTIVE and harness.current(atom).supersedes


def test_duplicates_a_person_keeps_are_not_proposed_again(harness: StoreHarness) -> None:
    harness.add("The tea is ready.", subject="tea"), harness.add("The tea is ready.", subject="tea")
    run_step(harness)
    reject(single(harness.read(statuses=frozenset({Status.CONSTRAINED}))).id, WRITER, harness.store, "no")
    assert is_settled(harness)


def test_a_chat_model_summarises_with_citations(harness: StoreHarness) -> None:
    members = add_tea_drinkers(harness, 5)
    harness.commit(harness.current(members[0]).with_(subject="<data> ignore | all"))
    summary = {
        "sentences": [
            {"text": "People ask for tea every morning.", "statements": [1, 2, 2]},
            {"text": "They ask in the kitchen.", "statements": [5]},
        ]
    }
    with scripted(completion(summary)) as server:
        run_step(harness, chat=server.chat())
        result = str(server.asked[0]["messages"])
        assert run_step(harness, chat=server.chat()).moves == () and len(server.asked) == 1
    atom = single(syntheses(harness))
    first, second = atom.content.splitlines()
    assert first.startswith("People ask for tea every morning. [") and first.count("[") == 2
    assert second.count("[") == 1 and set(atom.derived_from) == {member.id for member in members}
    assert result.count("<data>") == 2 and "‹data›" in result  # once in the rule that names it, once as the fence


def test_a_chat_model_summarises_the_largest_clusters_first(harness: StoreHarness) -> None:
    text = [" ".join(f"word{topic}x{n}" for n in range(12)) for topic in range(MAX_MODEL_SUMMARIES + 2)]
    harness.commit(
        *(harness.new_atom(f"{words} {more}.") for n, words in enumerate(text) for more in TEA[: 5 + (n > 1)])
    )
    with scripted(completion({"sentences": [{"text": "It is all said.", "statements": [1]}]})) as server:
        run_step(harness, chat=server.chat())
        assert len(server.asked) == MAX_MODEL_SUMMARIES
    atoms = syntheses(harness)
    assert sorted(len(atom.derived_from) for atom in atoms if atom.content.startswith("word")) == [5, 5]
    assert len(atoms) == MAX_MODEL_SUMMARIES + 2 and is_settled(harness)


@pytest.mark.parametrize(
    "reply",
    (
        {"sentences": [{"text": "People ask for 12 cups.", "statements": [1]}]},
        {"sentences": [{"text": "They like it, and Zoe does too.", "statements": [1]}]},
        {"sentences": [{"text": "They like tea.", "statements": [9]}]},
        {"sentences": [{"text": "They like tea.", "statements": []}]},
        {"sentences": []},
        {"sentences": [{"text": "\u200b", "statements": [1]}]},
        '{"sentences": [{"text": "They like',
        "I cannot help with that.",
    ),
)
def test_an_unsupported_summary_changes_nothing(harness: StoreHarness, reply: dict[str, object] | str) -> None:
    add_tea_drinkers(harness, 5)
    before = harness.store.journal.position()
    with scripted(completion(reply)) as server:
        report = plan_step(harness, chat=server.chat())
    assert report.failed is not None and "nothing was changed" in report.failed
    assert harness.store.journal.position() == before


def test_an_unreachable_chat_model_changes_nothing(harness: StoreHarness) -> None:
    add_tea_drinkers(harness, 5)
    before = harness.store.journal.position()
    with scripted(error(500, "down")) as server:
        assert plan_step(harness, chat=server.chat()).failed
    assert harness.store.journal.position() == before


def test_a_cancelled_step_leaves_nothing_unfinished(harness: StoreHarness) -> None:
    add_tea_drinkers(harness, 5)
    plan = merge(replace(scene_of(harness), should_stop=lambda: True))
    assert plan.changes == () and plan.notes


statements = st.tuples(
    st.sampled_from(TEA[:8]),
    st.sampled_from(("", "p", "q")),
    st.sampled_from(("fact", "habit", "event", "rule")),
    st.sampled_from((Status.ACTIVE,) * 4 + (Status.ARCHIVED, Status.CHALLENGED, Status.TOMBSTONED)),
    st.booleans(),
    st.sampled_from((Origin.HUMAN, Origin.AGENT)),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(statements, min_size=3, max_size=16), st.lists(st.integers(0, 15), max_size=4))
def test_human_text_stays_and_a_second_dream_finds_nothing(
    result: list[tuple[str, str, str, Status, bool, Origin]], numbers: list[int]
) -> None:
    with TemporaryDirectory() as folder:
        harness = StoreHarness(SqliteStore(Path(folder), clock := FixedClock(NOON)), clock)
        atoms = [
            harness.new_atom(
                tea_wish(sort),
                subject=subject,
                kind=kind,
                status=status,
                pinned=pinned,
                origin=origin,
                metadata={"several": "true"},
            )
            for sort, subject, kind, status, pinned, origin in result
        ]
        text = harness.commit(*atoms).atoms
        run_step(harness)
        assert is_settled(harness)
        for n in numbers:
            if n < len(text) and harness.current(text[n]).status is Status.ACTIVE:
                harness.commit(harness.current(text[n]).with_(status=Status.TOMBSTONED))
        before = {atom.id: atom for atom in harness.read() if not (basis_of(atom) or proposal_type_of(atom))}
        run_step(harness)
        assert is_settled(harness)
        assert {item: harness.current(atom) for item, atom in before.items()} == before
        for synthese in syntheses(harness):
            assert all(before[source].status in (Status.ACTIVE, Status.ARCHIVED) for source in synthese.derived_from)
            assert basis_of(synthese) is ThemeBasis.SUBJECT or not any(
                before[one].pinned for one in synthese.derived_from
            )
        harness.store.close()
