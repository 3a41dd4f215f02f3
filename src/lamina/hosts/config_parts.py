"""The parts of a host's configuration: the MCP server, and for Claude Code also hooks and a skill."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from lamina.errors import InvalidInput
from lamina.hosts.hook import HookEvent
from lamina.hosts.host_files import (
    SERVER_FORMATS,
    TOKEN_VARIABLE,
    Host,
    UserEnvironment,
    hooks_file,
    servers_file,
    skill_file,
)
from lamina.hosts.json_edit import get_value, remove_list_items, remove_value, set_list_item, set_value
from lamina.hosts.toml_edit import get_table, remove_table, render_table, set_table

SERVER_NAME = "lamina"
HOOK_TIMEOUT = 5
"""Seconds after which the host stops a hook; the hook ends itself much earlier."""
TOKEN_INPUT_ID = "lamina-token"
_OUR_FIELDS = ("type", "command", "args", "url", "headers", "http_headers", "bearer_token_env_var")
"""The fields of a server that we write; other fields belong to the user and stay."""


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """A connection of a host to the memory: by starting a program, or at a URL."""

    command: tuple[str, ...]
    vault: Path
    scope: str | None = None
    url: str | None = None
    token: str | None = None
    with_hooks: bool = True

    def command_line(self, *verb: str) -> list[str]:
        """Return the command line of a lamina command for this vault and scope."""
        return [*self.command, *verb, "--vault", str(self.vault), *(("--scope", self.scope) if self.scope else ())]


@dataclass(frozen=True, slots=True)
class ConfigPart:
    """One addition to one file: the text to paste, and functions that add it to and remove it from the file."""

    file: Path
    name: str
    snippet: str
    add: Callable[[str], str]
    remove: Callable[[str], str]
    has_secret: bool = False


def build_parts(
    host: Host,
    connection: ConnectionOptions,
    user: UserEnvironment,
    project: Path | None = None,
    *,
    include_all: bool = False,
) -> list[ConfigPart]:
    """Return the parts a host needs, each with its file; `include_all` adds all possible parts, to remove them."""
    file = servers_file(host, user, project)
    if host is Host.CODEX:
        return [_codex_part(file, connection)]
    result = [_server_part(host, file, connection)]
    if host is Host.VSCODE and (include_all or (connection.url and not connection.token)):
        result.append(_token_prompt_part(file))
    if host is Host.CLAUDE_CODE:
        if include_all or connection.with_hooks:
            result.append(_hooks_part(hooks_file(user, project), connection))
        result.append(_skill_part(skill_file(user, project)))
    return result


def build_hook_removal(connection: ConnectionOptions, user: UserEnvironment, project: Path | None = None) -> ConfigPart:
    """Return a part that removes the hooks of an earlier installation."""
    hooks_part = _hooks_part(hooks_file(user, project), connection)
    return replace(hooks_part, add=hooks_part.remove)


def server_entry(host: Host, connection: ConnectionOptions) -> dict[str, Any]:
    """Return the entry of our server in the host's file; InvalidInput if the host cannot use a URL."""
    server_format = SERVER_FORMATS[host]
    if not connection.url:
        program, *arguments = connection.command_line("mcp")
        return ({"type": "stdio"} if server_format.has_stdio_type else {}) | {"command": program, "args": arguments}
    if host is Host.CLAUDE_DESKTOP:
        raise InvalidInput(
            "Claude Desktop only starts programs; leave --http out, or add the address under Settings, Connectors"
        )
    if host is Host.CODEX:
        bearer = {"http_headers": {"Authorization": f"Bearer {connection.token}"}}
        return {"url": connection.url} | (bearer if connection.token else {"bearer_token_env_var": TOKEN_VARIABLE})
    headers = {"Authorization": f"Bearer {connection.token or server_format.token_placeholder}"}
    return ({"type": "http"} if server_format.has_http_type else {}) | {"url": connection.url, "headers": headers}


def hook_entries(connection: ConnectionOptions) -> dict[str, list[dict[str, Any]]]:
    """Return the hooks as Claude Code's settings contain them."""
    return {event.claude_name: [_hook_entry(shlex.join(connection.command_line("hook", event)))] for event in HookEvent}


