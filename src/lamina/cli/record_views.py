"""Renders atoms, hits and commits, as JSON documents with stable keys and as blocks for people."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of
from lamina.atom.passage import passages_of
from lamina.atom.record import to_record
from lamina.cli.output import FieldList, Json, OutputBlock, TextGrid, TextLine, shorten
from lamina.cli.score_explanation import explain_score

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.recall.hit import Hit, Recall
    from lamina.store.base import JournalEntry

SHORT_ID_LENGTH = 8
"""Characters of an id that tables show; commands accept the end of an id."""


def short_id(id_: str) -> str:
    """Return the end of an id, which commands accept."""
    return id_[-SHORT_ID_LENGTH:]


def format_minute(moment: datetime | None) -> str:
    """Format a time to the minute, in UTC like the files; empty for None."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M") if moment else ""


def format_day(moment: datetime | None) -> str:
    """Format the day of a time, in UTC like the files; empty for None."""
    return moment.astimezone(UTC).date().isoformat() if moment else ""


def one_line_text(atom: Atom) -> str:
    """Return the text of an atom on one line; of a segment, its turns without markup."""
    if not atom.is_segment:
        return " ".join(atom.content.split())
    turns = (f"{passage.speaker}: {passage.text}" if passage.speaker else passage.text for passage in passages_of(atom))
    return " ".join(" / ".join(turns).split())


def atom_data(atom: Atom, path: str | None) -> Json:
    """Return every field of an atom with its file and claim, as JSON data."""
    from lamina.documents.atom import atom_document

    return atom_document(atom, path).data()


def atom_blocks(atom: Atom, path: str | None, quotes: Iterable[tuple[str, str]]) -> list[OutputBlock]:
    """Return an atom as blocks: its text, file, evidence and every field that is set."""
    claim = claim_of(atom)
    record = {name: value for name, value in to_record(atom).items() if name not in ("content", "evidence")}
    pairs = [("file", path or "deleted"), ("status", atom.status.value), ("claim", str(claim) if claim else "")]
    pairs += [(name, _format_field(value)) for name, value in record.items() if name != "status"]
    blocks: list[OutputBlock] = [
        TextLine(atom.content, "bold"),
        TextLine(),
        FieldList(tuple(pair for pair in pairs if pair[1])),
    ]
    blocks += [TextLine(f"said in {link}: “{shorten(words)}”") for link, words in quotes]
    return blocks


def _format_field(value: Json) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {item}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(
            " ".join(str(part) for part in item) if isinstance(item, list) else str(item) for item in value
        )
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_quotes(memory: Memory, atom: Atom) -> list[tuple[str, str]]:
    """Return the evidence of an atom as pairs of link and quote."""
    from lamina.documents.atom import load_quotes as quote_documents

    return [(document.link, document.text) for document in quote_documents(memory, atom)]


def atoms_grid(atoms: Iterable[Atom]) -> TextGrid:
    """Return a table of atoms, one per row."""
    rows = tuple(
        (
            short_id(atom.id),
            format_day(atom.observed_at),
            atom.kind + (" *" if atom.pinned else ""),
            atom.status.value,
            shorten(one_line_text(atom)),
        )
        for atom in atoms
    )
    return TextGrid(("id", "date", "kind", "status", "what it says"), rows)


def hit_data(rank: int, hit: Hit) -> Json:
    """Return a hit with all parts of its score, as JSON data."""
    from lamina.documents.recall import hit_document

    return hit_document(rank, hit).data()


def hit_blocks(rank: int, hit: Hit, *, explain: bool = False) -> list[OutputBlock]:
    """Return a hit as blocks: rank, score, text, date, file and reason."""
    text = f"{hit.passage.speaker}: {hit.text}" if hit.passage.speaker else hit.text
    at = format_day(hit.passage.at or hit.atom.observed_at)
    marks = "".join(f" · {mark}" for mark in hit.notes)
    blocks: list[OutputBlock] = [
        TextLine(f"{rank}. {hit.score:.4f}  {shorten(text, 200)}", "bold" if hit.relevant else "dim"),
        TextLine(f"   {at} · {hit.atom.kind}{marks} · {short_id(hit.atom.id)} · {hit.path or 'file deleted'}", "dim"),
        *(
            TextLine(f"   ↳ {shorten(statement.content, 200)}  ({statement.kind} {short_id(statement.id)})", "cyan")
            for statement in hit.statements
        ),
        TextLine(f"   why: {hit.why}"),
    ]
    return [*blocks, *explain_score(hit)] if explain else blocks


def recall_blocks(recalled: Recall) -> list[OutputBlock]:
    """Return how a question was parsed, which model answered, and what was left out, as blocks."""
    pairs = [
        *recalled.understood,
        ("model", recalled.model),
        ("journal position", str(recalled.position)),
        ("recall id", recalled.id),
    ]
    pairs += [(f"left out: {why}", str(count)) for why, count in recalled.filtered]
    return [TextLine(), FieldList(tuple(pairs))]


def entry_data(entry: JournalEntry) -> Json:
    """Return a commit of the journal as JSON data."""
    from lamina.documents.journal import entry_document

    return entry_document(entry).data()


def entries_grid(entries: Iterable[JournalEntry]) -> TextGrid:
    """Return a table of commits, one per row."""
    rows = tuple(
        (
            format_minute(entry.at),
            short_id(entry.id),
            entry.verb,
            entry.actor,
            str(len(entry.changes)),
            shorten(entry.reason, 80),
        )
        for entry in entries
    )
    return TextGrid(("when (UTC)", "commit", "verb", "actor", "atoms", "reason"), rows)
