"""Whatever an agent sends to a tool: it is done, or the agent is told what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lamina
from lamina.errors import InvalidInput, LaminaError
from lamina.mcp.error_text import describe_error
from lamina.mcp.tool import ToolDefinition
from lamina.mcp.tools import ALL_TOOLS, TOOLS_BY_NAME
from lamina.memory import Memory

_ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=40),
    st.lists(st.text(max_size=8), max_size=3),
    st.sampled_from(
        [
            "",
            "\0",
            "../../etc/passwd",
            "2026-02-30",
            "9999-12-31",
            "0001-01-01T00:00+14:00",
            "org:*",
            "*",
            "‮",
            "a" * 600,
            "%00",
            "NaN",
            "active",
            "web",
            "supports",
            "list",
            "keep",
        ]
    ),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with lamina.open(tmp_path_factory.mktemp("mcp") / "vault", watch=False) as opened_memory:
        opened_memory.remember("The tide turns at noon.", subject="tide")
        yield opened_memory


@pytest.fixture(scope="module")
def ids(memory: Memory) -> list[str]:
    """The ids from before the first example: what one example writes must not change what the next may draw."""
    return sorted(str(atom.id) for atom in memory.list(status=None, limit=None))[:3]


def _arguments(tool: ToolDefinition[Any], ids: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the tool's arguments, each as it may be, or as it may not."""
    fields = {
        name: st.one_of(_plausible(schema, ids), _ANYTHING)
        for name, schema in tool.input_schema.get("properties", {}).items()
    }
    needed = {name: fields[name] for name in tool.input_schema.get("required", ())}
    return st.fixed_dictionaries(needed, optional={name: item for name, item in fields.items() if name not in needed})


def _plausible(schema: dict[str, Any], ids: list[str]) -> st.SearchStrategy[Any]:
    values = [value for item in (schema, *schema.get("anyOf", ())) for value in item.get("enum", ())]
    return st.sampled_from([*values, schema.get("default"), *ids, "tide", "2026-03-02", 1, 0.5, True, ["tide"]])


@pytest.mark.parametrize("name", [tool.name for tool in ALL_TOOLS])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_tool_succeeds_or_says_what_is_wrong(memory: Memory, ids: list[str], name: str, data: st.DataObject) -> None:
    tool = TOOLS_BY_NAME[name]
    sent = data.draw(_arguments(tool, ids))
    try:
        arguments = tool.parse_arguments(sent)
        result = tool.run(memory.for_caller(ceiling="agent"), arguments)
    except LaminaError as error:
        assert describe_error(error)
    else:
        assert result.text
        tool.result_type.model_validate(result.document.data())


def test_an_invalid_argument_is_named_and_not_repeated() -> None:
    with pytest.raises(InvalidInput, match="k: ") as caught:
        TOOLS_BY_NAME["recall"].parse_arguments({"question": "x", "k": "SECRET"})
    assert "SECRET" not in str(caught.value)
