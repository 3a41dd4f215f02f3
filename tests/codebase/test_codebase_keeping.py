from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lamina.atom.atom import Atom
from lamina.atom.identity import IdSource
from lamina.atom.kinds import Layer
from lamina.atom.status import Status
from lamina.atom.trust import Origin
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
def hand(tmp_path: Path) -> Iterator[StoreHarness]:
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


def _capture(hand: StoreHarness, root: Path, writer: Writer = PERSON, name: str | None = None) -> Receipt:
    known = summarize_codebase(root, name)
    return capture_codebase(known, writer, hand.store, IdSource(os.urandom), hand.clock.now(), agents=("ann",))


def _by_path(hand: StoreHarness) -> dict[str, Atom]:
    return {
        each.metadata["path"]: each for each in hand.store.read(AtomFilter(scopes=(LOCAL,), kinds=frozenset({"code"})))
    }


def test_a_codebase_becomes_one_commit_of_code_atoms(hand: StoreHarness, shop: Path) -> None:
    receipt = _capture(hand, shop)
    assert hand.store.position() == 1 and receipt.commit is not None
    atom = _by_path(hand)["src/orders.py"]
    assert (atom.kind, atom.layer, atom.subject, atom.origin) == ("code", Layer.CODEBASE, "src/orders.py", Origin.HUMAN)
    assert (atom.status, atom.agents, atom.metadata["codebase"]) == (Status.ACTIVE, ("ann",), "shop")
    assert len(atom.metadata["sha256"]) == 64 and "def place(order: str) -> int: Place it." in atom.content
    assert set(_by_path(hand)) == {".", "src", "src/orders.py", "src/prices.py"}
    assert dict(receipt.stages) == {"files": "2 files in 2 folders", "atoms": "4 new"}


def test_code_is_found_by_its_names(hand: StoreHarness, shop: Path) -> None:
    _capture(hand, shop)
    assert hand.find_ids("place order")[0] == _by_path(hand)["src/orders.py"].id


def test_what_has_not_changed_changes_nothing(hand: StoreHarness, shop: Path) -> None:
    _capture(hand, shop)
    before, position = _by_path(hand), hand.store.position()
    hand.clock.at = NOON.replace(day=20)
    receipt = _capture(hand, shop)
    assert receipt.commit is None and hand.store.position() == position
    assert receipt.atom.metadata["path"] == "." and receipt.outcomes[0].result is Result.DUPLICATE
    assert _by_path(hand) == before


def test_a_changed_file_gets_a_new_version_and_the_others_stay(hand: StoreHarness, shop: Path) -> None:
    _capture(hand, shop)
    before = _by_path(hand)
    (shop / "src" / "orders.py").write_text("def cancel(): ...\n")
    receipt = _capture(hand, shop)
    (outcome,) = receipt.outcomes
    assert outcome.result is Result.REVISED and outcome.atom.id == before["src/orders.py"].id
    assert "cancel" in outcome.atom.content and "place" not in outcome.atom.content
    assert [version.atom.content for version in hand.store.versions(outcome.atom.id)] == [
        before["src/orders.py"].content,
        outcome.atom.content,
    ]
    assert _by_path(hand)["src"] == before["src"]


def test_a_vanished_file_is_archived_and_comes_back_with_its_file(hand: StoreHarness, shop: Path) -> None:
    _capture(hand, shop)
    text = (shop / "src" / "prices.py").read_text()
    (shop / "src" / "prices.py").unlink()
    assert dict(_capture(hand, shop).stages)["atoms"] == "1 changed, 1 archived"
    gone = _by_path(hand)["src/prices.py"]
    assert gone.status is Status.ARCHIVED
    assert _capture(hand, shop).commit is None
    (shop / "src" / "prices.py").write_text(text)
    _capture(hand, shop)
    assert _by_path(hand)["src/prices.py"] == gone.with_(status=Status.ACTIVE)


def test_a_file_beyond_the_bound_is_not_taken_for_vanished(hand: StoreHarness, shop: Path) -> None:
    _capture(hand, shop)
    known = summarize_codebase(shop, max_files=1)
    capture_codebase(known, PERSON, hand.store, IdSource(os.urandom), hand.clock.now())
    assert _by_path(hand)["src/prices.py"].status is Status.ACTIVE


