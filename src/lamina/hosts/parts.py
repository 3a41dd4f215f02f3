"""What a host has to be told, part by part: the server, and for Claude Code the hooks and the skill."""

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
"""When a host gives up on a hook; it gives up on itself much earlier."""
INPUT = "lamina-token"
_FIELDS = ("type", "command", "args", "url", "headers", "http_headers", "bearer_token_env_var")
"""What we say of a server; whatever else its owner says of it stays."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a host reaches the memory: by a program it starts, or where `http` says."""

    command: tuple[str, ...]
    vault: Path
    scope: str | None = None
    http: str | None = None
    token: str | None = None
    hooks: bool = True

    def words(self, *verb: str) -> list[str]:
        """A command for this vault and scope."""
        return [*self.command, *verb, "--vault", str(self.vault), *(("--scope", self.scope) if self.scope else ())]


@dataclass(frozen=True, slots=True)
class Part:
    """One thing to add to one file: as it can be pasted, and how it is put in and taken out."""

    file: Path
    what: str
    shown: str
    put: Callable[[str], str]
    take: Callable[[str], str]
    secret: bool = False


def parts(
    host: Host, wanted: Wanted, around: Surroundings, project: Path | None = None, *, every: bool = False
) -> list[Part]:
    """Everything a host has to be told, each with its file; `every` part there can be, to take them out."""
    file = servers_file(host, around, project)
    if host is Host.CODEX:
        return [_codex(file, wanted)]
    found = [_server(host, file, wanted)]
    if host is Host.VSCODE and (every or (wanted.http and not wanted.token)):
        found.append(_question(file))
    if host is Host.CLAUDE_CODE:
        if every or wanted.hooks:
            found.append(_hooks(hooks_file(around, project), wanted))
        found.append(_skill(skill_file(around, project)))
    return found


def hooks_taken_out(wanted: Wanted, around: Surroundings, project: Path | None = None) -> Part:
    """Hooks that an earlier installation may have left, to be put out of the way."""
    told = _hooks(hooks_file(around, project), wanted)
    return replace(told, put=told.take)


def server(host: Host, wanted: Wanted) -> dict[str, Any]:
    """A server as the host's file names it."""
    told = REFERENCES[host]
    if not wanted.http:
        program, *words = wanted.words("mcp")
        return ({"type": "stdio"} if told.stdio_type else {}) | {"command": program, "args": words}
    if host is Host.CLAUDE_DESKTOP:
        raise InvalidInput(
            "Claude Desktop starts programs only; leave --http out, or add the address under Settings, Connectors"
        )
    if host is Host.CODEX:
        bearer = {"http_headers": {"Authorization": f"Bearer {wanted.token}"}}
        return {"url": wanted.http} | (bearer if wanted.token else {"bearer_token_env_var": TOKEN})
    headers = {"Authorization": f"Bearer {wanted.token or told.token}"}
    return ({"type": "http"} if told.http_type else {}) | {"url": wanted.http, "headers": headers}


def hooks(wanted: Wanted) -> dict[str, list[dict[str, Any]]]:
    """The hooks as Claude Code's settings name them."""
    return {each.name_at_host: [_hook(shlex.join(wanted.words("hook", each)))] for each in Event}


def skill() -> str:
    """What an agent is told of when to recall and when to remember."""
    return resources.files("lamina.hosts").joinpath("SKILL.md").read_text(encoding="utf-8")


def is_our_hook(value: Any) -> bool:
    """Whether an entry of Claude Code's hooks runs nothing but ours."""
    listed = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(listed, list) or not listed:
        return False
    return all(isinstance(each, dict) and _OUR_HOOK.search(str(each.get("command"))) for each in listed)


def is_our_server(value: Any) -> bool:
    """Whether a server of our name is ours: it starts this program, or is reached with a token."""
    if not isinstance(value, dict):
        return False
    args = value.get("args")
    words = [str(each) for each in (value.get("command"), *(args if isinstance(args, list) else ()))]
    if "mcp" in words and any(_OUR_PROGRAM.search(word) for word in words[: words.index("mcp")]):
        return True
    told = json.dumps([value.get(field) for field in _FIELDS[4:]])
    return isinstance(value.get("url"), str) and ("Bearer " in told or TOKEN in told)


def _with_own(found: Any, value: dict[str, Any]) -> dict[str, Any]:
    """Our server with what its owner has added to it; refused where it is somebody else's."""
    if found is None:
        return value
    if not is_our_server(found):
        raise InvalidInput(f"it has a server {NAME!r} already that is not this program; give that one another name")
    return value | {key: each for key, each in found.items() if key not in _FIELDS}


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
    asked = {"type": "promptString", "id": INPUT, "description": "The token of lamina serve", "password": True}

    def ours(value: Any) -> bool:
        return isinstance(value, dict) and value.get("id") == INPUT

    return Part(
        file,
        "question for the token",
        _json({"inputs": [asked]}),
        lambda text: put_item(text, ("inputs",), asked, ours),
        lambda text: take_items(text, ("inputs",), ours),
    )


def _hooks(file: Path, wanted: Wanted) -> Part:
    told = hooks(wanted)

    def add(text: str) -> str:
        for event, (entry,) in told.items():
            text = put_item(text, ("hooks", event), entry, is_our_hook)
        return text

    def remove(text: str) -> str:
        for event in told:
            text = take_items(text, ("hooks", event), is_our_hook)
        return text

    return Part(file, "hooks", _json({"hooks": told}), add, remove)


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
