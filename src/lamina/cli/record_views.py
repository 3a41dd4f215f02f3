"""Renders atoms, hits with their scores, and commits, as JSON documents with stable keys and as blocks for people."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from textwrap import wrap
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom, is_atom_id
from lamina.atom.claim import claim_of
from lamina.atom.json_record import to_record
from lamina.atom.passage import passages_of
from lamina.cli.output import FieldList, Json, OutputBlock, TextGrid, TextLine, shorten

if TYPE_CHECKING:
    from lamina.documents.importance import ImportanceDocument
    from lamina.memory import Memory
    from lamina.recall.recall_result import Hit, Recall
    from lamina.store.base import JournalEntry


BAR_WIDTH = 28
LINE_WIDTH = 80
SHORT_ID_LENGTH = 8
"""Characters of an id that tables show; commands accept the end of an id."""
INDENT = 6
WEIGHTS_PER_ROW = 4
"""Weights per line."""
_EIGHTHS = "▏▎▍▌▋▊▉█"
_NO_BREAK = "\x1f"
"""Placeholder for a space at which no line is broken."""


def explain_score(hit: Hit) -> list[OutputBlock]:
    """Return every term, weight, word, channel and link of a hit's score as blocks."""
    largest = max((abs(value) for _, value in hit.terms), default=0.0) or 1.0
    terms = [
        (name, f"{value:+.6f} {draw_bar(value / largest)}")
        for name, value in sorted(hit.terms, key=lambda term: -term[1])
    ]
    sums = [("relevance", f"{hit.relevance:+.6f} = their sum, at least 0")]
    if hit.weights:
        weights = [f"{name} {value:.6g}" for name, value in hit.weights]
        rows = [
            " × ".join(weights[start : start + WEIGHTS_PER_ROW]) for start in range(0, len(weights), WEIGHTS_PER_ROW)
        ]
        sums += [("weights", rows[0]), *(("", f"× {row}") for row in rows[1:])]
        sums.append(("score", f"{hit.score:+.6f} = relevance × weights"))
    return [
        FieldList((*terms, *sums), indent=INDENT),
        *_wrap_items("words", (f"“{word}” {value:.4f}" for word, value in hit.words)),
        *_wrap_items("found by", (f"{name} #{rank} ({score:.3f})" for name, rank, score in hit.channels)),
        *_wrap_items("links", map(_format_link, hit.links)),
        *_wrap_items("also in", (f"{short_id(atom_id)} p{passage}" for atom_id, passage in hit.folded)),
        *_wrap_items("instead of", _replaced_passage(hit)),
        *_wrap_items("precision", [str(hit.precision)] if hit.precision else []),
        *_wrap_items("above", (f"{short_id(earlier.atom_id)} ({earlier.reason})" for earlier in hit.before)),
    ]


def _wrap_items(name: str, items: Iterable[str]) -> list[OutputBlock]:
    """Return items after a name, wrapped to lines; nothing if there are no items."""
    text = ", ".join(thing.replace(" ", _NO_BREAK) for thing in items)
    first_indent, next_indent = f"{'':{INDENT}}{name:<9}  ", " " * (INDENT + 11)
    lines = wrap(text, LINE_WIDTH, initial_indent=first_indent, subsequent_indent=next_indent, break_long_words=False)
    return [TextLine(line.replace(_NO_BREAK, " "), "dim") for line in lines]


def _format_link(link: tuple[str, str, str, float]) -> str:
    source, name, target, confidence = link
    return f"{_short_node(source)} {name} {_short_node(target)} ({confidence:g})"


def _replaced_passage(hit: Hit) -> list[str]:
    """Return the passage whose score and place this hit took; empty if there is none."""
    replaced = hit.instead_of
    return [f"{short_id(replaced.atom_id)} p{replaced.n} ({replaced.reason}), whose score it has"] if replaced else []


def _short_node(node: str) -> str:
    """Return the end of an atom's id; the name of a subject, an entity or a session."""
    return short_id(node) if is_atom_id(node) else node


def draw_bar(share: float) -> str:
    """Draw a share of the longest bar, to an eighth of a character; a negative share is drawn hollow."""
    eighths = round(abs(share) * BAR_WIDTH * 8)
    full, rest = divmod(eighths, 8)
    if share < 0:
        return "░" * max(1, full)
    return "█" * full + (_EIGHTHS[rest - 1] if rest else "")


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


def importance_blocks(document: ImportanceDocument) -> list[OutputBlock]:
    """Return the factors of an atom's importance with their numbers, which add up, and its ageing."""
    rows = tuple(
        (factor.name, f"{factor.value:.3f}", f"{factor.weight:.2f}", f"{factor.contribution:+.4f}")
        for factor in document.factors
    )
    fades = "does not fade" if document.half_life_days is None else f"half-life {document.half_life_days:.1f} days"
    return [
        TextLine(),
        TextLine(f"importance {document.importance:.4f} = the sum of nine factors", "bold"),
        TextGrid(("factor", "value", "weight", "adds"), rows),
        FieldList(
            (
                ("retention", f"{document.retention:.3f} ({fades})"),
                ("heat", f"{document.heat:.3f} ({document.state})"),
                *document.ageing.items(),
            )
        ),
    ]


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


def name_atoms(text: str, memory: Memory) -> str:
    """Return a sentence with the text of each atom that it names by its id, and only the end of the id."""
    from lamina.documents.atom_mentions import load_mentioned_atoms, split_mentions

    parts = split_mentions(text, load_mentioned_atoms([text], memory))
    return "".join(
        f"“{shorten(one_line_text(part.atom), 60)}” ({short_id(part.text)})" if part.atom else part.text
        for part in parts
    )


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
