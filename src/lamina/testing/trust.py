"""Contract of trust: what a less trusted origin cannot do to what a more trusted one wrote or decided."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from lamina.atom.atom import Atom, Evidence
from lamina.atom.kinds import Layer
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import ENDED, Status, Way
from lamina.atom.trust import TRUST, Origin, statements_wait, words_wait
from lamina.errors import Refused
from lamina.testing.hand import DAY, NOON, Contract, Hand, raises

_LESS = tuple(origin for origin in Origin if origin is not Origin.HUMAN)


class TrustContract(Contract):
    """Which origin may change what, and what is pending review."""

    def test_nobody_writes_in_the_name_of_somebody_more_trusted(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            for writer, named in product(Origin, Origin):
                atom = harness.atom(f"{writer} for {named}", origin=named, status=Status.CONSTRAINED)
                if TRUST[named] > TRUST[writer]:
                    raises(Refused, lambda atom=atom, writer=writer: harness.put(atom, origin=writer))  # type: ignore[misc]
                else:
                    assert harness.put(atom, origin=writer).seq

    def test_the_less_trusted_change_nothing_of_what_the_more_trusted_said(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            turns = harness.kept("the bank is DNB", subject="bank", valid_from=NOON)
            other = harness.kept("the bank is closed")
            words = harness.kept("a page", kind="narrative", segment_id="p-1", origin=Origin.WEB)
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
                for origin, way in product(_LESS, (Way.ORDINARY, Way.UNDO)):
                    changed = turns.with_(**change)
                    raises(Refused, lambda c=changed, o=origin, w=way: harness.put(c, origin=o, way=w))  # type: ignore[misc]
            assert harness.head(turns) == turns
            pinned = harness.put(turns.with_(pinned=True), origin=Origin.AGENT).atoms[0]
            raises(Refused, lambda: harness.put(pinned.with_(pinned=False), origin=Origin.AGENT))

    def test_what_a_person_decided_only_a_person_decides_otherwise(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            taken = harness.kept("an agent's", origin=Origin.AGENT)
            taken = harness.put(taken.with_(status=Status.TOMBSTONED)).atoms[0]
            agreed = harness.put(_held(harness, Origin.IMPORT).with_(status=Status.ACTIVE)).atoms[0]
            for origin in _LESS:
                for way in (Way.RESTORE, Way.UNDO):
                    back = taken.with_(status=Status.ACTIVE)
                    raises(Refused, lambda b=back, o=origin, w=way: harness.put(b, origin=o, way=w))  # type: ignore[misc]
                ended = agreed.with_(status=Status.SUPERSEDED)
                raises(Refused, lambda e=ended, o=origin: harness.put(e, origin=o))  # type: ignore[misc]
            assert harness.store.guard(taken) == harness.store.guard(agreed) == TRUST[Origin.HUMAN]
            assert harness.put(taken.with_(status=Status.ACTIVE), way=Way.RESTORE).seq

    def test_what_waits_or_is_doubted_counts_when_a_person_says_so(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            for origin, status in product(Origin, (Status.CONSTRAINED, Status.CHALLENGED)):
                held = _held(harness, origin, status)
                for by in _LESS:
                    raises(Refused, lambda h=held, o=by: harness.put(h.with_(status=Status.ACTIVE), origin=o))  # type: ignore[misc]
                assert harness.put(held.with_(status=Status.ACTIVE)).seq

    def test_what_nobody_vouches_for_is_never_born_to_be_recalled(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            for origin, status in product(_LESS, (Status.ACTIVE, Status.ARCHIVED)):
                fact = harness.atom(f"a {status} fact of {origin}", origin=origin, status=status)
                words = harness.atom(
                    f"{status} words of {origin}", kind="narrative", segment_id="s-1", origin=origin, status=status
                )
                for atom, waits in ((fact, statements_wait(origin)), (words, words_wait(origin))):
                    if waits:
                        raises(Refused, lambda a=atom, o=origin: harness.put(a, origin=o))  # type: ignore[misc]
                    else:
                        assert harness.put(atom, origin=origin).seq

    def test_what_descends_from_something_held_is_held_however_far_down(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            page = _held(harness, Origin.WEB)
            for depth in range(4):
                born = harness.atom(f"summary {depth}", origin=Origin.AGENT, derived_from=(page.id,))
                raises(Refused, lambda b=born: harness.put(b, origin=Origin.AGENT))  # type: ignore[misc]
                pending = born.with_(status=Status.CONSTRAINED)
                page = harness.put(pending, origin=Origin.AGENT).atoms[0]
                assert harness.store.guard(page) == TRUST[Origin.WEB]
            lost = harness.atom("from nowhere", origin=Origin.AGENT, derived_from=(harness.atom("never written").id,))
            raises(Refused, lambda: harness.put(lost, origin=Origin.AGENT))

    def test_what_waited_and_ended_is_not_let_through_with_what_it_was_made_of(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            page = _held(harness, Origin.IMPORT)
            made = harness.atom("summed up", origin=Origin.AGENT, derived_from=(page.id,), status=Status.CONSTRAINED)
            summed = harness.put(made, origin=Origin.AGENT).atoms[0]
            harness.put(page.with_(status=Status.ACTIVE))
            ended = harness.put(summed.with_(status=Status.TOMBSTONED), origin=Origin.AGENT).atoms[0]
            for way in (Way.RESTORE, Way.UNDO):
                back = ended.with_(status=Status.ACTIVE)
                raises(Refused, lambda b=back, w=way: harness.put(b, origin=Origin.AGENT, way=w))  # type: ignore[misc]
            assert harness.put(ended.with_(status=Status.ACTIVE), way=Way.RESTORE).seq

    def test_leaving_out_an_ancestor_makes_nobody_more_trusted(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            page, note = _held(harness, Origin.WEB), harness.kept("a note")
            summed = harness.kept("summed up", derived_from=(page.id, note.id), status=Status.CONSTRAINED)
            for origin in Origin:
                raises(Refused, lambda o=origin: harness.put(summed.with_(derived_from=(note.id,)), origin=o))  # type: ignore[misc]
            assert harness.put(summed.with_(derived_from=(page.id,))).seq
            gathered = harness.kept("gathered", origin=Origin.DREAM, derived_from=(_held(harness, Origin.IMPORT).id,))
            raises(Refused, lambda: harness.put(gathered.with_(derived_from=())))

    def test_words_of_the_more_trusted_are_not_drawn_into_what_the_less_trusted_say(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            mine = harness.kept("I moved", kind="narrative", segment_id="s-1")
            fact = harness.kept("lives in Oslo")
            hook = harness.atom("hook", origin=Origin.AGENT, evidence=(Evidence(mine.id, 1, 0, 7),))
            raises(Refused, lambda: harness.put(hook, origin=Origin.AGENT))
            heir = harness.atom("heir", origin=Origin.AGENT, supersedes=(fact.id,))
            raises(Refused, lambda: harness.put(heir, origin=Origin.AGENT))
            page = harness.kept("a page", kind="narrative", segment_id="p-1", origin=Origin.WEB)
            posh = harness.atom("posh", origin=Origin.AGENT, evidence=(Evidence(page.id, 1, 0, 6),))
            raises(Refused, lambda: harness.put(posh, origin=Origin.AGENT))
            assert harness.put(posh.with_(origin=Origin.WEB, status=Status.CONSTRAINED), origin=Origin.AGENT).seq

    def test_anybody_may_tell_of_more_words_that_say_what_is_over(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            page = harness.kept("an old page", kind="narrative", segment_id="p-1", origin=Origin.IMPORT)
            results = (Evidence(page.id, 1, 0, 11),)
            for status in Status:
                fact = harness.kept(f"{status} once", status=status)
                longer = fact.with_(evidence=results)
                if status in ENDED:
                    assert harness.put(longer, origin=Origin.IMPORT).seq
                    assert harness.put(harness.head(fact).with_(evidence=()), origin=Origin.IMPORT, way=Way.UNDO).seq
                else:
                    raises(Refused, lambda longer=longer: harness.put(longer, origin=Origin.IMPORT))  # type: ignore[misc]
                    assert harness.store.objection(longer, Origin.IMPORT) is not None
                    assert harness.store.objection(longer, Origin.HUMAN) is None

    def test_a_run_lays_its_notes_aside_whoever_made_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            note = harness.kept("a person's note", run_id="r1", layer=Layer.WORKING)
            assert harness.put(note.with_(status=Status.TOMBSTONED), origin=Origin.AGENT).seq


def _held(hand: Hand, origin: Origin, status: Status = Status.CONSTRAINED) -> Atom:
    return hand.put(hand.atom(f"the word of {origin}", origin=origin, status=status), origin=origin).atoms[0]
