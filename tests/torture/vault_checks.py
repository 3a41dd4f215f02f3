"""How a vault is opened in torture tests, and what must be true of it afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lamina
from lamina.atom.atom import Atom, AtomId
from lamina.memory import Memory
from lamina.settings import Settings
from lamina.store.base import AtomFilter
from lamina.vault import atom_file, layout
from lamina.vault.yaml_codec import Unreadable

HUMAN_VERBS = frozenset({"adopt", "edit", "delete"})
"""What sync writes into the journal when a person did something."""

Ack = tuple[str, int, str, str]
"""An atom as a returned write showed it: id, revision, status, hash of the content."""


_ATOM_FOLDERS = ("atoms/", "sessions/", "archive/")
SETTINGS = Settings(embedder="none", background=False, watch=False)


def open_vault(root: Path, **options: Any) -> Memory:
    """Open a vault without models, watcher or threads; settings are made once, not for each opening."""
    defaults: dict[str, Any] = {"settings": SETTINGS, "watch": False, "background": False}
    return lamina.open(root, **defaults | options)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ack_of(atom: Atom) -> Ack:
    return atom.id, atom.revision, atom.status.value, digest(atom.content)


def all_atoms(memory: Memory) -> list[Atom]:
    """Every atom as the store has it, without a look at the files."""
    return memory.engine.store.atoms.read(AtomFilter(scopes=memory.scopes))


def journal(memory: Memory) -> list[tuple[int, str, str]]:
    """The number, id and verb of every commit, read without its changes."""
    rows = memory.engine.store.history.db.rows("SELECT seq, id, verb FROM commits ORDER BY seq")
    return [(int(seq), str(commit), str(verb)) for seq, commit, verb in rows]


def missing_acks(memory: Memory, acks: Iterable[Ack]) -> list[str]:
    """The acknowledged versions that history does not have as they were shown."""
    fields: dict[str, dict[int, Ack]] = {}
    missing = []
    for ack in acks:
        if ack[0] not in fields:
            versions = memory.engine.store.journal.versions(AtomId(ack[0]))
            fields[ack[0]] = {version.revision: ack_of(version.atom) for version in versions}
        if fields[ack[0]].get(ack[1]) != ack:
            missing.append(f"lost: {ack}, have {fields[ack[0]].get(ack[1])}")
    return missing


def wrong_files(memory: Memory, atoms: Iterable[Atom] | None = None) -> list[str]:
    """Files that do not parse or are not what the store would write there, and atoms that have none."""
    chosen = list(all_atoms(memory) if atoms is None else atoms)
    ledger = memory.engine.store.projection
    paths = ledger.paths_of([atom.id for atom in chosen])
    result = []

    def link(atom_id: str) -> str:
        path = ledger.paths_of([AtomId(atom_id)]).get(AtomId(atom_id))
        return layout.file_stem(path) if path else atom_id

    for atom in chosen:
        path = paths.get(atom.id)
        if path is None:
            if atom.status.value != "tombstoned":
                result.append(f"{atom.id} ({atom.status}) has no file")
            continue
        try:
            data = (memory.root / path).read_bytes()
            if atom_file.parse_file(data).id != atom.id:
                result.append(f"{path}: holds another id")
            elif atom_file.render_file(atom, data, link) != data:
                result.append(f"{path}: is not what the store says (revision {atom.revision}, {atom.status})")
        except (OSError, Unreadable) as error:
            result.append(f"{path}: {error!r}")
    return result


def torn_files(root: Path, since_ns: int = 0) -> list[str]:
    """Files of atoms that nobody can read, as they lie on the disk."""
    result = []
    for path in vault_files(root):
        if path.stat().st_mtime_ns >= since_ns:
            try:
                if atom_file.parse_file(path.read_bytes()).id is None:
                    result.append(f"torn: {path} has no id")
            except Unreadable as error:
                result.append(f"torn: {path}: {error}")
    return result


def vault_files(root: Path) -> list[Path]:
    return [path for top in _ATOM_FOLDERS for path in sorted((root / top).rglob("*.md"))]


def unexpected_files(memory: Memory) -> list[str]:
    """Signs that the engine took its own doing for a person's, or something under `.lamina` for an atom."""
    result = [f"journal {seq}: {verb}" for seq, _, verb in journal(memory) if verb in HUMAN_VERBS]
    result += [
        f"problem: {problem.path} {problem.kind} {problem.message}"
        for problem in memory.engine.store.admin.problems.list()
    ]
    lines = memory.engine.store.projection.list_files().entries
    result += [
        f"ledger: {line.path}" for line in lines if line.path.startswith(".") or line.state.value in ("bad", "gone")
    ]
    expected = {line.path for line in lines if line.state.value == "atom" and line.path.startswith(_ATOM_FOLDERS)}
    on_disk = {str(path.relative_to(memory.root)) for path in vault_files(memory.root)}
    return result + [f"file without a line or line without a file: {path}" for path in sorted(expected ^ on_disk)]
