"""Atoms, hits and commits as JSON documents with stable keys, and as blocks for people."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of
from lamina.atom.passage import passages_of
from lamina.atom.record import to_record
from lamina.cli.output import Block, Facts, Grid, Json, Line, brief
from lamina.cli.xray import xray

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.recall.hit import Hit, Recall
    from lamina.store.base import Entry

SHORT = 8
"""Letters of an id that tables show; its ending is as good as the whole."""


def short(id_: str) -> str:
    """The ending of an id, enough to name it by."""
    return id_[-SHORT:]


def when(moment: datetime | None) -> str:
    """A moment for a table, in UTC like the files."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M") if moment else ""


def date(moment: datetime | None) -> str:
    """A day for a table, in UTC like the files."""
    return moment.astimezone(UTC).date().isoformat() if moment else ""


def words_of(atom: Atom) -> str:
    """What an atom says, on one line; of verbatim words, the turns without their marks."""
    if not atom.is_segment:
        return " ".join(atom.content.split())
    turns = (f"{passage.speaker}: {passage.text}" if passage.speaker else passage.text for passage in passages_of(atom))
    return " ".join(" / ".join(turns).split())


def atom_data(atom: Atom, path: str | None) -> Json:
    """Every field of an atom, whether set or not, with its file and claim."""
    from lamina.documents.atom import atom_document

    return atom_document(atom, path).data()


def atom_blocks(atom: Atom, path: str | None, quotes: Iterable[tuple[str, str]]) -> list[Block]:
    """An atom for people: its words, its file, what it rests on, and every field that is set."""
    claim = claim_of(atom)
    record = {name: value for name, value in to_record(atom).items() if name not in ("content", "evidence")}
    pairs = [("file", path or "deleted"), ("status", atom.status.value), ("claim", str(claim) if claim else "")]
    pairs += [(name, _field(value)) for name, value in record.items() if name != "status"]
    told: list[Block] = [Line(atom.content, "bold"), Line(), Facts(tuple(pair for pair in pairs if pair[1]))]
    told += [Line(f"said in {link}: “{brief(words)}”") for link, words in quotes]
    return told


def _field(value: Json) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(
            " ".join(str(part) for part in each) if isinstance(each, list) else str(each) for each in value
        )
    return str(value).lower() if isinstance(value, bool) else str(value)


def quotes_of(memory: Memory, atom: Atom) -> list[tuple[str, str]]:
    """The links to the words an atom rests on, as its file has them, and those words."""
    from lamina.documents.atom import quotes_of as quote_documents

    return [(document.link, document.text) for document in quote_documents(memory, atom)]


def atoms_grid(atoms: Iterable[Atom]) -> Grid:
    """Atoms one a row."""
    rows = tuple(
        (
            short(atom.id),
            date(atom.observed_at),
            atom.kind + (" *" if atom.pinned else ""),
            atom.status.value,
            brief(words_of(atom)),
        )
        for atom in atoms
    )
    return Grid(("id", "date", "kind", "status", "what it says"), rows)


def hit_data(rank: int, hit: Hit) -> Json:
    """A hit with everything its score is made of."""
    from lamina.documents.recall import hit_document

    return hit_document(rank, hit).data()


def hit_blocks(rank: int, hit: Hit, *, explain: bool = False) -> list[Block]:
    """A hit for people: rank, score, words, date, file and the reason."""
    said = f"{hit.passage.speaker}: {hit.text}" if hit.passage.speaker else hit.text
    at = date(hit.passage.at or hit.atom.observed_at)
    marks = "".join(f" · {mark}" for mark in hit.told)
    told: list[Block] = [
        Line(f"{rank}. {hit.score:.4f}  {brief(said, 200)}", "bold" if hit.relevant else "dim"),
        Line(f"   {at} · {hit.atom.kind}{marks} · {short(hit.atom.id)} · {hit.path or 'file deleted'}", "dim"),
        *(
            Line(f"   ↳ {brief(statement.content, 200)}  ({statement.kind} {short(statement.id)})", "cyan")
            for statement in hit.statements
        ),
        Line(f"   why: {hit.why}"),
    ]
    return [*told, *xray(hit)] if explain else told


def recall_blocks(found: Recall) -> list[Block]:
    """What was read out of the question, through what it was looked at, and what was left out."""
    pairs = [
        *found.understood,
        ("model", found.model),
        ("journal position", str(found.position)),
        ("recall id", found.id),
    ]
    pairs += [(f"left out: {why}", str(count)) for why, count in found.filtered]
    return [Line(), Facts(tuple(pairs))]


def entry_data(entry: Entry) -> Json:
    """A commit as the journal tells it."""
    from lamina.documents.journal import entry_document

    return entry_document(entry).data()


def entries_grid(entries: Iterable[Entry]) -> Grid:
    """Commits one a row."""
    rows = tuple(
        (when(entry.at), short(entry.id), entry.verb, entry.actor, str(len(entry.changes)), brief(entry.reason, 80))
        for entry in entries
    )
    return Grid(("when (UTC)", "commit", "verb", "actor", "atoms", "reason"), rows)
