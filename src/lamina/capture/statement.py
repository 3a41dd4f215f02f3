"""From what an extractor found to atoms: only what is worth keeping, as trusted as the words it came from."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from lamina.atom.atom import Atom, Evidence
from lamina.atom.claim import SEVERAL
from lamina.atom.identity import AtomId
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import Status
from lamina.atom.trust import statements_wait
from lamina.capture.change.nomination import Nomination
from lamina.capture.change.replay import Replays
from lamina.capture.draft import CONTENT_LIMIT, parse_draft
from lamina.capture.explicit import asked_for
from lamina.capture.fence import without_recalled
from lamina.capture.found import Extractor, Finding, Said
from lamina.capture.gate import importance_of, is_echo, is_memory_talk
from lamina.capture.llm.counts import ModelCounts
from lamina.capture.llm.extractor import Extraction, extraction
from lamina.capture.state_extractor import subject_of
from lamina.errors import InvalidInput
from lamina.logs import wordless
from lamina.text.normal import normal_form
from lamina.text.roles import is_assistant, is_instrument, is_prompt

logger = logging.getLogger("lamina")

AT_ONCE = 5
"""How many turns are read together."""
CONTEXT = 4
"""How many turns before them are shown to the extractor."""
WORTHLESS = 0.15
"""Greetings and thanks have this importance or less."""


@dataclass(frozen=True, slots=True)
class Made:
    """The statements some turns gave rise to, who found them, and what went wrong on the way; the changes that a
    language model nominated, the counts of what it contributed, and the turns that only repeat earlier ones."""

    atoms: list[Atom]
    by: str
    trouble: str | None = None
    nominated: tuple[Nomination, ...] = ()
    counts: ModelCounts | None = None
    replays: Replays = field(default_factory=dict)

    @property
    def told(self) -> str:
        """How the reading went, for the receipt."""
        return f"read by {self.by}" + (f", because {self.trouble}" if self.trouble else "")


def statements(
    turns: Sequence[Said],
    before: Sequence[Said],
    extractor: Extractor,
    segments: Mapping[str, Atom],
    ids: Iterator[AtomId],
    shown: Collection[str] = (),
) -> Made:
    """The atoms that turns give rise to, in their order; asked-for sentences always give one.

    What recall has `shown` and somebody only repeats, and talk about memory itself, gives rise to nothing.
    """
    found: list[Atom] = []
    by, trouble = extractor.name, None
    counts: ModelCounts | None = None
    for start in range(0, len(turns), AT_ONCE):
        heard = [turn for turn in turns[start : start + AT_ONCE] if not _is_nobody(turn.speaker)]
        batch = [each for each in heard if not _is_own_talk(each.text, shown)]
        read = _read(extractor, batch, [*before, *turns[:start]][-CONTEXT:])
        by, trouble = (read.by, read.trouble) if read.trouble else (by, trouble)
        counts = read.counts + counts if read.counts and counts else read.counts or counts
        told = {(each.segment, each.n): each.text for each in batch}
        findings = [finding for finding in read.findings if not _says_nothing(finding, told)]
        findings += _asked(batch, findings)
        at = {(each.segment, each.n): each.at for each in batch}
        made = list(_atoms(sorted(findings, key=_place), segments, at, ids))
        found += with_causes(made, told, batch[-1].at) if batch else made
    return Made(found, by, trouble, counts=counts)


def _read(extractor: Extractor, turns: Sequence[Said], before: Sequence[Said]) -> Extraction:
    """What the extractor finds. Words are kept whatever they do to it: what it stumbles over states nothing."""
    try:
        return extraction(extractor, turns, before)
    except Exception as error:  # noqa: BLE001 - whoever extracts is on the other side of a border
        logger.error("%s failed on %d turns: %s", extractor.name, len(turns), wordless(error))
        return Extraction((), "nobody", f"{extractor.name} failed: {type(error).__name__}")


def _is_nobody(speaker: str | None) -> bool:
    """What a tool puts out and what a machine was set up with is nobody's statement."""
    return is_instrument(speaker) or is_prompt(speaker)


def _is_own_talk(text: str, shown: Collection[str]) -> bool:
    return is_memory_talk(text) or is_echo(text, shown)