def test_a_pinned_atom_is_not_archived(hand: StoreHarness, shop: Path) -> None:
    _capture(hand, shop)
    hand.commit(_by_path(hand)["src/prices.py"].with_(pinned=True))
    (shop / "src" / "prices.py").unlink()
    _capture(hand, shop)
    assert _by_path(hand)["src/prices.py"].status is Status.ACTIVE


def test_what_a_person_took_back_stays_away_and_what_was_undone_may_come_again(hand: StoreHarness, shop: Path) -> None:
    receipt = _capture(hand, shop)
    assert receipt.commit is not None
    hand.commit(_by_path(hand)["src/prices.py"].with_(status=Status.TOMBSTONED))
    (shop / "src" / "prices.py").write_text('"""Prices, other ones."""\n')
    _capture(hand, shop)
    assert _by_path(hand)["src/prices.py"].status is Status.TOMBSTONED

    other = _capture(hand, shop, name="other")
    assert other.commit is not None
    undo(hand.store, other.commit, (LOCAL,), "human", Origin.HUMAN)
    again = _capture(hand, shop, name="other")
    assert {outcome.result for outcome in again.outcomes} == {Result.NEW}


def test_two_codebases_live_side_by_side_and_one_name_is_one_codebase(
    hand: StoreHarness, shop: Path, tmp_path: Path
) -> None:
    _capture(hand, shop)
    other = tmp_path / "elsewhere" / "shop"
    other.mkdir(parents=True)
    (other / "main.go").write_text("package main\n\nfunc main() {\n}\n")
    with pytest.raises(InvalidInput, match="choose a different name"):
        _capture(hand, other)
    _capture(hand, other, name="shop-go")
    assert _by_path(hand)["src/orders.py"].status is Status.ACTIVE
    assert _by_path(hand)["main.go"].metadata["codebase"] == "shop-go"


def test_an_agent_writes_in_its_own_name_and_leaves_a_persons_alone(hand: StoreHarness, shop: Path) -> None:
    _capture(hand, shop)
    before = _by_path(hand)
    (shop / "src" / "orders.py").write_text("def cancel(): ...\n")
    (shop / "src" / "extra.py").write_text("def extra(): ...\n")
    receipt = _capture(hand, shop, AGENT)
    assert {outcome.atom.metadata["path"] for outcome in receipt.outcomes} == {"src/extra.py"}
    assert _by_path(hand)["src/extra.py"].origin is Origin.AGENT
    assert _by_path(hand)["src/orders.py"] == before["src/orders.py"]
    assert "2 unchanged: written by a more trusted origin" in dict(receipt.stages)["atoms"]


def test_what_a_tool_brings_waits_for_a_person(hand: StoreHarness, shop: Path) -> None:
    receipt = _capture(hand, shop, TOOL)
    assert {outcome.result for outcome in receipt.outcomes} == {Result.HELD}
    assert {atom.status for atom in _by_path(hand).values()} == {Status.CONSTRAINED}
    (shop / "src" / "orders.py").write_text("def cancel(): ...\n")
    _capture(hand, shop, TOOL)
    assert _by_path(hand)["src/orders.py"].status is Status.CONSTRAINED


def test_secrets_in_code_are_taken_out(hand: StoreHarness, shop: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (shop / "src" / "orders.py").write_text(f'def place(token: str = "{secret}"): ...\n')
    receipt = _capture(hand, shop)
    assert receipt.redacted
    assert secret not in _by_path(hand)["src/orders.py"].content
    assert "[redacted" in _by_path(hand)["src/orders.py"].content


def test_another_reader_reads_a_file_anew_though_it_has_not_changed(hand: StoreHarness, shop: Path) -> None:
    known = summarize_codebase(shop)
    lesser = replace(known, entries=tuple(replace(entry, parser_id="lines-0") for entry in known.entries))
    capture_codebase(lesser, PERSON, hand.store, IdSource(os.urandom), hand.clock.now())
    assert len(_capture(hand, shop).outcomes) == len(known.entries)


def test_words_that_hide_something_are_marked(hand: StoreHarness, shop: Path) -> None:
    (shop / "src" / "orders.py").write_text('"""Orders\u200b\u200b\u202e of a shop."""\n')
    _capture(hand, shop)
    assert _by_path(hand)["src/orders.py"].tags
