"""A vault's own folder: its marker, its welcome page, and where its databases live."""

from __future__ import annotations

import os
import re
import secrets
import stat
import tempfile
import tomllib
from pathlib import Path

from lamina.errors import InvalidInput, StoreError, StoreTooNew

FOLDER = ".lamina"
MARKER = f"{FOLDER}/vault.toml"
FORMAT = 1

_WELCOME = """\
# Home

This folder is a memory. Every fact is one markdown file: open it, edit it, move it, delete it; the change counts at
once. What was said stands word for word in `sessions/`, and every fact links to the turn it came from.

- `atoms/`: what is remembered, a folder a day
- `sessions/`: conversations and documents, word for word
- `inbox/`: drop a file here; it is read, and kept under `sessions/`
- `archive/`: what was set aside or forgotten; nothing is ever lost

## Waiting for review
```query
path:atoms ["status":constrained]
```

## Pinned
```query
path:atoms ["pinned":true]
```
"""

_TRACES = {
    ".stfolder": "Syncthing",
    ".stignore": "Syncthing",
    ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox",
    ".owncloudsync.log": "Nextcloud",
    ".nextcloudsync.log": "Nextcloud",
}
_FOLDERS = {
    "dropbox": "Dropbox",
    "com~apple~clouddocs": "iCloud",
    "mobile documents": "iCloud",
    "onedrive": "OneDrive",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
}
_SYNCED = re.compile(rf"({'|'.join(map(re.escape, _FOLDERS))})(?: ?-.*| \(.*\))?")
_VAULT_ID = re.compile(r"[0-9a-f]{32}")


def establish(root: Path) -> bool:
    """Make the folder a vault if it is none yet; what a person already has there is left alone. True if it is new."""
    if root.exists() and not root.is_dir():
        raise InvalidInput(f"{root} is a file; a vault is a folder")
    make_own(root)
    (root / FOLDER).mkdir(mode=0o700, exist_ok=True)
    for name in ("atoms", "sessions", "inbox"):
        (root / name).mkdir(mode=0o700, exist_ok=True)
    if (root / MARKER).exists():
        _check_format(root / MARKER)
        return False
    _write_new(root / "Home.md", _WELCOME)
    _write_new(root / ".gitignore", f"{FOLDER}/\n")
    _write_new(root / MARKER, f'id = "{secrets.token_hex(16)}"\nformat = {FORMAT}\n')
    return True


def make_own(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone; StoreError where others may take it.

    Whoever may write to the folder above can put another one in its place, whatever its own rights are. The sticky bit,
    as of /tmp, keeps them from it.
    """
    for each in reversed([folder, *folder.parents]):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
    for place in (folder, folder.parent, folder.resolve().parent):
        rights = place.stat().st_mode
        safe = bool(rights & stat.S_ISVTX) and place != folder
        if rights & stat.S_IWOTH and not safe and _keeps_rights(folder):
            raise StoreError(
                f"everybody on this machine may write to {place}, and so put other memories in place of yours; "
                f"`chmod o-w {place}`, or keep the vault elsewhere"
            )


def _keeps_rights(folder: Path) -> bool:
    """Whether the file system knows who may do what; some drives let everybody do everything, and nothing helps."""
    with tempfile.TemporaryDirectory(prefix=".lamina-", dir=folder) as own:
        return not Path(own).stat().st_mode & stat.S_IWOTH


def is_vault(root: Path) -> bool:
    """Whether a folder carries the marker."""
    return (root / MARKER).is_file()


def vault_id(root: Path) -> str:
    """The name by which a vault knows itself, wherever it is moved."""
    found = _marker(root / MARKER).get("id")
    if not isinstance(found, str) or not _VAULT_ID.fullmatch(found):
        raise InvalidInput(f"{root / MARKER} is damaged: it has no id; delete it and open the vault again")
    return found


def state_folder(root: Path, chosen: Path | None) -> Path:
    """Where the databases live: beside the files, or in the user's state folder where a sync tool owns the vault."""
    if chosen is not None:
        return chosen.expanduser()
    if sync_tool(root) is None or (root / FOLDER / "history.db").exists():
        return root / FOLDER
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "lamina" / vault_id(root)


def sync_tool(root: Path) -> str | None:
    """The sync tool that owns a folder, by the traces it leaves there or above."""
    for folder in (root, *root.parents):
        for trace, tool in _TRACES.items():
            if (folder / trace).exists() and not (trace == ".dropbox" and (folder / trace).is_dir()):
                return tool  # a folder ~/.dropbox only holds settings
        found = _SYNCED.fullmatch(folder.name.casefold())
        if found:
            return _FOLDERS[found[1]]
    return None


def _check_format(marker: Path) -> None:
    found = _marker(marker).get("format", FORMAT)
    if not isinstance(found, int) or found > FORMAT:
        raise StoreTooNew(f"the vault has format {found}, this lamina reads up to {FORMAT}; upgrade lamina to open it")


def _marker(marker: Path) -> dict[str, object]:
    try:
        return tomllib.loads(marker.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{marker} is damaged: {error}; delete it and open the vault again") from error


def _write_new(path: Path, text: str) -> None:
    """Write a file that is complete from the first moment, unless there is one."""
    draft = path.parent / f".{path.name}-{secrets.token_hex(4)}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return
    finally:
        draft.unlink()
