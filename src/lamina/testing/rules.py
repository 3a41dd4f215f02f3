"""Contract of the commit rules: statuses, claims and scopes."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise, product
from pathlib import Path

from lamina.atom.identity import AtomId
from lamina.atom.status import Status, Way
from lamina.atom.trust import Origin
from lamina.errors import ClaimTaken, InvalidInput, InvalidScope, LaminaError, Refused, StaleRevision, TransitionRefused
from lamina.testing.hand import ANN, ARROWS, BOB, DAY, ENDINGS, LOCAL, NOON, OTHER, Contract, raises


class RuleContract(Contract):
    """Which commits are refused, and which are not."""

    def test_every_arrow_of_the_status_table_is_open_and_every_other_is_refused(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            for old, new in product(Status, Status):
                atom = harness.kept(f"{old} to {new}", status=old)
                moved = atom.with_(status=new)
                if old == new:
                    assert harness.put(moved).seq == 0
                elif new in ARROWS[old].split():
                    assert harness.put(moved).atoms[0].status is new
                    assert harness.store.versions(atom.id)[-1].old_status is old
                else:
                    error = raises(TransitionRefused, lambda moved=moved: harness.put(moved))  # type: ignore[misc]
                    assert (error.old, error.new, list(error.allowed)) == (old, new, ARROWS[old].split())
                    assert harness.head(atom) == atom

    def test_an_ended_atom_comes_back_to_active_by_restore_alone_and_anywhere_by_undo(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            for old, new in product(ENDINGS, Status):
                if old == new:
                    continue
                atom = harness.kept(f"{old} to {new}", status=Status(old))
                moved = atom.with_(status=new)
                if new is Status.ACTIVE:
                    assert harness.put(moved, way=Way.RESTORE).atoms[0].status is new
                else:
                    raises(TransitionRefused, lambda moved=moved: harness.put(moved, way=Way.RESTORE))  # type: ignore[misc]
                    assert harness.put(moved, way=Way.UNDO).atoms[0].status is new

    def test_two_active_values_of_a_claim_never_overlap(self, tmp_path: Path) -> None:
        claim = {"subject": "Ann", "attribute": "city"}
        with self.hand(tmp_path) as harness:
            oslo = harness.kept("Oslo", **claim, valid_from=NOON - 9 * DAY, valid_until=NOON)
            error = raises(ClaimTaken, lambda: harness.kept("Rome", subject=" ANN ", attribute="City"))
            assert (error.claim, error.holder) == ("ann::city", oslo.id)
            raises(ClaimTaken, lambda: harness.kept("Rome", **claim, valid_until=NOON - 8 * DAY))
            raises(ClaimTaken, lambda: harness.kept("Rome", **claim, valid_from=NOON - timedelta(milliseconds=1)))
            two = [harness.atom("Rome", **claim, valid_from=NOON), harness.atom("Bonn", **claim, valid_from=NOON + DAY)]
            raises(ClaimTaken, lambda: harness.put(*two))
            assert [atom.content for atom in harness.read()] == ["Oslo"]

    def test_values_of_a_claim_may_follow_each_other_or_stand_in_another_scope_or_wait(self, tmp_path: Path) -> None:
        claim = {"subject": "Ann", "attribute": "city"}
        with self.hand(tmp_path) as harness:
            harness.kept("Oslo", **claim, valid_until=NOON)
            rome = harness.kept("Rome", **claim, valid_from=NOON)
            for status in Status:
                if status is not Status.ACTIVE:
                    harness.kept(status, **claim, status=status)
            harness.kept("Bonn", **claim, scope=OTHER)
            harness.kept("Bern", **claim, scope=ANN)
            for friend in ("Bob", "Eve"):
                harness.kept(friend, subject="Ann", attribute="friend")
            for text in ("no claim", "no claim either"):
                harness.kept(text, subject="Ann")
            swap = [rome.with_(status=Status.SUPERSEDED, valid_until=NOON + DAY)]
            assert harness.put(*swap, harness.atom("Paris", **claim, valid_from=NOON)).seq

    def test_bringing_an_atom_back_into_a_taken_claim_is_refused(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            old = harness.kept("Oslo", subject="Ann", attribute="city", status=Status.SUPERSEDED)
            harness.kept("Rome", subject="Ann", attribute="city")
            for way in (Way.RESTORE, Way.UNDO, Way.ADOPT):
                raises(ClaimTaken, lambda way=way: harness.put(old.with_(status=Status.ACTIVE), way=way))  # type: ignore[misc]

    def test_of_ten_threads_that_want_one_claim_one_gets_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            won: list[str] = []
            lost: list[LaminaError] = []
            start = threading.Barrier(10)

            def want(name: str) -> None:
                atom = harness.atom(name, subject="the", attribute="winner")
                start.wait()
                try:
                    harness.put(atom)
                    won.append(name)
                except LaminaError as error:
                    lost.append(error)

            threads = [threading.Thread(target=want, args=(f"t{n}",)) for n in range(10)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(won) == 1
            assert {type(error) for error in lost} == {ClaimTaken}
            assert [atom.content for atom in harness.read()] == won

    def test_of_ten_threads_that_change_one_atom_each_revision_has_one_author(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept("start")
            revisions: list[int] = []

            def write(name: str) -> None:
                for _ in range(5):
                    while True:
                        head = harness.head(atom)
                        with suppress(StaleRevision):
                            revisions.append(
                                harness.put(head.with_(content=f"{head.content} {name}")).atoms[0].revision
                            )
                            break

            threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(10)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(revisions) == list(range(2, 52))
            assert len(harness.head(atom).content.split()) == 51
            assert [version.revision for version in harness.store.versions(atom.id)] == list(range(1, 52))

    def test_a_scope_is_written_by_itself_and_an_organisation_by_its_agents_too(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            allowed = {(LOCAL, LOCAL), (OTHER, OTHER), (ANN, ANN), (ANN, LOCAL), (BOB, BOB), (BOB, LOCAL)}
            for writer, target in product((LOCAL, OTHER, ANN, BOB), repeat=2):
                atom = harness.atom(f"{writer} into {target}", scope=target)
                if (writer, target) in allowed:
                    assert harness.put(atom, scope=writer).seq
                    changed = harness.head(atom).with_(pinned=True)
                    assert harness.put(changed, scope=writer).seq
                else:
                    raises(InvalidScope, lambda atom=atom, writer=writer: harness.put(atom, scope=writer))  # type: ignore[misc]
            foreign = harness.kept("theirs", scope=OTHER)
            raises(InvalidScope, lambda: harness.put(foreign.with_(content="mine")))
            raises(LaminaError, lambda: harness.put(foreign.with_(scope=LOCAL)))
            assert harness.head(foreign) == foreign

    def test_id_scope_time_origin_and_principal_never_change(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept("mine", principal="ann", scope=ANN)
            for change in (
                {"scope": LOCAL},
                {"recorded_at": NOON - DAY},
                {"recorded_at": None},
                {"origin": Origin.WEB},
                {"principal": "bob"},
                {"principal": None},
            ):
                for way in Way:
                    raises(Refused, lambda c=change, w=way: harness.put(atom.with_(**c), scope=ANN, way=w))  # type: ignore[misc]
            assert harness.head(atom) == atom

    def test_what_happened_is_never_superseded_merged_or_rewritten(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            for kind in ("event", "moment", "narrative", "interaction"):
                atom = harness.kept(f"{kind}: we met", kind=kind, origin=Origin.AGENT)
                for status in (Status.SUPERSEDED, Status.MERGED):
                    raises(Refused, lambda a=atom, s=status: harness.put(a.with_(status=s)))  # type: ignore[misc]
                raises(Refused, lambda a=atom: harness.put(a.with_(content="we did not"), origin=Origin.AGENT))  # type: ignore[misc]
                grown = harness.put(atom.with_(content=f"{atom.content} at noon"), origin=Origin.AGENT).atoms[0]
                assert harness.put(grown.with_(content=atom.content), origin=Origin.AGENT, way=Way.UNDO).seq
                assert harness.put(harness.head(atom).with_(status=Status.TOMBSTONED)).seq

    def test_following_what_superseded_an_atom_never_leads_back(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            chain = [harness.kept(f"link {n}") for n in range(5)]
            raises(Refused, lambda: harness.put(chain[0].with_(superseded_by=(chain[0].id,))))
            for one, other in pairwise(chain):
                harness.put(harness.head(one).with_(status=Status.SUPERSEDED, superseded_by=(other.id,)))
            for n in range(5):
                last = harness.head(chain[4])
                raises(Refused, lambda n=n, last=last: harness.put(last.with_(superseded_by=(chain[n].id,))))  # type: ignore[misc]
            two = [harness.atom("a"), harness.atom("b")]
            loop = [two[0].with_(superseded_by=(two[1].id,)), two[1].with_(superseded_by=(two[0].id,))]
            raises(Refused, lambda: harness.put(*loop))

    def test_what_has_no_words_or_no_id_of_ours_is_refused(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            for content in ("", " ", "\n\t "):
                raises(InvalidInput, lambda content=content: harness.put(harness.atom(content)))  # type: ignore[misc]
            for name in ("", "x", "0" * 25, "../../etc/passwd", "U" * 26):
                atom = harness.atom().with_(id=AtomId(name))
                raises(InvalidInput, lambda atom=atom: harness.put(atom))  # type: ignore[misc]
            assert harness.store.position() == 0
