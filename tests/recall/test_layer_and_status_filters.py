"""`layer` and `status` select the atoms of list, recall and export, now and at another time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lamina
from command_result import Cli
from lamina import Atom, FixedClock, InvalidInput, Memory
from lamina.atom.kinds import Layer
from lamina.atom.status import Status

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        opened_memory.capture(
            [{"speaker": "Ann", "content": "Was the deploy late again?"}], session_id="call", wait=True
        )
        opened_memory.remember("The deploy runs at noon.", subject="deploy", attribute="time", value="noon")
        opened_memory.remember("Test, then deploy.", metadata={"workflow": "deploy"})
        opened_memory.remember("Ann prefers to deploy on Mondays.", kind="preference", subject="Ann")
        opened_memory.propose("The deploy needs two people.")
        clock.at += DAY
        opened_memory.remember("The deploy runs at one.", subject="deploy", attribute="time", value="one")
        clock.at += DAY
        yield opened_memory


def recalled(memory: Memory, **filters: Any) -> list[Atom]:
    return [hit.atom for hit in memory.recall("when does the deploy run?", 20, **filters).hits]


@pytest.mark.parametrize("ranking", ["full", "plain"])
@pytest.mark.parametrize(
    ("layers", "count"),
    [("semantic", 1), ("procedural", 1), ("profile", 1), (["profile", "procedural"], 2), ("codebase", 0)],
)
def test_recall_searches_only_the_layers(memory: Memory, layers: Any, ranking: str, count: int) -> None:
    atoms = recalled(memory, layer=layers, ranking=ranking)
    assert len(atoms) == count
    assert {atom.layer.value for atom in atoms} <= ({layers} if isinstance(layers, str) else {*layers})
    assert {atom.id for atom in atoms} == {atom.id for atom in memory.list(layer=layers)}


@pytest.mark.parametrize("ranking", ["full", "plain"])
@pytest.mark.parametrize(
    ("statuses", "contents"),
    [
        ("constrained", {"The deploy needs two people."}),
        ("superseded", {"The deploy runs at noon."}),
        (["superseded", "constrained"], {"The deploy needs two people.", "The deploy runs at noon."}),
        ("tombstoned", set()),
    ],
)
def test_recall_searches_only_the_statuses(memory: Memory, statuses: Any, ranking: str, contents: set[str]) -> None:
    assert {atom.content for atom in recalled(memory, status=statuses, ranking=ranking)} == contents
    assert {atom.content for atom in memory.list(status=statuses)} == contents


def test_current_statements_come_before_ended_ones_in_the_plain_ranking(memory: Memory) -> None:
    first, *others = recalled(memory, ranking="plain", status=["active", "superseded"], layer="semantic")
    assert (first.content, [atom.status for atom in others]) == ("The deploy runs at one.", [Status.SUPERSEDED])
    history = recalled(memory, ranking="plain", include="history", layer=Layer.SEMANTIC)
    assert [atom.id for atom in history] == [first.id, *(atom.id for atom in others)]


@pytest.mark.parametrize("ranking", ["full", "plain"])
def test_the_filters_hold_at_another_time(memory: Memory, ranking: str) -> None:
    then = {"as_of": NOON + DAY / 2, "ranking": ranking, "layer": "semantic"}
    assert [atom.content for atom in recalled(memory, status="active", **then)] == ["The deploy runs at noon."]
    for status in ("superseded", "constrained", ["active", "superseded"]):
        listed = memory.list(status=status, layer="semantic", as_of=NOON + DAY / 2)
        assert {atom.id for atom in recalled(memory, status=status, **then)} == {atom.id for atom in listed}
    known = {"known_at": NOON + DAY / 2, "ranking": ranking}
    assert {atom.layer for atom in recalled(memory, layer="profile", **known)} == {Layer.PROFILE}
    assert {atom.content for atom in memory.list(layer="semantic", status="active", as_of=NOON + DAY / 2)} == {
        "The deploy runs at noon."
    }


def test_unknown_values_are_refused_with_the_choices(memory: Memory) -> None:
    for verb in (memory.list, memory.export, lambda **filters: memory.recall("deploy", **filters)):
        with pytest.raises(InvalidInput, match="'deep' is not one of working, episodic"):
            verb(layer="deep")
        with pytest.raises(InvalidInput, match="'done' is not one of active"):
            verb(status=["active", "done"])
    with pytest.raises(InvalidInput, match="give either include"):
        memory.recall("deploy", include="history", status="active")


def test_an_export_has_only_the_atoms_of_the_filter(memory: Memory, tmp_path: Path) -> None:
    path = memory.export(tmp_path / "some.json", layer=["profile", "procedural"], status="active")
    document = json.loads(path.read_text())
    assert document["filters"] == {"layer": ["procedural", "profile"], "status": ["active"]}
    assert sorted(record["kind"] for record in document["atoms"]) == ["preference", "procedure"]
    whole = json.loads(memory.export(tmp_path / "all.json").read_text())
    assert whole["filters"] == {"layer": [], "status": []}
    assert len(whole["atoms"]) == len(memory.list(status=None, limit=None))


def test_the_command_line_filters_list_recall_and_export(cli: Cli, tmp_path: Path) -> None:
    for words in (("Test, then deploy.", "--metadata", "workflow=deploy"), ("Deploys are on Mondays.",)):
        assert cli("remember", *words).code == 0
    cli("profile", "propose", "deploy day", "Monday", "--reason", "asked twice")

    def contents(*words: str) -> list[str]:
        result = cli(*words, "--json").data
        return (
            [atom["content"] for atom in result["atoms"]]
            if "atoms" in result
            else [hit["text"] for hit in result["hits"]]
        )

    assert contents("list", "--layer", "procedural") == ["Test, then deploy."]
    assert contents("list", "--status", "constrained", "--layer", "profile") == ["Profile, deploy day: Monday"]
    assert len(contents("list", "--status", "constrained", "--status", "active", "--layer", "profile")) == 1
    assert len(contents("list", "--all")) == 3
    assert contents("recall", "deploy", "--layer", "procedural") == ["Test, then deploy."]
    assert contents("recall", "deploy day", "--status", "constrained") == ["Profile, deploy day: Monday"]
    dry = cli("export", "--dry-run", "--layer", "profile", "--json").data
    assert dry["atoms"] == 1
    cli("export", str(tmp_path / "profile.json"), "--layer", "profile", "--status", "constrained")
    assert len(json.loads((tmp_path / "profile.json").read_text())["atoms"]) == 1
