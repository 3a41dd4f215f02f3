"""Step 4: two names that nothing links, and of which much the same is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import numpy as np
import pytest

from lamina.atom.atom import Atom, AtomId, IdSource, Relation, RelationName
from lamina.atom.passage import passage_digest, passages_of
from lamina.atom.proposals_and_pairs import ProposalType, proposal_type_of
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.clock import FixedClock
from lamina.dream.bridge_step import MAX_PER_DAY, bridge
from lamina.dream.dream import dream
from lamina.dream.report import DreamReport
from lamina.dream.step import StepContext, StepPlan
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.models.chat import Chat
from lamina.models.embedder import EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.store.base import Store
from lamina.store.encodings import PackedStates, TextEncoding
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness
from llm_server import Scripted, completion, error, scripted
from vault_workspace import VaultWorkspace


class NamedVectors:
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
        embedder=NamedVectors,
    )


def encode_all(store: Store, atoms: Sequence[Atom], cosine: float) -> None:
    """Each atom's vector, so far from the first axis."""
    row = np.array([[cosine, (1 - cosine**2) ** 0.5, 0.0]], dtype=np.float32)
    result = [
        TextEncoding(passage_digest(atom, passages_of(atom)[0]), row, PackedStates("none", b"")) for atom in atoms
    ]
    store.passages.encodings.put(NamedVectors.model.id, result)


def make_statements(harness: StoreHarness, name: str, cosine: float, many: int = 3, **fields: object) -> list[Atom]:
    atoms = [harness.add(f"{name} grows moss on stone {n}", entities=(name,), **fields) for n in range(many)]
    encode_all(harness.store, atoms, cosine)
    return atoms


def plan_step(harness: StoreHarness, chat: Chat | None = None) -> StepPlan:
    return bridge(scene_of(harness.store, harness.clock, chat=chat))


def run_step(harness: StoreHarness, chat: Chat | None = None) -> DreamReport:
    return dream(
        [scene_of(harness.store, harness.clock, chat=chat)], {"bridge": bridge}, harness.store, harness.clock.now()
    )


def test_two_similar_unlinked_names_are_proposed_once_and_pending(harness: StoreHarness) -> None:
    one, other = make_statements(harness, "Heron", 1.0), make_statements(harness, "Falcon", 0.8)
    assert len(run_step(harness).moves) == 1
    (insight,) = harness.read(kinds=frozenset({"insight"}))
    assert (insight.status, insight.origin, proposal_type_of(insight)) == (
        Status.CONSTRAINED,
        Origin.DREAM,
        ProposalType.INSIGHT,
    )
    assert set(insight.derived_from) == {atom.id for atom in (*one, *other)} and insight.evidence == ()
    assert set(insight.entities) == {"Heron", "Falcon"} and "may have to do with each other" in insight.content
    leads = [relation.target for relation in insight.relations if relation.name is RelationName.LEADS_TO]
    assert len(leads) == 2 and {*leads} & {atom.id for atom in one} and {*leads} & {atom.id for atom in other}
    at = harness.store.journal.position()
    assert run_step(harness).moves == () and harness.store.journal.position() == at


@pytest.mark.parametrize(("cosine", "proposed"), [(0.74, False), (0.76, True), (0.89, True), (0.91, False)])
def test_only_similar_but_different_names_are_proposed(harness: StoreHarness, cosine: float, proposed: bool) -> None:
    make_statements(harness, "Heron", 1.0)
    make_statements(harness, "Falcon", cosine)
    assert bool(plan_step(harness).changes) is proposed


def test_nothing_is_proposed_unless_enabled(harness: StoreHarness) -> None:
    make_statements(harness, "Heron", 1.0)
    make_statements(harness, "Falcon", 0.8)
    assert bridge(scene_of(harness.store, harness.clock, insights=False)).changes == ()


def test_names_with_few_statements_are_left_alone(harness: StoreHarness) -> None:
    make_statements(harness, "Heron", 1.0)
    make_statements(harness, "Falcon", 0.8, many=2)
    assert plan_step(harness).changes == ()