def _place(finding: Finding) -> tuple[str, int, int]:
    return finding.evidence.segment, finding.evidence.passage, finding.evidence.start


def _says_nothing(finding: Finding, told: Mapping[tuple[str, int], str]) -> bool:
    """Whether the sentence stands in a context that recall itself put there, or lost a secret and with it its point."""
    at = finding.evidence
    text = told[at.segment, at.passage]
    sentence = text[at.start : at.end].strip()
    return sentence not in without_recalled(text).text or "[redacted: " in sentence


def _asked(turns: Sequence[Said], found: Sequence[Finding]) -> list[Finding]:
    """The sentences somebody asked to have remembered, as they were said where the extractor made nothing of them."""
    covered = [finding.evidence for finding in found]
    return [
        Finding(
            content=turn.text[start:end],
            kind="fact",
            confidence=1.0,
            subject=subject_of(turn.speaker),
            evidence=Evidence(turn.segment, turn.n, start, end),
        )
        for turn in turns
        if not is_assistant(turn.speaker)  # a machine that says "keep in mind that…" asks nobody to remember anything
        for start, end in asked_for(turn.text)
        if len(turn.text[start:end].encode()) <= CONTENT_LIMIT and not _overlaps(turn, start, end, covered)
    ]


def _overlaps(turn: Said, start: int, end: int, taken: Sequence[Evidence]) -> bool:
    return any(
        (evidence.segment, evidence.passage) == (turn.segment, turn.n) and evidence.start < end and start < evidence.end
        for evidence in taken
    )


def _atoms(
    findings: Sequence[Finding],
    segments: Mapping[str, Atom],
    at: Mapping[tuple[str, int], datetime],
    ids: Iterator[AtomId],
) -> Iterator[Atom]:
    for finding in findings:
        importance = importance_of(finding.content, finding.kind)
        if importance <= WORTHLESS or not normal_form(finding.content):
            continue
        place = finding.evidence.segment, finding.evidence.passage
        atom = _atom(finding, segments[place[0]], at[place], importance, next(ids))
        if atom is not None:
            yield atom


def _atom(finding: Finding, segment: Atom, at: datetime, importance: float, atom_id: AtomId) -> Atom | None:
    try:
        draft = parse_draft(
            content=finding.content,
            kind=finding.kind,
            subject=finding.subject,
            attribute=finding.attribute,
            value=finding.value,
            confidence=finding.confidence,
            valid_from=finding.valid_from,
            importance=importance,
            evidence=(finding.evidence,),
            observed_at=at,
            session_id=segment.session_id,
            source_id=segment.source_id,
            agents=segment.agents,
            metadata={} if finding.is_sure else {SEVERAL: "true"},
        )
    except InvalidInput:
        return None  # too long for a statement; the words themselves are kept
    atom = draft.to_atom(atom_id, segment.scope, segment.origin, segment.principal, at)
    held = statements_wait(segment.origin) or segment.status is Status.CONSTRAINED
    return atom.with_(status=Status.CONSTRAINED) if held else atom


SAID_SO = 0.7
"""How sure a link is that rests on one word."""

_FOLLOWS = re.compile(
    r"(?:and )?(?:so|therefore|hence|thus|consequently|as a result|that(?:['’]s| is| was) why|which is why|"
    r"because of (?:that|this)|for that reason|that led to|this led to)\b(?! (?:far|much|many|long)\b)",
    re.IGNORECASE,
)


def with_causes(atoms: Sequence[Atom], told: Mapping[tuple[str, int], str], now: datetime) -> list[Atom]:
    """The statements of some turns, those with a stated cause linked to the statement of it in the same turn."""
    linked = list(atoms)
    for n, (before, after) in enumerate(pairwise(atoms)):
        one, other = before.evidence[0], after.evidence[0]
        if (one.segment, one.passage) != (other.segment, other.passage) or one.start == other.start:
            continue
        if _FOLLOWS.match(told[other.segment, other.passage], other.start):
            link = Relation(RelationName.CAUSED_BY, before.id, SAID_SO, now)
            linked[n + 1] = after.with_(relations=(*after.relations, link))
    return linked
