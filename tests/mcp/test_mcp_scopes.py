"""No tool, resource or prompt tells anything of a scope its caller may not read; a new tool needs a row here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_client import Agent, run_agent, text_of

import lamina
from lamina.mcp.catalogue import PROMPTS, RESOURCES
from lamina.mcp.server import make_server
from lamina.mcp.tools import TOOLS_BY_NAME
from lamina.memory import Memory

CANARY = "zirconium"
MINE, THEIRS = "org:mine", "org:theirs"
UNKNOWN_ID = "01zzzzzzzzzzzzzzzzzzzzzzzz"


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
            *({"id": id, "action": name, "reason": "y"} for name in ("pin", "unpin", "promote", "demote", "resolve")),
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
            *({"action": name, "id": id, "other": id, "content": "x"} for name in ("keep", "both", "merge", "later")),
        ],
        "status": [{}],
    }


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", MINE, watch=False) as opened_memory:
        yield opened_memory


def test_every_tool_has_a_row() -> None:
    assert set(_calls("", "")) == set(TOOLS_BY_NAME)


def test_results_contain_nothing_of_another_scope(memory: Memory) -> None:
    theirs = memory.for_caller(THEIRS)
    atom = theirs.remember(f"The canary is made of {CANARY}.", subject="canary", attribute="metal", key="theirs").atom
    theirs.remember(f"Their {CANARY} waits.", origin="web", source_id="web")
    theirs.capture(f"They said {CANARY}.", session_id="s1")
    actual = theirs.recall(CANARY)
    atom_ids = [atom.id for atom in theirs.list(status=None)]

    async def work(agent: Agent) -> None:
        for name, calls in _calls(atom.id, actual.id).items():
            for call in calls:
                result = await agent.client.call_tool(name, call)
                text = text_of(result) + str(result.structured_content)
                other_result = str(call)
                assert CANARY not in text.replace(other_result, ""), name
                assert not [atom_id for atom_id in atom_ids if atom_id in text and atom_id not in other_result], name
        pages = [await agent.read(resource.uri) for resource in RESOURCES]
        for prompt in PROMPTS:
            (message,) = (await agent.client.get_prompt(prompt.name, {"question": "canary"})).messages
            pages.append(getattr(message.content, "text", ""))
        assert not [page for page in pages if CANARY in page]

    run_agent(make_server(lambda visit: memory.for_caller(MINE)), work)
    assert theirs.get(atom.id) == atom


def test_an_id_of_another_scope_is_answered_like_an_unknown_id(memory: Memory) -> None:
    theirs = memory.for_caller(THEIRS)
    atom, result = theirs.remember("The canary is yellow.").atom, theirs.recall("canary")

    async def work(agent: Agent) -> None:
        there, nowhere = _calls(atom.id, result.id), _calls(UNKNOWN_ID, "0" * len(result.id))
        for name in ("feedback", "get", "revise", "forget", "relate", "review"):
            for one, other in zip(there[name], nowhere[name], strict=True):
                text = text_of(await agent.client.call_tool(name, one))
                likewise = text_of(await agent.client.call_tool(name, other))
                assert _named(text, atom.id, result.id) == _named(likewise, UNKNOWN_ID, "0" * len(result.id)), name

    run_agent(make_server(lambda visit: memory.for_caller(MINE)), work)


def _named(text: str, id: str, recall_id: str) -> str:
    return text.replace(id, "ID").replace(id[-8:], "ID").replace(recall_id, "RECALL")
