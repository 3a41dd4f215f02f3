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
class ServerFormat:
    """A way in which hosts write a server in their configuration file."""

    servers_key: str
    has_stdio_type: bool
    has_http_type: bool
    token_placeholder: str
    """Placeholder for the token in a header; empty if the host needs none."""


SERVER_FORMATS: Mapping[Host, ServerFormat] = {
    Host.CLAUDE_CODE: ServerFormat("mcpServers", True, True, "${LAMINA_TOKEN}"),
    Host.CLAUDE_DESKTOP: ServerFormat("mcpServers", False, False, ""),
    Host.CURSOR: ServerFormat("mcpServers", False, False, "${env:LAMINA_TOKEN}"),
    Host.VSCODE: ServerFormat("servers", True, True, "${input:lamina-token}"),
    Host.CODEX: ServerFormat("mcp_servers", False, False, ""),
}
TOKEN_VARIABLE = "LAMINA_TOKEN"
"""The environment variable with the access token for `lamina serve`."""


@dataclass(frozen=True, slots=True)
class UserEnvironment:
    """The user's home folder, environment variables and platform."""

    home: Path
    environ: Mapping[str, str]
    platform: str

    @property
    def settings_folder(self) -> Path:
        """The folder where desktop programs store their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming")
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")

    def claude_path(self, name: str) -> Path:
        """Return the path of a file in the folder of Claude Code."""
        return Path(self.environ.get("CLAUDE_CONFIG_DIR") or self.home / ".claude") / name


def servers_file(host: Host, user: UserEnvironment, project: Path | None) -> Path:
    """Return the file that lists a host's servers, for a project or the user; InvalidInput if the host has none."""
    match host:
        case Host.CLAUDE_CODE:
            claude_folder = user.environ.get("CLAUDE_CONFIG_DIR")
            return project / ".mcp.json" if project else Path(claude_folder or user.home) / ".claude.json"
        case Host.CLAUDE_DESKTOP:
            if project:
                raise InvalidInput("Claude Desktop has no projects; leave --project out")
            return user.settings_folder / "Claude" / "claude_desktop_config.json"
        case Host.CURSOR:
            return (project or user.home) / ".cursor" / "mcp.json"
        case Host.VSCODE:
            return project / ".vscode" / "mcp.json" if project else user.settings_folder / "Code" / "User" / "mcp.json"
        case Host.CODEX:
            codex_folder = Path(user.environ.get("CODEX_HOME") or user.home / ".codex")
            return (project / ".codex" if project else codex_folder) / "config.toml"


def hooks_file(user: UserEnvironment, project: Path | None) -> Path:
    """Return Claude Code's file for hooks; a project's hooks go into its unshared file, because they run programs."""
    return project / ".claude" / "settings.local.json" if project else user.claude_path("settings.json")


def skill_file(user: UserEnvironment, project: Path | None) -> Path:
    """Return the path of our skill for Claude Code."""
    folder = project / ".claude" if project else user.claude_path("")
    return folder / "skills" / "lamina-memory" / "SKILL.md"
