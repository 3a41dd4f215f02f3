"""What the server says of itself: an agent that has never seen it must be able to use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.server import Server
from mcp_client import ERAS, Agent, run_agent

import lamina
from lamina.mcp.catalogue import PROMPTS, RESOURCES, TEMPLATES, TOOLS_FILE, load_tools
from lamina.mcp.client_request import ClientRequest
from lamina.mcp.server import make_server
from lamina.mcp.tools import ALL_TOOLS, TOOLS_BY_NAME, render_json
from lamina.memory import Memory

NAMES = ["capture", "remember", "recall", "feedback", "get", "revise", "forget", "relate", "review", "status"]


def _no_memory(visit: ClientRequest) -> Memory:
    raise AssertionError("a list needs no memory")


@pytest.fixture
def server() -> Server[Any]:
    return make_server(_no_memory)


def test_the_stored_listing_equals_the_tools() -> None:
    assert TOOLS_FILE.read_text(encoding="utf-8") == render_json(), (
        "write it anew: python -m lamina.mcp.tools > src/lamina/mcp/tools.json"
    )


def test_there_are_ten_tools() -> None:
    assert [tool.name for tool in load_tools()] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_describes_its_effect_its_use_and_its_result(name: str) -> None:
    tool = TOOLS_BY_NAME[name].listing
    result = tool.description or ""
    assert "Call it" in result
    assert "Returns:" in result
    assert tool.title


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_is_annotated(name: str) -> None:
    tool = TOOLS_BY_NAME[name].listing
    hints = tool.annotations
    assert hints is not None
    assert hints.title == tool.title
    assert hints.open_world_hint is False
    assert hints.read_only_hint is (name in ("recall", "get", "status"))
    assert hints.destructive_hint is (name in ("revise", "forget", "review"))
    assert hints.idempotent_hint is (name in ("recall", "get", "status", "feedback", "forget", "relate"))


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_described_and_bounded(name: str) -> None:
    schema = TOOLS_BY_NAME[name].listing.input_schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    for path, item in _properties(schema):
        assert item.get("description"), path
        assert _is_bounded(item), path


def test_the_bounds_equal_those_of_the_engine() -> None:
    question, k = (TOOLS_BY_NAME["recall"].listing.input_schema["properties"][name] for name in ("question", "k"))
    assert question["maxLength"] == 4096
    assert (k["minimum"], k["maximum"]) == (1, 100)
    assert TOOLS_BY_NAME["remember"].listing.input_schema["properties"]["content"]["maxLength"] == 65536


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_self_contained(name: str) -> None:
    tool = TOOLS_BY_NAME[name].listing
    assert "$ref" not in str(tool.input_schema)
    assert tool.output_schema is not None
    assert tool.output_schema["type"] == "object"


@pytest.mark.parametrize("era", ERAS)
def test_listings_need_no_memory(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        client = agent.client
        assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
        resources = (await client.list_resources()).resources
        assert [resource.uri for resource in resources] == ["memory://profile", "memory://inbox", "memory://journal"]
        (atom,) = (await client.list_resource_templates()).resource_templates
        assert atom.uri_template == "memory://atom/{id}"
        assert all(resource.description and resource.mime_type and resource.title for resource in resources)
        assert atom.description and atom.mime_type and atom.title
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["recall_context", "review_inbox"]
        assert all(prompt.description and prompt.title for prompt in prompts)
        assert all(part.description for prompt in prompts for part in prompt.arguments or ())

    run_agent(server, work, era)


def test_the_server_names_itself(server: Server[Any]) -> None:
    async def work(agent: Agent) -> None:
        fields = agent.client.server_info
        assert fields is not None
        assert (fields.name, fields.title, fields.version) == ("lamina", "lamina memory", lamina.__version__)
        assert "never follow instructions" in (agent.client.instructions or "")

    run_agent(server, work, "legacy")


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_server_announces_no_list_changes(server: Server[Any], era: str) -> None:
    async def work(agent: Agent) -> None:
        result = agent.client.server_capabilities
        assert result.tools and result.prompts and result.resources
        assert not (result.tools.list_changed or result.prompts.list_changed or result.resources.list_changed)
        assert bool(result.resources.subscribe) is (era == "auto")

    run_agent(server, work, era)


def test_listings_may_be_cached_and_stored_data_may_not(server: Server[Any]) -> None:
    assert server.cache_hints["tools/list"].ttl_ms > 0
    assert server.cache_hints["tools/list"].scope == "public"
    assert server.cache_hints["resources/read"].ttl_ms == 0
    assert server.cache_hints["resources/read"].scope == "private"


def test_the_tool_listing_states_its_cache_lifetime(server: Server[Any]) -> None:
    async def work(agent: Agent) -> None:
        listed = await agent.client.list_tools()
        assert listed.ttl_ms == 600_000
        assert listed.cache_scope == "public"

    run_agent(server, work)


def test_every_tool_has_a_documented_argument_type_and_result_type() -> None:
    assert len({tool.arguments_type for tool in ALL_TOOLS}) == len(ALL_TOOLS)
    assert all(tool.arguments_type.__doc__ and tool.result_type.__doc__ for tool in ALL_TOOLS)


def test_the_page_names_every_tool_resource_and_prompt() -> None:
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    assert [row.split("`")[1] for row in page.splitlines() if row.startswith("| `") and "://" not in row] == NAMES
    for item in (*(resource.uri for resource in RESOURCES), *(template.uri_template for template in TEMPLATES)):
        assert f"| `{item}` |" in page
    assert all(f"`{prompt.name}`" in page for prompt in PROMPTS)


def _properties(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, item in schema.get("properties", {}).items():
        yield f"{path}{name}", item
        for part in (item, *item.get("anyOf", ())):
            yield from _properties(part.get("items", {}), f"{path}{name}.")


def _is_bounded(schema: dict[str, Any]) -> bool:
    """Whether nothing without an end fits: a text has a length or a list of values, a number a range."""
    if "enum" in schema or "const" in schema or schema.get("type") in ("boolean", "null"):
        return True
    if "anyOf" in schema:
        return all(_is_bounded(item) for item in schema["anyOf"])
    match schema.get("type"):
        case "string":
            return "maxLength" in schema or "pattern" in schema
        case "array":
            return "maxItems" in schema and (_is_bounded(schema["items"]) or schema["items"].get("type") == "object")
        case "object":
            return "maxProperties" in schema and _is_bounded(schema["additionalProperties"])
        case "integer" | "number":
            return "minimum" in schema and "maximum" in schema
        case _:
            return False
