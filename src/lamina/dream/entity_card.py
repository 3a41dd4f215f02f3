"""What is stated of somebody or something, put in order: what holds, what they like, whom they know, what happened."""

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
"""So many statements make a card; fewer are a list."""
LISTED = 60
"""So many of the youngest are listed."""
EVENTS = 3
SUMMARY_OF, SUMMARY_DAY = "summary_of", "summary_day"
"""Metadata of a page whose lines were summed up: which lines, and on what day."""
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
    """One line of a page, with the statement it is taken from."""

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
    """A link to the file of an atom."""
    return f"[[{layout.stem(layout.path_for(atom))}]]"


def listed(text: str, *sources: Atom) -> str:
    """A line with links to what it rests on; where that is not all a person's word, it says whose it is."""
    return f"- {' '.join(dict.fromkeys(map(link, sources)))}{said_by(*sources)} {text}"


def said_by(*sources: Atom) -> str:
    """Whose word statements are, as it stands in a line; empty where they are a person's own."""
    others = sorted({source.origin.value for source in sources if source.origin is not Origin.HUMAN})
    return f" ({', '.join(others)})" if others else ""


def row(atom: Atom) -> Row:
    """A statement as a line."""
    return Row(atom, one_line(atom.content))


def happened_at(atom: Atom) -> datetime:
    """When what an atom tells was so."""
    return atom.valid_from or atom.observed_at


def page_lines(name: str, forms: Collection[str], stated: Sequence[Atom], summary: Iterable[str] = ()) -> list[str]:
    """The generated part of a page: a card where enough is stated, and the statements, the youngest first.

    `forms` are the names, in their form, under which the statements know whom the page is about.
    """
    lines = [f"# {one_line(name)}", ""]
    if len(stated) >= CARD:
        short = list(summary)
        lines += [counted(stated), "", *([SHORT, *short, ""] if short else [])]
        for each in card(forms, stated):
            lines += [f"## {each.title}", *map(str, each.rows), ""]
        lines.append(ALL)
    lines += [str(row(atom)) for atom in stated[:LISTED]]
    if len(stated) > LISTED:
        lines.append(f"- and {len(stated) - LISTED} older ones")
    return lines


def card(forms: Collection[str], stated: Sequence[Atom]) -> list[Section]:
    """The sections of a card that have anything in them; none where too little is stated."""
    if len(stated) < CARD:
        return []
    holds, tastes, others = list[Row](), list[Row](), list[Row]()
    for atom in stated:
        claim = claim_of(atom)
        told = _claimed(atom) if claim and name_form(atom.subject) in forms else None
        if atom.kind == "relationship" or (told and _attribute(atom) in _PEOPLE):
            others.append(told or row(atom))
        elif atom.kind in _TASTES or (told and _attribute(atom) in MULTI_VALUED):
            tastes.append(told or row(atom))
        elif told:
            holds.append(told)
    happened = sorted((each for each in stated if each.kind in _HAPPENINGS), key=_latest, reverse=True)
    sections = (
        ("What holds", sorted(holds, key=_by_attribute)),
        ("What they like, do and have", tastes),
        ("With others", [*others, *_company(forms, stated)]),
        ("Lately", [Row(each, f"{happened_at(each):%Y-%m-%d} {one_line(each.content)}") for each in happened[:EVENTS]]),
    )
    return [Section(title, tuple(rows[:_MOST_ROWS])) for title, rows in sections if rows]


def has_card(content: str) -> bool:
    """Whether a page has a card on it, and not only a list."""
    return ALL in generated_part(content).splitlines()


def counted(stated: Sequence[Atom]) -> str:
    """How much is stated, of which kinds, and over what time."""
    kinds = sorted(Counter(atom.kind for atom in stated).items(), key=lambda each: (-each[1], each[0]))
    days = [atom.observed_at for atom in stated]
    told = ", ".join(f"{many} {one_line(kind)}" for kind, many in kinds)
    return f"{len(stated)} statements from {min(days):%Y-%m-%d} to {max(days):%Y-%m-%d}: {told}."


def shown_rows(forms: Collection[str], stated: Sequence[Atom], most: int) -> list[Row]:
    """The lines a summary is made of: those of the card, then the statements that are on none of them."""
    rows = [each for section in card(forms, stated) for each in section.rows]
    known = {each.source.id for each in rows}
    return [*rows, *(row(atom) for atom in stated if atom.id not in known)][:most]


def digest_of(rows: Iterable[Row]) -> str:
    """What lines are known by once they were summed up."""
    return hashlib.blake2b("\n".join(map(str, rows)).encode(), digest_size=12).hexdigest()


def without_summary(content: str) -> str:
    """The generated part of a page but for its summary, which a model words anew each time."""
    before, found, rest = generated_part(content).partition(f"{SHORT}\n")
    return before + rest.partition("\n\n")[2] if found else before


def summary_in(content: str) -> list[str]:
    """The lines of the summary that stands on a page."""
    _, found, rest = generated_part(content).partition(f"{SHORT}\n")
    return rest.partition("\n\n")[0].splitlines() if found else []


def _company(forms: Collection[str], stated: Sequence[Atom]) -> Iterator[Row]:
    """Who and what is named together with them more than once."""
    together: dict[str, list[tuple[str, Atom]]] = {}
    for atom in stated:
        for form, name in {name_form(name): name for name in (*atom.entities, atom.subject)}.items():
            if form and form not in forms and form not in ROLES:
                together.setdefault(form, []).append((name, atom))
    often = sorted((-len(found), form) for form, found in together.items() if len(found) >= _OFTEN)
    for _, form in often[:_COMPANY]:
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
    """What sort of thing it is comes first."""
    attribute = _attribute(told.source)
    return _THING.index(attribute) if attribute in _THING else len(_THING), attribute


def _latest(atom: Atom) -> tuple[datetime, str]:
    return happened_at(atom), atom.id
