from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from lamina import __version__
from lamina.hosts.config_parts import HOOK_TIMEOUT, is_our_hook, read_skill
from lamina.hosts.hook import HookEvent

PLUGIN = Path(__file__).parents[2] / "plugins" / "claude-code"


def _json(name: str) -> Any:
    return json.loads((PLUGIN / name).read_text(encoding="utf-8"))


def test_the_plugin_manifest_is_correct() -> None:
    result = _json(".claude-plugin/plugin.json")
    assert (result["name"], result["version"]) == ("lamina", __version__)
    assert re.fullmatch(r"[A-Z][^.]+\.", result["description"])
    assert "author" not in result


def test_its_hooks_are_those_of_the_command() -> None:
    hooks = _json("hooks/hooks.json")["hooks"]
    assert list(hooks) == [item.claude_name for item in HookEvent]
    for event, (entry,) in zip(HookEvent, hooks.values(), strict=True):
        (hook,) = entry["hooks"]
        assert hook == {
            "type": "command",
            "command": f"lamina hook {event} 2>/dev/null || true",
            "timeout": HOOK_TIMEOUT,
        }
        assert is_our_hook(entry)


def test_its_server_is_the_one_of_this_package() -> None:
    assert _json(".mcp.json") == {"mcpServers": {"lamina": {"command": "lamina", "args": ["mcp"]}}}


def test_its_skill_is_the_one_that_install_writes() -> None:
    text = (PLUGIN / "skills" / "lamina-memory" / "SKILL.md").read_text(encoding="utf-8")
    assert text == read_skill()
    head = text.split("---\n")[1]
    assert re.search(r"^name: lamina-memory$", head, re.MULTILINE)
    assert len(re.search(r"^description: (.+)$", head, re.MULTILINE)[1]) < 1024  # type: ignore[index]
    for tool in ("recall", "remember", "revise", "feedback", "forget"):
        assert f"`{tool}`" in text
