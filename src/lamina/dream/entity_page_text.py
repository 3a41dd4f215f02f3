"""Renders the statements about one name as a page: facts, preferences, companions, recent events and a list."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom, extract_generated_section
from lamina.atom.claim import MULTI_VALUED_ATTRIBUTES, claim_of
from lamina.atom.passage import ROLE_NAMES
from lamina.atom.provenance import Origin
from lamina.text.calendar_days import is_calendar_name
from lamina.text.normal_form import name_form, one_line
from lamina.vault import layout

MIN_CARD_STATEMENTS = 5
"""The fewest statements for a card; with fewer, the page is a list."""
MAX_LISTED = 60
"""The most statements on a page, newest first."""
MAX_EVENTS = 3
SUMMARY_OF, SUMMARY_DAY = "summary_of", "summary_day"
"""Metadata keys of a summarised page: a digest of the lines, and the day."""
SUMMARY_HEADING, STATEMENTS_HEADING = "## In short", "## All that is stated"
_MAX_SECTION_LINES = 20
_MAX_COMPANIONS = 5
_MIN_MENTIONS_TOGETHER = 2
_TYPE_ATTRIBUTES = ("type", "kind", "category", "species", "breed")
_PERSON_RELATION_NAMES = """
    aunt boss brother child client colleague cousin daughter father friend grandchild husband manager member mother
    neighbour nephew niece parent partner sibling sister son spouse student uncle wife
"""
_PERSON_RELATIONS = frozenset(_PERSON_RELATION_NAMES.split())
_PREFERENCE_KINDS = frozenset({"preference", "habit", "interest", "skill", "goal"})
_EVENT_KINDS = frozenset({"event", "moment"})


@dataclass(frozen=True, slots=True)
class PageLine:
    """One line of a page and the statement it comes from."""

    source: Atom
    text: str

    def __str__(self) -> str:
        return render_line(self.text, self.source)


@dataclass(frozen=True, slots=True)
class CardSection:
    """Lines under a heading."""

    title: str
    lines: tuple[PageLine, ...]


def render_line(text: str, *sources: Atom) -> str:
    """Return a list line with links to its sources; it names their origin unless all are a person's own."""
    return f"- {' '.join(dict.fromkeys(map(layout.wiki_link, sources)))}{origin_note(*sources)} {text}"


def origin_note(*sources: Atom) -> str:
    """Return the origins of statements in brackets; empty if all are a person's own."""
    origins = sorted({source.origin.value for source in sources if source.origin is not Origin.HUMAN})
    return f" ({', '.join(origins)})" if origins else ""


def page_line(atom: Atom) -> PageLine:
    """Return a statement as a page line."""
    return PageLine(atom, one_line(atom.content))


def happened_at(atom: Atom) -> datetime:
    """Return when the content of an atom was true or took place."""
    return atom.valid_from or atom.observed_at


def render_page(
    name: str, forms: Collection[str], statements: Sequence[Atom], summary: Iterable[str] = ()
) -> list[str]:
    """Render the generated part of a page: a card if there are enough statements, and the statements, newest first.

    `forms` are the normalised names under which the statements refer to the page's subject.
    """
    lines = [f"# {one_line(name)}", ""]
    if len(statements) >= MIN_CARD_STATEMENTS:
        summary_lines = list(summary)
        lines += [count_line(statements), "", *([SUMMARY_HEADING, *summary_lines, ""] if summary_lines else [])]
        for section in card_sections(forms, statements):
            lines += [f"## {section.title}", *map(str, section.lines), ""]
        lines.append(STATEMENTS_HEADING)
    lines += [str(page_line(atom)) for atom in statements[:MAX_LISTED]]
    if len(statements) > MAX_LISTED:
        lines.append(f"- and {len(statements) - MAX_LISTED} older ones")
    return lines


