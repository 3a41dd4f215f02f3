"""Step 4: two names that nothing links, and of which much the same is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from desk import Desk
from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.passage import passage_digest, passages_of
from lamina.atom.proposal import ProposalType, proposal_type_of
from lamina.atom.relation import Relation, RelationName
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.clock import FixedClock
from lamina.dream.bridge import MAX_PER_DAY, bridge
from lamina.dream.dream import dream
from lamina.dream.report import DreamReport
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import StepPlan
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.models.chat import Chat
from lamina.models.embedder import EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.store.base import Store
from lamina.store.encodings import PackedStates, TextEncoding
from lamina.store.sqlite.store import SqliteStore
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness
from llm_server import Scripted, completion, error, scripted


class Named:
    """An embedder whose vectors the store has already."""

    model = EmbeddingModel("of the test", 3, TokenStates.NONE)

    def encode_passages(self, pieces: Sequence[TextToEncode]) -> list[EncodedText]:
        raise AssertionError("everything is encoded")

    def encode_question(self, text: str) -> EncodedQuestion:
        raise AssertionError("nothing is asked")


def _ids(clock: FixedClock) -> Iterator[AtomId]:
    source = IdSource(lambda many: bytes(range(many)))
    while True:
        yield source.new(clock.now())


def scene_of(
    store: Store, clock: FixedClock, scope: Scope = LOCAL, chat: Chat | None = None, insights: bool = True
) -> StepContext:
    return StepContext(
        store=store,
        scope=scope,
        moment=AgeingTime(clock.now()),
        ids=_ids(clock),
        chat=chat,
        insights_enabled=insights,
        embedder=Named,
    )


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    yield StoreHarness(store, clock)
    store.close()


def encoded(store: Store, atoms: Sequence[Atom], cosine: float) -> None:
    """Each atom's vector, so far from the first axis."""
    row = np.array([[cosine, (1 - cosine**2) ** 0.5, 0.0]], dtype=np.float32)
    made = [TextEncoding(passage_digest(atom, passages_of(atom)[0]), row, PackedStates("none", b"")) for atom in atoms]
    store.encodings.put(Named.model.id, made)


def about(hand: StoreHarness, name: str, cosine: float, many: int = 3, **fields: object) -> list[Atom]:
    atoms = [hand.add(f"{name} grows moss on stone {n}", entities=(name,), **fields) for n in range(many)]
    encoded(hand.store, atoms, cosine)
    return atoms


def planned(hand: StoreHarness, chat: Chat | None = None) -> StepPlan:
    return bridge(scene_of(hand.store, hand.clock, chat=chat))


def dreamt(hand: StoreHarness, chat: Chat | None = None) -> DreamReport:
    return dream([scene_of(hand.store, hand.clock, chat=chat)], {"bridge": bridge}, hand.store, hand.clock.now())


def test_two_names_alike_and_unlinked_are_proposed_once_and_wait(hand: StoreHarness) -> None:
    one, other = about(hand, "Heron", 1.0), about(hand, "Falcon", 0.8)
    assert len(dreamt(hand).moves) == 1
    (insight,) = hand.read(kinds=frozenset({"insight"}))
    assert (insight.status, insight.origin, proposal_type_of(insight)) == (
        Status.CONSTRAINED,
        Origin.DREAM,
        ProposalType.INSIGHT,
    )
    assert set(insight.derived_from) == {atom.id for atom in (*one, *other)} and insight.evidence == ()
    assert set(insight.entities) == {"Heron", "Falcon"} and "may have to do with each other" in insight.content
    leads = [relation.target for relation in insight.relations if relation.name is RelationName.LEADS_TO]
    assert len(leads) == 2 and {*leads} & {atom.id for atom in one} and {*leads} & {atom.id for atom in other}
    at = hand.store.position()
    assert dreamt(hand).moves == () and hand.store.position() == at


@pytest.mark.parametrize(("cosine", "proposed"), [(0.74, False), (0.76, True), (0.89, True), (0.91, False)])
def test_only_what_is_alike_and_not_the_same_is_proposed(hand: StoreHarness, cosine: float, proposed: bool) -> None:
    about(hand, "Heron", 1.0)
    about(hand, "Falcon", cosine)
    assert bool(planned(hand).changes) is proposed


def test_nothing_is_proposed_unless_it_is_wanted(hand: StoreHarness) -> None:
    about(hand, "Heron", 1.0)
    about(hand, "Falcon", 0.8)
    assert bridge(scene_of(hand.store, hand.clock, insights=False)).changes == ()


def test_names_little_is_said_of_are_left_alone(hand: StoreHarness) -> None:
    about(hand, "Heron", 1.0)
    about(hand, "Falcon", 0.8, many=2)
    assert planned(hand).changes == ()


