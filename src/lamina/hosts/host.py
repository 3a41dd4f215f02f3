"""The hosts we know: which files they read, and how a server is written down there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lamina.errors import InvalidInput


class Host(StrEnum):
    """A program that runs agents, by the word the command takes."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"


@dataclass(frozen=True, slots=True)
class Reference:
    """How a host's file names an environment variable, and the fields of a server that differ from host to host."""

    servers: str
    stdio_type: bool
    http_type: bool
    token: str
    """What stands for the token in a header; empty where the host has a way of its own."""


REFERENCES: Mapping[Host, Reference] = {
    Host.CLAUDE_CODE: Reference("mcpServers", True, True, "${LAMINA_TOKEN}"),
    Host.CLAUDE_DESKTOP: Reference("mcpServers", False, False, ""),
    Host.CURSOR: Reference("mcpServers", False, False, "${env:LAMINA_TOKEN}"),
    Host.VSCODE: Reference("servers", True, True, "${input:lamina-token}"),
    Host.CODEX: Reference("mcp_servers", False, False, ""),
}
TOKEN = "LAMINA_TOKEN"
"""The environment variable that holds the token of a served memory."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Whose machine it is: a home, the environment, and which system."""

    user: Path
    environ: Mapping[str, str]
    platform: str

    @property
    def settings(self) -> Path:
        """Where programs with windows keep their settings."""
        if self.platform == "darwin":
            return self.user / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.user / "AppData" / "Roaming")
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.user / ".config")

    def claude(self, name: str) -> Path:
        """A file of Claude Code's own folder."""
        return Path(self.environ.get("CLAUDE_CONFIG_DIR") or self.user / ".claude") / name


def servers_file(host: Host, around: Surroundings, project: Path | None) -> Path:
    """The file in which a host looks for servers: of one project, or of its user."""
    match host:
        case Host.CLAUDE_CODE:
            moved = around.environ.get("CLAUDE_CONFIG_DIR")
            return project / ".mcp.json" if project else Path(moved or around.user) / ".claude.json"
        case Host.CLAUDE_DESKTOP:
            if project:
                raise InvalidInput("Claude Desktop knows no projects; leave --project out")
            return around.settings / "Claude" / "claude_desktop_config.json"
        case Host.CURSOR:
            return (project or around.user) / ".cursor" / "mcp.json"
        case Host.VSCODE:
            return project / ".vscode" / "mcp.json" if project else around.settings / "Code" / "User" / "mcp.json"
        case Host.CODEX:
            own = Path(around.environ.get("CODEX_HOME") or around.user / ".codex")
            return (project / ".codex" if project else own) / "config.toml"


def hooks_file(around: Surroundings, project: Path | None) -> Path:
    """Where Claude Code looks for hooks; those of a project go into the file that is not shared: they run programs."""
    return project / ".claude" / "settings.local.json" if project else around.claude("settings.json")


def skill_file(around: Surroundings, project: Path | None) -> Path:
    """Where Claude Code looks for a skill."""
    folder = project / ".claude" if project else around.claude("")
    return folder / "skills" / "lamina-memory" / "SKILL.md"
