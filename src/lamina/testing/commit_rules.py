"""Contract of the commit rules: statuses, claims and scopes."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import pairwise, product

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Origin
from lamina.atom.status import Status, TransitionCause
from lamina.errors import ClaimTaken, InvalidInput, InvalidScope, LaminaError, Refused, StaleRevision, TransitionRefused
from lamina.testing.store_harness import (
    ANN,
    BOB,
    DAY,
    ENDED_STATUSES,
    LOCAL,
    NOON,
    OTHER,
    STATUS_TRANSITIONS,
    Contract,
    StoreHarness,
    raises,
    run_in_threads,
)


class RuleContract(Contract):
    """Tests of which commits are refused."""

    def test_exactly_the_transitions_of_the_status_table_are_allowed(self, harness: StoreHarness) -> None:
        for old, new in product(Status, Status):
            atom = harness.add(f"{old} to {new}", status=old)
            moved = atom.with_(status=new)
            if old == new:
                assert harness.commit(moved).seq == 0
            elif new in STATUS_TRANSITIONS[old].split():
                assert harness.commit(moved).atoms[0].status is new
                assert harness.journal.versions(atom.id)[-1].old_status is old
            else:
                error = raises(TransitionRefused, harness.commit, moved)
                assert (error.old, error.new, list(error.allowed)) == (old, new, STATUS_TRANSITIONS[old].split())
                assert harness.current(atom) == atom

    def test_an_atom_that_does_not_fit_in_a_file_is_refused(self, harness: StoreHarness) -> None:
        raises(InvalidInput, harness.add, "x" * ((1 << 20) + 1))
        raises(InvalidInput, harness.add, "tea", metadata={"note": "x" * (64 << 10)})
        atom = harness.add("x" * (1 << 19), metadata={"note": "x" * (60 << 10)})
        raises(InvalidInput, harness.commit, atom.with_(subject="y" * (5 << 10)))
        assert harness.current(atom) == atom

    def test_an_ended_atom_is_activated_by_restore_only_and_gets_any_status_by_undo(
        self, harness: StoreHarness
    ) -> None:
        for old, new in product(ENDED_STATUSES, Status):
            if old == new:
                continue
            atom = harness.add(f"{old} to {new}", status=Status(old))
            moved = atom.with_(status=new)
            if new is Status.ACTIVE:
                assert harness.commit(moved, way=TransitionCause.RESTORE).atoms[0].status is new
            else:
                raises(TransitionRefused, harness.commit, moved, way=TransitionCause.RESTORE)
                assert harness.commit(moved, way=TransitionCause.UNDO).atoms[0].status is new

    def test_two_active_values_of_a_claim_never_overlap(self, harness: StoreHarness) -> None:
        claim = {"subject": "Ann", "attribute": "city"}
        oslo = harness.add("Oslo", **claim, valid_from=NOON - 9 * DAY, valid_until=NOON)
        error = raises(ClaimTaken, harness.add, "Rome", subject=" ANN ", attribute="City")
        assert (error.claim, error.holder) == ("ann::city", oslo.id)
        raises(ClaimTaken, harness.add, "Rome", **claim, valid_until=NOON - 8 * DAY)
        raises(ClaimTaken, harness.add, "Rome", **claim, valid_from=NOON - timedelta(milliseconds=1))
        two = [
            harness.new_atom("Rome", **claim, valid_from=NOON),
            harness.new_atom("Bonn", **claim, valid_from=NOON + DAY),
        ]
        raises(ClaimTaken, harness.commit, *two)
        assert [atom.content for atom in harness.read()] == ["Oslo"]

    def test_values_of_a_claim_may_follow_each_other_or_be_pending_or_elsewhere(self, harness: StoreHarness) -> None:
        claim = {"subject": "Ann", "attribute": "city"}
        harness.add("Oslo", **claim, valid_until=NOON)
        rome = harness.add("Rome", **claim, valid_from=NOON)
        for status in Status:
            if status is not Status.ACTIVE:
                harness.add(status, **claim, status=status)
        harness.add("Bonn", **claim, scope=OTHER)
        harness.add("Bern", **claim, scope=ANN)
        for friend in ("Bob", "Eve"):
            harness.add(friend, subject="Ann", attribute="friend")
        for text in ("no claim", "no claim either"):
            harness.add(text, subject="Ann")
        swap = [rome.with_(status=Status.SUPERSEDED, valid_until=NOON + DAY)]
        assert harness.commit(*swap, harness.new_atom("Paris", **claim, valid_from=NOON)).seq

    def test_restoring_an_atom_into_a_taken_claim_is_refused(self, harness: StoreHarness) -> None:
        old = harness.add("Oslo", subject="Ann", attribute="city", status=Status.SUPERSEDED)
        harness.add("Rome", subject="Ann", attribute="city")
        for way in (TransitionCause.RESTORE, TransitionCause.UNDO, TransitionCause.ADOPT):
            raises(ClaimTaken, harness.commit, old.with_(status=Status.ACTIVE), way=way)

    def test_one_of_ten_threads_gets_a_contested_claim(self, harness: StoreHarness) -> None:
        won: list[str] = []
        lost: list[LaminaError] = []
        start = threading.Barrier(10)

        def want(name: str) -> None:
            atom = harness.new_atom(name, subject="the", attribute="winner")
            start.wait()
            try:
                harness.commit(atom)
                won.append(name)
            except LaminaError as error:
                lost.append(error)

        run_in_threads(*(partial(want, f"t{n}") for n in range(10)))
        assert len(won) == 1
        assert {type(error) for error in lost} == {ClaimTaken}
        assert [atom.content for atom in harness.read()] == won

    def test_each_revision_has_one_author_when_ten_threads_change_an_atom(self, harness: StoreHarness) -> None:
        atom = harness.add("start")
        revisions: list[int] = []

        def write(name: str) -> None:
            for _ in range(5):
                while True:
                    head = harness.current(atom)
                    with suppress(StaleRevision):
                        grown = harness.commit(head.with_(content=f"{head.content} {name}"))
                        revisions.append(grown.atoms[0].revision)
                        break

        run_in_threads(*(partial(write, f"t{n}") for n in range(10)))
        assert sorted(revisions) == list(range(2, 52))
        assert len(harness.current(atom).content.split()) == 51
        assert [version.revision for version in harness.journal.versions(atom.id)] == list(range(1, 52))

    def test_a_scope_is_written_by_itself_and_an_organisation_by_its_agents_too(self, harness: StoreHarness) -> None:
        allowed = {(LOCAL, LOCAL), (OTHER, OTHER), (ANN, ANN), (ANN, LOCAL), (BOB, BOB), (BOB, LOCAL)}
        for writer, target in product((LOCAL, OTHER, ANN, BOB), repeat=2):
            atom = harness.new_atom(f"{writer} into {target}", scope=target)
            if (writer, target) in allowed:
                assert harness.commit(atom, scope=writer).seq
                changed = harness.current(atom).with_(pinned=True)
                assert harness.commit(changed, scope=writer).seq
            else:
                raises(InvalidScope, harness.commit, atom, scope=writer)
        foreign = harness.add("theirs", scope=OTHER)
        raises(InvalidScope, harness.commit, foreign.with_(content="mine"))
        raises(LaminaError, harness.commit, foreign.with_(scope=LOCAL))
        assert harness.current(foreign) == foreign

    def test_id_scope_time_origin_and_principal_never_change(self, harness: StoreHarness) -> None:
        atom = harness.add("mine", principal="ann", scope=ANN)
        for change in (
            {"scope": LOCAL},
            {"recorded_at": NOON - DAY},
            {"recorded_at": None},
            {"origin": Origin.WEB},
            {"principal": "bob"},
            {"principal": None},
        ):
            for way in TransitionCause:
                raises(Refused, harness.commit, atom.with_(**change), scope=ANN, way=way)
        assert harness.current(atom) == atom

    def test_events_are_never_superseded_merged_or_rewritten(self, harness: StoreHarness) -> None:
        for kind in ("event", "moment", "narrative", "interaction"):
            atom = harness.add(f"{kind}: we met", kind=kind, origin=Origin.AGENT)
            for status in (Status.SUPERSEDED, Status.MERGED):
                raises(Refused, harness.commit, atom.with_(status=status))
            raises(Refused, harness.commit, atom.with_(content="we did not"), origin=Origin.AGENT)
            grown = harness.commit(atom.with_(content=f"{atom.content} at noon"), origin=Origin.AGENT).atoms[0]
            assert harness.commit(grown.with_(content=atom.content), origin=Origin.AGENT, way=TransitionCause.UNDO).seq
            assert harness.commit(harness.current(atom).with_(status=Status.TOMBSTONED)).seq

    def test_a_chain_of_successors_has_no_cycle(self, harness: StoreHarness) -> None:
        chain = [harness.add(f"link {n}") for n in range(5)]
        raises(Refused, harness.commit, chain[0].with_(superseded_by=(chain[0].id,)))
        for one, other in pairwise(chain):
            harness.commit(harness.current(one).with_(status=Status.SUPERSEDED, superseded_by=(other.id,)))
        for n in range(5):
            last = harness.current(chain[4])
            raises(Refused, harness.commit, last.with_(superseded_by=(chain[n].id,)))
        two = [harness.new_atom("a"), harness.new_atom("b")]
        loop = [two[0].with_(superseded_by=(two[1].id,)), two[1].with_(superseded_by=(two[0].id,))]
        raises(Refused, harness.commit, *loop)

    def test_an_atom_without_text_or_with_an_invalid_id_is_refused(self, harness: StoreHarness) -> None:
        for content in ("", " ", "\n\t "):
            raises(InvalidInput, harness.commit, harness.new_atom(content))
        for name in ("", "x", "0" * 25, "../../etc/passwd", "U" * 26):
            atom = harness.new_atom().with_(id=AtomId(name))
            raises(InvalidInput, harness.commit, atom)
        assert harness.journal.position() == 0
