"""Read vaults of other memories with one statement per file: facts become drafts, other notes documents.

Formats: Lattice (flat or nested provenance, `atom_id` or `id`); Remnic and Engram (category, confidence, status).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.atom.atom import Signals
from lamina.atom.kinds import Durability, Layer
from lamina.atom.proposals_and_pairs import ARCHIVED_ELSEWHERE_KEY
from lamina.atom.status import Status
from lamina.capture.caller_input import parse_draft
from lamina.errors import LaminaError
from lamina.importers.import_items import IMPORTED_FROM, ImportedFact, ImportStep, SkippedItem, content_hash_of
from lamina.importers.lenient_frontmatter import EMPTY_VALUES, ForeignFrontmatter
from lamina.importers.note_folder import NoteFolder, list_folder, read_note
from lamina.vault.frontmatter_fields import SIGNAL_FIELDS
from lamina.vault.yaml_codec import FrontmatterValue

SAMPLE_SIZE = 200
_MIN_SHARE = 0.3
_KIND_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class ForeignFact:
    """A statement of another memory: the fields of a draft, its status there and its successor.

    The other fields are those of `ImportedFact`.
    """

    foreign_id: str
    fields: dict[str, object]
    is_superseded: bool
    replaced_by: str | None = None
    signals: Signals = field(default_factory=Signals)
    labels: Mapping[str, str] = field(default_factory=dict)
    replaces: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VaultFormat:
    """The file format of another memory. `read` returns the fact, or the reason to skip it."""

    source: str
    name: str
    recognizes: Callable[[ForeignFrontmatter], bool]
    read: Callable[[ForeignFrontmatter], ForeignFact | str]
    skipped_folders: tuple[str, ...] = ()

    def parse_note(self, frontmatter: ForeignFrontmatter, place: str) -> ImportStep | None:
        """Return the fact of a note; None if it has none."""
        if not self.recognizes(frontmatter):
            return None
        fact = self.read(frontmatter)
        return SkippedItem(place, fact) if isinstance(fact, str) else self._build_fact(fact, place)

    def _build_fact(self, fact: ForeignFact, place: str) -> ImportedFact:
        source_id = f"{self.source}:{fact.foreign_id}"
        fields = {name: value for name, value in fact.fields.items() if value not in (None, "", (), {})}
        draft = parse_draft(**{"source_id": source_id, **fields})
        if draft.source_id != source_id:
            draft = draft.model_copy(update={"metadata": {**draft.metadata, IMPORTED_FROM: source_id}})
        return ImportedFact(
            draft=draft,
            status=Status.SUPERSEDED if fact.is_superseded else Status.CONSTRAINED,
            foreign_id=fact.foreign_id,
            replaced_by=fact.replaced_by,
            source_id=source_id,
            path=place,
            signals=fact.signals,
            labels=fact.labels,
            replaces=fact.replaces,
            left_out=fact.left_out,
            content_hash=content_hash_of("fact", source_id, draft.kind, draft.subject, draft.content),
        )


def open_foreign_vault(path: Path) -> NoteFolder | None:
    """Return the facts of another memory in a folder and the notes beside them; None if most notes have no format of
    another memory."""
    files = [file for file in list_folder(path).files if file.suffix.lower() == ".md"]
    sample = files[:: max(1, len(files) // SAMPLE_SIZE)]
    fronts = [front for file in sample if (front := _try_read_note(file)) is not None and front.values]
    counts = {vault_format: sum(map(vault_format.recognizes, fronts)) for vault_format in (LATTICE, REMNIC)}
    best = max(counts, key=lambda vault_format: counts[vault_format])
    if counts[best] <= _MIN_SHARE * len(fronts):
        return None
    listed = list_folder(path, tuple(path / name for name in best.skipped_folders))
    return NoteFolder(path, *listed, best.source, best.name, best.parse_note)


def parse_kind(text: str | None) -> str:
    """Return the kind as written there if it is a valid kind, otherwise `fact`."""
    kind = (text or "").strip().lower().replace(" ", "_")
    return kind if _KIND_NAME.fullmatch(kind) else "fact"


def _try_read_note(file: Path) -> ForeignFrontmatter | None:
    try:
        return read_note(file)
    except (LaminaError, OSError):
        return None


_DEFAULT_CONFIDENCE = 0.8
_TRUE = frozenset({"true", "yes", "1"})
_LATTICE_KEYS = ("provenance", "observed_at", "is_superseded", "episode_id")
_LATTICE_LABELS = ("observed_at", "source_id", "session_id", "segment_id")
_LATTICE_CONTENT = ("kind", "subject", "content", "tags", "metadata", "confidence", "importance", "tier")
_LATTICE_LIFE = ("status", "valid_from", "valid_until", "is_superseded", "superseded_by", "supersedes", "episode_id")
_LATTICE_FIELDS = frozenset(("atom_id", "id", *_LATTICE_CONTENT, *_LATTICE_LIFE, *_LATTICE_LABELS))
"""Keys that become fields; every other key becomes metadata."""
_LATTICE_TIMES = ("provenance.observed_at", "observed_at")
_CHANGED_FIELDS = ("kind", "tier")
"""Fields whose text is kept as metadata if their value here is another one."""
_DERIVED_KEYS = ("dedup",)
"""Keys that are computed from the text, so that they are not imported."""


def _is_lattice_note(frontmatter: ForeignFrontmatter) -> bool:
    return bool(frontmatter.text("atom_id", "id") and frontmatter.text("kind")) and any(
        key in frontmatter.values for key in _LATTICE_KEYS
    )


def _read_lattice_fact(frontmatter: ForeignFrontmatter) -> ForeignFact | str:
    """Return the fact; one that was superseded there stays superseded, because it was true until then."""
    foreign_id = frontmatter.text("atom_id", "id") or ""
    is_superseded = (frontmatter.text("is_superseded") or "").lower() in _TRUE or frontmatter.text(
        "status"
    ) == "superseded"
    content = frontmatter.body.strip() or frontmatter.text("content") or ""
    signals, unread = _read_signals(frontmatter)
    left_out = [*unread, *(key for key in _DERIVED_KEYS if key in frontmatter.values)]
    left_out += ["content"] if (frontmatter.text("content") or content) != content else []
    tier, observed_at = frontmatter.text("tier"), frontmatter.moment(*_LATTICE_TIMES)
    shares = {name: frontmatter.fraction(name) for name in ("confidence", "importance")}
    left_out += [name for name, share in shares.items() if share is None and frontmatter.text(name)]
    left_out += ["observed_at"] if observed_at is None and frontmatter.text(*_LATTICE_TIMES) else []
    fields: dict[str, object] = {
        "content": content,
        "kind": parse_kind(frontmatter.text("kind")),
        "subject": frontmatter.text("subject"),
        "tags": frontmatter.list_of("tags"),
        "metadata": {**dict(_other_values(frontmatter)), **frontmatter.text_map("metadata")},
        "observed_at": observed_at,
        "layer": _LAYERS.get(tier or ""),
        "importance": shares["importance"],
        "source_id": frontmatter.text("provenance.source_id", "source_id"),
        "session_id": frontmatter.text("provenance.session_id", "session_id"),
        "valid_from": frontmatter.text("valid_from"),
        "valid_until": frontmatter.text("valid_until"),
        "confidence": shares["confidence"] or _DEFAULT_CONFIDENCE,
    }
    labels = {
        "segment_id": frontmatter.text("provenance.segment_id", "segment_id"),
        "episode_id": frontmatter.text("episode_id"),
    }
    return ForeignFact(
        foreign_id,
        fields,
        is_superseded,
        frontmatter.text("superseded_by"),
        signals=signals,
        labels={name: value for name, value in labels.items() if value},
        replaces=frontmatter.list_of("supersedes"),
        left_out=tuple(left_out),
    )


_LAYERS = {"stm": Layer.EPISODIC, "episodic": Layer.EPISODIC, "semantic": Layer.SEMANTIC}


def _read_signals(frontmatter: ForeignFrontmatter) -> tuple[Signals, list[str]]:
    """Return the counters of use, and the names of those with an impossible value."""
    counters: dict[str, Any] = {}
    unread: list[str] = []
    for name, codec in SIGNAL_FIELDS.items():
        text = frontmatter.text(name)
        try:
            counters |= {name: codec.read(text)} if text else {}
        except ValueError:
            unread.append(name)
    return Signals(**counters), unread


def _other_values(frontmatter: ForeignFrontmatter) -> Iterator[tuple[str, str]]:
    """Yield the keys that are no field, as metadata; those of a map under the names of both."""
    for key, value in frontmatter.values.items():
        if key == "provenance" and isinstance(value, dict):
            yield from _flatten({name: item for name, item in value.items() if name not in _LATTICE_FIELDS})
        elif key not in _LATTICE_FIELDS and key not in SIGNAL_FIELDS and key not in _DERIVED_KEYS:
            yield from _flatten({key: value})
    yield from _flatten({name: text for name in _CHANGED_FIELDS if (text := _lost_text(frontmatter, name))})


def _lost_text(frontmatter: ForeignFrontmatter, name: str) -> str | None:
    """Return the text of a field whose value here is another one."""
    text = frontmatter.text(name)
    stored = parse_kind(text) if name == "kind" else str(_LAYERS.get(text or ""))
    return text if stored != text else None


def _flatten(values: Mapping[str, FrontmatterValue]) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flatten({f"{key}.{name}": item for name, item in value.items()})
        elif text := (value if isinstance(value, str) else ", ".join(map(str, value))):
            yield from [(key, text)] if text.strip().lower() not in EMPTY_VALUES else []


LATTICE = VaultFormat("lattice", "Lattice vault", _is_lattice_note, _read_lattice_fact)


_REMNIC_KEYS = ("confidence", "confidenceTier", "created")
_SKIP_REASONS = {
    "rejected": "rejected in the other memory",
    "quarantined": "quarantined in the other memory",
    "forgotten": "forgotten in the other memory",
}
_ENTITY_TYPE_PREFIX = re.compile(r"(?:person|project|company|organization|tool|place|topic|product|entity|other)-(?=.)")


def _is_remnic_note(frontmatter: ForeignFrontmatter) -> bool:
    return bool(frontmatter.text("id") and frontmatter.text("category")) and any(
        key in frontmatter.values for key in _REMNIC_KEYS
    )


def _read_remnic_fact(frontmatter: ForeignFrontmatter) -> ForeignFact | str:
    """Return the fact or why it is skipped: what a person refused there is not imported, what changed
    there has ended.
    """
    status = (frontmatter.text("status") or "active").lower()
    if status in _SKIP_REASONS:
        return _SKIP_REASONS[status]
    if frontmatter.text("parentId"):
        return "part of a memory that is imported as a whole"
    is_superseded = status == "superseded" or frontmatter.text("supersededBy") is not None
    is_archived = status == "archived" or frontmatter.text("archivedAt") is not None
    begins = frontmatter.moment("valid_at", "validAt")
    entity = frontmatter.text("entityRef")
    fields: dict[str, object] = {
        "content": frontmatter.body.strip(),
        "kind": parse_kind(frontmatter.text("category")),
        "subject": _ENTITY_TYPE_PREFIX.sub("", entity).replace("-", " ") if entity else None,
        "tags": frontmatter.list_of("tags"),
        "metadata": {
            **frontmatter.text_map("structuredAttributes"),
            **dict(_remnic_metadata(frontmatter)),
            **({ARCHIVED_ELSEWHERE_KEY: "true"} if is_archived and not is_superseded else {}),
        },
        "observed_at": frontmatter.moment("created"),
        "durability": _DURABILITIES.get(frontmatter.text("policyClass") or ""),
        "valid_from": begins,
        "valid_until": _valid_until(frontmatter, begins, is_superseded),
        "expires_at": frontmatter.moment("expiresAt"),
        "confidence": frontmatter.fraction("confidence") or _DEFAULT_CONFIDENCE,
        "importance": frontmatter.fraction("importanceScore", "importance.score"),
    }
    signals, unread = _read_remnic_signals(frontmatter)
    return ForeignFact(
        frontmatter.text("id") or "",
        fields,
        is_superseded,
        frontmatter.text("supersededBy"),
        signals=signals,
        replaces=frontmatter.list_of("supersedes"),
        left_out=tuple(unread),
    )


_DURABILITIES = {"ephemeral": Durability.EPHEMERAL, "protected": Durability.CORE}
_REMNIC_SIGNALS = {"accessCount": "recall_count", "mw_success": "successes", "mw_fail": "failures"}
_REMNIC_FIELD_NAMES = """
    id category created tags entityRef structuredAttributes confidence importanceScore expiresAt supersedes supersededBy
    supersededAt valid_at validAt invalid_at invalidAt accessCount lastAccessed mw_success mw_fail
