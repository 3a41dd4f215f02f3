"""No tool, resource or prompt tells anything of a scope its caller may not read; a new tool needs a row here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_agent import Agent, text_of, visit

from lamina.mcp.catalogue import PROMPTS, RESOURCES
from lamina.mcp.server import make_server
from lamina.mcp.tools import TOOLS_BY_NAME
from lamina.memory import Memory

CANARY = "zirconium"
MINE, THEIRS = "org:mine", "org:theirs"
NOWHERE = "01zzzzzzzzzzzzzzzzzzzzzzzz"


def _calls(id: str, recall_id: str) -> dict[str, list[dict[str, Any]]]:
    """What to ask of each tool about an atom and a recall of somebody else's."""
    return {
        "capture": [{"words": "The canary sang.", "session_id": "s1", "key": "theirs"}],
        "remember": [{"content": "The canary sang.", "subject": "canary", "attribute": "metal", "key": "theirs"}],
        "recall": [{"question": CANARY, "include": ["history", "challenged", "constrained"], "explain": True}],
        "feedback": [{"recall_id": recall_id, "cited": [id]}, {"recall_id": recall_id}],
        "get": [{"id": id, "history": True, "neighbours": True}, {"id": id[-8:]}, {"id": id, "known_at": "2030-01-01"}],
        "revise": [
            {"id": id, "content": "x", "reason": "y"},
            {"id": id, "action": "status", "status": "active", "reason": "y"},
            *({"id": id, "action": each, "reason": "y"} for each in ("pin", "unpin", "promote", "demote", "resolve")),
        ],
        "forget": [{"id": id, "reason": "y"}],
        "relate": [{"a": id, "relation": "supports", "b": id}],
        "review": [
            {},
            {"source": "web"},
            {"action": "confirm", "source": "web"},
            {"action": "confirm", "id": id},
            {"action": "reject", "id": id},
            {"action": "edit", "id": id, "content": "x"},
            *({"action": each, "id": id, "other": id, "content": "x"} for each in ("keep", "both", "merge", "later")),
        ],
        "status": [{}],
    }


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "vault", MINE, watch=False) as opened:
        yield opened


def test_every_tool_has_a_row() -> None:
    assert set(_calls("", "")) == set(TOOLS_BY_NAME)


def test_nothing_of_another_scope_is_told(memory: Memory) -> None:
    theirs = memory.for_caller(THEIRS)
    atom = theirs.remember(f"The canary is made of {CANARY}.", subject="canary", attribute="metal", key="theirs").atom
    theirs.remember(f"Their {CANARY} waits.", origin="web", source_id="web")
    theirs.capture(f"They said {CANARY}.", session_id="s1")
    found = theirs.recall(CANARY)
    known = [each.id for each in theirs.list(status=None)]

    async def work(agent: Agent) -> None:
        for name, calls in _calls(atom.id, found.id).items():
            for given in calls:
                result = await agent.client.call_tool(name, given)
                told = text_of(result) + str(result.structured_content)
                asked = str(given)
                assert CANARY not in told.replace(asked, ""), name
                assert not [each for each in known if each in told and each not in asked], name
        pages = [await agent.read(resource.uri) for resource in RESOURCES]
        for prompt in PROMPTS:
            (message,) = (await agent.client.get_prompt(prompt.name, {"question": "canary"})).messages
            pages.append(getattr(message.content, "text", ""))
        assert not [page for page in pages if CANARY in page]

    visit(make_server(lambda visit: memory.for_caller(MINE)), work)
    assert theirs.get(atom.id) == atom


def test_an_id_of_another_scope_is_answered_as_one_that_is_nowhere(memory: Memory) -> None:
    theirs = memory.for_caller(THEIRS)
    atom, found = theirs.remember("The canary is yellow.").atom, theirs.recall("canary")

    async def work(agent: Agent) -> None:
        there, nowhere = _calls(atom.id, found.id), _calls(NOWHERE, "0" * len(found.id))
        for name in ("feedback", "get", "revise", "forget", "relate", "review"):
            for one, other in zip(there[name], nowhere[name], strict=True):
                told = text_of(await agent.client.call_tool(name, one))
                likewise = text_of(await agent.client.call_tool(name, other))
                assert _named(told, atom.id, found.id) == _named(likewise, NOWHERE, "0" * len(found.id)), name

    visit(make_server(lambda visit: memory.for_caller(MINE)), work)


def _named(told: str, id: str, recall_id: str) -> str:
    return told.replace(id, "ID").replace(id[-8:], "ID").replace(recall_id, "RECALL")
