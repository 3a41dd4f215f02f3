from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lamina.atom.atom import Atom, IdSource
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.capture.receipt import Receipt, Result
from lamina.capture.statement_commit import Writer
from lamina.clock import FixedClock
from lamina.codebase import capture_codebase, summarize_codebase
from lamina.errors import InvalidInput
from lamina.review.undo import undo
from lamina.store.base import AtomFilter
from lamina.store.sqlite import SqliteStore
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness

PERSON = Writer("human", Origin.HUMAN, None, LOCAL)
AGENT = Writer("bot", Origin.AGENT, None, LOCAL, delivered_by=Origin.AGENT)
TOOL = Writer("tool", Origin.TOOL, None, LOCAL, delivered_by=Origin.AGENT)


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    (tmp_path / "state").mkdir()
    store = SqliteStore(tmp_path / "state", clock)
    yield StoreHarness(store, clock)
    store.close()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src" / "orders.py").write_text('"""Orders."""\n\ndef place(order: str) -> int:\n    """Place it."""\n')
    (root / "src" / "prices.py").write_text('"""Prices."""\n')
    return root


def _capture(harness: StoreHarness, root: Path, writer: Writer = PERSON, name: str | None = None) -> Receipt:
    summary = summarize_codebase(root, name)
    return capture_codebase(summary, writer, harness.store, IdSource(os.urandom), harness.clock.now(), agents=("ann",))


def _by_path(harness: StoreHarness) -> dict[str, Atom]:
    return {
        atom.metadata_text("path"): atom
        for atom in harness.store.atoms.read(AtomFilter(scopes=(LOCAL,), kinds=frozenset({"code"})))
    }


def test_a_codebase_becomes_one_commit_of_code_atoms(harness: StoreHarness, shop: Path) -> None:
    receipt = _capture(harness, shop)
    assert harness.store.journal.position() == 1 and receipt.commit is not None
    atom = _by_path(harness)["src/orders.py"]
    assert (atom.kind, atom.layer, atom.subject, atom.origin) == ("code", Layer.CODEBASE, "src/orders.py", Origin.HUMAN)
    assert (atom.status, atom.agents, atom.metadata["codebase"]) == (Status.ACTIVE, ("ann",), "shop")
    assert len(atom.metadata_text("sha256")) == 64 and "def place(order: str) -> int: Place it." in atom.content
    assert set(_by_path(harness)) == {".", "src", "src/orders.py", "src/prices.py"}
    assert dict(receipt.stages) == {"files": "2 files in 2 folders", "atoms": "4 new"}


def test_code_is_recalled_by_its_names(harness: StoreHarness, shop: Path) -> None:
    _capture(harness, shop)
    assert harness.find_ids("place order")[0] == _by_path(harness)["src/orders.py"].id


def test_unchanged_files_change_nothing(harness: StoreHarness, shop: Path) -> None:
    _capture(harness, shop)
    before, position = _by_path(harness), harness.store.journal.position()
    harness.clock.at = NOON.replace(day=20)
    receipt = _capture(harness, shop)
    assert receipt.commit is None and harness.store.journal.position() == position
    assert receipt.atom.metadata["path"] == "." and receipt.outcomes[0].result is Result.DUPLICATE
    assert _by_path(harness) == before


def test_a_changed_file_gets_a_new_version_and_the_others_stay(harness: StoreHarness, shop: Path) -> None:
    _capture(harness, shop)
    before = _by_path(harness)
    (shop / "src" / "orders.py").write_text("def cancel(): ...\n")
    receipt = _capture(harness, shop)
    (outcome,) = receipt.outcomes
    assert outcome.result is Result.REVISED and outcome.atom.id == before["src/orders.py"].id
    assert "cancel" in outcome.atom.content and "place" not in outcome.atom.content
    assert [version.atom.content for version in harness.store.journal.versions(outcome.atom.id)] == [
        before["src/orders.py"].content,
        outcome.atom.content,
    ]
    assert _by_path(harness)["src"] == before["src"]


def test_a_missing_file_is_archived_and_restored_with_its_file(harness: StoreHarness, shop: Path) -> None:
    _capture(harness, shop)
    text = (shop / "src" / "prices.py").read_text()
    (shop / "src" / "prices.py").unlink()
    assert dict(_capture(harness, shop).stages)["atoms"] == "1 changed, 1 archived"
    removed = _by_path(harness)["src/prices.py"]
    assert removed.status is Status.ARCHIVED
    assert _capture(harness, shop).commit is None
    (shop / "src" / "prices.py").write_text(text)
    _capture(harness, shop)
    assert _by_path(harness)["src/prices.py"] == removed.with_(status=Status.ACTIVE)


def test_a_file_beyond_the_limit_does_not_count_as_missing(harness: StoreHarness, shop: Path) -> None:
    _capture(harness, shop)
    summary = summarize_codebase(shop, max_files=1)
    capture_codebase(summary, PERSON, harness.store, IdSource(os.urandom), harness.clock.now())
    assert _by_path(harness)["src/prices.py"].status is Status.ACTIVE


def test_a_pinned_atom_is_not_archived(harness: StoreHarness, shop: Path) -> None:
    _capture(harness, shop)
    harness.commit(_by_path(harness)["src/prices.py"].with_(pinned=True))
    (shop / "src" / "prices.py").unlink()
    _capture(harness, shop)
    assert _by_path(harness)["src/prices.py"].status is Status.ACTIVE


def test_a_retracted_atom_stays_away_and_an_undone_one_may_return(harness: StoreHarness, shop: Path) -> None:
    receipt = _capture(harness, shop)
    assert receipt.commit is not None
    harness.commit(_by_path(harness)["src/prices.py"].with_(status=Status.TOMBSTONED))
    (shop / "src" / "prices.py").write_text('"""Prices, other ones."""\n')
    _capture(harness, shop)
    assert _by_path(harness)["src/prices.py"].status is Status.TOMBSTONED

    other = _capture(harness, shop, name="other")
    assert other.commit is not None
    undo(harness.store, other.commit, (LOCAL,), "human", Origin.HUMAN)
    again = _capture(harness, shop, name="other")
    assert {outcome.result for outcome in again.outcomes} == {Result.NEW}


def test_two_codebases_are_separate_and_one_name_is_one_codebase(
    harness: StoreHarness, shop: Path, tmp_path: Path
) -> None:
    _capture(harness, shop)
    other = tmp_path / "elsewhere" / "shop"
    other.mkdir(parents=True)
    (other / "main.go").write_text("package main\n\nfunc main() {\n}\n")
    with pytest.raises(InvalidInput, match="choose a different name"):
        _capture(harness, other)
    _capture(harness, other, name="shop-go")
    assert _by_path(harness)["src/orders.py"].status is Status.ACTIVE
    assert _by_path(harness)["main.go"].metadata["codebase"] == "shop-go"


def test_an_agent_writes_under_its_own_name_and_leaves_a_persons_atoms(harness: StoreHarness, shop: Path) -> None:
    _capture(harness, shop)
    before = _by_path(harness)
    (shop / "src" / "orders.py").write_text("def cancel(): ...\n")
    (shop / "src" / "extra.py").write_text("def extra(): ...\n")
    receipt = _capture(harness, shop, AGENT)
    assert {outcome.atom.metadata["path"] for outcome in receipt.outcomes} == {"src/extra.py"}
    assert _by_path(harness)["src/extra.py"].origin is Origin.AGENT
    assert _by_path(harness)["src/orders.py"] == before["src/orders.py"]
    assert "2 unchanged: written by a more trusted origin" in dict(receipt.stages)["atoms"]


def test_code_from_a_tool_is_pending_review(harness: StoreHarness, shop: Path) -> None:
    receipt = _capture(harness, shop, TOOL)
    assert {outcome.result for outcome in receipt.outcomes} == {Result.HELD}
    assert {atom.status for atom in _by_path(harness).values()} == {Status.CONSTRAINED}
    (shop / "src" / "orders.py").write_text("def cancel(): ...\n")
    _capture(harness, shop, TOOL)
    assert _by_path(harness)["src/orders.py"].status is Status.CONSTRAINED


def test_secrets_in_code_are_redacted(harness: StoreHarness, shop: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (shop / "src" / "orders.py").write_text(f'def place(token: str = "{secret}"): ...\n')
    receipt = _capture(harness, shop)
    assert receipt.redacted
    assert secret not in _by_path(harness)["src/orders.py"].content
    assert "[redacted" in _by_path(harness)["src/orders.py"].content


def test_another_parser_reads_an_unchanged_file_again(harness: StoreHarness, shop: Path) -> None:
    summary = summarize_codebase(shop)
    lesser = replace(summary, entries=tuple(replace(entry, parser_id="lines-0") for entry in summary.entries))
    capture_codebase(lesser, PERSON, harness.store, IdSource(os.urandom), harness.clock.now())
    assert len(_capture(harness, shop).outcomes) == len(summary.entries)


def test_text_with_hidden_characters_is_marked(harness: StoreHarness, shop: Path) -> None:
    (shop / "src" / "orders.py").write_text('"""Orders\u200b\u200b\u202e of a shop."""\n')
    _capture(harness, shop)
    assert _by_path(harness)["src/orders.py"].tags
