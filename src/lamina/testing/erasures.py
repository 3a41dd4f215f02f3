"""Contract of erasure: text that is removed for good, and the fingerprints that recognise it when it returns."""

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
    """Erase atoms, and rewrite the contents of all versions of another."""
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
    """What is removed, what stays, and what is known of it afterwards."""

    def test_where_nothing_was_erased_nothing_is_known(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            assert not harness.store.fingerprints.any()
            assert harness.store.fingerprints.known([TEA]) == {}
            assert harness.store.fingerprints.stubs([LOCAL]) == []
            assert harness.store.erasures.unfinished() == []

    def test_an_erased_atom_leaves_a_stub_and_no_word(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            gone, kept = harness.kept("the tea is green"), harness.kept("the dog sleeps")
            erased(harness, gone)
            assert harness.read() == [kept]
            assert harness.found("tea dog") == [kept.id]
            (stub,) = harness.store.fingerprints.stubs([LOCAL])
            assert (stub.atom_id, stub.scope, stub.at, stub.actor, stub.reason) == (
                gone.id,
                LOCAL,
                NOON,
                "ann",
                "private",
            )
            assert harness.store.fingerprints.stub(gone.id[-8:], [LOCAL]) == stub
            assert harness.store.fingerprints.stub(gone.id, [OTHER, ANN]) is None
            assert "tea" not in repr(harness.store.journal([LOCAL]))
            assert harness.store.check() == []

    def test_what_was_erased_has_no_versions_and_is_never_made_again(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            gone = harness.kept("the tea is green")
            erased(harness, gone)
            raises(Erased, lambda: harness.store.versions(gone.id))
            raises(Refused, lambda: harness.put(gone.with_(revision=0)))

    def test_a_mark_is_known_again_with_its_time_and_only_in_its_organisation(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            erased(harness, harness.kept("the tea is green"), marks=(TEA,))
            others = [
                Mark("other", TEA.kind, TEA.form),
                Mark("local", MarkKind.CLAIM, TEA.form),
                Mark("local", TEA.kind, "the tea is red"),
            ]
            assert harness.store.fingerprints.known([TEA, *others]) == {TEA: NOON}
            assert harness.store.fingerprints.any()
        with self.hand(tmp_path) as harness:
            assert harness.store.fingerprints.known([TEA]) == {TEA: NOON}

    def test_versions_are_told_anew_and_the_journal_still_verifies(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            gone = harness.kept("the tea is green")
            turns = [render_passage(1, "It rains. The tea is green."), render_passage(2, "The dog sleeps.")]
            first = harness.kept(turns[0], kind="narrative", segment_id="s-1", session_id="s")
            grown = harness.put(first.with_(content="\n\n".join(turns))).atoms[0]
            clean = [text.replace("The tea is green.", "[erased]") for text in (turns[0], "\n\n".join(turns))]
            erased(harness, gone, retold=(grown, clean))
            contents = [version.atom.content for version in harness.store.versions(first.id)]
            assert contents == [*clean, clean[1]]
            assert harness.head(first).content == clean[1]
            assert harness.found("tea") == []
            assert harness.found("dog") == [first.id]
            assert harness.store.check() == []

    def test_reasons_that_quote_it_go_and_others_stay(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            gone = harness.atom("the tea is green")
            harness.put(gone, reason="a secret")
            harness.put(harness.atom("the dog sleeps"), reason="because")
            erased(harness, harness.head(gone))
            assert [each.reason for each in harness.store.journal([LOCAL])] == ["", "because", "private"]

    def test_an_erasure_is_unfinished_until_files_are_struck_and_space_is_scrubbed(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            gone = harness.kept("the tea is green")
            path = harness.store.ledger.paths_of([gone.id])[gone.id]
            begun = erased(harness, gone)
            assert (begun.gone, begun.touched, begun.paths, begun.sought) == ((gone.id,), (), (path,), "sought")
        with self.hand(tmp_path) as harness:
            assert harness.store.erasures.unfinished() == [begun]
            harness.store.erasures.scrub()
            assert harness.store.erasures.unfinished() == [begun]
            harness.store.erasures.struck(begun, lambda data: True)
            (left,) = harness.store.erasures.unfinished()
            assert (left.sought, left.paths) == ("", ())
            harness.store.erasures.scrub()
            assert harness.store.erasures.unfinished() == []

    def test_files_of_what_is_gone_are_forgotten(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            gone = harness.kept("the tea is green")
            harness.publish()
            erased(harness, gone)
            assert harness.store.ledger.lines() == []
            assert harness.store.ledger.pending(10) == []

    def test_words_are_found_in_every_version_of_the_scopes_asked_for(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            first = harness.kept("the tea is green")
            harness.put(first.with_(content="the pot is red"))
            harness.kept("Tea!", scope=OTHER)
            tagged = harness.kept("the dog sleeps", tags=("Tea",))
            assert harness.store.erasures.mentioning({"tea"}, [LOCAL]) == [first.id, tagged.id]
            assert harness.store.erasures.mentioning({"gin"}, [LOCAL, OTHER]) == []

    def test_a_request_whose_words_are_all_gone_is_not_answered_with_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            gone, kept = harness.atom("the tea is green"), harness.atom("the dog sleeps")
            harness.put(gone, kept, key="both")
            erased(harness, harness.head(gone))
            assert harness.put(harness.atom("x"), key="both").atoms == (harness.head(kept),)
            erased(harness, harness.head(kept))
            raises(Erased, lambda: harness.put(harness.atom("x"), key="both"))
