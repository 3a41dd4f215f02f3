"""Turning extracted statements into atoms: filtered, and no more trusted than the words they came from."""

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
"""How many turns one call of the extractor reads."""
CONTEXT = 4
"""How many earlier turns the extractor sees as context."""
WORTHLESS = 0.15
"""Greetings and thanks have at most this importance."""


@dataclass(frozen=True, slots=True)
class Made:
    """The statements of some turns, the name of the extractor, and why it failed if it did.

    `nominations` and `counts` are what a language model contributed; `replays` are turns that only repeat earlier ones.
    """

    atoms: list[Atom]
    by: str
    trouble: str | None = None
    nominated: tuple[Nomination, ...] = ()
    counts: ModelCounts | None = None
    replays: Replays = field(default_factory=dict)

    @property
    def told(self) -> str:
        """One line for the receipt: which extractor read the turns, and why another one was not used."""
        return f"read by {self.by}" + (f", because {self.trouble}" if self.trouble else "")


def statements(
    turns: Sequence[Said],
    before: Sequence[Said],
    extractor: Extractor,
    segments: Mapping[str, Atom],
    ids: Iterator[AtomId],
    shown: Collection[str] = (),
) -> Made:
    """Return the atoms that the turns state, in their order.

    A sentence that a user asks to remember always becomes one. Repetitions of `recalled` statements and talk about the
    memory itself are left out.
    """
    atoms: list[Atom] = []
    extractor_name, failure = extractor.name, None
    counts: ModelCounts | None = None
    for start in range(0, len(turns), AT_ONCE):
        spoken = [turn for turn in turns[start : start + AT_ONCE] if not _is_nobody(turn.speaker)]
        batch = [turn for turn in spoken if not _is_own_talk(turn.text, shown)]
        result = _read(extractor, batch, [*before, *turns[:start]][-CONTEXT:])
        extractor_name, failure = (result.by, result.trouble) if result.trouble else (extractor_name, failure)
        counts = result.counts + counts if result.counts and counts else result.counts or counts
        turn_texts = {(turn.segment, turn.n): turn.text for turn in batch}
        extracted = [statement for statement in result.findings if not _says_nothing(statement, turn_texts)]
        extracted += _asked(batch, extracted)
        times = {(turn.segment, turn.n): turn.at for turn in batch}
        new_atoms = list(_atoms(sorted(extracted, key=_place), segments, times, ids))
        atoms += with_causes(new_atoms, turn_texts, batch[-1].at) if batch else new_atoms
    return Made(atoms, extractor_name, failure, counts=counts)


def _read(extractor: Extractor, turns: Sequence[Said], before: Sequence[Said]) -> Extraction:
    """Return what the extractor finds; an extractor that raises contributes nothing, and the text is stored anyway."""
    try:
        return extraction(extractor, turns, before)
    except Exception as error:  # noqa: BLE001 - extractors may be third-party code
        logger.error("%s failed on %d turns: %s", extractor.name, len(turns), wordless(error))
        return Extraction((), "no extractor", f"{extractor.name} failed: {type(error).__name__}")


def _is_nobody(speaker: str | None) -> bool:
    """Return whether a turn is the output of a tool or a system prompt; neither states anything."""
    return is_instrument(speaker) or is_prompt(speaker)


def _is_own_talk(text: str, shown: Collection[str]) -> bool:
    """Return whether a text is about the memory itself or repeats recalled statements."""
    return is_memory_talk(text) or is_echo(text, shown)


def _place(finding: Finding) -> tuple[str, int, int]:
    return finding.evidence.segment, finding.evidence.passage, finding.evidence.start


def _says_nothing(finding: Finding, told: Mapping[tuple[str, int], str]) -> bool:
    """Return whether the sentence is part of recalled context, or lost a secret and with it its meaning."""
    evidence = finding.evidence
    text = told[evidence.segment, evidence.passage]
    sentence = text[evidence.start : evidence.end].strip()
    return sentence not in without_recalled(text).text or "[redacted: " in sentence


def _asked(turns: Sequence[Said], found: Sequence[Finding]) -> list[Finding]:
    """Return the sentences that a user asked to remember and that the extractor did not cover, verbatim."""
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
        if not is_assistant(
            turn.speaker
        )  # an assistant that says "keep in mind that…" does not ask to remember anything
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
    """Yield the atoms of extracted statements, without greetings and statements that have no words."""
    for finding in findings:
        importance = importance_of(finding.content, finding.kind)
        if importance <= WORTHLESS or not normal_form(finding.content):
            continue
        turn_key = finding.evidence.segment, finding.evidence.passage
        atom = _atom(finding, segments[turn_key[0]], at[turn_key], importance, next(ids))
        if atom is not None:
            yield atom


def _atom(finding: Finding, segment: Atom, at: datetime, importance: float, atom_id: AtomId) -> Atom | None:
    """Return the atom of one extracted statement, pending if its words are; None if it is too long for a statement."""
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
        return None  # the words themselves are stored in the segment
    atom = draft.to_atom(atom_id, segment.scope, segment.origin, segment.principal, at)
    is_pending = statements_wait(segment.origin) or segment.status is Status.CONSTRAINED
    return atom.with_(status=Status.CONSTRAINED) if is_pending else atom


SAID_SO = 0.7
"""The confidence of a relation that rests on a word such as "therefore"."""

_FOLLOWS = re.compile(
    r"(?:and )?(?:so|therefore|hence|thus|consequently|as a result|that(?:['’]s| is| was) why|which is why|"
    r"because of (?:that|this)|for that reason|that led to|this led to)\b(?! (?:far|much|many|long)\b)",
    re.IGNORECASE,
)


def with_causes(atoms: Sequence[Atom], told: Mapping[tuple[str, int], str], now: datetime) -> list[Atom]:
    """Return the statements of some turns, each consequence related to the statement of its cause in the same turn."""
    linked = list(atoms)
    for n, (cause, effect) in enumerate(pairwise(atoms)):
        cause_place, effect_place = cause.evidence[0], effect.evidence[0]
        if (cause_place.segment, cause_place.passage) != (
            effect_place.segment,
            effect_place.passage,
        ) or cause_place.start == effect_place.start:
            continue
        if _FOLLOWS.match(told[effect_place.segment, effect_place.passage], effect_place.start):
            relation = Relation(RelationName.CAUSED_BY, cause.id, SAID_SO, now)
            linked[n + 1] = effect.with_(relations=(*effect.relations, relation))
    return linked
