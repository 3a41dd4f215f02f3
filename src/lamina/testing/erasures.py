"""Words that are taken out for good, and the marks by which they are known again."""

from __future__ import annotations

from pathlib import Path

from lamina.atom.atom import Atom
from lamina.atom.passage import render_passage
from lamina.atom.scope import organisation
from lamina.errors import Erased, Refused
from lamina.store.erasure import Erasure, Unfinished
from lamina.store.fingerprints import Mark, MarkKind
from lamina.testing.hand import ANN, LOCAL, NOON, OTHER, Contract, Hand, raises
from lamina.text.normal import normal_form

TEA = Mark("local", MarkKind.SENTENCE, "the tea is green")


def erased(
    hand: Hand, *gone: Atom, retold: tuple[Atom, list[str]] | None = None, marks: tuple[Mark, ...] = ()
) -> Unfinished:
    """Erase atoms, and tell the contents of others anew."""
    versions = {
        atom.id: [
            version.atom.with_(content=content)
            for version, content in zip(hand.store.versions(atom.id), contents, strict=True)
        ]
        for atom, contents in ([retold] if retold else [])
    }
    return hand.store.erasures.apply(
        Erasure(
            actor="ann",
            reason="private",
            scope=LOCAL,
            gone=tuple(each.id for each in gone),
            retold=versions,
            marks=marks,
            quoted=lambda text, near: "secret" in text,
            sought="sought",
            fingerprints={
                each.id: Mark(organisation(each.scope), MarkKind.STATEMENT, normal_form(each.content)) for each in gone
            },
        )
    )


class ErasureContract(Contract):
    """What goes, what stays, and what is known of it afterwards."""

    def test_where_nothing_was_erased_nothing_is_known(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            assert not hand.store.fingerprints.any()
            assert hand.store.fingerprints.known([TEA]) == {}
            assert hand.store.fingerprints.stubs([LOCAL]) == []
            assert hand.store.erasures.unfinished() == []

    def test_an_erased_atom_leaves_a_stub_and_no_word(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            gone, kept = hand.kept("the tea is green"), hand.kept("the dog sleeps")
            erased(hand, gone)
            assert hand.read() == [kept]
            assert hand.found("tea dog") == [kept.id]
            (stub,) = hand.store.fingerprints.stubs([LOCAL])
            assert (stub.atom_id, stub.scope, stub.at, stub.actor, stub.reason) == (
                gone.id,
                LOCAL,
                NOON,
                "ann",
                "private",
            )
            assert hand.store.fingerprints.stub(gone.id[-8:], [LOCAL]) == stub
            assert hand.store.fingerprints.stub(gone.id, [OTHER, ANN]) is None
            assert "tea" not in repr(hand.store.journal([LOCAL]))
            assert hand.store.check() == []

    def test_what_was_erased_has_no_versions_and_is_never_made_again(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            gone = hand.kept("the tea is green")
            erased(hand, gone)
            raises(Erased, lambda: hand.store.versions(gone.id))
            raises(Refused, lambda: hand.put(gone.with_(revision=0)))

    def test_a_mark_is_known_again_with_its_time_and_only_in_its_organisation(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            erased(hand, hand.kept("the tea is green"), marks=(TEA,))
            others = [
                Mark("other", TEA.kind, TEA.form),
                Mark("local", MarkKind.CLAIM, TEA.form),
                Mark("local", TEA.kind, "the tea is red"),
            ]
            assert hand.store.fingerprints.known([TEA, *others]) == {TEA: NOON}
            assert hand.store.fingerprints.any()
        with self.hand(tmp_path) as hand:
            assert hand.store.fingerprints.known([TEA]) == {TEA: NOON}

    def test_versions_are_told_anew_and_the_journal_still_verifies(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            gone = hand.kept("the tea is green")
            turns = [render_passage(1, "It rains. The tea is green."), render_passage(2, "The dog sleeps.")]
            first = hand.kept(turns[0], kind="narrative", segment_id="s-1", session_id="s")
            grown = hand.put(first.with_(content="\n\n".join(turns))).atoms[0]
            clean = [text.replace("The tea is green.", "[erased]") for text in (turns[0], "\n\n".join(turns))]
            erased(hand, gone, retold=(grown, clean))
            told = [version.atom.content for version in hand.store.versions(first.id)]
            assert told == [*clean, clean[1]]
            assert hand.head(first).content == clean[1]
            assert hand.found("tea") == []
            assert hand.found("dog") == [first.id]
            assert hand.store.check() == []

    def test_reasons_that_quote_it_go_and_others_stay(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            gone = hand.atom("the tea is green")
            hand.put(gone, reason="a secret")
            hand.put(hand.atom("the dog sleeps"), reason="because")
            erased(hand, hand.head(gone))
            assert [each.reason for each in hand.store.journal([LOCAL])] == ["", "because", "private"]

    def test_an_erasure_is_unfinished_until_files_are_struck_and_space_is_scrubbed(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            gone = hand.kept("the tea is green")
            path = hand.store.ledger.paths_of([gone.id])[gone.id]
            begun = erased(hand, gone)
            assert (begun.gone, begun.touched, begun.paths, begun.sought) == ((gone.id,), (), (path,), "sought")
        with self.hand(tmp_path) as hand:
            assert hand.store.erasures.unfinished() == [begun]
            hand.store.erasures.scrub()
            assert hand.store.erasures.unfinished() == [begun]
            hand.store.erasures.struck(begun, lambda data: True)
            (left,) = hand.store.erasures.unfinished()
            assert (left.sought, left.paths) == ("", ())
            hand.store.erasures.scrub()
            assert hand.store.erasures.unfinished() == []

    def test_files_of_what_is_gone_are_forgotten(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            gone = hand.kept("the tea is green")
            hand.publish()
            erased(hand, gone)
            assert hand.store.ledger.lines() == []
            assert hand.store.ledger.pending(10) == []

    def test_words_are_found_in_every_version_of_the_scopes_asked_for(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            first = hand.kept("the tea is green")
            hand.put(first.with_(content="the pot is red"))
            hand.kept("Tea!", scope=OTHER)
            tagged = hand.kept("the dog sleeps", tags=("Tea",))
            assert hand.store.erasures.mentioning({"tea"}, [LOCAL]) == [first.id, tagged.id]
            assert hand.store.erasures.mentioning({"gin"}, [LOCAL, OTHER]) == []

    def test_a_request_whose_words_are_all_gone_is_not_answered_with_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            gone, kept = hand.atom("the tea is green"), hand.atom("the dog sleeps")
            hand.put(gone, kept, key="both")
            erased(hand, hand.head(gone))
            assert hand.put(hand.atom("x"), key="both").atoms == (hand.head(kept),)
            erased(hand, hand.head(kept))
            raises(Erased, lambda: hand.put(hand.atom("x"), key="both"))