def card_sections(forms: Collection[str], statements: Sequence[Atom]) -> list[CardSection]:
    """Return the sections of a card that have lines; none if there are too few statements."""
    if len(statements) < MIN_CARD_STATEMENTS:
        return []
    facts, preferences, relationships = list[PageLine](), list[PageLine](), list[PageLine]()
    for atom in statements:
        claim = claim_of(atom)
        claim_line = _claim_line(atom) if claim and name_form(atom.subject) in forms else None
        if atom.kind == "relationship" or (claim_line and _claim_attribute(atom) in _PERSON_RELATIONS):
            relationships.append(claim_line or page_line(atom))
        elif atom.kind in _PREFERENCE_KINDS or (claim_line and _claim_attribute(atom) in MULTI_VALUED_ATTRIBUTES):
            preferences.append(claim_line or page_line(atom))
        elif claim_line:
            facts.append(claim_line)
    events = sorted((atom for atom in statements if atom.kind in _EVENT_KINDS), key=_event_order, reverse=True)
    sections = (
        ("What holds", sorted(facts, key=_by_attribute)),
        ("What they like, do and have", preferences),
        ("With others", [*relationships, *_companions(forms, statements)]),
        (
            "Lately",
            [
                PageLine(event, f"{happened_at(event):%Y-%m-%d} {one_line(event.content)}")
                for event in events[:MAX_EVENTS]
            ],
        ),
    )
    return [CardSection(title, tuple(lines[:_MAX_SECTION_LINES])) for title, lines in sections if lines]


def has_card(content: str) -> bool:
    """Return whether a page has a card and not only a list."""
    return STATEMENTS_HEADING in extract_generated_section(content).splitlines()


def count_line(statements: Sequence[Atom]) -> str:
    """Return a line with the number of statements, their kinds and their time range."""
    kinds = sorted(Counter(atom.kind for atom in statements).items(), key=lambda item: (-item[1], item[0]))
    days = [atom.observed_at for atom in statements]
    counts = ", ".join(f"{count} {one_line(kind)}" for kind, count in kinds)
    return f"{len(statements)} statements from {min(days):%Y-%m-%d} to {max(days):%Y-%m-%d}: {counts}."


def lines_to_summarise(forms: Collection[str], statements: Sequence[Atom], limit: int) -> list[PageLine]:
    """Return the lines that a summary is made from: those of the card, then the remaining statements."""
    lines = [line for section in card_sections(forms, statements) for line in section.lines]
    shown_ids = {line.source.id for line in lines}
    return [*lines, *(page_line(atom) for atom in statements if atom.id not in shown_ids)][:limit]


def digest_lines(lines: Iterable[PageLine]) -> str:
    """Return a digest that identifies summarised lines."""
    return hashlib.blake2b("\n".join(map(str, lines)).encode(), digest_size=12).hexdigest()


def without_summary(content: str) -> str:
    """Return the generated part of a page without its summary, which a model words differently each time."""
    before, heading, rest = extract_generated_section(content).partition(f"{SUMMARY_HEADING}\n")
    return before + rest.partition("\n\n")[2] if heading else before


def extract_summary(content: str) -> list[str]:
    """Return the lines of the summary on a page."""
    _, heading, rest = extract_generated_section(content).partition(f"{SUMMARY_HEADING}\n")
    return rest.partition("\n\n")[0].splitlines() if heading else []


def _companions(forms: Collection[str], statements: Sequence[Atom]) -> Iterator[PageLine]:
    """Return a line for each other name that occurs with this one more than once."""
    together: dict[str, list[tuple[str, Atom]]] = {}
    for atom in statements:
        for form, name in {name_form(name): name for name in (*atom.entities, atom.subject)}.items():
            if form and form not in forms and form not in ROLE_NAMES and not is_calendar_name(form):
                together.setdefault(form, []).append((name, atom))
    frequent = sorted(
        (-len(mentions), form) for form, mentions in together.items() if len(mentions) >= _MIN_MENTIONS_TOGETHER
    )
    for _, form in frequent[:_MAX_COMPANIONS]:
        name, newest = together[form][0]
        yield PageLine(newest, f"{one_line(name)}: named together {len(together[form])} times")


def _claim_line(atom: Atom) -> PageLine | None:
    if not atom.attribute or not atom.value:
        return None
    return PageLine(atom, f"{one_line(atom.attribute)}: {one_line(atom.value)}")


def _claim_attribute(atom: Atom) -> str:
    claim = claim_of(atom)
    return claim.attribute if claim else ""


def _by_attribute(line: PageLine) -> tuple[int, str]:
    """Return the sort key of a claim line: what type of thing it is comes first."""
    attribute = _claim_attribute(line.source)
    return _TYPE_ATTRIBUTES.index(attribute) if attribute in _TYPE_ATTRIBUTES else len(_TYPE_ATTRIBUTES), attribute


def _event_order(atom: Atom) -> tuple[datetime, str]:
    return happened_at(atom), atom.id
