"""Define the path of each file, relative to the vault. Pure: no disk access."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date
from functools import lru_cache
from pathlib import PurePosixPath

from lamina.atom.atom import Atom
from lamina.atom.page import is_page, single_page
from lamina.atom.scope import Scope, agent, organisation, parse_scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.errors import InvalidScope

DEFAULT_SCOPE = Scope("org:local")
SUFFIX = ".md"

_ARCHIVED = frozenset({Status.ARCHIVED, Status.TOMBSTONED})
_LONGEST_SLUG = 60
_INBOX, _ORIGINALS = "inbox", "originals"

_ID = r"(?<![a-z0-9])[0-7][0-9a-hjkmnp-tv-z]{25}"
_DAY = r"\d{4}-\d{2}-\d{2}"
_COPIES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?$",  # Syncthing
        rf"(?i)\((?:.{{1,80}} )?conflicted copy(?: {_DAY})?(?: \d{{4,6}})?(?: \(?\d+\)?)?\)$",  # Dropbox, ownCloud, Box
        r"(?i)\(conflicted copy .{1,80} \d{12,14}\)$",  # Obsidian Sync
        r"(?i)\((?:case|unicode encoding|white ?space|selective sync) conflict(?: \(?\d+\)?)?\)$",  # Dropbox
        r"_conflict-\d{8}-\d{6}$",  # Nextcloud
        r"\(SFConflict .{1,80} \d{4}(?:-\d{2}){5}\)$",  # Seafile
        rf"(?i)\((?:.{{1,80}} )?conflict(?: #\d+)? (?:on )?{_DAY}(?:[ -][\d-]+)?\)$",  # Unison, Tresorit
        r"\.(?:sync\.)?Conflict$",  # Resilio Sync
        r"(?i) ?\[conflicted(?: \d+)?\]$",  # pCloud
        r"\.conflict\d+$",  # rclone bisync
        r"_(?:BASE|LOCAL|REMOTE|BACKUP)_\d+$",  # git mergetool
        r"\.(?:orig|rej)$",  # git, Mercurial
        r"~$",  # editors' backups
        rf"{_ID} \d{{1,3}}$",  # iCloud, Finder
        rf"{_ID} ?\(\d{{1,3}}\)$",  # Google Drive, browsers
        rf"(?i){_ID} (?:- )?copy(?: ?\(?\d+\)?)?$",  # Explorer, Finder
        rf"{_ID}-(?=.*[A-Z])[\w-]{{1,40}}$",  # OneDrive: the name of the machine
    )
)
_OURS = re.compile(rf"[a-z0-9-]+-{_ID}")


def path_for(atom: Atom) -> str:
    """Return the path of an atom's file: by scope, day and kind; the whole id is in its name."""
    day = atom.observed_at.astimezone(UTC).date().isoformat()
    if atom.is_segment:
        path = f"sessions/{day}/{slug(atom.segment_id or '', 'segment')}-{atom.id}{SUFFIX}"
    elif atom.kind == "entity" and (is_page(atom.content) or atom.origin is Origin.DREAM):
        path = _page_place(atom)
    elif atom.kind == "box":
        path = f"boxes/{day}/box-{atom.id}{SUFFIX}"
    else:
        path = f"atoms/{day}/{slug(atom.kind, 'atom')}-{atom.id}{SUFFIX}"
    return folder_of(atom.scope) + ("archive/" if atom.status in _ARCHIVED else "") + path


def _page_place(atom: Atom) -> str:
    """Return the path of a page. A root page has a fixed name; an archived one gets another, to make room for the
    next."""
    name, mark = single_page(atom.metadata), atom.id[-6:]
    if name is None or atom.origin is not Origin.DREAM:
        return f"entities/{slug(atom.subject, 'entity')}-{mark}{SUFFIX}"
    return f"{name}-{mark}{SUFFIX}" if atom.status in _ARCHIVED else f"{name}{SUFFIX}"


def folder_of(scope: Scope) -> str:
    """Return the folder of a scope, with a slash at its end; the default scope is the vault itself."""
    if scope == DEFAULT_SCOPE:
        return ""
    name = agent(scope)
    return f"scopes/{organisation(scope)}/" + (f"agents/{name}/" if name else "")


def scope_of(path: str) -> Scope | None:
    """Return the scope that a path belongs to; None if it belongs to none."""
    placed = _placed(path)
    return placed[0] if placed else None


def is_home(path: str) -> bool:
    """Return whether a markdown file without an id becomes an atom at this path: only under `atoms/` of a scope."""
    placed = _placed(path)
    if placed is None or not path.endswith(SUFFIX):
        return False
    parts = placed[1]
    return len(parts) > 1 and parts[0] == "atoms" and all(map(is_searched_dir, parts))


def inbox_of(scope: Scope) -> str:
    """Return the folder in which files for a scope are dropped, with a slash at its end."""
    return f"{folder_of(scope)}{_INBOX}/"


def original_for(scope: Scope, day: date, name: str) -> str:
    """Return where a file from the inbox is stored unchanged."""
    return f"{folder_of(scope)}sessions/{day.isoformat()}/{_ORIGINALS}/{name}"


def is_inbox(path: str) -> bool:
    """Return whether a path is in the inbox of a scope."""
    if f"{_INBOX}/" not in path:
        return False
    placed = _placed(path)
    return placed is not None and len(placed[1]) > 1 and placed[1][0] == _INBOX


def is_fed(path: str) -> bool:
    """Return whether a file is a document and not an atom's file: it is in an inbox, or came from one."""
    if f"/{_ORIGINALS}/" not in path:
        return is_inbox(path)
    placed = _placed(path)
    return placed is not None and placed[1][0] == "sessions" and _ORIGINALS in placed[1][1:-1]


def is_searched_dir(name: str) -> bool:
    """Return whether a folder or file of this name is scanned; hidden ones are not."""
    return not name.startswith(".")


def stem(path: str) -> str:
    """Return the name of a file in a wikilink."""
    return path.rpartition("/")[2].removesuffix(SUFFIX)


def conflict_copy(path: str) -> bool:
    """Return whether the name is one that sync and merge tools give to the losing side of a conflict."""
    name = stem(path)
    return not _OURS.fullmatch(name) and any(pattern.search(name) for pattern in _COPIES)


@lru_cache(maxsize=1024)
def slug(text: str, otherwise: str) -> str:
    """Return the text in [a-z0-9-], without accents; the default if nothing is left of it."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_SLUG].strip("-") or otherwise


def _placed(path: str) -> tuple[Scope, tuple[str, ...]] | None:
    """Return the scope of a path and the path inside the scope's folder; None if it belongs to no scope."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts:
        return None
    if not _is_reserved(parts[0], "scopes"):
        return DEFAULT_SCOPE, parts
    if parts[0] != "scopes" or len(parts) < 3:
        return None
    org, rest = parts[1], parts[2:]
    if not _is_reserved(rest[0], "agents"):
        return _checked(f"org:{org}", rest)
    if rest[0] != "agents" or len(rest) < 3:
        return None
    return _checked(f"org:{org}:agent:{rest[1]}", rest[2:])


def _is_reserved(name: str, word: str) -> bool:
    """Return whether a name is the word on some file system; a similar one must not open another scope's folder."""
    return unicodedata.normalize("NFKC", name).casefold() == word


def _checked(text: str, parts: tuple[str, ...]) -> tuple[Scope, tuple[str, ...]] | None:
    try:
        scope = parse_scope(text)
    except InvalidScope:
        return None
    return None if scope == DEFAULT_SCOPE else (scope, parts)