def read_skill() -> str:
    """Return the skill, which describes to an agent when to recall and when to remember."""
    return resources.files("lamina.hosts").joinpath("SKILL.md").read_text(encoding="utf-8")


def is_our_hook(value: Any) -> bool:
    """Return whether an entry of Claude Code's hooks runs only lamina."""
    entries = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(entries, list) or not entries:
        return False
    return all(isinstance(entry, dict) and _OUR_HOOK.search(str(entry.get("command"))) for entry in entries)


def is_our_server(value: Any) -> bool:
    """Return whether a server entry of our name is ours: it starts lamina, or uses a URL with a token."""
    if not isinstance(value, dict):
        return False
    args = value.get("args")
    words = [str(word) for word in (value.get("command"), *(args if isinstance(args, list) else ()))]
    if "mcp" in words and any(_OUR_PROGRAM.search(word) for word in words[: words.index("mcp")]):
        return True
    fields = json.dumps([value.get(field) for field in _OUR_FIELDS[4:]])
    return isinstance(value.get("url"), str) and ("Bearer " in fields or TOKEN_VARIABLE in fields)


def _keep_user_fields(existing: Any, value: dict[str, Any]) -> dict[str, Any]:
    """Return our server entry with the user's own fields; InvalidInput if the entry belongs to another program."""
    if existing is None:
        return value
    if not is_our_server(existing):
        raise InvalidInput(f"it already has another server called {SERVER_NAME!r}; rename that server first")
    return value | {key: field for key, field in existing.items() if key not in _OUR_FIELDS}


def _hook_entry(command: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": HOOK_TIMEOUT}]}


def _server_part(host: Host, file: Path, connection: ConnectionOptions) -> ConfigPart:
    keys, value = (SERVER_FORMATS[host].servers_key, SERVER_NAME), server_entry(host, connection)
    return ConfigPart(
        file,
        "server",
        _format_json({keys[0]: {SERVER_NAME: value}}),
        lambda text: set_value(text, keys, _keep_user_fields(get_value(text, keys), value)),
        lambda text: remove_value(text, keys) if is_our_server(get_value(text, keys)) else text,
        has_secret=connection.token is not None and connection.url is not None,
    )


def _token_prompt_part(file: Path) -> ConfigPart:
    token_input = {
        "type": "promptString",
        "id": TOKEN_INPUT_ID,
        "description": "Access token for lamina serve",
        "password": True,
    }

    def is_ours(value: Any) -> bool:
        return isinstance(value, dict) and value.get("id") == TOKEN_INPUT_ID

    return ConfigPart(
        file,
        "prompt for the token",
        _format_json({"inputs": [token_input]}),
        lambda text: set_list_item(text, ("inputs",), token_input, is_ours),
        lambda text: remove_list_items(text, ("inputs",), is_ours),
    )


def _hooks_part(file: Path, connection: ConnectionOptions) -> ConfigPart:
    entries = hook_entries(connection)

    def add(text: str) -> str:
        for event, (entry,) in entries.items():
            text = set_list_item(text, ("hooks", event), entry, is_our_hook)
        return text

    def remove(text: str) -> str:
        for event in entries:
            text = remove_list_items(text, ("hooks", event), is_our_hook)
        return text

    return ConfigPart(file, "hooks", _format_json({"hooks": entries}), add, remove)


def _skill_part(file: Path) -> ConfigPart:
    return ConfigPart(file, "skill", read_skill(), lambda text: read_skill(), lambda text: "")


def _codex_part(file: Path, connection: ConnectionOptions) -> ConfigPart:
    group, value = SERVER_FORMATS[Host.CODEX].servers_key, server_entry(Host.CODEX, connection)
    return ConfigPart(
        file,
        "server",
        render_table(group, SERVER_NAME, value),
        lambda text: set_table(text, group, SERVER_NAME, _keep_user_fields(get_table(text, group, SERVER_NAME), value)),
        lambda text: (
            remove_table(text, group, SERVER_NAME) if is_our_server(get_table(text, group, SERVER_NAME)) else text
        ),
        has_secret=connection.token is not None and connection.url is not None,
    )


def _format_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


_OUR_PROGRAM = re.compile(r"(?:^|[\\/])lamina(?:\.exe)?$")
_OUR_HOOK = re.compile(rf"""\blamina(?:\.exe)?["']? hook (?:{"|".join(HookEvent)})\b""")
