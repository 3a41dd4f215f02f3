"""Contract of trust: what a less trusted origin cannot do to what a more trusted one wrote or decided."""

from __future__ import annotations

from itertools import product

from lamina.atom.atom import Atom, Evidence, Relation, RelationName
from lamina.atom.kinds import Layer
from lamina.atom.provenance import TRUST, Origin, statements_need_review, words_need_review
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.errors import Refused
from lamina.store.commit_rules import find_refusal_reason, required_trust
from lamina.testing.store_harness import DAY, NOON, Contract, StoreHarness, raises

_NON_HUMAN_ORIGINS = tuple(origin for origin in Origin if origin is not Origin.HUMAN)


class TrustContract(Contract):
    """Tests of which origin may change what, and of what is pending review."""

    def test_an_origin_cannot_write_as_a_more_trusted_one(self, harness: StoreHarness) -> None:
        for writer, named in product(Origin, Origin):
            atom = harness.new_atom(f"{writer} for {named}", origin=named, status=Status.CONSTRAINED)
            if TRUST[named] > TRUST[writer]:
                raises(Refused, harness.commit, atom, origin=writer)
            else:
                assert harness.commit(atom, origin=writer).seq

    def test_a_less_trusted_origin_cannot_change_a_more_trusted_statement(self, harness: StoreHarness) -> None:
        turns = harness.add("the bank is DNB", subject="bank", valid_from=NOON)
        other = harness.add("the bank is closed")
        words = harness.add("a page", kind="narrative", segment_id="p-1", origin=Origin.WEB)
        doubt = (Relation(RelationName.CONTRADICTS, other.id),)
        for change in (
            {"content": "the bank is EVIL"},
            {"subject": "x"},
            {"attribute": "x"},
            {"value": "x"},
            {"kind": "rule"},
            {"status": Status.CHALLENGED},
            {"status": Status.SUPERSEDED},
            {"status": Status.INVALIDATED},
            {"status": Status.MERGED},
            {"status": Status.ARCHIVED},
            {"status": Status.TOMBSTONED},
            {"valid_until": NOON + DAY},
            {"valid_from": NOON - DAY},
            {"superseded_by": (other.id,)},
            {"supersedes": (other.id,)},
            {"relations": doubt},
            {"evidence": (Evidence(words.id, 1, 0, 6),)},
            {"derived_from": (words.id,)},
            {"confidence": 0.1},
            {"importance": 0.0},
            {"tags": ("wrong",)},
            {"metadata": {"a": "b"}},
            {"expires_at": NOON},
        ):
            for origin, way in product(_NON_HUMAN_ORIGINS, (TransitionCause.ORDINARY, TransitionCause.UNDO)):
                changed = turns.with_(**change)
                raises(Refused, harness.commit, changed, origin=origin, way=way)
        assert harness.current(turns) == turns
        pinned = harness.commit(turns.with_(pinned=True), origin=Origin.AGENT).atoms[0]
        raises(Refused, harness.commit, pinned.with_(pinned=False), origin=Origin.AGENT)

    def test_only_a_person_can_reverse_a_decision_of_a_person(self, harness: StoreHarness) -> None:
        taken = harness.add("an agent's", origin=Origin.AGENT)
        taken = harness.commit(taken.with_(status=Status.TOMBSTONED)).atoms[0]
        agreed = harness.commit(_commit_pending(harness, Origin.IMPORT).with_(status=Status.ACTIVE)).atoms[0]
        for origin in _NON_HUMAN_ORIGINS:
            for way in (TransitionCause.RESTORE, TransitionCause.UNDO):
                back = taken.with_(status=Status.ACTIVE)
                raises(Refused, harness.commit, back, origin=origin, way=way)
            ended = agreed.with_(status=Status.SUPERSEDED)
            raises(Refused, harness.commit, ended, origin=origin)
        assert (
            required_trust(taken, harness.store.atoms)
            == required_trust(agreed, harness.store.atoms)
            == TRUST[Origin.HUMAN]
        )
        assert harness.commit(taken.with_(status=Status.ACTIVE), way=TransitionCause.RESTORE).seq

    def test_only_a_person_can_activate_pending_or_challenged_atoms(self, harness: StoreHarness) -> None:
        for origin, status in product(Origin, (Status.CONSTRAINED, Status.CHALLENGED)):
            held = _commit_pending(harness, origin, status)
            for by in _NON_HUMAN_ORIGINS:
                raises(Refused, harness.commit, held.with_(status=Status.ACTIVE), origin=by)
            assert harness.commit(held.with_(status=Status.ACTIVE)).seq

    def test_an_untrusted_atom_is_never_created_recallable(self, harness: StoreHarness) -> None:
        for origin, status in product(_NON_HUMAN_ORIGINS, (Status.ACTIVE, Status.ARCHIVED)):
            fact = harness.new_atom(f"a {status} fact of {origin}", origin=origin, status=status)
            words = harness.new_atom(
                f"{status} words of {origin}", kind="narrative", segment_id="s-1", origin=origin, status=status
            )
            for atom, waits in ((fact, statements_need_review(origin)), (words, words_need_review(origin))):
                if waits:
                    raises(Refused, harness.commit, atom, origin=origin)
                else:
                    assert harness.commit(atom, origin=origin).seq

    def test_everything_derived_from_a_pending_atom_is_pending(self, harness: StoreHarness) -> None:
        page = _commit_pending(harness, Origin.WEB)
        for depth in range(4):
            born = harness.new_atom(f"summary {depth}", origin=Origin.AGENT, derived_from=(page.id,))
            raises(Refused, harness.commit, born, origin=Origin.AGENT)
            pending = born.with_(status=Status.CONSTRAINED)
            page = harness.commit(pending, origin=Origin.AGENT).atoms[0]
            assert required_trust(page, harness.store.atoms) == TRUST[Origin.WEB]
        lost = harness.new_atom(
            "from nowhere", origin=Origin.AGENT, derived_from=(harness.new_atom("never written").id,)
        )
        raises(Refused, harness.commit, lost, origin=Origin.AGENT)

    def test_an_ended_pending_atom_is_not_activated_with_its_source(self, harness: StoreHarness) -> None:
        page = _commit_pending(harness, Origin.IMPORT)
        summary = harness.new_atom("summed up", origin=Origin.AGENT, derived_from=(page.id,), status=Status.CONSTRAINED)
        summed = harness.commit(summary, origin=Origin.AGENT).atoms[0]
        harness.commit(page.with_(status=Status.ACTIVE))
        ended = harness.commit(summed.with_(status=Status.TOMBSTONED), origin=Origin.AGENT).atoms[0]
        for way in (TransitionCause.RESTORE, TransitionCause.UNDO):
            back = ended.with_(status=Status.ACTIVE)
            raises(Refused, harness.commit, back, origin=Origin.AGENT, way=way)
        assert harness.commit(ended.with_(status=Status.ACTIVE), way=TransitionCause.RESTORE).seq

    def test_removing_an_ancestor_does_not_raise_trust(self, harness: StoreHarness) -> None:
        page, note = _commit_pending(harness, Origin.WEB), harness.add("a note")
        summed = harness.add("summed up", derived_from=(page.id, note.id), status=Status.CONSTRAINED)
        for origin in Origin:
            raises(Refused, harness.commit, summed.with_(derived_from=(note.id,)), origin=origin)
        assert harness.commit(summed.with_(derived_from=(page.id,))).seq
        gathered = harness.add(
            "gathered", origin=Origin.DREAM, derived_from=(_commit_pending(harness, Origin.IMPORT).id,)
        )
        raises(Refused, harness.commit, gathered.with_(derived_from=()))

    def test_a_less_trusted_statement_cannot_use_more_trusted_evidence(self, harness: StoreHarness) -> None:
        mine = harness.add("I moved", kind="narrative", segment_id="s-1")
        fact = harness.add("lives in Oslo")
        hook = harness.new_atom("hook", origin=Origin.AGENT, evidence=(Evidence(mine.id, 1, 0, 7),))
        raises(Refused, harness.commit, hook, origin=Origin.AGENT)
        heir = harness.new_atom("heir", origin=Origin.AGENT, supersedes=(fact.id,))
        raises(Refused, harness.commit, heir, origin=Origin.AGENT)
        page = harness.add("a page", kind="narrative", segment_id="p-1", origin=Origin.WEB)
        posh = harness.new_atom("posh", origin=Origin.AGENT, evidence=(Evidence(page.id, 1, 0, 6),))
        raises(Refused, harness.commit, posh, origin=Origin.AGENT)
        assert harness.commit(posh.with_(origin=Origin.WEB, status=Status.CONSTRAINED), origin=Origin.AGENT).seq

    def test_any_origin_may_add_evidence_to_an_ended_statement(self, harness: StoreHarness) -> None:
        page = harness.add("an old page", kind="narrative", segment_id="p-1", origin=Origin.IMPORT)
        results = (Evidence(page.id, 1, 0, 11),)
        for status in Status:
            fact = harness.add(f"{status} once", status=status)
            longer = fact.with_(evidence=results)
            if status in ENDED:
                assert harness.commit(longer, origin=Origin.IMPORT).seq
                assert harness.commit(
                    harness.current(fact).with_(evidence=()), origin=Origin.IMPORT, way=TransitionCause.UNDO
                ).seq
            else:
                raises(Refused, harness.commit, longer, origin=Origin.IMPORT)
                assert find_refusal_reason(longer, Origin.IMPORT, harness.store.atoms) is not None
                assert find_refusal_reason(longer, Origin.HUMAN, harness.store.atoms) is None

    def test_a_run_can_end_its_notes_whoever_wrote_them(self, harness: StoreHarness) -> None:
        note = harness.add("a person's note", run_id="r1", layer=Layer.WORKING)
        assert harness.commit(note.with_(status=Status.TOMBSTONED), origin=Origin.AGENT).seq


def _commit_pending(harness: StoreHarness, origin: Origin, status: Status = Status.CONSTRAINED) -> Atom:
    return harness.commit(harness.new_atom(f"the word of {origin}", origin=origin, status=status), origin=origin).atoms[
        0
    ]