def test_names_that_share_an_atom_or_whose_atoms_are_linked_need_no_bridge(hand: StoreHarness) -> None:
    one = about(hand, "Heron", 1.0)
    about(hand, "Falcon", 0.8)
    assert planned(hand).changes
    link = Relation(RelationName.ENRICHES, one[0].id, 0.8, NOON)
    linked = hand.add("Falcon met it", entities=("Falcon",), relations=(link,))
    assert planned(hand).changes == ()
    weak = hand.commit(linked.with_(relations=(Relation(RelationName.ENRICHES, one[0].id, 0.1, NOON),))).atoms[0]
    assert planned(hand).changes
    hand.commit(weak.with_(entities=("Falcon", "Heron")))
    assert planned(hand).changes == ()


def test_what_a_dream_made_is_no_side_of_a_bridge(hand: StoreHarness) -> None:
    one = about(hand, "Heron", 1.0)
    made = [
        hand.new_atom(f"Falcon {n}", entities=("Falcon",), origin=Origin.DREAM, derived_from=(one[0].id,))
        for n in range(3)
    ]
    encoded(hand.store, hand.commit(*made, origin=Origin.DREAM).atoms, 0.8)
    assert planned(hand).changes == ()


def test_three_a_day_the_likest_first_and_never_a_pair_twice(hand: StoreHarness) -> None:
    about(hand, "Heron", 1.0)
    for n, cosine in enumerate((0.76, 0.78, 0.80, 0.82, 0.84)):
        about(hand, f"Bird{n}", cosine)
    told = [move.text for move in dreamt(hand).moves]
    assert len(told) == MAX_PER_DAY and "Bird4" in told[0] and "Bird3" in told[1] and "Bird2" in told[2]
    assert dreamt(hand).moves == ()
    hand.clock.at += timedelta(hours=24)
    assert len(dreamt(hand).moves) == 2
    hand.clock.at += timedelta(hours=24)
    assert dreamt(hand).moves == ()


def test_a_chat_models_sentence_is_taken_with_what_it_cites(hand: StoreHarness) -> None:
    one, _ = about(hand, "Heron", 1.0), about(hand, "Falcon", 0.8)
    reply = {"sentence": "Heron and Falcon both grow moss on stone 1.", "cites": [1, 4]}
    with scripted(completion(reply)) as server:
        (insight,) = planned(hand, server.chat()).changes
        asked = server.asked[0]["messages"][1]["content"]
    assert insight.content.startswith("Heron and Falcon both grow moss") and one[0].scope == insight.scope
    assert sum(f"[{each}]" in insight.content for each in insight.derived_from) == 2
    assert "first name | " in asked.split("</data>")[0] and "Heron" not in asked.split("</data>")[1]


@pytest.mark.parametrize(
    "reply",
    [
        completion("garbage"),
        completion({"sentence": "", "cites": [1, 4]}),
        completion(None, refusal="no"),
        completion({"sentence": "Heron and Falcon grow moss.", "cites": [1, 2]}),
        completion({"sentence": "Heron and Falcon belong to Globex.", "cites": [1, 4]}),
        completion({"sentence": "x" * 5000, "cites": [1, 4]}),
        error(500, "down"),
    ],
)
def test_what_a_chat_model_makes_up_changes_nothing_and_is_told(hand: StoreHarness, reply: Scripted) -> None:
    about(hand, "Heron", 1.0)
    about(hand, "Falcon", 0.8)
    before = hand.store.position()
    with scripted(reply) as server:
        (step,) = dreamt(hand, server.chat()).steps
    assert step.failed and hand.store.position() == before


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_person_confirms_or_rejects_an_insight_and_it_is_not_made_again(desk: Desk, confirmed: bool) -> None:
    store = desk.memory._store
    for name, cosine in (("Heron", 1.0), ("Falcon", 0.8)):
        told = (f"{name} grows moss.", f"Nobody paints {name} in winter.", f"Children feed {name} with bread.")
        atoms = [desk.remember(each, entities=[name]) for each in told]
        encoded(store, atoms, cosine)
    scene = scene_of(store, desk.clock, desk.memory.get(atoms[0].id).scope)
    dream([scene], {"bridge": bridge}, store, desk.clock.now())
    (item,) = desk.memory.review.list(kind="proposal")
    assert dict(item.verbs)["confirm"] == "it counts"
    (desk.memory.review.confirm if confirmed else desk.memory.review.reject)(item.ids[0])
    assert desk.memory.get(item.ids[0]).status is (Status.ACTIVE if confirmed else Status.TOMBSTONED)
    assert all(desk.memory.get(atom.id).status is Status.ACTIVE for atom in atoms)
    desk.tick(days=3)
    assert bridge(scene_of(store, desk.clock, scene.scope)).changes == ()
