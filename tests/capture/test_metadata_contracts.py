"""Metadata of the profile, of abstractions, of radar records and of procedures has its keys, and values keep types.

Covers `lamina.capture.metadata_contracts`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lamina
from command_result import Cli
from lamina import InvalidInput, Memory
from lamina.atom.kinds import Layer
from lamina.atom.metadata import Metadata, MetadataValue

TYPED: dict[str, MetadataValue] = {
    "topics": ("agents", "true", 3),
    "stars": 4200,
    "confidence": 0.85,
    "checked": True,
    "number_as_text": "42",
    "none": (),
}
RADAR: Metadata = {
    "repo_slug": "acme/agents",
    "source_handle": "acme",
    "source_url": "https://example.org/acme/agents",
    "topic_tags": ("agents", "memory"),
    "confidence": 0.8,
    "evidence_refs": ("readme",),
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", watch=False) as opened_memory:
        yield opened_memory


def test_values_keep_their_types_in_the_journal_and_in_the_file(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        atom = memory.remember("The agents repository is active.", metadata=TYPED).atom
        path = memory.path_of(atom.id)
        assert path is not None
        text = (tmp_path / "vault" / path).read_text()
    assert '  topics: [agents, "true", 3]\n' in text and "  confidence: 0.85\n" in text
    assert '  number_as_text: "42"\n' in text and "  checked: true\n" in text
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        assert memory.get(atom.id).metadata == TYPED
    shutil.rmtree(tmp_path / "vault" / ".lamina")
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        metadata = memory.get(atom.id).metadata
        assert metadata == TYPED and {key: type(value) for key, value in metadata.items()} == {
            key: type(value) for key, value in TYPED.items()
        }


def test_secrets_in_lists_are_redacted(memory: Memory) -> None:
    token = "ghp_" + "a1B2" * 9
    receipt = memory.remember("The bot has a token.", metadata={"tokens": [token, "none"], "n": 1})
    assert token not in str(receipt.atom.metadata) and receipt.redacted
    assert receipt.atom.metadata["n"] == 1


@pytest.mark.parametrize("value", [None, {"a": 1}, float("nan"), [["a"]]])
def test_other_values_are_refused(memory: Memory, value: object) -> None:
    with pytest.raises(InvalidInput, match="must be text, a number, true or false, or a list"):
        memory.remember("Tea is green.", metadata={"key": value})


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"metadata": {"profile_key": "theme"}}, "value and reason"),
        ({"metadata": {"profile_key": "theme", "value": "dark"}}, "reason"),
        ({"metadata": {"profile_key": " ", "value": "dark", "reason": "r"}}, "profile_key"),
        ({"metadata": {"value": "dark", "reason": "r"}, "layer": "profile"}, "profile_key"),
        ({"metadata": {"compacted_from": ["a", "b"]}}, "topic_tags"),
        ({"metadata": {"topic_tags": []}}, "topic_tags"),
        ({"metadata": {"canonical": True}}, "workflow"),
        ({"metadata": {"canonical": True}, "kind": "procedure"}, "workflow"),
        ({"metadata": {"origin": "radar", "topic_tags": ["agents"]}}, "repo_slug"),
        *[
            ({"metadata": {key: value for key, value in RADAR.items() if key != name}, "origin": "radar"}, name)
            for name in RADAR
        ],
    ],
)
def test_a_missing_key_is_named(memory: Memory, fields: dict[str, Any], missing: str) -> None:
    for write in (memory.remember, memory.propose):
        with pytest.raises(InvalidInput, match=f"needs {missing}.* in its metadata"):
            write("A statement.", **fields)
    assert memory.list(status=None) == []


@pytest.mark.parametrize(("name", "value"), [("canonical", "perhaps"), ("confidence", "high"), ("confidence", 7)])
def test_a_value_of_another_type_is_refused(memory: Memory, name: str, value: object) -> None:
    fields = {"workflow": "deploy", "canonical": value} if name == "canonical" else {**RADAR, name: value}
    with pytest.raises(InvalidInput, match=f"{name} in the metadata of"):
        memory.remember("A statement.", metadata=fields, origin="radar" if name == "confidence" else None)


def test_what_the_statement_says_completes_its_metadata(memory: Memory) -> None:
    profile = memory.remember("Dark.", metadata={"profile_key": "theme"}, value="dark", reason="asked twice").atom
    assert profile.metadata == {"profile_key": "theme", "value": "dark", "reason": "asked twice"}
    assert (profile.kind, profile.layer, profile.value) == ("preference", Layer.PROFILE, "dark")
    steps = memory.remember("Run the tests, then push.", metadata={"workflow": "deploy"}).atom
    assert (steps.kind, steps.layer, steps.metadata["canonical"]) == ("procedure", Layer.PROCEDURAL, False)
    theme = memory.remember("Agents need memory.", metadata={"topic_tags": ["agents"]}).atom
    assert (theme.layer, theme.metadata) == (Layer.SEMANTIC, {"topic_tags": ("agents",), "origin": "human"})
    signal = memory.remember("acme/agents keeps memory in files.", metadata=RADAR, origin="radar").atom
    assert signal.metadata == {**RADAR, "origin": "radar"}


def test_metadata_of_other_statements_is_free(memory: Memory) -> None:
    event = memory.remember("The deploy went well.", kind="event", metadata={"workflow": "deploy"}).atom
    assert event.metadata == {"workflow": "deploy"}
    coffee = memory.remember("The coffee is from Kenya.", metadata={"origin": "Kenya"}).atom
    assert coffee.metadata == {"origin": "Kenya"}


def test_a_revision_sets_keys_removes_empty_ones_and_checks_the_contract(memory: Memory) -> None:
    atom = memory.remember("Run the tests.", kind="procedure", metadata={"note": "x", "tool": "make"}).atom
    with pytest.raises(InvalidInput, match="needs workflow"):
        memory.revise(atom.id, reason="r", metadata={"canonical": False})
    revised = memory.revise(atom.id, reason="r", metadata={"workflow": "test", "note": ""})
    assert revised.metadata == {"tool": "make", "workflow": "test", "canonical": False}


def test_metadata_is_written_on_the_command_line(cli: Cli) -> None:
    words = ("remember", "Run the tests, then push.", "--json", "--metadata", "workflow=deploy")
    more = ("--metadata", "steps=[test, push]", "--metadata", "minutes=12", "--metadata", "tool=make")
    (outcome,) = cli(*words, *more, "--metadata", "tool=git").data["outcomes"]
    expected = {"workflow": "deploy", "canonical": False, "steps": ["test", "push"], "minutes": 12}
    assert outcome["atom"]["metadata"] == {**expected, "tool": ["make", "git"]}
    atom_id = outcome["atom"]["id"]
    assert "workflow" in cli("get", atom_id).out
    revised = cli("revise", atom_id, "--metadata", "minutes=", "--json")
    assert revised.code == 0 and "minutes" not in cli("get", atom_id, "--json").data["metadata"]


@pytest.mark.parametrize("option", ["workflow", "=deploy", " =x"])
def test_a_metadata_option_without_a_key_or_value_is_refused(cli: Cli, option: str) -> None:
    result = cli("remember", "Tea is green.", "--metadata", option)
    assert result.code != 0 and "is not KEY=VALUE" in result.err


def test_the_command_line_names_the_missing_key(cli: Cli) -> None:
    result = cli("remember", "Dark.", "--metadata", "profile_key=theme", "--metadata", "value=dark")
    assert result.code != 0 and "a profile value needs reason in its metadata" in result.err
