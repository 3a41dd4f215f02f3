"""Define the path of each file, relative to the vault. Pure: no disk access."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date
from functools import lru_cache
from pathlib import PurePosixPath

from lamina.atom.atom import Atom, has_generated_section, root_page_name
from lamina.atom.provenance import Origin, Scope, agent_name, organisation_name, parse_scope
from lamina.atom.status import Status
from lamina.errors import InvalidScope

DEFAULT_SCOPE = Scope("org:local")
SUFFIX = ".md"

_ARCHIVED = frozenset({Status.ARCHIVED, Status.TOMBSTONED})
_MAX_SLUG = 60
_INBOX, _ORIGINALS = "inbox", "originals"

_ID = r"(?<![a-z0-9])[0-7][0-9a-hjkmnp-tv-z]{25}"
_DAY = r"\d{4}-\d{2}-\d{2}"
_CONFLICT_NAMES = tuple(
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
_ATOM_FILE_NAME = re.compile(rf"[a-z0-9-]+-{_ID}")


def path_for(atom: Atom) -> str:
    """Return the path of an atom's file: by scope, day and kind; the whole id is in its name."""
    day = atom.observed_at.astimezone(UTC).date().isoformat()
    if atom.is_segment:
        path = f"sessions/{day}/{make_slug(atom.segment_id or '', 'segment')}-{atom.id}{SUFFIX}"
    elif atom.kind == "entity" and (has_generated_section(atom.content) or atom.origin is Origin.DREAM):
        path = _page_path(atom)
    elif atom.kind == "box":
        path = f"boxes/{day}/box-{atom.id}{SUFFIX}"
    else:
        path = f"atoms/{day}/{make_slug(atom.kind, 'atom')}-{atom.id}{SUFFIX}"
    return scope_folder(atom.scope) + ("archive/" if atom.status in _ARCHIVED else "") + path


def _page_path(atom: Atom) -> str:
    """Return the path of a page. A root page has a fixed name; an archived one gets another, to make room for the
    next."""
    name, mark = root_page_name(atom.metadata), atom.id[-6:]
    if name is None or atom.origin is not Origin.DREAM:
        return f"entities/{make_slug(atom.subject, 'entity')}-{mark}{SUFFIX}"
    return f"{name}-{mark}{SUFFIX}" if atom.status in _ARCHIVED else f"{name}{SUFFIX}"


def scope_folder(scope: Scope) -> str:
    """Return the folder of a scope, with a slash at its end; the default scope is the vault itself."""
    if scope == DEFAULT_SCOPE:
        return ""
    name = agent_name(scope)
    return f"scopes/{organisation_name(scope)}/" + (f"agents/{name}/" if name else "")


def scope_of_path(path: str) -> Scope | None:
    """Return the scope that a path belongs to; None if it belongs to none."""
    placed = _split_scope(path)
    return placed[0] if placed else None


def is_new_atom_path(path: str) -> bool:
    """Return whether a markdown file without an id becomes an atom at this path: only under `atoms/` of a scope."""
    placed = _split_scope(path)
    if placed is None or not path.endswith(SUFFIX):
        return False
    parts = placed[1]
    return len(parts) > 1 and parts[0] == "atoms" and all(map(is_visible_name, parts))


def inbox_folder(scope: Scope) -> str:
    """Return the folder in which files for a scope are dropped, with a slash at its end."""
    return f"{scope_folder(scope)}{_INBOX}/"


def original_path(scope: Scope, day: date, name: str) -> str:
    """Return where a file from the inbox is stored unchanged."""
    return f"{scope_folder(scope)}sessions/{day.isoformat()}/{_ORIGINALS}/{name}"


def is_inbox_path(path: str) -> bool:
    """Return whether a path is in the inbox of a scope."""
    if f"{_INBOX}/" not in path:
        return False
    placed = _split_scope(path)
    return placed is not None and len(placed[1]) > 1 and placed[1][0] == _INBOX


def is_document_path(path: str) -> bool:
    """Return whether a file is a document and not an atom's file: it is in an inbox, or came from one."""
    if f"/{_ORIGINALS}/" not in path:
        return is_inbox_path(path)
    placed = _split_scope(path)
    return placed is not None and placed[1][0] == "sessions" and _ORIGINALS in placed[1][1:-1]


def is_visible_name(name: str) -> bool:
    """Return whether a folder or file of this name is scanned; hidden ones are not."""
    return not name.startswith(".")


def file_stem(path: str) -> str:
    """Return the name of a file in a wikilink."""
    return path.rpartition("/")[2].removesuffix(SUFFIX)


def wiki_link(atom: Atom) -> str:
    """Return a wikilink to the file of an atom that shows the day on which the atom was observed."""
    return f"[[{file_stem(path_for(atom))}|{atom.observed_at.astimezone(UTC).date().isoformat()}]]"


def is_conflict_copy(path: str) -> bool:
    """Return whether the name is one that sync and merge tools give to the losing side of a conflict."""
    name = file_stem(path)
    return not _ATOM_FILE_NAME.fullmatch(name) and any(pattern.search(name) for pattern in _CONFLICT_NAMES)


@lru_cache(maxsize=1024)
def make_slug(text: str, default: str) -> str:
    """Return the text in [a-z0-9-], without accents; the default if nothing is left of it."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_MAX_SLUG].strip("-") or default


def _split_scope(path: str) -> tuple[Scope, tuple[str, ...]] | None:
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
        return _check_scope(f"org:{org}", rest)
    if rest[0] != "agents" or len(rest) < 3:
        return None
    return _check_scope(f"org:{org}:agent:{rest[1]}", rest[2:])


def _is_reserved(name: str, word: str) -> bool:
    """Return whether a name is the word on some file system; a similar one must not open another scope's folder."""
    return unicodedata.normalize("NFKC", name).casefold() == word


def _check_scope(text: str, parts: tuple[str, ...]) -> tuple[Scope, tuple[str, ...]] | None:
    try:
        scope = parse_scope(text)
    except InvalidScope:
        return None
    return None if scope == DEFAULT_SCOPE else (scope, parts)