"""
_REMNIC_FIELDS = frozenset(_REMNIC_FIELD_NAMES.split())
"""Keys that become fields, links or counters; every other key becomes metadata."""


def _read_remnic_signals(frontmatter: ForeignFrontmatter) -> tuple[Signals, list[str]]:
    """Return the counters of use, and the names of those with an impossible value."""
    counters: dict[str, Any] = {}
    unread: list[str] = []
    for key, name in _REMNIC_SIGNALS.items():
        text = frontmatter.text(key)
        if text is not None and text.isdecimal():
            counters[name] = int(text)
        elif text is not None:
            unread.append(key)
    used_at = frontmatter.moment("lastAccessed")
    if used_at is not None and counters.get("recall_count"):
        counters |= {"last_recalled_at": used_at, "uses": (used_at,)}
    return Signals(**counters), unread


def _remnic_metadata(frontmatter: ForeignFrontmatter) -> Iterator[tuple[str, str]]:
    """Yield every value that has no field of its own, links with their reasons included, under its name there."""
    for key, value in frontmatter.values.items():
        if key in _REMNIC_FIELDS or (key == "updated" and value == frontmatter.values.get("created")):
            continue
        if key == "links" and isinstance(value, list):
            yield key, json.dumps(value, ensure_ascii=False)
        else:
            yield from _flatten({"channel" if key == "source" else key: value})


def _valid_until(frontmatter: ForeignFrontmatter, begins: datetime | None, is_superseded: bool) -> datetime | None:
    end = frontmatter.moment("invalid_at", "invalidAt") or (
        frontmatter.moment("supersededAt") if is_superseded else None
    )
    return None if end is None or (begins is not None and end <= begins) else end


REMNIC = VaultFormat("remnic", "Remnic or Engram vault", _is_remnic_note, _read_remnic_fact, skipped_folders=("state",))
