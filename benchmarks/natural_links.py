"""Precision and recall of the links between statements, measured on labelled pairs of quotes.

A link matches a label where, on both sides, the words contain the quote or the quote the words. Pairs that replace,
correct or carry out a plan should be linked, pairs that coexist or are unrelated should not. A pair noted `chain`
(first to third value) is right if linked and not missed if not; one noted `announced` or `done` counts neither way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.natural_data import LinkLabel
from lamina import Atom, Memory, RelationName
from lamina.atom.passage import passage_of

SURE, LIKELY = "sure", "likely"
GROUPS: Mapping[str, frozenset[str]] = {
    "sure links": frozenset({SURE}),
    "likely links": frozenset({LIKELY}),
    "all links": frozenset({SURE, LIKELY}),
}
_WANTED = frozenset({"replaces", "corrects", "plan"})
_SHORTEST = 10
_PUNCTUATION = re.compile(r"[^\w$#%/.:+-]+")


@dataclass(frozen=True, slots=True)
class GivenLink:
    """A link the engine made: the sentences of the older and of the newer statement, and `sure` or `likely`."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    grade: str


@dataclass(slots=True)
class LinkTally:
    """Counts of links and of labelled changes, which add up over people."""

    judged: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many links there are of each grade and verdict: right, wrong, unlabelled or neutral; mixed besides."""
    links: Counter[frozenset[str]] = field(default_factory=Counter)
    """For each wanted pair the grades of the links that match it."""

    def add(self, other: LinkTally) -> None:
        """Count the other's links and pairs too."""
        self.judged += other.judged
        self.links += other.links

    def figures(self) -> dict[str, dict[str, float | None]]:
        """Return the figures of sure links, likely links and both; precision and recall in percent, None of nothing."""
        return {name: self._group(grades) for name, grades in GROUPS.items()}

    def _group(self, grades: frozenset[str]) -> dict[str, float | None]:
        count: Counter[str] = Counter()
        for (grade, verdict), many in self.judged.items():
            count[verdict] += many if grade in grades else 0
        counted, linked = count["right"] + count["wrong"], sum(n for met, n in self.links.items() if met & grades)
        return {
            "given": counted + count["unlabelled"] + count["neutral"],
            "right": count["right"],
            "wrong": count["wrong"],
            "unlabelled": count["unlabelled"],
            "neutral": count["neutral"],
            "mixed": count["mixed"],
            "precision": _percent(count["right"], counted),
            "strict precision": _percent(count["right"], counted + count["unlabelled"]),
            "wanted": self.links.total(),
            "found": linked,
            "recall": _percent(linked, self.links.total()),
        }


def score_links(given: Iterable[GivenLink], labels: Sequence[LinkLabel]) -> LinkTally:
    """Judge the links by the labels of the same talk."""
    tally, grades = LinkTally(), [set[str]() for _ in labels]
    for link in given:
        matched = [n for n, label in enumerate(labels) if _matches(label, link)]
        right = [n for n in matched if labels[n].verdict in _WANTED]
        tally.judged[link.grade, _verdict(matched, right, labels)] += 1
        if right and len(right) < len(matched):
            tally.judged[link.grade, "mixed"] += 1
        for n in right:
            grades[n].add(link.grade)
    for label, met in zip(labels, grades, strict=True):
        if label.verdict in _WANTED and not label.note.startswith("chain"):
            tally.links[frozenset(met)] += 1
    return tally


def given_links(memory: Memory) -> list[GivenLink]:
    """Return the links between a memory's statements: one that supersedes is sure, a contradiction is likely."""
    atoms: dict[str, Atom] = {atom.id: atom for atom in memory.list(status=None, limit=None)}
    grades: dict[tuple[str, str], str] = {}
    for atom in atoms.values():
        for old in atom.supersedes:
            if old in atoms:
                grades[old, atom.id] = SURE
        for older, newer in _contradictions(atom, atoms):
            grades.setdefault((older.id, newer.id), LIKELY)
    links = (
        GivenLink(_sentences(atoms[old], atoms), _sentences(atoms[new], atoms), grade)
        for (old, new), grade in grades.items()
    )
    return list(dict.fromkeys(links))


def _verdict(matched: Collection[int], right: Collection[int], labels: Sequence[LinkLabel]) -> str:
    if right:
        return "right"
    if any(labels[n].note.startswith(("announced", "done")) for n in matched):
        return "neutral"
    return "wrong" if matched else "unlabelled"


def _matches(label: LinkLabel, link: GivenLink) -> bool:
    return _is_quoted(label.old, link.old) and _is_quoted(label.new, link.new)


def _is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Return whether a text contains the quote, or the quote a text of at least two words and ten letters."""
    plain_quote = _plain(quote)
    return any(
        plain_quote in text or (text in plain_quote and len(text) >= _SHORTEST and " " in text)
        for text in map(_plain, texts)
    )


def _plain(text: str) -> str:
    return _PUNCTUATION.sub(" ", text.casefold()).strip(" .:-")


def _contradictions(atom: Atom, atoms: Mapping[str, Atom]) -> Iterator[tuple[Atom, Atom]]:
    """Yield the pairs an atom's contradictions make, the one observed first in front."""
    for relation in atom.relations:
        if relation.name is RelationName.CONTRADICTS and relation.target in atoms:
            older, newer = sorted(
                (atom, atoms[relation.target]), key=lambda statement: (statement.observed_at, statement.id)
            )
            yield older, newer


def _sentences(atom: Atom, atoms: Mapping[str, Atom]) -> tuple[str, ...]:
    """Return the sentences a statement rests on, each once; its own words where it rests on none."""
    spoken: dict[str, None] = {}
    for evidence in atom.evidence:
        segment = atoms.get(evidence.segment)
        passage = passage_of(segment, evidence.passage) if segment else None
        if passage and (text := passage.text[evidence.start : evidence.end].strip()):
            spoken[text] = None
    return tuple(spoken) or (atom.content,)


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None
