"""Renders the statements about one name as a page: facts, preferences, companions, recent events and a list."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import MULTI_VALUED, claim_of
from lamina.atom.page import generated_part
from lamina.atom.trust import Origin
from lamina.text.normal import name_form, one_line
from lamina.text.roles import ROLES
from lamina.vault import layout

CARD = 5
"""The fewest statements for a card; with fewer, the page is a list."""
LISTED = 60
"""The most statements on a page, newest first."""
EVENTS = 3
SUMMARY_OF, SUMMARY_DAY = "summary_of", "summary_day"
"""Metadata keys of a summarised page: a digest of the lines, and the day."""
SHORT, ALL = "## In short", "## All that is stated"
_MOST_ROWS = 20
_COMPANY = 5
_OFTEN = 2
_THING = ("type", "kind", "category", "species", "breed")
_PEOPLE = frozenset(
    {
        "aunt",
        "boss",
        "brother",
        "child",
        "client",
        "colleague",
        "cousin",
        "daughter",
        "father",
        "friend",
        "grandchild",
        "husband",
        "manager",
        "member",
        "mother",
        "neighbour",
        "nephew",
        "niece",
        "parent",
        "partner",
        "sibling",
        "sister",
        "son",
        "spouse",
        "student",
        "uncle",
        "wife",
    }
)
_TASTES = frozenset({"preference", "habit", "interest", "skill", "goal"})
_HAPPENINGS = frozenset({"event", "moment"})


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a page and the statement it comes from."""

    source: Atom
    text: str

    def __str__(self) -> str:
        return listed(self.text, self.source)


@dataclass(frozen=True, slots=True)
class Section:
    """Lines under a heading."""

    title: str
    rows: tuple[Row, ...]


def link(atom: Atom) -> str:
    """Return a wiki link to the file of an atom."""
    return f"[[{layout.stem(layout.path_for(atom))}]]"


def listed(text: str, *sources: Atom) -> str:
    """Return a list line with links to its sources; it names their origin unless all are a person's own."""
    return f"- {' '.join(dict.fromkeys(map(link, sources)))}{said_by(*sources)} {text}"


def said_by(*sources: Atom) -> str:
    """Return the origins of statements in brackets; empty if all are a person's own."""
    origins = sorted({source.origin.value for source in sources if source.origin is not Origin.HUMAN})
    return f" ({', '.join(origins)})" if origins else ""


def row(atom: Atom) -> Row:
    """Return a statement as a page line."""
    return Row(atom, one_line(atom.content))


def happened_at(atom: Atom) -> datetime:
    """Return when the content of an atom was true or took place."""
    return atom.valid_from or atom.observed_at


def page_lines(name: str, forms: Collection[str], stated: Sequence[Atom], summary: Iterable[str] = ()) -> list[str]:
    """Render the generated part of a page: a card if there are enough statements, and the statements, newest first.

    `forms` are the normalised names under which the statements refer to the page's subject.
    """
    lines = [f"# {one_line(name)}", ""]
    if len(stated) >= CARD:
        summary_lines = list(summary)
        lines += [counted(stated), "", *([SHORT, *summary_lines, ""] if summary_lines else [])]
        for section in card(forms, stated):
            lines += [f"## {section.title}", *map(str, section.rows), ""]
        lines.append(ALL)
    lines += [str(row(atom)) for atom in stated[:LISTED]]
    if len(stated) > LISTED:
        lines.append(f"- and {len(stated) - LISTED} older ones")
    return lines


