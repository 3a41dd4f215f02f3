"""`lamina install` writes the settings of hosts, and removes only what it added.

Covers `lamina.cli.install`.
"""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from command_result import Cli
from lamina.errors import InvalidInput
from lamina.hosts.config_edit import EditResult, edit_file
from lamina.hosts.host_files import Host, UserEnvironment, servers_file
from lamina.hosts.installation import find_program, parse_mcp_url
from lamina.hosts.jsonc import parse_jsonc
from lamina.testing.store_harness import NOON
from lamina.vault.vault_setup import ensure_vault

HOSTS = [item.value for item in Host]
FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
}
PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "codex": ".codex/config.toml",
}


@pytest.fixture(autouse=True)
def _clean_machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "LAMINA_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    ensure_vault(home / "lamina")


def _server(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    value = tomllib.loads(text) if path.suffix == ".toml" else parse_jsonc(text).value
    return next(value[key]["lamina"] for key in ("mcpServers", "servers", "mcp_servers") if key in value)


@pytest.mark.parametrize("host", HOSTS)
def test_install_prints_the_changes_and_writes_nothing(cli: Cli, home: Path, host: str) -> None:
    data = cli("install", host, "--json").data
    assert data["files"][0]["path"] == str(home / FILES[host])
    assert data["written"] is False
    assert not (home / FILES[host]).exists()
    assert str(home / FILES[host]) in cli("install", host).out
    assert "--vault" in data["files"][0]["add"]


@pytest.mark.parametrize("host", HOSTS)
def test_write_adds_a_working_command_and_is_idempotent(cli: Cli, home: Path, host: str) -> None:
    file = home / FILES[host]
    assert cli("install", host, "--write").code == 0
    server = _server(file)
    assert Path(server["command"]).is_absolute()
    assert server["args"][-3:] == ["mcp", "--vault", str(home / "lamina")]
    before = file.stat()
    again = cli("install", host, "--write", "--json").data
    assert {file["done"] for file in again["files"]} == {"unchanged"}
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize("host", HOSTS)
def test_uninstall_removes_exactly_what_was_added(cli: Cli, home: Path, host: str) -> None:
    file = home / FILES[host]
    file.parent.mkdir(parents=True, exist_ok=True)
    key = "servers" if host == "vscode" else "mcpServers"
    mine = f'{{\n  // mine\n  "{key}": {{\n    "other": {{"command": "x"}}\n  }}\n}}\n'
    mine = '# mine\n[mcp_servers.other]\ncommand = "x"\n' if host == "codex" else mine
    file.write_text(mine, encoding="utf-8")
    file.chmod(0o640)
    (result,) = [item for item in cli("install", host, "--write", "--json").data["files"] if item["path"] == str(file)]
    assert result["done"] == "updated"
    assert Path(result["backup"]).read_text(encoding="utf-8") == mine
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(Path(result["backup"]).stat().st_mode) == 0o640
    assert cli("uninstall", host).code == 0
    assert file.read_text(encoding="utf-8") == mine
    assert {file["done"] for file in cli("uninstall", host, "--json").data["files"]} == {"unchanged"}


@pytest.mark.parametrize("host", HOSTS)
def test_uninstall_leaves_no_file_that_was_not_there_before(cli: Cli, home: Path, host: str) -> None:
    before = sorted(home.rglob("*"))
    cli("install", host, "--write")
    cli("uninstall", host)
    assert [path for path in sorted(home.rglob("*")) if path.is_file() and path not in before] == []


@pytest.mark.parametrize("host", sorted(PROJECT_FILES))
def test_a_project_has_separate_files(cli: Cli, home: Path, host: str) -> None:
    data = cli("install", host, "--project", "--write", "--json").data
    assert str(Path.cwd() / PROJECT_FILES[host]) in [file["path"] for file in data["files"]]
    assert not (home / FILES[host]).exists()
    cli("uninstall", host, "--project")
    assert [path for path in Path.cwd().rglob("*") if path.is_file()] == []


def test_claude_code_project_hooks_are_in_the_unshared_file(cli: Cli) -> None:
    cli("install", "claude-code", "--project", "--write")
    settings = json.loads((Path.cwd() / ".claude" / "settings.local.json").read_text(encoding="utf-8"))
    assert set(settings["hooks"]) == {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}
    assert (Path.cwd() / ".claude" / "skills" / "lamina-memory" / "SKILL.md").exists()


def test_hooks_are_added_beside_others_and_follow_the_vault(cli: Cli, home: Path, tmp_path: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    mine = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "model": "opus"}
    settings.write_text(json.dumps(mine, indent=2), encoding="utf-8")
    cli("install", "claude-code", "--write")
    ensure_vault(tmp_path / "other")
    cli("install", "claude-code", "--write", "--vault", str(tmp_path / "other"))
    stop = json.loads(settings.read_text(encoding="utf-8"))["hooks"]["Stop"]
    assert stop[0] == mine["hooks"]["Stop"][0]  # type: ignore[index]
    (ours,) = stop[1:]
    assert ours["hooks"][0]["command"].endswith(f"hook stop --vault {tmp_path / 'other'}")
    assert cli("install", "claude-code", "--write", "--no-hooks", "--json").code == 0
    cli("uninstall", "claude-code")
    assert json.loads(settings.read_text(encoding="utf-8")) == mine


def test_http_refers_to_the_token_and_never_contains_it(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_TOKEN", "lam_secret")
    for host in ("claude-code", "cursor", "vscode", "codex"):
        assert cli("install", host, "--http", "http://127.0.0.1:8377", "--write").code == 0
        assert "lam_secret" not in (home / FILES[host]).read_text(encoding="utf-8")
        assert _server(home / FILES[host])["url"] == "http://127.0.0.1:8377/mcp"
    assert _server(home / FILES["codex"])["bearer_token_env_var"] == "LAMINA_TOKEN"
    assert _server(home / FILES["claude-code"])["headers"]["Authorization"] == "Bearer ${LAMINA_TOKEN}"
    assert _server(home / FILES["cursor"])["headers"]["Authorization"] == "Bearer ${env:LAMINA_TOKEN}"
    vscode = parse_jsonc((home / FILES["vscode"]).read_text(encoding="utf-8")).value
    assert vscode["servers"]["lamina"]["headers"]["Authorization"] == f"Bearer ${{input:{vscode['inputs'][0]['id']}}}"
    assert not (home / ".claude" / "settings.json").exists()
    assert cli("install", "claude-desktop", "--http", "http://127.0.0.1:8377").code == 2


@pytest.mark.parametrize("host", ["claude-code", "cursor", "vscode", "codex"])
def test_writing_a_token_on_request_makes_the_file_private(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    file = home / FILES[host]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("" if host == "codex" else "{}", encoding="utf-8")
    words = ("install", host, "--http", "https://memory.example", "--with-token", "--write")
    assert cli(*words).code == 2
    monkeypatch.setenv("LAMINA_TOKEN", "lam_secret")
    assert cli(*words, "--project").code == 2
    assert cli(*words).code == 0
    assert "lam_secret" in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("host", HOSTS)
def test_an_unreadable_file_is_left_unchanged(cli: Cli, home: Path, host: str) -> None:
    file = home / FILES[host]
    file.parent.mkdir(parents=True, exist_ok=True)
    for broken in (b'{"mcpServers": oops', b"\xff\xfe{}"):
        file.write_bytes(broken)
        result = cli("install", host, "--write")
        assert (result.code, file.read_bytes()) == (2, broken)
        assert "was not changed" in result.err
        assert len(list(file.parent.glob(f"*{file.name}*"))) == 1


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_server_of_the_same_name_is_left_alone(cli: Cli, home: Path, host: str) -> None:
    file = home / FILES[host]
    file.parent.mkdir(parents=True, exist_ok=True)
    theirs = {"command": "npx", "args": ["-y", "lamina-mcp"]}
    text = json.dumps({("servers" if host == "vscode" else "mcpServers"): {"lamina": theirs}})
    text = '[mcp_servers.lamina]\ncommand = "npx"\n' if host == "codex" else text
    file.write_text(text, encoding="utf-8")
    before = _files(home)
    result = cli("install", host, "--write")
    assert result.code == 2
    assert "already" in result.err
    assert cli("uninstall", host).code == 0
    assert _files(home) == before


@pytest.mark.parametrize("host", HOSTS)
def test_user_additions_to_the_server_entry_are_kept(cli: Cli, home: Path, tmp_path: Path, host: str) -> None:
    file = home / FILES[host]
    cli("install", host, "--write")
    text = file.read_text(encoding="utf-8")
    added = text.replace('"command":', '"env": {"A": "b"},\n      "command":')
    added = f'{text}enabled = false\n\n[mcp_servers.lamina.env]\nA = "b"\n' if host == "codex" else added
    file.write_text(added, encoding="utf-8")
    assert {file["done"] for file in cli("install", host, "--write", "--json").data["files"]} == {"unchanged"}
    ensure_vault(tmp_path / "v")
    data = cli("install", host, "--write", "--vault", str(tmp_path / "v"), "--json").data
    assert {file["done"] for file in data["files"]} <= {"updated", "unchanged"}
    server = _server(file)
    assert server["args"][-1] == str(tmp_path / "v")
    assert server["env"] == {"A": "b"}
    assert server.get("enabled", False) is False


def test_if_one_file_cannot_be_changed_none_is(cli: Cli, home: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": oops', encoding="utf-8")
    before = _files(home)
    assert cli("install", "claude-code", "--write").code == 2
    assert _files(home) == before


def test_a_write_protected_file_is_left_unchanged(cli: Cli, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{}", encoding="utf-8")
    file.chmod(0o444)
    result = cli("install", "cursor", "--write")
    assert (result.code, file.read_text(encoding="utf-8")) == (2, "{}")
    assert "write-protected" in result.err


def test_a_folder_or_a_link_cycle_in_place_of_a_file_is_reported(cli: Cli, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.mkdir(parents=True)
    assert cli("install", "cursor", "--write").code == 1
    file.rmdir()
    file.symlink_to(file)
    result = cli("install", "cursor", "--write")
    assert result.code in (1, 2)
    assert "Traceback" not in result.err


def test_a_previously_empty_file_is_not_deleted(cli: Cli, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{}\n", encoding="utf-8")
    assert cli("uninstall", "cursor", "--json").data["files"][0]["done"] == "unchanged"
    assert file.read_text(encoding="utf-8") == "{}\n"


def test_only_folders_made_by_install_are_removed_with_the_last_file(cli: Cli, home: Path) -> None:
    for host in HOSTS:
        cli("install", host, "--write")
        cli("uninstall", host)
    assert sorted(path.name for path in home.iterdir()) == [".config", "lamina"]
    cli("install", "claude-code", "--project", "--write")
    cli("uninstall", "claude-code", "--project")
    assert list(Path.cwd().iterdir()) == []


def test_no_hooks_removes_existing_hooks(cli: Cli, home: Path) -> None:
    cli("install", "claude-code", "--write")
    files = cli("install", "claude-code", "--write", "--no-hooks", "--json").data["files"]
    assert [file["done"] for file in files] == ["unchanged", "unchanged", "removed"]
    assert not (home / ".claude" / "settings.json").exists()
    assert (home / ".claude.json").exists()


def test_replacing_a_longer_entry_is_no_removal(cli: Cli, home: Path) -> None:
    cli("install", "cursor", "--write")
    files = cli("install", "cursor", "--http", "http://a", "--write", "--json").data["files"]
    assert [file["done"] for file in files] == ["updated"]


def test_a_dry_run_changes_nothing(cli: Cli, home: Path) -> None:
    data = cli("install", "cursor", "--write", "--dry-run", "--json").data
    assert [file["done"] for file in data["files"]] == ["added"]
    assert not (home / ".cursor").exists()
    cli("install", "cursor", "--write")
    assert cli("uninstall", "cursor", "--dry-run").code == 0
    assert (home / ".cursor" / "mcp.json").exists()


def test_a_symbolic_link_stays_a_link(cli: Cli, home: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", home / ".cursor" / "mcp.json"
    real.write_text("{}\n", encoding="utf-8")
    link.parent.mkdir()
    link.symlink_to(real)
    cli("install", "cursor", "--write")
    assert link.is_symlink()
    assert _server(real)["args"][0] == "mcp"
    cli("uninstall", "cursor")
    assert parse_jsonc(link.read_text(encoding="utf-8")).value == {}


def test_the_scope_is_passed_to_the_command(cli: Cli, home: Path) -> None:
    cli("install", "cursor", "--write", "--scope", "org:local:agent:cursor")
    assert _server(home / ".cursor" / "mcp.json")["args"][-2:] == ["--scope", "org:local:agent:cursor"]


def test_without_a_vault_nothing_is_written(cli: Cli, tmp_path: Path, home: Path) -> None:
    assert cli("install", "cursor", "--write", "--vault", str(tmp_path / "none")).code == 3
    assert cli("install", "nonsense").code == 2
    assert not (home / ".cursor").exists()


def test_a_file_changed_by_another_program_meanwhile_is_read_again(tmp_path: Path) -> None:
    path, atoms = tmp_path / "x", list[str]()

    def change(text: str) -> str:
        atoms.append(text)
        if len(atoms) == 1:
            path.write_text("theirs", encoding="utf-8")
        return f"{text}+ours"

    path.write_text("old", encoding="utf-8")
    assert edit_file(path, change, NOON).result is EditResult.UPDATED
    assert path.read_text(encoding="utf-8") == "theirs+ours"
    assert [path.read_text(encoding="utf-8") for path in tmp_path.glob("*.backup")] == ["theirs"]


def test_every_operating_system_has_its_paths() -> None:
    mac = UserEnvironment(Path("/u"), {}, "darwin")
    linux = UserEnvironment(
        Path("/u"), {"XDG_CONFIG_HOME": "/c", "CODEX_HOME": "/x", "CLAUDE_CONFIG_DIR": "/y"}, "linux"
    )
    assert servers_file(Host.VSCODE, mac, None) == Path("/u/Library/Application Support/Code/User/mcp.json")
    assert servers_file(Host.CLAUDE_DESKTOP, linux, None) == Path("/c/Claude/claude_desktop_config.json")
    assert servers_file(Host.CODEX, linux, None) == Path("/x/config.toml")
    assert servers_file(Host.CLAUDE_CODE, linux, None) == Path("/y/.claude.json")
    with pytest.raises(InvalidInput, match="--project"):
        servers_file(Host.CLAUDE_DESKTOP, linux, Path("/p"))


def test_the_program_is_the_one_beside_this_python() -> None:
    assert find_program("/v/bin/python", lambda path: True) == ("/v/bin/lamina",)
    assert find_program("/v/bin/python", lambda path: False) == ("/v/bin/python", "-m", "lamina")


def test_an_address_is_completed_or_refused() -> None:
    assert parse_mcp_url("http://127.0.0.1:8377/") == "http://127.0.0.1:8377/mcp"
    assert parse_mcp_url("https://memory.example/own") == "https://memory.example/own"
    for wrong in ("127.0.0.1:8377", "ftp://x", "http://", "http://a:b@x", "http://x/?token=1"):
        with pytest.raises(InvalidInput, match="not a server address"):
            parse_mcp_url(wrong)
