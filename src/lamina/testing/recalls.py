"""Contract of recalls: which atoms the last recalls returned."""

from __future__ import annotations

from pathlib import Path

from lamina.errors import NotFound
from lamina.testing.store_harness import ANN, DAY, LOCAL, NOON, Contract, raises


class RecallContract(Contract):
    """What is stored so that feedback can be given later."""

    def test_a_recall_is_known_after_reopening_in_its_scope_only(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            one, other = harness.add("one"), harness.add("other")
            harness.store.recalls.save("r1", [other.id, one.id, other.id], NOON, LOCAL)
            harness.store.recalls.save("r2", [], NOON, LOCAL)
        with self.open_harness(tmp_path) as harness:
            recalls = harness.store.recalls
            assert recalls.hits("r1", LOCAL) == [other.id, one.id]
            assert recalls.hits("r2", LOCAL) == []
            assert recalls.hits("r1", ANN) is recalls.hits("r3", LOCAL) is None

    def test_a_recall_is_answered_once_by_its_own_scope(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            one.store.recalls.save("r1", [one.add().id], NOON, LOCAL)
            raises(NotFound, lambda: other.store.recalls.mark_answered("r1", ANN))
            raises(NotFound, lambda: other.store.recalls.mark_answered("r2", LOCAL))
            assert other.store.recalls.mark_answered("r1", LOCAL)
            assert not one.store.recalls.mark_answered("r1", LOCAL)

    def test_recent_recalls_of_a_scope_list_what_they_returned(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            assert harness.store.recalls.recent(LOCAL, 5) == []
            a, b, c = (harness.add(word).id for word in ("one", "two", "three"))
            for name, ids, scope in (
                ("r1", [a], LOCAL),
                ("r2", [b, c], LOCAL),
                ("r3", [c, b], LOCAL),
                ("r4", [a], ANN),
            ):
                harness.store.recalls.save(name, ids, NOON, scope)
            assert harness.store.recalls.recent(LOCAL, 2) == [c, b]
            assert harness.store.recalls.recent(LOCAL, 9) == [c, b, a]
            assert harness.store.recalls.recent(ANN, 9) == [a]

    def test_old_recalls_are_pruned(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            recalls, atom = harness.store.recalls, harness.add()
            assert recalls.prune(NOON) == 0
            for days, scope in ((2, LOCAL), (1, ANN), (0, LOCAL)):
                recalls.save(f"r{days}", [atom.id], NOON - days * DAY, scope)
            assert [recalls.prune(NOON - DAY), recalls.prune(NOON - DAY)] == [1, 0]
            assert recalls.hits("r2", LOCAL) is None
            assert recalls.hits("r1", ANN) == recalls.hits("r0", LOCAL) == [atom.id]

    def test_recalls_are_not_in_the_journal_and_survive_a_rebuild(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            atom = harness.add()
            harness.store.recalls.save("r1", [atom.id], NOON, LOCAL)
            harness.store.rebuild_index()
            assert harness.store.position() == 1
            assert harness.store.recalls.hits("r1", LOCAL) == [atom.id]
