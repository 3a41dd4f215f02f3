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
from lamina.hosts.event import Event
from lamina.hosts.host import REFERENCES, TOKEN, Host, Surroundings, hooks_file, servers_file, skill_file
from lamina.hosts.json_edit import put, put_item, take, take_items, value_at
from lamina.hosts.toml_edit import put_table, rendered, table_at, take_table

NAME = "lamina"
HOOK_SECONDS = 5
"""Seconds after which the host stops a hook; the hook ends itself much earlier."""
INPUT = "lamina-token"
_FIELDS = ("type", "command", "args", "url", "headers", "http_headers", "bearer_token_env_var")
"""The fields of a server that we write; other fields belong to the user and stay."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a host connects to the memory: by starting a program, or at a URL."""

    command: tuple[str, ...]
    vault: Path
    scope: str | None = None
    http: str | None = None
    token: str | None = None
    hooks: bool = True

    def words(self, *verb: str) -> list[str]:
        """Return the command line of a lamina command for this vault and scope."""
        return [*self.command, *verb, "--vault", str(self.vault), *(("--scope", self.scope) if self.scope else ())]


@dataclass(frozen=True, slots=True)
class Part:
    """One addition to one file: the text to paste, and functions that add it to and remove it from the file."""

    file: Path
    what: str
    shown: str
    put: Callable[[str], str]
    take: Callable[[str], str]
    secret: bool = False


def parts(
    host: Host, wanted: Wanted, around: Surroundings, project: Path | None = None, *, every: bool = False
) -> list[Part]:
    """Return the parts a host needs, each with its file; `include_all` adds all possible parts, to remove them."""
    file = servers_file(host, around, project)
    if host is Host.CODEX:
        return [_codex(file, wanted)]
    result = [_server(host, file, wanted)]
    if host is Host.VSCODE and (every or (wanted.http and not wanted.token)):
        result.append(_question(file))
    if host is Host.CLAUDE_CODE:
        if every or wanted.hooks:
            result.append(_hooks(hooks_file(around, project), wanted))
        result.append(_skill(skill_file(around, project)))
    return result


def hooks_taken_out(wanted: Wanted, around: Surroundings, project: Path | None = None) -> Part:
    """Return a part that removes the hooks of an earlier installation."""
    hooks_part = _hooks(hooks_file(around, project), wanted)
    return replace(hooks_part, put=hooks_part.take)


def server(host: Host, wanted: Wanted) -> dict[str, Any]:
    """Return the entry of our server in the host's file; InvalidInput if the host cannot use a URL."""
    server_format = REFERENCES[host]
    if not wanted.http:
        program, *arguments = wanted.words("mcp")
        return ({"type": "stdio"} if server_format.stdio_type else {}) | {"command": program, "args": arguments}
    if host is Host.CLAUDE_DESKTOP:
        raise InvalidInput(
            "Claude Desktop only starts programs; leave --http out, or add the address under Settings, Connectors"
        )
    if host is Host.CODEX:
        bearer = {"http_headers": {"Authorization": f"Bearer {wanted.token}"}}
        return {"url": wanted.http} | (bearer if wanted.token else {"bearer_token_env_var": TOKEN})
    headers = {"Authorization": f"Bearer {wanted.token or server_format.token}"}
    return ({"type": "http"} if server_format.http_type else {}) | {"url": wanted.http, "headers": headers}


def hooks(wanted: Wanted) -> dict[str, list[dict[str, Any]]]:
    """Return the hooks as Claude Code's settings contain them."""
    return {event.name_at_host: [_hook(shlex.join(wanted.words("hook", event)))] for event in Event}


def skill() -> str:
    """Return the skill, which tells an agent when to recall and when to remember."""
    return resources.files("lamina.hosts").joinpath("SKILL.md").read_text(encoding="utf-8")


def is_our_hook(value: Any) -> bool:
    """Whether an entry of Claude Code's hooks runs only lamina."""
    entries = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(entries, list) or not entries:
        return False
    return all(isinstance(entry, dict) and _OUR_HOOK.search(str(entry.get("command"))) for entry in entries)


def is_our_server(value: Any) -> bool:
    """Whether a server entry of our name is ours: it starts lamina, or uses a URL with a token."""
    if not isinstance(value, dict):
        return False
    args = value.get("args")
    words = [str(word) for word in (value.get("command"), *(args if isinstance(args, list) else ()))]
    if "mcp" in words and any(_OUR_PROGRAM.search(word) for word in words[: words.index("mcp")]):
        return True
    fields = json.dumps([value.get(field) for field in _FIELDS[4:]])
    return isinstance(value.get("url"), str) and ("Bearer " in fields or TOKEN in fields)


def _with_own(found: Any, value: dict[str, Any]) -> dict[str, Any]:
    """Return our server entry with the user's own fields; InvalidInput if the entry belongs to another program."""
    if found is None:
        return value
    if not is_our_server(found):
        raise InvalidInput(f"it already has another server called {NAME!r}; rename that server first")
    return value | {key: field for key, field in found.items() if key not in _FIELDS}


def _hook(command: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": HOOK_SECONDS}]}


def _server(host: Host, file: Path, wanted: Wanted) -> Part:
    keys, value = (REFERENCES[host].servers, NAME), server(host, wanted)
    return Part(
        file,
        "server",
        _json({keys[0]: {NAME: value}}),
        lambda text: put(text, keys, _with_own(value_at(text, keys), value)),
        lambda text: take(text, keys) if is_our_server(value_at(text, keys)) else text,
        secret=wanted.token is not None and wanted.http is not None,
    )


def _question(file: Path) -> Part:
    token_input = {
        "type": "promptString",
        "id": INPUT,
        "description": "Access token for lamina serve",
        "password": True,
    }

    def is_ours(value: Any) -> bool:
        return isinstance(value, dict) and value.get("id") == INPUT

    return Part(
        file,
        "prompt for the token",
        _json({"inputs": [token_input]}),
        lambda text: put_item(text, ("inputs",), token_input, is_ours),
        lambda text: take_items(text, ("inputs",), is_ours),
    )


def _hooks(file: Path, wanted: Wanted) -> Part:
    entries = hooks(wanted)

    def add(text: str) -> str:
        for event, (entry,) in entries.items():
            text = put_item(text, ("hooks", event), entry, is_our_hook)
        return text

    def remove(text: str) -> str:
        for event in entries:
            text = take_items(text, ("hooks", event), is_our_hook)
        return text

    return Part(file, "hooks", _json({"hooks": entries}), add, remove)


def _skill(file: Path) -> Part:
    return Part(file, "skill", skill(), lambda text: skill(), lambda text: "")


def _codex(file: Path, wanted: Wanted) -> Part:
    group, value = REFERENCES[Host.CODEX].servers, server(Host.CODEX, wanted)
    return Part(
        file,
        "server",
        rendered(group, NAME, value),
        lambda text: put_table(text, group, NAME, _with_own(table_at(text, group, NAME), value)),
        lambda text: take_table(text, group, NAME) if is_our_server(table_at(text, group, NAME)) else text,
        secret=wanted.token is not None and wanted.http is not None,
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


_OUR_PROGRAM = re.compile(r"(?:^|[\\/])lamina(?:\.exe)?$")
_OUR_HOOK = re.compile(rf"""\blamina(?:\.exe)?["']? hook (?:{"|".join(Event)})\b""")
