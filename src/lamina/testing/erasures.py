"""Contract of erasure: text that is removed for good, and the fingerprints that recognise it when it returns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from lamina.atom.atom import Atom
from lamina.atom.passage import render_passage
from lamina.atom.provenance import Origin, organisation_name
from lamina.errors import Erased, Refused
from lamina.store.erasure import CommitReason, Erasure, FingerprintKind, FingerprintText, PendingErasure
from lamina.testing.capabilities import Capability, needs
from lamina.testing.store_harness import ANN, DAY, LOCAL, OTHER, Contract, StoreHarness, raises
from lamina.text.normal_form import normal_form

TEA_FINGERPRINT = FingerprintText("local", FingerprintKind.SENTENCE, "the tea is green")


def erase_atoms(
    harness: StoreHarness,
    *atoms: Atom,
    rewritten: tuple[Atom, list[str]] | None = None,
    fingerprints: Mapping[FingerprintText, float] | None = None,
    reasons: Collection[int] = (),
) -> PendingErasure:
    """Erase atoms, and rewrite the contents of all versions of another."""
    versions = {
        atom.id: [
            version.atom.with_(content=content)
            for version, content in zip(harness.journal.versions(atom.id), contents, strict=True)
        ]
        for atom, contents in ([rewritten] if rewritten else [])
    }
    return harness.erasures.apply(
        Erasure(
            actor="ann",
            reason="private",
            scope=LOCAL,
            erased_ids=tuple(atom.id for atom in atoms),
            rewritten=versions,
            reasons=frozenset(reasons),
            fingerprints=fingerprints or {},
            search_json="sought",
            stub_fingerprints={
                atom.id: FingerprintText(
                    organisation_name(atom.scope), FingerprintKind.STATEMENT, normal_form(atom.content)
                )
                for atom in atoms
            },
        )
    )


class ErasureContract(Contract):
    """Tests of what an erasure removes, what stays, and what is known of it afterwards."""

    def test_an_unused_store_has_no_erasures(self, harness: StoreHarness) -> None:
        assert not harness.erasures.has_fingerprints()
        assert harness.erasures.find_erased([TEA_FINGERPRINT], 0.0) == {}
        assert harness.erasures.list_stubs([LOCAL]) == []
        assert harness.erasures.list_pending() == []

    def test_an_erased_atom_leaves_a_stub_without_text(self, harness: StoreHarness) -> None:
        gone, kept = harness.add("the tea is green"), harness.add("the dog sleeps")
        erase_atoms(harness, gone)
        assert harness.read() == [kept]
        assert harness.find_ids("tea dog") == [kept.id]
        (stub,) = harness.erasures.list_stubs([LOCAL])
        assert (stub.atom_id, stub.scope, stub.at) == (gone.id, LOCAL, harness.journal.last_commit_at())
        assert (stub.actor, stub.reason) == ("ann", "private")
        assert harness.erasures.list_stubs([LOCAL], gone.id[-8:]) == [stub]
        assert harness.erasures.list_stubs([LOCAL], kept.id[-8:]) == []
        assert harness.erasures.list_stubs([OTHER, ANN], gone.id) == []
        assert "tea" not in repr(harness.journal.read([LOCAL]))
        assert harness.store.admin.check() == []

    def test_an_erased_atom_has_no_versions_and_cannot_be_written_again(self, harness: StoreHarness) -> None:
        gone = harness.add("the tea is green")
        erase_atoms(harness, gone)
        raises(Erased, harness.journal.versions, gone.id)
        raises(Refused, harness.commit, gone.with_(revision=0))

    def test_a_fingerprint_is_recognised_with_its_time_and_only_in_its_organisation(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            erase_atoms(harness, harness.add("the tea is green"), fingerprints={TEA_FINGERPRINT: 0.7})
            others = [
                FingerprintText("other", TEA_FINGERPRINT.kind, TEA_FINGERPRINT.form),
                FingerprintText("local", FingerprintKind.CLAIM, TEA_FINGERPRINT.form),
                FingerprintText("local", TEA_FINGERPRINT.kind, "the tea is red"),
            ]
            erased_at = harness.journal.last_commit_at()
            assert harness.erasures.find_erased([TEA_FINGERPRINT, *others], 0.7) == {TEA_FINGERPRINT: erased_at}
            assert harness.erasures.has_fingerprints()
        with self.open_harness(tmp_path) as harness:
            assert harness.erasures.find_erased([TEA_FINGERPRINT], 0.3) == {TEA_FINGERPRINT: erased_at}

    def test_words_that_are_trusted_more_than_the_erased_ones_are_not_recognised(self, harness: StoreHarness) -> None:
        erase_atoms(harness, harness.add("the tea is green"), fingerprints={TEA_FINGERPRINT: 1.0})
        first = harness.journal.last_commit_at()
        harness.clock.at += DAY
        erase_atoms(harness, harness.add("the tea is green"), fingerprints={TEA_FINGERPRINT: 0.3})
        second = harness.journal.last_commit_at()
        erased = [harness.erasures.find_erased([TEA_FINGERPRINT], trust) for trust in (0.3, 0.5, 1.0)]
        assert [times[TEA_FINGERPRINT] for times in erased] == [second, first, first]

    def test_versions_are_rewritten_and_the_journal_still_verifies(self, harness: StoreHarness) -> None:
        gone = harness.add("the tea is green")
        turns = [render_passage(1, "It rains. The tea is green."), render_passage(2, "The dog sleeps.")]
        first = harness.add(turns[0], kind="narrative", segment_id="s-1", session_id="s")
        grown = harness.commit(first.with_(content="\n\n".join(turns))).atoms[0]
        clean = [text.replace("The tea is green.", "[erased]") for text in (turns[0], "\n\n".join(turns))]
        erase_atoms(harness, gone, rewritten=(grown, clean))
        contents = [version.atom.content for version in harness.journal.versions(first.id)]
        assert contents == [*clean, clean[1]]
        assert harness.current(first).content == clean[1]
        assert harness.find_ids("tea") == []
        assert harness.find_ids("dog") == [first.id]
        assert harness.store.admin.check() == []

    def test_reasons_are_found_by_a_word_and_those_named_are_removed(self, harness: StoreHarness) -> None:
        gone = harness.new_atom("the tea is green")
        first = harness.commit(gone, reason="A Secret!")
        harness.commit(harness.new_atom("the dog sleeps"), reason="because")
        mentions = harness.erasures.find_mentions({"secret"}, [LOCAL])
        assert mentions.reasons == (CommitReason(first.seq, Origin.HUMAN, "A Secret!"),)
        assert harness.erasures.find_mentions({"secret"}, [OTHER]).reasons == ()
        erase_atoms(harness, harness.current(gone), reasons=[first.seq])
        assert [entry.reason for entry in harness.journal.read([LOCAL])] == ["", "because", "private"]
        assert harness.store.admin.check() == []

    @needs(Capability.FILES)
    @needs(Capability.SCRUB)
    def test_an_erasure_is_pending_until_files_are_cleaned_and_space_is_scrubbed(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            gone = harness.add("the tea is green")
            harness.store.projection.catch_up()
            path = harness.store.projection.paths_of([gone.id])[gone.id]
            begun = erase_atoms(harness, gone)
            assert (begun.erased_ids, begun.rewritten_ids) == ((gone.id,), ())
            assert (begun.paths, begun.search_json) == ((path,), "sought")
        with self.open_harness(tmp_path) as harness:
            assert harness.erasures.list_pending() == [begun]
            harness.erasures.finish([])
            assert harness.erasures.list_pending() == [begun]
            harness.erasures.finish([begun.seq], ["no such copy"])
            assert harness.erasures.list_pending() == []

    @needs(Capability.FILES)
    def test_files_of_erased_atoms_are_removed_from_the_ledger(self, harness: StoreHarness) -> None:
        gone = harness.add("the tea is green")
        harness.mark_files_written()
        erase_atoms(harness, gone)
        assert harness.store.projection.list_files().entries == []
        assert harness.pending_files(10) == []

    def test_words_are_found_in_every_version_within_the_given_scopes(self, harness: StoreHarness) -> None:
        first = harness.add("the tea is green")
        harness.commit(first.with_(content="the pot is red"))
        harness.add("Tea!", scope=OTHER)
        tagged = harness.add("the dog sleeps", tags=("Tea",))
        assert harness.erasures.find_mentions({"tea"}, [LOCAL]).atom_ids == (first.id, tagged.id)
        assert harness.erasures.find_mentions({"gin"}, [LOCAL, OTHER]).atom_ids == ()

    def test_a_repeated_commit_does_not_return_erased_atoms(self, harness: StoreHarness) -> None:
        gone, kept = harness.new_atom("the tea is green"), harness.new_atom("the dog sleeps")
        harness.commit(gone, kept, key="both")
        erase_atoms(harness, harness.current(gone))
        assert harness.commit(harness.new_atom("x"), key="both").atoms == (harness.current(kept),)
        erase_atoms(harness, harness.current(kept))
        raises(Erased, harness.commit, harness.new_atom("x"), key="both")
