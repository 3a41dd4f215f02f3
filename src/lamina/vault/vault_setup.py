"""Create and recognise a vault: its marker file, its welcome page, and the folder of its databases."""

from __future__ import annotations

import os
import re
import secrets
import stat
import tempfile
import tomllib
from pathlib import Path

from lamina.errors import InvalidInput, StoreError, StoreTooNew

INTERNAL_FOLDER = ".lamina"
MARKER_FILE = f"{INTERNAL_FOLDER}/vault.toml"
FORMAT_VERSION = 1

_WELCOME_PAGE = """\
# Home

This folder is a memory. Every statement is one markdown file: open, edit, move or delete it; the change takes effect
immediately. Conversations are stored word for word in `sessions/`, and every statement links to the turn it came from.

- `atoms/`: the statements, one folder per day
- `sessions/`: conversations and documents, word for word
- `inbox/`: drop a file here; it is captured, and stored under `sessions/`
- `archive/`: archived and forgotten files

## Pending review
```query
path:atoms ["status":constrained]
```

## Pinned
```query
path:atoms ["pinned":true]
```
"""

_SYNC_TOOL_FILES = {
    ".stfolder": "Syncthing",
    ".stignore": "Syncthing",
    ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox",
    ".owncloudsync.log": "Nextcloud",
    ".nextcloudsync.log": "Nextcloud",
}
_SYNC_TOOL_FOLDERS = {
    "dropbox": "Dropbox",
    "com~apple~clouddocs": "iCloud",
    "mobile documents": "iCloud",
    "onedrive": "OneDrive",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
}
_SYNCED_FOLDER = re.compile(rf"({'|'.join(map(re.escape, _SYNC_TOOL_FOLDERS))})(?: ?-.*| \(.*\))?")
_VAULT_ID = re.compile(r"[0-9a-f]{32}")


def ensure_vault(root: Path) -> bool:
    """Make the folder a vault if it is not one yet, leaving existing files alone; return whether it is new."""
    if root.exists() and not root.is_dir():
        raise InvalidInput(f"{root} is a file; give a folder for the vault")
    make_private_folder(root)
    (root / INTERNAL_FOLDER).mkdir(mode=0o700, exist_ok=True)
    if (root / MARKER_FILE).exists():
        _check_format(root / MARKER_FILE)
        return False  # a folder that vanished from a vault is not created again: what was in it is not deleted
    for name in ("atoms", "sessions", "inbox"):
        (root / name).mkdir(mode=0o700, exist_ok=True)
    _write_new(root / "Home.md", _WELCOME_PAGE)
    _write_new(root / ".gitignore", f"{INTERNAL_FOLDER}/\n")
    _write_new(root / MARKER_FILE, f'id = "{secrets.token_hex(16)}"\nformat = {FORMAT_VERSION}\n')
    return True


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents for this user only; StoreError if other users could replace it.

    A user who can write to the parent folder can replace the folder, whatever its own permissions are, unless the
    sticky bit, as on /tmp, prevents it.
    """
    for parent in reversed([folder, *folder.parents]):
        if not parent.exists():
            parent.mkdir(mode=0o700, exist_ok=True)
    for checked in (folder, folder.parent, folder.resolve().parent):
        mode = checked.stat().st_mode
        is_protected = bool(mode & stat.S_ISVTX) and checked != folder
        if mode & stat.S_IWOTH and not is_protected and _has_permissions(folder):
            raise StoreError(
                f"every user of this machine can write to {checked} and could replace your memories; "
                f"run `chmod o-w {checked}`, or move the vault elsewhere"
            )


def _has_permissions(folder: Path) -> bool:
    """Return whether the file system stores permissions; on some drives everyone may do everything."""
    with tempfile.TemporaryDirectory(prefix=".lamina-", dir=folder) as name:
        return not Path(name).stat().st_mode & stat.S_IWOTH


def is_vault(root: Path) -> bool:
    """Return whether a folder has the marker file."""
    return (root / MARKER_FILE).is_file()


def vault_id(root: Path) -> str:
    """Return the id of a vault, which stays the same when it is moved; InvalidInput if the marker file is damaged."""
    stored_id = _read_marker(root / MARKER_FILE).get("id")
    if not isinstance(stored_id, str) or not _VAULT_ID.fullmatch(stored_id):
        raise InvalidInput(f"{root / MARKER_FILE} is damaged: it has no id; `lamina doctor --repair` makes it anew")
    return stored_id


def state_folder(root: Path, chosen: Path | None) -> Path:
    """Return the folder of the databases: inside the vault, or in the user's state folder if a sync tool owns the
    vault."""
    if chosen is not None:
        return chosen.expanduser()
    if sync_tool(root) is None or (root / INTERNAL_FOLDER / "history.db").exists():
        return root / INTERNAL_FOLDER
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "lamina" / vault_id(root)


def sync_tool(root: Path) -> str | None:
    """Return the sync tool that owns a folder, by the files it leaves there or above; None if there is none."""
    for folder in (root, *root.parents):
        for name, tool in _SYNC_TOOL_FILES.items():
            if (folder / name).exists() and not (name == ".dropbox" and (folder / name).is_dir()):
                return tool  # a folder ~/.dropbox only holds settings
        match = _SYNCED_FOLDER.fullmatch(folder.name.casefold())
        if match:
            return _SYNC_TOOL_FOLDERS[match[1]]
    return None


def _check_format(marker: Path) -> None:
    version = _read_marker(marker).get("format", FORMAT_VERSION)
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise StoreTooNew(
            f"the vault has format {version}, this lamina reads up to {FORMAT_VERSION}; upgrade lamina to open it"
        )


def _read_marker(marker: Path) -> dict[str, object]:
    try:
        return tomllib.loads(marker.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{marker} is damaged: {error}; `lamina doctor --repair` makes it anew") from error


def _write_new(path: Path, text: str) -> None:
    """Write a file atomically, unless it exists."""
    draft = path.parent / f".{path.name}-{secrets.token_hex(4)}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return
    finally:
        draft.unlink()
