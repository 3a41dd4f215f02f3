from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.errors import InvalidInput
from lamina.hosts.toml_edit import remove_table, set_table

GROUP, NAME = "mcp_servers", "lamina"
SERVER = {"command": "/opt/bin/lamina", "args": ["mcp", "--vault", "/home/ann/vault"]}
WRITTEN = [
    'model = "x" # mine\n',
    '[mcp_servers.other]\ncommand = "y"\n\n# about the next\n[tui]\ntheme = "dark"\n',
    "[a]\r\nb = 1\r\n",
    'notes = """\n[mcp_servers.fake]\n"""\n\n[mcp_servers.other]\ncommand = "y"\n',
]


@pytest.mark.parametrize("text", WRITTEN)
def test_adding_and_removing_a_table_restores_every_byte(text: str) -> None:
    written = set_table(text, GROUP, NAME, SERVER)
    assert tomllib.loads(written)[GROUP][NAME] == SERVER
    assert set_table(written, GROUP, NAME, SERVER) == written
    assert remove_table(written, GROUP, NAME) == text


def test_another_value_replaces_the_managed_one_and_comments_stay_in_place() -> None:
    before = set_table(WRITTEN[1], GROUP, NAME, SERVER) + "\n# the end\n[z]\n"
    after = set_table(before, GROUP, NAME, {"url": "http://127.0.0.1:1/mcp", "http_headers": {"A": "b"}})
    assert tomllib.loads(after)[GROUP][NAME] == {"url": "http://127.0.0.1:1/mcp", "http_headers": {"A": "b"}}
    assert after.endswith("\n# the end\n[z]\n")
    assert "# about the next\n[tui]" in after


def test_subtables_of_the_managed_table_are_removed_with_it() -> None:
    text = set_table("", GROUP, NAME, SERVER) + '\n[mcp_servers.lamina.env]\nA = "b"\n\n[z]\n'
    assert remove_table(text, GROUP, NAME) == "\n[z]\n"


@pytest.mark.parametrize(
    "text",
    ["a = ", 'mcp_servers = { lamina = { command = "x" } }\n', 'mcp_servers.lamina.command = "x"\n', "[a]\nb=1\nb=2\n"],
)
def test_a_file_that_cannot_be_edited_safely_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        set_table(text, GROUP, NAME, SERVER)


@given(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=3))
def test_any_command_is_read_back_as_written(program: str, words: list[str]) -> None:
    try:
        written = set_table("[a]\n", GROUP, NAME, {"command": program, "args": words})
    except InvalidInput:
        assert any(ord(item) in (0x7F, *range(0xD800, 0xE000)) for item in program + "".join(words))
        return
    assert tomllib.loads(written) == {"a": {}, GROUP: {NAME: {"command": program, "args": words}}}