def test_names_sharing_an_atom_or_linked_atoms_need_no_bridge(harness: StoreHarness) -> None:
    one = make_statements(harness, "Heron", 1.0)
    make_statements(harness, "Falcon", 0.8)
    assert plan_step(harness).changes
    link = Relation(RelationName.ENRICHES, one[0].id, 0.8, NOON)
    linked = harness.add("Falcon met it", entities=("Falcon",), relations=(link,))
    assert plan_step(harness).changes == ()
    weak = harness.commit(linked.with_(relations=(Relation(RelationName.ENRICHES, one[0].id, 0.1, NOON),))).atoms[0]
    assert plan_step(harness).changes
    harness.commit(weak.with_(entities=("Falcon", "Heron")))
    assert plan_step(harness).changes == ()


def test_generated_atoms_are_no_side_of_a_bridge(harness: StoreHarness) -> None:
    one = make_statements(harness, "Heron", 1.0)
    result = [
        harness.new_atom(f"Falcon {n}", entities=("Falcon",), origin=Origin.DREAM, derived_from=(one[0].id,))
        for n in range(3)
    ]
    encode_all(harness.store, harness.commit(*result, origin=Origin.DREAM).atoms, 0.8)
    assert plan_step(harness).changes == ()


def test_three_a_day_the_most_similar_first_and_never_a_pair_twice(harness: StoreHarness) -> None:
    make_statements(harness, "Heron", 1.0)
    for n, cosine in enumerate((0.76, 0.78, 0.80, 0.82, 0.84)):
        make_statements(harness, f"Bird{n}", cosine)
    texts = [move.text for move in run_step(harness).moves]
    assert len(texts) == MAX_PER_DAY and "Bird4" in texts[0] and "Bird3" in texts[1] and "Bird2" in texts[2]
    assert run_step(harness).moves == ()
    harness.clock.at += timedelta(hours=24)
    assert len(run_step(harness).moves) == 2
    harness.clock.at += timedelta(hours=24)
    assert run_step(harness).moves == ()


def test_a_chat_models_sentence_is_accepted_with_its_citations(harness: StoreHarness) -> None:
    one, _ = make_statements(harness, "Heron", 1.0), make_statements(harness, "Falcon", 0.8)
    reply = {"sentence": "Heron and Falcon both grow moss on stone 1.", "cites": [1, 4]}
    with scripted(completion(reply)) as server:
        (insight,) = plan_step(harness, server.chat()).changes
        content = server.asked[0]["messages"][1]["content"]
    assert insight.content.startswith("Heron and Falcon both grow moss") and one[0].scope == insight.scope
    assert sum(f"[{atom_id}]" in insight.content for atom_id in insight.derived_from) == 2
    assert "first name | " in content.split("</data>")[0] and "Heron" not in content.split("</data>")[1]


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
def test_an_unsupported_sentence_changes_nothing_and_is_reported(harness: StoreHarness, reply: Scripted) -> None:
    make_statements(harness, "Heron", 1.0)
    make_statements(harness, "Falcon", 0.8)
    before = harness.store.journal.position()
    with scripted(reply) as server:
        (step,) = run_step(harness, server.chat()).steps
    assert step.failed and harness.store.journal.position() == before


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_insight_is_confirmed_or_rejected_and_not_made_again(workspace: VaultWorkspace, confirmed: bool) -> None:
    store = workspace.memory.engine.store
    for name, cosine in (("Heron", 1.0), ("Falcon", 0.8)):
        texts = (f"{name} grows moss.", f"Nobody paints {name} in winter.", f"Children feed {name} with bread.")
        atoms = [workspace.remember(item, entities=[name]) for item in texts]
        encode_all(store, atoms, cosine)
    scene = scene_of(store, workspace.clock, workspace.memory.get(atoms[0].id).scope)
    dream([scene], {"bridge": bridge}, store, workspace.clock.now())
    (item,) = workspace.memory.review.list(kind="proposal")
    assert dict(item.verbs)["confirm"] == "it counts"
    (workspace.memory.review.confirm if confirmed else workspace.memory.review.reject)(item.ids[0])
    assert workspace.memory.get(item.ids[0]).status is (Status.ACTIVE if confirmed else Status.TOMBSTONED)
    assert all(workspace.memory.get(atom.id).status is Status.ACTIVE for atom in atoms)
    workspace.tick(days=3)
    assert bridge(scene_of(store, workspace.clock, scene.scope)).changes == ()
