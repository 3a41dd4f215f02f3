"""Whose memory: look-alikes are refused, never folded or completed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom import Scope
from lamina.atom.provenance import agent_name, organisation_name, parse_scope, readable_scopes
from lamina.errors import InvalidScope

LOOKALIKES: list[object] = [
    None,
    True,
    0,
    1.5,
    b"org:local",
    ["org:local"],
    ("org", "local"),
    {"org": "local"},
    "",
    " ",
    "\n",
    "*",
    "org",
    "org:",
    "org:*",
    "org:%",
    "org:_",
    "org:-",
    "org:?",
    "org:local*",
    "org:local:agent:*",
    "local",
    ":local",
    "agent:bob",
    "org:local:",
    "org:local:agent",
    "org:local:agent:",
    "org:local::agent:bob",
    "org::agent:bob",
    "org:local:bob",
    "org:local:user:bob",
    "org:local:agent:bob:x",
    "org:local:agent:bob:agent:eve",
    "Org:local",
    "ORG:LOCAL",
    "org:Local",
    "org:local:Agent:bob",
    "org:local:agent:Bob",
    " org:local",
    "org:local ",
    "org: local",
    "org:local\n",
    "\norg:local",
    "org:local\r\n",
    "org:local\x00",
    "org:lo\x00cal",
    "org:local\t",
    "org:lo cal",
    "org:local\u200b",
    "\ufefforg:local",
    "org:lo\u00adcal",
    "org:lоcal",
    "οrg:local",
    "org:ⅼocal",
    "org:ｌocal",
    "ｏｒｇ：local",
    "org：local",
    "org:local：agent:bob",
    "org꞉local",
    "org:café",
    "org:caf\u0065\u0301",
    "org:ſocal",
    "org:\u212aing",
    "org:١",
    "org:²",
    "org:猫",
    "org:..",
    "org:.",
    "org:../x",
    "org:a/b",
    "org:a\\b",
    "org:/etc",
    "../org:local",
    "org:a/../b",
    "org:local/agent:bob",
    "org:~",
    "org:a.b",
    "org:-a",
    "org:a-",
    "org:_a",
    "org:a_",
    "org:" + "a" * 65,
    "org:local:agent:" + "a" * 65,
    "org:a'--",
    'org:"a"',
    "org:a;b",
    "org:local,org:other",
    "org:local|org:other",
    "org:local org:other",
    "org:{id}",
    "org:$HOME",
    "org:%6c",
    "org:null\n",
]


def test_there_are_enough_look_alikes() -> None:
    assert len(LOOKALIKES) >= 60
    assert not any(alike == "org:local" for alike in LOOKALIKES)


@pytest.mark.parametrize("text", LOOKALIKES, ids=ascii)
def test_a_look_alike_is_refused(text: object) -> None:
    with pytest.raises(InvalidScope):
        parse_scope(text)


@pytest.mark.parametrize(
    "text",
    ["org:local", "org:a", "org:0", "org:a-b_c9", "org:local:agent:bob", "org:agent:agent:org", "org:" + "a" * 64],
)
def test_a_valid_scope_is_accepted_unchanged(text: str) -> None:
    assert parse_scope(text) == text


@given(st.text(alphabet="org:agent:local*/.-_ \n"))
def test_every_accepted_scope_can_be_composed_from_its_parts(text: str) -> None:
    try:
        scope = parse_scope(text)
    except InvalidScope:
        return
    fields = agent_name(scope)
    assert text == f"org:{organisation_name(scope)}" + (f":agent:{fields}" if fields is not None else "")
    assert set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_:")


def test_the_refusal_says_what_to_write_instead() -> None:
    with pytest.raises(InvalidScope, match="org:NAME or org:NAME:agent:NAME"):
        parse_scope("*")


def test_an_agent_reads_only_its_own_scope_and_its_organisations() -> None:
    assert readable_scopes(Scope("org:acme:agent:bob")) == ("org:acme:agent:bob", "org:acme")


def test_an_organisation_does_not_read_the_scopes_of_its_agents() -> None:
    assert readable_scopes(Scope("org:acme")) == ("org:acme",)


def test_a_scope_names_its_organisation_and_agent() -> None:
    assert (organisation_name(Scope("org:acme:agent:bob")), agent_name(Scope("org:acme:agent:bob"))) == ("acme", "bob")
    assert (organisation_name(Scope("org:acme")), agent_name(Scope("org:acme"))) == ("acme", None)
