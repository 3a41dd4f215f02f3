"""What every store has to keep, as tests: subclass `StoreContract`, say how your store is made, and run it with pytest.

    class TestMyStore(StoreContract):
        def make_store(self, tmp_path, clock):
            return MyStore(tmp_path, clock)

Plain asserts only, so that the package needs no test runner.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from lamina.atom.atom import Atom, Evidence, Signals, kind_defaults
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import render_passage
from lamina.atom.relation import Relation, RelationName
from lamina.atom.scope import Scope
from lamina.atom.status import Status, Way
from lamina.atom.trust import Origin
from lamina.clock import Clock, FixedClock
from lamina.errors import (
    ClaimTaken,
    InvalidInput,
    InvalidScope,
    LaminaError,
    NotFound,
    Refused,
    StaleRevision,
    TransitionRefused,
)
from lamina.store.base import Change, Commit, Committed, Edge, Filter, Match, Seen, Store, TextQuery
from lamina.store.ledger import FileState, Problem
from lamina.text.analyse import analyse
from lamina.vault import layout
from lamina.vault.codec import read_sheet
from lamina.vault.files import Stamp

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LOCAL, OTHER = Scope("org:local"), Scope("org:other")
ANN, BOB = Scope("org:local:agent:ann"), Scope("org:local:agent:bob")
STAMP = Stamp(10, 1_000, 1_000, 7)

ARROWS: dict[str, str] = {
    "constrained": "active tombstoned",
    "active": "challenged superseded invalidated merged archived tombstoned",
    "challenged": "active superseded invalidated tombstoned archived",
    "archived": "active tombstoned",
    "superseded": "",
    "invalidated": "",
    "merged": "",
    "tombstoned": "",
}
"""The status table once more, so that a change of it is noticed here."""
ENDINGS = ("superseded", "invalidated", "merged", "tombstoned")

X = TypeVar("X", bound=BaseException)


def raises(kind: type[X], work: Callable[[], object]) -> X:
    """The error the work ends with; AssertionError if it is another or none."""
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected and nothing was raised")


class Hand:
    """A store with short words for what tests do to it."""

    def __init__(self, store: Store, clock: FixedClock) -> None:
        self.store, self.clock = store, clock
        self._ids = IdSource(os.urandom)

    def atom(self, content: str = "tea is ready", **fields: Any) -> Atom:
        """A new atom, not yet committed."""
        kind = fields.setdefault("kind", "fact")
        traits = kind_defaults(kind, fields.get("confidence", 1.0), fields.get("origin", Origin.HUMAN))
        own = {"scope": LOCAL, "observed_at": self.clock.now(), **traits, **fields}
        return Atom(id=self._ids.new(self.clock.now()), content=content, **own)

    def put(self, *atoms: Atom, **about: Any) -> Committed:
        """Commit the atoms as they are."""
        own = {"actor": "test", "origin": Origin.HUMAN, "verb": "write", "reason": "because", "scope": LOCAL, **about}
        return self.store.commit(Commit(changes=tuple(Change(atom) for atom in atoms), **own))

    def kept(self, content: str = "tea is ready", **fields: Any) -> Atom:
        """A new atom, committed."""
        atom = self.atom(content, **fields)
        return self.put(atom, scope=atom.scope).atoms[0]

    def read(self, *scopes: Scope, **wanted: Any) -> list[Atom]:
        return self.store.read(Filter(scopes=scopes or (LOCAL,), **wanted))

    def head(self, atom: Atom) -> Atom:
        (found,) = self.read(atom.scope, ids=(atom.id,))
        return found

    def search(self, words: str, *scopes: Scope, limit: int = 10, **wanted: Any) -> list[Match]:
        own: dict[str, Any] = {
            "statuses": frozenset({Status.ACTIVE, Status.ARCHIVED}), "memory_types": frozenset(MemoryType),
            "valid_at": self.clock.now(), **wanted,
        }  # fmt: skip
        query = TextQuery(scopes=scopes or (LOCAL,), tokens=tuple(dict.fromkeys(analyse(words))), limit=limit, **own)
        return sorted(self.store.search(query), key=lambda match: (-match.score, match.atom_id, match.n))

    def found(self, words: str, *scopes: Scope, **wanted: Any) -> list[AtomId]:
        return [match.atom_id for match in self.search(words, *scopes, **wanted)]

    def publish(self) -> None:
        """Pretend that every waiting file was written."""
        waiting = self.store.ledger.pending(10_000)
        self.store.ledger.wrote([(each.path, STAMP, each.data) for each in waiting], 2_000_000_000)


class StoreContract:
    """Every promise of `Store` and `Ledger`. A backend that passes can take the place of any other."""

    def make_store(self, tmp_path: Path, clock: Clock) -> Store:
        """The store under test; the folder is its own, and stays when it is opened again."""
        raise NotImplementedError

    @contextmanager
    def hand(self, tmp_path: Path, at: datetime = NOON) -> Iterator[Hand]:
        clock = FixedClock(at)
        store = self.make_store(tmp_path, clock)
        try:
            yield Hand(store, clock)
        finally:
            store.close()

    # Commits

    def test_a_commit_is_durable_and_readable_by_whoever_opens_the_store_next(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as one:
            atom = one.kept("tea is ready", subject="tea", tags=("hot",), metadata={"a": "b"})
        with self.hand(tmp_path) as other:
            assert other.read() == [atom]
            assert other.read()[0].revision == 1
            assert other.found("tea") == [atom.id]

    def test_a_commit_is_applied_whole_or_not_at_all(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            held = hand.kept("green", subject="tea", attribute="colour")
            ended = hand.kept("ended", status=Status.TOMBSTONED)
            hand.publish()
            position, before = hand.store.position(), hand.read()
            bad = {
                ClaimTaken: hand.atom("black", subject="tea", attribute="colour"),
                StaleRevision: held.with_(content="blue", revision=9),
                TransitionRefused: ended.with_(status=Status.ACTIVE),
                InvalidScope: hand.atom("elsewhere", scope=OTHER),
                InvalidInput: hand.atom("  \n"),
                NotFound: hand.atom("unknown").with_(revision=1),
            }
            for kind, atom in bad.items():
                for atoms in ((hand.atom("good zebra"), atom), (atom, hand.atom("good zebra"))):
                    raises(kind, lambda atoms=atoms: hand.put(*atoms, key="again"))  # type: ignore[misc]
                    assert hand.read() == before
                    assert hand.store.position() == position
                    assert hand.store.ledger.pending(10) == []
                    assert hand.found("zebra") == []
            assert hand.put(hand.atom("good zebra"), key="again").repeated is False

    def test_many_atoms_are_one_entry_of_the_journal(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atoms = [hand.atom(f"number {n}") for n in range(300)]
            done = hand.put(*atoms)
            assert [atom.id for atom in done.atoms] == [atom.id for atom in atoms]
            (entry,) = hand.store.journal([LOCAL])
            assert (entry.seq, entry.id, len(entry.changes)) == (done.seq, done.id, 300)
            assert len(hand.read()) == 300

    def test_a_change_is_made_on_the_revision_it_names(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            first = hand.kept("green")
            second = hand.put(first.with_(content="black")).atoms[0]
            assert (first.revision, second.revision) == (1, 2)
            error = raises(StaleRevision, lambda: hand.put(first.with_(content="white")))
            assert (error.atom_id, error.expected, error.actual) == (first.id, 1, 2)
            raises(StaleRevision, lambda: hand.put(first.with_(revision=0)))
            raises(StaleRevision, lambda: hand.put(first.with_(revision=3)))
            assert hand.head(first).content == "black"

    def test_a_commit_that_changes_nothing_leaves_no_trace(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept()
            done = hand.put(atom)
            assert (done.id, done.seq, done.atoms) == (None, 0, (atom,))
            assert hand.put().seq == 0
            assert hand.store.position() == 1
            assert hand.head(atom).revision == 1

    def test_an_atom_stands_only_once_in_a_commit(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept()
            raises(InvalidInput, lambda: hand.put(atom.with_(content="a"), atom.with_(content="b")))
            assert hand.head(atom) == atom

    def test_a_known_key_gives_the_first_result_and_does_nothing(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            done = hand.put(hand.atom("once"), key="k1")
            again = hand.put(hand.atom("twice"), key="k1")
            assert again.repeated
            assert not done.repeated
            assert (again.id, again.seq, again.at, again.atoms) == (done.id, done.seq, done.at, done.atoms)
            assert [atom.content for atom in hand.read()] == ["once"]
            assert hand.store.position() == 1
        with self.hand(tmp_path) as hand:
            assert hand.put(hand.atom("thrice"), key="k1").repeated

    def test_a_key_of_one_scope_means_nothing_in_another(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.put(hand.atom("a secret", scope=OTHER), scope=OTHER, key="k1")
            done = hand.put(hand.atom("mine"), key="k1")
            assert not done.repeated
            assert [atom.content for atom in done.atoms] == ["mine"]

    def test_time_never_runs_backwards_in_the_journal(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            times = []
            for step in (0, 5, -3600, 2, 5.001, 5.002, -90_000_000, 6):
                hand.clock.at = NOON + timedelta(seconds=step)
                times.append(hand.put(hand.atom(f"at {step}")))
            assert [done.at for done in times] == [entry.at for entry in hand.store.journal([LOCAL])]
            assert [done.at for done in times] == sorted(done.at for done in times)
            assert all(done.atoms[0].recorded_at == done.at for done in times)
            assert times[2].at == NOON + timedelta(seconds=5)
            assert times[5].at == NOON + timedelta(seconds=5, milliseconds=2)
        with self.hand(tmp_path, NOON - 9 * DAY) as hand:
            assert hand.put(hand.atom("after the clock was set back")).at == NOON + timedelta(seconds=6)

    def test_an_atom_found_in_a_file_keeps_its_time_but_never_one_of_the_future(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            assert hand.kept("old", recorded_at=NOON - DAY).recorded_at == NOON - DAY
            assert hand.kept("odd", recorded_at=NOON + DAY).recorded_at == NOON

    def test_what_happens_in_a_trial_is_checked_and_gone_at_the_end(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            held = hand.kept("green", subject="tea", attribute="colour")
            hand.publish()
            with hand.store.trial():
                tried = hand.put(hand.atom("tried zebra")).atoms[0]
                assert hand.head(tried).content == "tried zebra"
                raises(
                    ClaimTaken,
                    lambda: hand.put(hand.atom("refused"), hand.atom("x", subject="tea", attribute="colour")),
                )
                assert {atom.content for atom in hand.read()} == {"green", "tried zebra"}
            assert hand.read() == [held]
            assert hand.store.position() == 1
            assert hand.store.ledger.pending(10) == []
            assert hand.found("zebra") == []
            assert hand.kept("after").revision == 1
            assert hand.store.check() == []

    # Rules

    def test_every_arrow_of_the_status_table_is_open_and_every_other_is_refused(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            for old, new in product(Status, Status):
                atom = hand.kept(f"{old} to {new}", status=old)
                moved = atom.with_(status=new)
                if old == new:
                    assert hand.put(moved).seq == 0
                elif new in ARROWS[old].split():
                    assert hand.put(moved).atoms[0].status is new
                    assert hand.store.versions(atom.id)[-1].old_status is old
                else:
                    error = raises(TransitionRefused, lambda moved=moved: hand.put(moved))  # type: ignore[misc]
                    assert (error.old, error.new, list(error.allowed)) == (old, new, ARROWS[old].split())
                    assert hand.head(atom) == atom

    def test_an_ended_atom_comes_back_to_active_by_restore_alone_and_anywhere_by_undo(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            for old, new in product(ENDINGS, Status):
                if old == new:
                    continue
                atom = hand.kept(f"{old} to {new}", status=Status(old))
                moved = atom.with_(status=new)
                if new is Status.ACTIVE:
                    assert hand.put(moved, way=Way.RESTORE).atoms[0].status is new
                else:
                    raises(TransitionRefused, lambda moved=moved: hand.put(moved, way=Way.RESTORE))  # type: ignore[misc]
                    assert hand.put(moved, way=Way.UNDO).atoms[0].status is new

    def test_two_active_values_of_a_claim_never_overlap(self, tmp_path: Path) -> None:
        claim = {"subject": "Ann", "attribute": "city"}
        with self.hand(tmp_path) as hand:
            oslo = hand.kept("Oslo", **claim, valid_from=NOON - 9 * DAY, valid_until=NOON)
            error = raises(ClaimTaken, lambda: hand.kept("Rome", subject=" ANN ", attribute="City"))
            assert (error.claim, error.holder) == ("ann::city", oslo.id)
            raises(ClaimTaken, lambda: hand.kept("Rome", **claim, valid_until=NOON - 8 * DAY))
            raises(ClaimTaken, lambda: hand.kept("Rome", **claim, valid_from=NOON - timedelta(milliseconds=1)))
            two = [hand.atom("Rome", **claim, valid_from=NOON), hand.atom("Bonn", **claim, valid_from=NOON + DAY)]
            raises(ClaimTaken, lambda: hand.put(*two))
            assert [atom.content for atom in hand.read()] == ["Oslo"]

    def test_values_of_a_claim_may_follow_each_other_or_stand_in_another_scope_or_wait(self, tmp_path: Path) -> None:
        claim = {"subject": "Ann", "attribute": "city"}
        with self.hand(tmp_path) as hand:
            hand.kept("Oslo", **claim, valid_until=NOON)
            rome = hand.kept("Rome", **claim, valid_from=NOON)
            for status in Status:
                if status is not Status.ACTIVE:
                    hand.kept(status, **claim, status=status)
            hand.kept("Bonn", **claim, scope=OTHER)
            hand.kept("Bern", **claim, scope=ANN)
            for friend in ("Bob", "Eve"):
                hand.kept(friend, subject="Ann", attribute="friend")
            for text in ("no claim", "no claim either"):
                hand.kept(text, subject="Ann")
            swap = [rome.with_(status=Status.SUPERSEDED, valid_until=NOON + DAY)]
            assert hand.put(*swap, hand.atom("Paris", **claim, valid_from=NOON)).seq

    def test_bringing_an_atom_back_into_a_taken_claim_is_refused(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            old = hand.kept("Oslo", subject="Ann", attribute="city", status=Status.SUPERSEDED)
            hand.kept("Rome", subject="Ann", attribute="city")
            for way in (Way.RESTORE, Way.UNDO, Way.ADOPT):
                raises(ClaimTaken, lambda way=way: hand.put(old.with_(status=Status.ACTIVE), way=way))  # type: ignore[misc]

    def test_of_ten_threads_that_want_one_claim_one_gets_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            won: list[str] = []
            lost: list[LaminaError] = []
            start = threading.Barrier(10)

            def want(name: str) -> None:
                atom = hand.atom(name, subject="the", attribute="winner")
                start.wait()
                try:
                    hand.put(atom)
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
            assert [atom.content for atom in hand.read()] == won

    def test_of_ten_threads_that_change_one_atom_each_revision_has_one_author(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("start")
            done: list[int] = []

            def write(name: str) -> None:
                for _ in range(5):
                    while True:
                        head = hand.head(atom)
                        with suppress(StaleRevision):
                            done.append(hand.put(head.with_(content=f"{head.content} {name}")).atoms[0].revision)
                            break

            threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(10)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(done) == list(range(2, 52))
            assert len(hand.head(atom).content.split()) == 51
            assert [version.revision for version in hand.store.versions(atom.id)] == list(range(1, 52))

    def test_a_scope_is_written_by_itself_and_an_organisation_by_its_agents_too(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            allowed = {(LOCAL, LOCAL), (OTHER, OTHER), (ANN, ANN), (ANN, LOCAL), (BOB, BOB), (BOB, LOCAL)}
            for writer, target in product((LOCAL, OTHER, ANN, BOB), repeat=2):
                atom = hand.atom(f"{writer} into {target}", scope=target)
                if (writer, target) in allowed:
                    assert hand.put(atom, scope=writer).seq
                    changed = hand.head(atom).with_(pinned=True)
                    assert hand.put(changed, scope=writer).seq
                else:
                    raises(InvalidScope, lambda atom=atom, writer=writer: hand.put(atom, scope=writer))  # type: ignore[misc]
            foreign = hand.kept("theirs", scope=OTHER)
            raises(InvalidScope, lambda: hand.put(foreign.with_(content="mine")))
            raises(LaminaError, lambda: hand.put(foreign.with_(scope=LOCAL)))
            assert hand.head(foreign) == foreign

    def test_id_scope_time_origin_and_principal_never_change(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("mine", principal="ann", scope=ANN)
            for change in (
                {"scope": LOCAL}, {"recorded_at": NOON - DAY}, {"recorded_at": None}, {"origin": Origin.WEB},
                {"principal": "bob"}, {"principal": None},
            ):  # fmt: skip
                for way in Way:
                    raises(Refused, lambda c=change, w=way: hand.put(atom.with_(**c), scope=ANN, way=w))  # type: ignore[misc]
            assert hand.head(atom) == atom

    def test_nobody_writes_in_the_name_of_somebody_more_trusted(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            raises(Refused, lambda: hand.put(hand.atom("hm"), origin=Origin.AGENT))
            hand.put(hand.atom("a page", origin=Origin.WEB), origin=Origin.AGENT)
            said = hand.kept("the bank is DNB", subject="bank")
            for change in ({"content": "the bank is EVIL"}, {"subject": "x"}, {"attribute": "x"}, {"value": "x"}):
                raises(Refused, lambda change=change: hand.put(said.with_(**change), origin=Origin.AGENT))  # type: ignore[misc]
            assert hand.put(said.with_(status=Status.CHALLENGED), origin=Origin.AGENT).seq

    def test_what_happened_is_never_superseded_merged_or_rewritten(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            for kind in ("event", "moment", "narrative", "interaction"):
                atom = hand.kept(f"{kind}: we met", kind=kind, origin=Origin.AGENT)
                for status in (Status.SUPERSEDED, Status.MERGED):
                    raises(Refused, lambda a=atom, s=status: hand.put(a.with_(status=s)))  # type: ignore[misc]
                raises(Refused, lambda a=atom: hand.put(a.with_(content="we did not"), origin=Origin.AGENT))  # type: ignore[misc]
                grown = hand.put(atom.with_(content=f"{atom.content} at noon"), origin=Origin.AGENT).atoms[0]
                assert hand.put(grown.with_(content=atom.content), origin=Origin.AGENT, way=Way.UNDO).seq
                assert hand.put(hand.head(atom).with_(status=Status.TOMBSTONED)).seq

    def test_following_what_superseded_an_atom_never_leads_back(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            chain = [hand.kept(f"link {n}") for n in range(5)]
            raises(Refused, lambda: hand.put(chain[0].with_(superseded_by=(chain[0].id,))))
            for one, other in pairwise(chain):
                hand.put(hand.head(one).with_(status=Status.SUPERSEDED, superseded_by=(other.id,)))
            for n in range(5):
                last = hand.head(chain[4])
                raises(Refused, lambda n=n, last=last: hand.put(last.with_(superseded_by=(chain[n].id,))))  # type: ignore[misc]
            two = [hand.atom("a"), hand.atom("b")]
            loop = [two[0].with_(superseded_by=(two[1].id,)), two[1].with_(superseded_by=(two[0].id,))]
            raises(Refused, lambda: hand.put(*loop))

    def test_what_has_no_words_or_no_id_of_ours_is_refused(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            for content in ("", " ", "\n\t "):
                raises(InvalidInput, lambda content=content: hand.put(hand.atom(content)))  # type: ignore[misc]
            for name in ("", "x", "0" * 25, "../../etc/passwd", "U" * 26):
                atom = hand.atom().with_(id=AtomId(name))
                raises(InvalidInput, lambda atom=atom: hand.put(atom))  # type: ignore[misc]
            assert hand.store.position() == 0

    # Reading

    def test_an_atom_comes_back_as_it_was_written(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            other = hand.kept("other")
            atom = hand.kept(
                "жук 🐞 \u2028 line\r\n\\ ' \"", subject="Käfer", attribute="farbe", value="rot", tags=("a", "b"),
                entities=("E",), agents=("ann",), metadata={"k": "v", "ü": ""}, source_id="s", session_id="x",
                source_ref="r", evidence=(Evidence(other.id, 1, 0, 5),), principal="p", derived_from=(other.id,),
                valid_from=datetime(1, 1, 1, tzinfo=UTC), valid_until=datetime(9999, 12, 31, tzinfo=UTC), pinned=True,
                expires_at=NOON + DAY, run_id="run", confidence=0.1 + 0.2, importance=0.0, surprise=0.25, valence=-1.0,
                relations=(Relation(RelationName.SUPPORTS, other.id, 0.5, NOON),), supersedes=(other.id,),
                episode_id="e", box_id="b", trace_id="t", kind="own-kind",
            )  # fmt: skip
            assert hand.head(atom) == atom
            assert hand.store.versions(atom.id)[0].atom == atom

    def test_without_scopes_nothing_is_read_found_or_told(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("tea", relations=())
            assert hand.store.read(Filter(scopes=())) == []
            assert hand.store.read(Filter(scopes=(), ids=(atom.id,))) == []
            assert hand.store.journal([]) == []
            assert hand.store.edges([atom.id], []) == []
            assert hand.store.counts([], "status") == {}
            query = TextQuery(
                scopes=(), tokens=("tea",), statuses=frozenset(Status), memory_types=frozenset(MemoryType),
                valid_at=NOON, limit=10,
            )  # fmt: skip
            assert hand.store.search(query) == []

    def test_a_scope_reads_exactly_the_scopes_it_names(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            for scope in (LOCAL, OTHER, ANN, BOB):
                hand.kept(f"tea of {scope}", scope=scope)
            for wanted in ((LOCAL,), (ANN,), (ANN, LOCAL), (BOB, OTHER)):
                assert {atom.scope for atom in hand.read(*wanted)} == set(wanted)
                assert len(hand.found("tea", *wanted)) == len(wanted)
                assert {entry.scope for entry in hand.store.journal(wanted)} == set(wanted)
                assert hand.store.counts(wanted, "status") == {"active": len(wanted)}

    def test_atoms_are_chosen_by_every_part_of_a_filter(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            plain = hand.kept("Plain words!")
            rule = hand.kept("a rule", kind="rule", subject="Größe  Zwei", status=Status.CHALLENGED)
            city = hand.kept(
                "Oslo", subject="Ann", attribute="City", session_id="s1", valid_from=NOON, valid_until=NOON + DAY
            )
            bare = hand.kept("🦊", subject="!!!")

            def chosen(**wanted: Any) -> set[AtomId]:
                return {atom.id for atom in hand.read(**wanted)}

            assert chosen() == {plain.id, rule.id, city.id, bare.id}
            assert chosen(ids=(plain.id, city.id)) == {plain.id, city.id}
            assert chosen(ids=()) == set()
            assert chosen(id_ending=rule.id[-8:]) == {rule.id}
            assert chosen(statuses=frozenset({Status.CHALLENGED})) == {rule.id}
            assert chosen(statuses=frozenset()) == set()
            assert chosen(kinds=frozenset({"rule"})) == {rule.id}
            assert chosen(kinds=frozenset({"rule", "fact"})) == chosen()
            assert chosen(memory_types=frozenset({MemoryType.PROCEDURE})) == {rule.id}
            assert chosen(subject="grösse zwei") == chosen(subject="GRÖSSE zwei!") == {rule.id}
            assert chosen(subject="?") == chosen(subject="") == chosen(subject="nobody") == set()
            assert chosen(claims=("ann::city",)) == {city.id}
            assert chosen(claims=()) == set()
            assert chosen(session_id="s1") == {city.id}
            assert chosen(contents=("PLAIN, words",)) == {plain.id}
            assert chosen(contents=("oslo", "plain words")) == {plain.id, city.id}
            assert chosen(contents=("🦊",)) == chosen(contents=()) == set()
            assert chosen(valid_at=NOON) == chosen(valid_at=NOON + DAY - timedelta(milliseconds=1)) == chosen()
            assert (
                chosen(valid_at=NOON - timedelta(milliseconds=1)) == chosen(valid_at=NOON + DAY) == chosen() - {city.id}
            )
            assert chosen(kinds=frozenset({"fact"}), session_id="s1", valid_at=NOON) == {city.id}

    def test_atoms_come_youngest_record_first_then_by_id_in_pages_that_fit(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            for minute in (0, 0, 3, 1, 2):
                hand.clock.at = NOON + timedelta(minutes=minute)
                hand.put(hand.atom(f"{minute} a"), hand.atom(f"{minute} b"))
            everything = hand.read()
            assert everything == sorted(everything, key=lambda atom: (-_seconds(atom.recorded_at), atom.id))
            pages = [hand.read(limit=3, offset=start) for start in range(0, 12, 3)]
            assert [atom for page in pages for atom in page] == everything
            assert hand.read(offset=4) == everything[4:]
            assert hand.read(limit=0) == hand.read(limit=5, offset=10) == []

    def test_more_ids_than_a_statement_has_room_for_are_read(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept()
            ids = tuple(hand.atom().id for _ in range(40_000))
            assert hand.read(ids=(*ids, atom.id)) == [atom]
            assert hand.store.ledger.paths_of((*ids, atom.id)) == {atom.id: layout.path_for(atom)}

    def test_counts_tell_how_many_atoms_there_are(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.kept("a"), hand.kept("b", kind="rule"), hand.kept("c", status=Status.ARCHIVED)
            assert hand.store.counts([LOCAL], "status") == {"active": 2, "archived": 1}
            assert hand.store.counts([LOCAL], "kind") == {"fact": 2, "rule": 1}
            assert hand.store.counts([LOCAL], "memory_type") == {"fact": 2, "procedure": 1}
            assert hand.store.counts([LOCAL], "layer") == {"semantic": 2, "procedural": 1}

    # The journal

    def test_versions_tell_what_each_commit_made_of_an_atom(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            first = hand.put(hand.atom("one"), actor="ann", verb="remember", reason="asked")
            atom = first.atoms[0]
            hand.clock.at = NOON + DAY
            grown = hand.put(atom.with_(content="one and two", pinned=True)).atoms[0]
            hand.put(hand.kept("another"))
            last = hand.put(grown.with_(status=Status.TOMBSTONED, content="three"), reason="no longer")
            told = hand.store.versions(atom.id)
            assert [version.atom.content for version in told] == ["one", "one and two", "three"]
            assert [version.revision for version in told] == [1, 2, 3]
            assert [version.old_status for version in told] == [None, Status.ACTIVE, Status.ACTIVE]
            assert [version.atom.status for version in told] == [Status.ACTIVE, Status.ACTIVE, Status.TOMBSTONED]
            assert [version.reason for version in told] == ["asked", "because", "no longer"]
            assert (told[0].actor, told[0].verb, told[0].at) == ("ann", "remember", NOON)
            assert (told[0].commit, told[2].commit, told[2].seq) == (first.id, last.id, last.seq)
            assert told[1].fields == {"content", "pinned"}
            assert told[2].fields == {"content", "status"}
            assert {"id", "content", "kind", "scope", "observed_at"} <= told[0].fields
            assert told[-1].atom == hand.head(atom)
            assert hand.store.versions(hand.atom().id) == []

    def test_the_journal_tells_commits_in_order_after_a_position_the_newest_of_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            done: list[Committed] = []
            for n in range(5):
                hand.clock.at = NOON + n * DAY
                done.append(
                    hand.put(hand.atom(f"n{n}"), reason=f"r{n}", batch="b", undoes=done[0].id if n == 4 else None)
                )
            entries = hand.store.journal([LOCAL])
            assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
            assert [entry.id for entry in entries] == [each.id for each in done]
            assert [entry.reason for entry in entries] == ["r0", "r1", "r2", "r3", "r4"]
            assert (entries[4].undoes, entries[4].batch, entries[0].undoes) == (done[0].id, "b", None)
            assert [entry.seq for entry in hand.store.journal([LOCAL], 2)] == [3, 4, 5]
            assert [entry.seq for entry in hand.store.journal([LOCAL], 1, until=3)] == [2, 3]
            assert [entry.seq for entry in hand.store.journal([LOCAL], limit=2)] == [4, 5]
            assert [entry.seq for entry in hand.store.journal([LOCAL], 3, limit=9)] == [4, 5]
            assert hand.store.journal([LOCAL], 5) == hand.store.journal([LOCAL], limit=0) == []
            assert hand.store.journal([LOCAL], commit=done[2].id) == [entries[2]]
            assert hand.store.journal([LOCAL], commit="nobody") == []
            assert hand.store.position() == 5
            assert hand.store.position(before=NOON + 2 * DAY) == 2
            assert hand.store.position(before=NOON) == 0

    def test_an_entry_tells_the_fields_and_statuses_each_atom_got(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("tea", tags=("hot",))
            hand.put(atom.with_(status=Status.ARCHIVED, tags=("cold",)), origin=Origin.AGENT, actor="x", verb="v")
            birth, change = hand.store.journal([LOCAL])
            (born,), (changed,) = birth.changes, change.changes
            assert (born.old_status, born.new_status, born.revision) == (None, Status.ACTIVE, 1)
            assert born.fields["content"] == "tea"
            assert (changed.old_status, changed.new_status, changed.revision) == (Status.ACTIVE, Status.ARCHIVED, 2)
            assert changed.fields == {"status": "archived", "tags": ["cold"]}
            assert (change.actor, change.origin, change.verb, change.scope) == ("x", Origin.AGENT, "v", LOCAL)

    def test_a_scope_is_told_nothing_of_changes_in_another(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.put(hand.atom("theirs", scope=OTHER), scope=OTHER)
            mixed = hand.put(hand.atom("private", scope=ANN), hand.atom("shared"), scope=ANN)
            (entry,) = hand.store.journal([LOCAL])
            assert entry.id == mixed.id
            assert [change.fields["content"] for change in entry.changes] == ["shared"]
            assert [len(entry.changes) for entry in hand.store.journal([ANN, LOCAL])] == [2]
            assert hand.store.journal([BOB]) == []
            theirs = hand.store.journal([OTHER])[0].id
            assert hand.store.journal([LOCAL, ANN], commit=theirs) == []

    def test_replaying_the_journal_gives_every_atom_as_it_is(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            random = Random(3)
            for n in range(60):
                atoms = hand.read()
                if atoms and random.random() < 0.7:
                    atom = random.choice(atoms)
                    new = random.choice([*ARROWS[atom.status].split(), atom.status])
                    with suppress(Refused):
                        hand.put(atom.with_(content=f"{atom.content} {n}", status=Status(new)))
                else:
                    hand.kept(f"atom {n}", kind=random.choice(["fact", "event", "rule"]))
            statuses: dict[AtomId, Status] = {}
            for entry in hand.store.journal([LOCAL]):
                for change in entry.changes:
                    assert statuses.get(change.atom_id) == change.old_status
                    statuses[change.atom_id] = change.new_status
            assert statuses == {atom.id: atom.status for atom in hand.read()}
            assert all(hand.store.versions(atom.id)[-1].atom == atom for atom in hand.read())
            assert hand.store.check() == []

    # Searching

    def test_a_passage_is_found_by_any_of_its_words_and_scored_word_by_word(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            tea = hand.kept("green tea and green leaves")
            hand.kept("black coffee")
            (match,) = hand.search("green tea please")
            assert (match.atom_id, match.n, match.status) == (tea.id, 1, Status.ACTIVE)
            assert {token for token, _ in match.parts} == set(analyse("green tea"))
            assert all(part > 0 for _, part in match.parts)
            assert abs(match.score - sum(part for _, part in match.parts)) < 1e-12
            assert hand.found("nothing like it") == []
            assert hand.search("") == []

    def test_a_segment_is_found_by_the_turn_that_says_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            said = [render_passage(n, text, who, NOON) for n, text, who in ((1, "hello", "Ann"), (2, "zebra", "Bob"))]
            segment = hand.kept("\n\n".join(said), kind="narrative", session_id="s", segment_id="s-1")
            assert [(match.atom_id, match.n) for match in hand.search("zebra")] == [(segment.id, 2)]
            assert [match.n for match in hand.search("Ann")] == [1]

    def test_nothing_in_another_scope_moves_a_score(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            for n in range(6):
                hand.kept(f"tea number {n} " + "leaf " * n)
            before = hand.search("tea leaf number")
            for n in range(40):
                hand.kept(f"tea leaf number {n} " * 5, scope=random_scope(n))
            assert hand.search("tea leaf number") == before
            assert [m for m in hand.search("tea leaf number", LOCAL, ANN, limit=100) if m in before] == before

    def test_what_normal_recall_does_not_search_moves_no_score_either(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.kept("green tea"), hand.kept("black tea and milk")
            before = hand.search("tea milk")
            for status in Status:
                if status not in (Status.ACTIVE, Status.ARCHIVED):
                    hand.kept("tea milk tea milk " * 3, status=status)
            assert hand.search("tea milk") == before

    def test_an_atom_is_found_with_its_status_only(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atoms = {status: hand.kept("tea", status=status) for status in Status}
            for status in Status:
                assert hand.found("tea", statuses=frozenset({status})) == [atoms[status].id]
            assert set(hand.found("tea")) == {atoms[Status.ACTIVE].id, atoms[Status.ARCHIVED].id}
            assert hand.found("tea", statuses=frozenset()) == []
            changed = hand.put(atoms[Status.ACTIVE].with_(status=Status.SUPERSEDED)).atoms[0]
            assert changed.id not in hand.found("tea")
            assert changed.id in hand.found("tea", statuses=frozenset({Status.SUPERSEDED}))

    def test_an_atom_is_found_by_its_sort_and_while_it_is_valid(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            rule, event = hand.kept("tea rule", kind="rule"), hand.kept("tea event", kind="event")
            assert hand.found("tea", memory_types=frozenset({MemoryType.PROCEDURE})) == [rule.id]
            assert hand.found("tea", memory_types=frozenset({MemoryType.NARRATIVE})) == [event.id]
            assert hand.found("tea", memory_types=frozenset()) == []
            now = hand.kept("coffee", valid_from=NOON, valid_until=NOON + DAY)
            assert hand.found("coffee", valid_at=NOON) == [now.id]
            assert hand.found("coffee", valid_at=NOON - timedelta(milliseconds=1)) == []
            assert hand.found("coffee", valid_at=NOON + DAY) == []

    def test_what_is_written_is_found_at_once_and_what_was_replaced_is_not(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("green zebra")
            hand.put(atom.with_(content="black panther"))
            assert hand.found("zebra green") == []
            assert hand.found("panther") == [atom.id]

    def test_ties_are_all_told_and_told_the_same_every_time(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            tied = {hand.kept("tea time", subject=str(n)).id for n in range(30)}
            first = hand.search("tea", limit=5)
            assert {match.atom_id for match in first} == tied
            assert len({match.score for match in first}) == 1
            hand.store.rebuild()
            assert hand.search("tea", limit=5) == first

    def test_filters_are_met_however_many_better_matches_they_leave_out(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.put(*[hand.atom("tea tea", kind="rule", subject=str(n)) for n in range(700)])
            wanted = hand.put(*[hand.atom(f"tea once in a long text, number {n}") for n in range(5)]).atoms
            found = hand.found("tea", limit=5, memory_types=frozenset({MemoryType.FACT}))
            assert set(found) == {atom.id for atom in wanted}

    def test_a_query_of_hostile_tokens_is_only_a_query(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.kept("or and not near tea")
            for words in ("OR", "AND NOT", "NEAR(tea 3)", '"tea" OR "', "tea*", "-tea", "tea:x", "'; DROP TABLE heads"):
                hand.search(words)
            assert hand.found("near") == [hand.read()[0].id]

    # The graph

    def test_relations_are_edges_seen_from_both_ends_within_the_scopes(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            a, b, c = (hand.kept(name) for name in "abc")
            theirs = hand.kept("theirs", scope=ANN, relations=(Relation(RelationName.SUPPORTS, a.id),))
            a = hand.put(a.with_(relations=(Relation(RelationName.CAUSED_BY, b.id, 0.5),), supersedes=(c.id,))).atoms[0]
            caused, replaced = Edge(a.id, "caused_by", b.id, 0.5), Edge(a.id, "supersedes", c.id, 1.0)
            assert hand.store.edges([a.id], [LOCAL]) == [caused, replaced]
            assert hand.store.edges([b.id], [LOCAL]) == [caused]
            assert hand.store.edges([a.id], [OTHER]) == []
            assert Edge(theirs.id, "supports", a.id, 1.0) in hand.store.edges([a.id], [LOCAL, ANN])
            hand.put(a.with_(relations=(), supersedes=()))
            assert hand.store.edges([a.id, b.id, c.id], [LOCAL]) == []
            assert hand.store.edges([], [LOCAL]) == []

    # The index

    def test_a_rebuilt_index_answers_as_the_kept_one(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            random, words = Random(11), ["tea", "milk", "sugar", "honey", "lemon", "green", "black"]
            for _ in range(60):
                text = " ".join(random.choices(words, k=random.randint(1, 8)))
                atoms = hand.read()
                if atoms and random.random() < 0.5:
                    atom = random.choice(atoms)
                    new = Status(random.choice([*ARROWS[atom.status].split(), atom.status]))
                    hand.put(
                        atom.with_(content=text, status=new, relations=(Relation(RelationName.SUPPORTS, atoms[0].id),))
                    )
                else:
                    hand.kept(text)
            ids = [atom.id for atom in hand.read()]

            def answers() -> list[object]:
                found: list[object] = [hand.search(word, statuses=frozenset(Status), limit=50) for word in words]
                return [*found, hand.search("green tea", limit=3), hand.store.edges(ids, [LOCAL])]

            before = answers()
            assert hand.store.rebuild() == len(ids)
            assert answers() == before
            assert hand.store.check() == []

    def test_the_store_itself_writes_nothing_into_the_vault(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("tea")
            hand.put(atom.with_(status=Status.ARCHIVED))
            hand.store.rebuild()
        assert [path for path in tmp_path.rglob("*") if path.suffix == ".md"] == []

    # The ledger

    def test_a_commit_puts_the_files_of_its_atoms_into_the_outbox(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger, one, other = hand.store.ledger, hand.atom("one"), hand.atom("other")
            hand.put(one, other)
            first, second = ledger.pending(10)
            assert ledger.pending(1) == [first]
            assert (first.path, first.atom_id, first.base, first.moved_from) == (
                layout.path_for(one),
                one.id,
                None,
                None,
            )
            sheet = read_sheet(first.data)
            assert (sheet.id, sheet.fields["content"]) == (one.id, "one")
            row = ledger.row(first.path)
            assert row is not None
            assert (row.data, row.pending, row.line.stamp, row.line.state) == (first.data, True, None, FileState.ATOM)
            ledger.wrote([(first.path, STAMP, first.data)], 5_000)
            assert ledger.pending(10) == [second]
            row = ledger.row_of(one.id)
            assert row is not None
            assert (row.pending, row.line.stamp, row.line.checked_ns) == (False, STAMP, 5_000)
            assert ledger.line(first.path) == row.line
            assert ledger.paths_of([one.id, other.id]) == {one.id: first.path, other.id: second.path}
            assert ledger.summary()["to_write"] == 1
            assert ledger.head(one.id) == hand.head(one)

    def test_a_changed_file_is_written_over_the_bytes_that_stand_there(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger, atom = hand.store.ledger, hand.kept("one")
            born = ledger.pending(10)[0].data
            hand.publish()
            atom = hand.put(atom.with_(content="two")).atoms[0]
            (waiting,) = ledger.pending(10)
            assert (waiting.base, read_sheet(waiting.data).fields["content"]) == (born, "two")
            assert hashlib.sha256(born).hexdigest() in waiting.ours
            hand.put(atom.with_(content="three"))
            (again,) = ledger.pending(10)
            assert again.base == born
            assert {hashlib.sha256(data).hexdigest() for data in (born, waiting.data)} <= set(again.ours)
            row = ledger.row(again.path)
            assert row is not None
            assert (row.base, row.pending, row.data) == (born, True, again.data)

    def test_an_archived_file_moves_and_one_a_person_moved_stays(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger, atom, other = hand.store.ledger, hand.kept("one"), hand.kept("other")
            hand.publish()
            home = layout.path_for(atom)
            hand.put(atom.with_(status=Status.ARCHIVED))
            (waiting,) = ledger.pending(10)
            assert (waiting.path, waiting.moved_from) == (f"archive/{home}", home)
            hand.publish()
            assert ledger.paths_of([atom.id]) == {atom.id: f"archive/{home}"}
            ledger.moved(layout.path_for(other), "my/place.md", STAMP, 6_000)
            assert ledger.paths_of([other.id]) == {other.id: "my/place.md"}
            assert ledger.atom_named("place") == other.id
            hand.put(other.with_(status=Status.ARCHIVED))
            assert [each.path for each in ledger.pending(10)] == ["my/place.md"]

    def test_what_a_person_saved_is_the_base_of_the_next_write(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger, atom = hand.store.ledger, hand.kept("one")
            hand.publish()
            path = layout.path_for(atom)
            row = ledger.row(path)
            assert row is not None
            mine = row.data.replace(b"one", b"two").replace(b"kind: fact", b"# mine\nkind: fact")
            seen = Seen(path, mine, STAMP, 7_000)
            commit = Commit(
                actor="human", origin=Origin.HUMAN, verb="edit", reason="edited", scope=LOCAL,
                changes=(Change(atom.with_(content="two", pinned=True), seen),),
            )  # fmt: skip
            hand.store.commit(commit)
            (waiting,) = ledger.pending(10)
            assert waiting.base == mine
            assert b"# mine" in waiting.data
            assert read_sheet(waiting.data).fields["pinned"] is True

    def test_a_deleted_file_keeps_its_last_bytes_and_is_written_again_when_its_atom_returns(
        self, tmp_path: Path
    ) -> None:
        with self.hand(tmp_path) as hand:
            ledger, atom = hand.store.ledger, hand.kept("one")
            hand.publish()
            path = layout.path_for(atom)
            gone = Change(atom.with_(status=Status.TOMBSTONED), file_gone=True)
            hand.store.commit(
                Commit(
                    actor="human", origin=Origin.HUMAN, verb="delete", reason="deleted", scope=LOCAL, changes=(gone,)
                )
            )
            row = ledger.row(path)
            assert row is not None
            assert (row.line.state, row.line.atom_id) == (FileState.GONE, atom.id)
            assert b"one" in row.data
            assert ledger.paths_of([atom.id]) == {}
            assert ledger.pending(10) == []
            hand.put(hand.head(atom).with_(status=Status.ACTIVE), way=Way.RESTORE)
            assert [(each.path, each.base) for each in ledger.pending(10)] == [(path, None)]

    def test_files_that_are_no_atoms_are_known_and_forgotten(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger, atom = hand.store.ledger, hand.kept("one")
            hand.publish()
            path = layout.path_for(atom)
            ledger.saw("notes/x.md", b"", STAMP, 1, None, FileState.FOREIGN)
            ledger.saw("atoms/bad.md", b"??", STAMP, 1, None, FileState.BAD)
            assert {line.path: line.state for line in ledger.lines()} == {
                path: FileState.ATOM, "notes/x.md": FileState.FOREIGN, "atoms/bad.md": FileState.BAD,
            }  # fmt: skip
            summary = ledger.summary()
            assert (summary["files"], summary["foreign"], summary["unreadable"]) == (1, 1, 1)
            for each in ("notes/x.md", "atoms/bad.md", path, "nowhere.md"):
                ledger.forget_file(each)
            assert [line.path for line in ledger.lines()] == [path]
            ledger.unchanged([(path, Stamp(1, 2, 3, 4))], 9_000)
            line = ledger.line(path)
            assert line is not None
            assert (line.stamp, line.checked_ns) == (Stamp(1, 2, 3, 4), 9_000)
            ledger.gone(path)
            assert ledger.paths_of([atom.id]) == {}
            assert ledger.row("nowhere.md") is None
            assert ledger.line("nowhere.md") is None

    def test_a_write_given_up_is_no_longer_pending_and_its_file_is_read_again(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger, atom = hand.store.ledger, hand.kept("one")
            (waiting,) = ledger.pending(10)
            ledger.withdrawn(waiting)
            assert ledger.pending(10) == []
            row = ledger.row_of(atom.id)
            assert row is not None
            assert row.line.state is FileState.BAD

    def test_what_came_out_of_an_exchange_is_remembered_for_a_while(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger, name = hand.store.ledger, hashlib.sha256(b"old").hexdigest()
            assert ledger.came_out(name) is None
            ledger.wrote([], 10**18, [b"old"])
            assert ledger.came_out(name) == b"old"
            ledger.forget_came_out(10**18)
            assert ledger.came_out(name) == b"old"
            ledger.forget_came_out(10**18 + 1)
            assert ledger.came_out(name) is None

    def test_problems_are_listed_until_they_are_mended(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger = hand.store.ledger
            ledger.report(Problem("a.md", "unreadable", "line 3 is odd", 3))
            hand.clock.at = NOON + DAY
            ledger.report(Problem("b.md", "duplicate-id", "twice"))
            ledger.report(Problem("a.md", "ignored-field", "id", 1))
            ledger.report(Problem("a.md", "unreadable", "line 3 is odd", 3))
            told = ledger.problems()
            assert [(each.path, each.kind) for each in told] == [
                ("a.md", "unreadable"), ("a.md", "ignored-field"), ("b.md", "duplicate-id")
            ]  # fmt: skip
            assert (told[0].line, told[0].message, told[0].at) == (3, "line 3 is odd", NOON)
            ledger.report(Problem("a.md", "unreadable", "line 4 is odd", 4))
            assert [each.line for each in ledger.problems() if each.kind == "unreadable"] == [4]
            ledger.clear("a.md", ["ignored-field", "no-such"])
            assert len(ledger.problems()) == ledger.summary()["problems"] == 2
            ledger.clear("a.md")
            ledger.clear("nowhere.md")
            assert [each.path for each in ledger.problems()] == ["b.md"]

    def test_signals_are_counted_beside_the_journal(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger, atom = hand.store.ledger, hand.kept()
            assert ledger.signals(atom.id) == Signals()
            ledger.set_signals(atom.id, Signals(1.5, 3, NOON))
            assert ledger.signals(atom.id) == Signals(1.5, 3, NOON)
            assert hand.store.position() == 1
            assert hand.head(atom).revision == 1

    def test_an_atom_is_known_by_its_files_name_or_the_id_it_had_elsewhere(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            ledger, atom = hand.store.ledger, hand.kept("one", source_ref="mem-17")
            assert ledger.atom_named(layout.stem(layout.path_for(atom))) == atom.id
            assert ledger.atom_named("mem-17") == atom.id
            assert ledger.atom_named("mem-18") is None
            hand.kept("two", source_ref="mem-17")
            assert ledger.atom_named("mem-17") is None


def random_scope(n: int) -> Scope:
    """A scope that is not the local one."""
    return (OTHER, ANN, BOB)[n % 3]


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0


def contract_names() -> Sequence[str]:
    """The promises, as the names of their tests."""
    return sorted(name for name in vars(StoreContract) if name.startswith("test_"))
