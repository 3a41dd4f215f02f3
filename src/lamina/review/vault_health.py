"""The health of a vault and its numbers: problems and faults, counts and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lamina.atom.provenance import Scope
from lamina.store.admin import FileProblem
from lamina.store.base import AtomFilter, Store
from lamina.store.precision import EncodingSizes
from lamina.vault import layout

CHAT_DAYS = 14


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of `doctor`: problems that a person can fix, internal faults, and notes."""

    problems: tuple[FileProblem, ...]
    faults: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        return not self.problems and not self.faults


def problems_in(store: Store, scopes: Sequence[Scope]) -> Iterator[FileProblem]:
    """Return the problems in these scopes; files outside every scope's folder belong to the default scope."""
    problems = store.admin.problems.list()
    ids = tuple({problem.atom_id for problem in problems if problem.atom_id})
    atom_ids = {atom.id for atom in store.atoms.read(AtomFilter(scopes=tuple(scopes), ids=ids))}
    for problem in problems:
        if problem.atom_id in atom_ids or (problem.atom_id is None and is_in_scopes(problem.path, scopes)):
            yield problem


def is_in_scopes(path: str, scopes: Sequence[Scope]) -> bool:
    """Return whether a file is in a folder of these scopes, or in none and the default scope is among them."""
    place = layout.scope_of_path(path)
    return place in scopes or (place is None and layout.DEFAULT_SCOPE in scopes)


def collect_stats(store: Store, scopes: Sequence[Scope], state_folder: Path, pending_count: int) -> dict[str, Any]:
    """Return the number of atoms by type, the usage of models, and the disk space."""
    every_atom = AtomFilter(scopes=tuple(scopes))
    by_status, sizes = store.atoms.count_by("status", every_atom), store.passages.encodings.precision.sizes()
    return {
        "atoms": sum(by_status.values()),
        "by_status": by_status,
        "by_kind": store.atoms.count_by("kind", every_atom),
        "by_layer": store.atoms.count_by("layer", every_atom),
        "at_hand": store.signals.count_tiers(scopes),
        "commits": store.journal.count(scopes),
        "files": store.projection.summary(lambda path: is_in_scopes(path, scopes)),
        "models": store.passages.encodings.count().encoded,
        "vector_bytes": _vector_bytes(sizes),
        "unused_bytes": sizes.unused_bytes,
        "waiting": pending_count,
        "chat": _chat_usage(store),
        "bytes": {file.name: file.stat().st_size for file in sorted(state_folder.glob("*.db"))},
    }


def _vector_bytes(sizes: EncodingSizes) -> dict[str, int]:
    """Return the bytes of vectors by precision, and of token states."""
    return {f"{bits} bits": size for bits, (_, size) in sizes.vectors.items()} | {"token states": sizes.states[1]}


def _chat_usage(store: Store) -> dict[str, Any]:
    """Return the usage of chat models by day and model, the latest days first."""
    return {
        f"{day.day.isoformat()} {day.model}": {
            "calls": day.usage.calls,
            "tokens_in": day.usage.tokens_in,
            "tokens_out": day.usage.tokens_out,
            "money": round(day.usage.money, 6),
        }
        for day in store.admin.usage.days()[:CHAT_DAYS]
    }
