"""The supported hosts: which configuration files they read, and how a server is written in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lamina.errors import InvalidInput


class Host(StrEnum):
    """A program that runs agents; the value is the argument of `lamina install`."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"


@dataclass(frozen=True, slots=True)
class Reference:
    """How a host writes a server in its configuration file."""

    servers: str
    stdio_type: bool
    http_type: bool
    token: str
    """Placeholder for the token in a header; empty if the host needs none."""


REFERENCES: Mapping[Host, Reference] = {
    Host.CLAUDE_CODE: Reference("mcpServers", True, True, "${LAMINA_TOKEN}"),
    Host.CLAUDE_DESKTOP: Reference("mcpServers", False, False, ""),
    Host.CURSOR: Reference("mcpServers", False, False, "${env:LAMINA_TOKEN}"),
    Host.VSCODE: Reference("servers", True, True, "${input:lamina-token}"),
    Host.CODEX: Reference("mcp_servers", False, False, ""),
}
TOKEN = "LAMINA_TOKEN"
"""The environment variable with the access token for `lamina serve`."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The user's home folder, environment variables and platform."""

    user: Path
    environ: Mapping[str, str]
    platform: str

    @property
    def settings(self) -> Path:
        """The folder where desktop programs store their settings."""
        if self.platform == "darwin":
            return self.user / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.user / "AppData" / "Roaming")
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.user / ".config")

    def claude(self, name: str) -> Path:
        """Return the path of a file in the folder of Claude Code."""
        return Path(self.environ.get("CLAUDE_CONFIG_DIR") or self.user / ".claude") / name


def servers_file(host: Host, around: Surroundings, project: Path | None) -> Path:
    """Return the file that lists a host's servers, for a project or the user; InvalidInput if the host has none."""
    match host:
        case Host.CLAUDE_CODE:
            claude_folder = around.environ.get("CLAUDE_CONFIG_DIR")
            return project / ".mcp.json" if project else Path(claude_folder or around.user) / ".claude.json"
        case Host.CLAUDE_DESKTOP:
            if project:
                raise InvalidInput("Claude Desktop has no projects; leave --project out")
            return around.settings / "Claude" / "claude_desktop_config.json"
        case Host.CURSOR:
            return (project or around.user) / ".cursor" / "mcp.json"
        case Host.VSCODE:
            return project / ".vscode" / "mcp.json" if project else around.settings / "Code" / "User" / "mcp.json"
        case Host.CODEX:
            codex_folder = Path(around.environ.get("CODEX_HOME") or around.user / ".codex")
            return (project / ".codex" if project else codex_folder) / "config.toml"


def hooks_file(around: Surroundings, project: Path | None) -> Path:
    """Return Claude Code's file for hooks; a project's hooks go into its unshared file, because they run programs."""
    return project / ".claude" / "settings.local.json" if project else around.claude("settings.json")


def skill_file(around: Surroundings, project: Path | None) -> Path:
    """Return the path of our skill for Claude Code."""
    folder = project / ".claude" if project else around.claude("")
    return folder / "skills" / "lamina-memory" / "SKILL.md"