def card(forms: Collection[str], stated: Sequence[Atom]) -> list[Section]:
    """Return the sections of a card that have lines; none if there are too few statements."""
    if len(stated) < CARD:
        return []
    facts, preferences, relationships = list[Row](), list[Row](), list[Row]()
    for atom in stated:
        claim = claim_of(atom)
        claim_line = _claimed(atom) if claim and name_form(atom.subject) in forms else None
        if atom.kind == "relationship" or (claim_line and _attribute(atom) in _PEOPLE):
            relationships.append(claim_line or row(atom))
        elif atom.kind in _TASTES or (claim_line and _attribute(atom) in MULTI_VALUED):
            preferences.append(claim_line or row(atom))
        elif claim_line:
            facts.append(claim_line)
    events = sorted((atom for atom in stated if atom.kind in _HAPPENINGS), key=_latest, reverse=True)
    sections = (
        ("What holds", sorted(facts, key=_by_attribute)),
        ("What they like, do and have", preferences),
        ("With others", [*relationships, *_company(forms, stated)]),
        (
            "Lately",
            [Row(event, f"{happened_at(event):%Y-%m-%d} {one_line(event.content)}") for event in events[:EVENTS]],
        ),
    )
    return [Section(title, tuple(lines[:_MOST_ROWS])) for title, lines in sections if lines]


def has_card(content: str) -> bool:
    """Return whether a page has a card and not only a list."""
    return ALL in generated_part(content).splitlines()


def counted(stated: Sequence[Atom]) -> str:
    """Return a line with the number of statements, their kinds and their time range."""
    kinds = sorted(Counter(atom.kind for atom in stated).items(), key=lambda item: (-item[1], item[0]))
    days = [atom.observed_at for atom in stated]
    counts = ", ".join(f"{count} {one_line(kind)}" for kind, count in kinds)
    return f"{len(stated)} statements from {min(days):%Y-%m-%d} to {max(days):%Y-%m-%d}: {counts}."


def shown_rows(forms: Collection[str], stated: Sequence[Atom], most: int) -> list[Row]:
    """Return the lines that a summary is made from: those of the card, then the remaining statements."""
    lines = [line for section in card(forms, stated) for line in section.rows]
    shown_ids = {line.source.id for line in lines}
    return [*lines, *(row(atom) for atom in stated if atom.id not in shown_ids)][:most]


def digest_of(rows: Iterable[Row]) -> str:
    """Return a digest that identifies summarised lines."""
    return hashlib.blake2b("\n".join(map(str, rows)).encode(), digest_size=12).hexdigest()


def without_summary(content: str) -> str:
    """Return the generated part of a page without its summary, which a model words differently each time."""
    before, heading, rest = generated_part(content).partition(f"{SHORT}\n")
    return before + rest.partition("\n\n")[2] if heading else before


def summary_in(content: str) -> list[str]:
    """Return the lines of the summary on a page."""
    _, heading, rest = generated_part(content).partition(f"{SHORT}\n")
    return rest.partition("\n\n")[0].splitlines() if heading else []


def _company(forms: Collection[str], stated: Sequence[Atom]) -> Iterator[Row]:
    """Return a line for each other name that occurs with this one more than once."""
    together: dict[str, list[tuple[str, Atom]]] = {}
    for atom in stated:
        for form, name in {name_form(name): name for name in (*atom.entities, atom.subject)}.items():
            if form and form not in forms and form not in ROLES:
                together.setdefault(form, []).append((name, atom))
    frequent = sorted((-len(mentions), form) for form, mentions in together.items() if len(mentions) >= _OFTEN)
    for _, form in frequent[:_COMPANY]:
        name, newest = together[form][0]
        yield Row(newest, f"{one_line(name)}: named together {len(together[form])} times")


def _claimed(atom: Atom) -> Row | None:
    if not atom.attribute or not atom.value:
        return None
    return Row(atom, f"{one_line(atom.attribute)}: {one_line(atom.value)}")


def _attribute(atom: Atom) -> str:
    claim = claim_of(atom)
    return claim.attribute if claim else ""


def _by_attribute(told: Row) -> tuple[int, str]:
    """Return the sort key of a claim line: what type of thing it is comes first."""
    attribute = _attribute(told.source)
    return _THING.index(attribute) if attribute in _THING else len(_THING), attribute


def _latest(atom: Atom) -> tuple[datetime, str]:
    return happened_at(atom), atom.id
