"""A vault's own folder: its marker, its welcome page, and where its databases live."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

import lamina
from lamina import InvalidInput, StoreError, StoreTooNew
from lamina.vault import vault_setup


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
    return place


def test_a_new_vault_explains_itself_and_keeps_git_out_of_its_databases(tmp_path: Path) -> None:
    root = tmp_path / "a" / "vault"
    assert vault_setup.ensure_vault(root) is True
    assert (root / "Home.md").read_text().startswith("# Home\n")
    assert (root / ".gitignore").read_text() == ".lamina/\n"
    assert (root / "atoms").is_dir()
    assert (root / "sessions").is_dir()
    assert vault_setup.is_vault(root)
    assert len(vault_setup.vault_id(root)) == 32
    assert vault_setup.ensure_vault(root) is False


def test_a_vault_is_readable_only_by_its_owner(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    vault_setup.ensure_vault(root)
    for path in (root, *root.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_existing_files_are_left_alone(tmp_path: Path) -> None:
    files = {
        "Home.md": "my own home",
        ".gitignore": "*.tmp\n",
        "notes/a.md": "a note",
        "atoms.md": "x",
        "todo.txt": "y",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".obsidian").mkdir()
    times = {name: (tmp_path / name).stat().st_mtime_ns for name in files}
    with lamina.open(tmp_path, watch=False) as memory:
        assert memory.engine.created
        memory.remember("tea")
        assert [atom.content for atom in memory.list(status=None)] == ["tea"]
    assert {name: (tmp_path / name).read_text() for name in files} == files
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in files} == times


def test_opening_again_creates_nothing(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    vault_setup.ensure_vault(root)
    name = vault_setup.vault_id(root)
    (root / "Home.md").unlink()
    vault_setup.ensure_vault(root)
    assert vault_setup.vault_id(root) == name
    assert not (root / "Home.md").exists()


def test_a_file_is_no_vault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInput, match="is a file; give a folder"):
        lamina.open(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("damage", [b"id = ", b"\xff\xfe", b"[[[", b"id = 'x'\nid = 'y'"])
def test_a_damaged_marker_is_reported_with_what_to_do_and_unchanged(tmp_path: Path, damage: bytes) -> None:
    with lamina.open(tmp_path, watch=False) as memory:
        memory.remember("tea")
    (tmp_path / vault_setup.MARKER_FILE).write_bytes(damage)
    with pytest.raises(InvalidInput, match=r"vault\.toml is damaged.*lamina doctor --repair"):
        lamina.open(tmp_path, watch=False)
    assert (tmp_path / vault_setup.MARKER_FILE).read_bytes() == damage
    (tmp_path / vault_setup.MARKER_FILE).unlink()
    with lamina.open(tmp_path, watch=False) as memory:
        assert [atom.content for atom in memory.list()] == ["tea"]
        assert memory.upkeep.doctor(deep=True).healthy


@pytest.mark.parametrize("text", ["2", '"1"', "1.5"])
def test_a_vault_of_a_later_version_is_refused(tmp_path: Path, text: str) -> None:
    vault_setup.ensure_vault(tmp_path)
    (tmp_path / vault_setup.MARKER_FILE).write_text(f'id = "x"\nformat = {text}\n')
    with pytest.raises(StoreTooNew, match="upgrade lamina"):
        lamina.open(tmp_path, watch=False)
    assert not (tmp_path / ".lamina/history.db").exists()


def test_without_a_sync_tool_the_databases_are_beside_the_files(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    vault_setup.ensure_vault(root)
    assert vault_setup.sync_tool(root) is None
    assert vault_setup.state_folder(root, None) == root / ".lamina"


TRACES = [
    (".stfolder", "Syncthing"),
    (".stignore", "Syncthing"),
    (".dropbox.cache", "Dropbox"),
    (".dropbox", "Dropbox"),
    (".nextcloudsync.log", "Nextcloud"),
]
FOLDERS = [
    ("Dropbox", "Dropbox"),
    ("Mobile Documents/com~apple~CloudDocs", "iCloud"),
    ("OneDrive", "OneDrive"),
    ("OneDrive - Contoso", "OneDrive"),
    ("Google Drive", "Google Drive"),
]


@pytest.mark.parametrize(("trace", "tool"), TRACES)
@pytest.mark.parametrize("above", ["", "notes/deep"])
def test_a_sync_tool_is_recognised_by_its_traces_here_or_above(
    tmp_path: Path, trace: str, tool: str, above: str
) -> None:
    (tmp_path / "synced").mkdir()
    (tmp_path / "synced" / trace).touch()
    root = tmp_path / "synced" / above
    root.mkdir(parents=True, exist_ok=True)
    assert vault_setup.sync_tool(root) == tool


@pytest.mark.parametrize(("folder", "tool"), FOLDERS)
def test_a_sync_tool_is_recognised_by_the_name_of_its_folder(tmp_path: Path, folder: str, tool: str) -> None:
    assert vault_setup.sync_tool(tmp_path / folder / "notes") == tool


@pytest.mark.parametrize("folder", ["dropboxes", "my onedrive notes", "drive", "sync", "icloud"])
def test_a_similar_name_is_no_sync_tool(tmp_path: Path, folder: str) -> None:
    assert vault_setup.sync_tool(tmp_path / folder) is None


@pytest.mark.parametrize("folder", ["Syncthing", "Dropbox", "Mobile Documents", "OneDrive - Contoso"])
def test_in_a_synced_folder_the_databases_are_in_the_users_state_folder(
    tmp_path: Path, state_home: Path, folder: str
) -> None:
    root = tmp_path / folder / "vault"
    if folder == "Syncthing":
        (tmp_path / folder / ".stfolder").mkdir(parents=True)
    with lamina.open(root, watch=False) as memory:
        memory.remember("tea")
        assert memory.engine.state == state_home / "lamina" / vault_setup.vault_id(root)
        assert any("owns this folder, so the databases are in" in note for note in memory.upkeep.doctor().notes)
        assert stat.S_IMODE(memory.engine.state.stat().st_mode) == 0o700
    assert list(root.rglob("*.db*")) == []
    assert (state_home / "lamina" / vault_setup.vault_id(root) / "history.db").is_file()
    with lamina.open(root, watch=False) as memory:
        assert [hit.text for hit in memory.recall("tea").hits] == ["tea"]
        assert len(memory.journal()) == 1


def test_a_synced_vault_on_another_machine_is_restored_from_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "Dropbox" / "vault"
    with lamina.open(root, watch=False) as memory:
        memory.remember("tea", kind="preference", subject="drinks")
        before = memory.list(status=None)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
    with lamina.open(root, watch=False) as memory:
        assert memory.list(status=None) == before


def test_two_synced_vaults_never_share_a_database(tmp_path: Path) -> None:
    for name in ("one", "other"):
        with lamina.open(tmp_path / "Dropbox" / name, watch=False) as memory:
            memory.remember(f"tea of {name}")
    with lamina.open(tmp_path / "Dropbox" / "one", watch=False) as memory:
        assert [atom.content for atom in memory.list(status=None)] == ["tea of one"]


def test_a_configured_state_folder_is_created_and_used(tmp_path: Path) -> None:
    chosen = lamina.Settings(state_dir=tmp_path / "deep" / "state", watch=False)
    with lamina.open(tmp_path / "vault", settings=chosen) as memory:
        memory.remember("tea")
    assert (tmp_path / "deep/state/history.db").is_file()
    assert list((tmp_path / "vault").rglob("*.db")) == []


def test_a_moved_vault_is_still_the_same(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "here", watch=False) as memory:
        memory.remember("tea")
        name = vault_setup.vault_id(memory.root)
    shutil.move(tmp_path / "here", tmp_path / "there")
    with lamina.open(tmp_path / "there", watch=False) as memory:
        assert vault_setup.vault_id(memory.root) == name
        assert (len(memory.journal()), len(memory.list())) == (1, 1)


def test_history_is_kept_when_a_sync_tool_takes_over_the_folder_later(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        atom = memory.remember("green tea").atom
        memory.revise(atom.id, "black tea", reason="r")
    (tmp_path / "vault/.stfolder").mkdir()
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        assert len(memory.history(atom.id).versions) == 2


@pytest.mark.parametrize("text", ["", "format = 1\n", 'id = ""\n', 'id = "../../elsewhere"\n', "id = 7\n"])
def test_a_marker_without_a_valid_id_is_damaged(tmp_path: Path, text: str) -> None:
    root = tmp_path / "Dropbox" / "vault"
    vault_setup.ensure_vault(root)
    (root / vault_setup.MARKER_FILE).write_text(text)
    with pytest.raises(InvalidInput, match="damaged"):
        vault_setup.state_folder(root, None)


@pytest.mark.parametrize("folder", ["Dropbox (Personal)", "Library/CloudStorage/OneDrive-Personal"])
def test_the_folders_of_real_sync_tools_are_recognised(tmp_path: Path, folder: str) -> None:
    assert vault_setup.sync_tool(tmp_path / folder / "notes") is not None


def test_the_settings_folder_of_dropbox_does_not_make_a_home_synced(tmp_path: Path) -> None:
    (tmp_path / ".dropbox").mkdir()
    assert vault_setup.sync_tool(tmp_path / "notes") is None


@pytest.mark.parametrize("place", ["above", "above/vault", "above/vault/.lamina"])
def test_a_world_writable_vault_is_not_opened(tmp_path: Path, place: str) -> None:
    root = tmp_path / "above" / "vault"
    lamina.open(root).close()
    (tmp_path / place).chmod(0o777)
    with pytest.raises(StoreError, match="chmod o-w"):
        lamina.open(root)
    (tmp_path / place).chmod(0o755)
    lamina.open(root).close()


def test_a_link_to_a_vault_is_as_safe_as_its_target(tmp_path: Path) -> None:
    root = tmp_path / "above" / "vault"
    lamina.open(root).close()
    (tmp_path / "link").symlink_to(root)
    lamina.open(tmp_path / "link").close()
    (tmp_path / "above").chmod(0o777)
    with pytest.raises(StoreError, match="every user of this machine can write"):
        lamina.open(tmp_path / "link")


def test_a_sticky_world_writable_folder_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    with lamina.open(tmp_path / "shared" / "vault") as memory:
        assert memory.engine.created


def test_folders_created_above_a_new_vault_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        lamina.open(tmp_path / "a" / "b" / "vault").close()
    finally:
        os.umask(before)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b", "a/b/vault")} == {0o700}
