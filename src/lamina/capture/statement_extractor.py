"""Extracts statements from turns; they are filtered and become atoms that are no more trusted than their words.

`StatementExtractor.extract_new` extracts and `StatementExtractor.decide_verdicts` compares with what is stored.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from lamina.atom.atom import Atom, AtomId, Evidence, Relation, RelationName
from lamina.atom.claim import MULTI_VALUED_KEY
from lamina.atom.passage import is_assistant, is_system, is_tool
from lamina.atom.provenance import statements_need_review
from lamina.atom.status import Status
from lamina.capture.box import assign_boxes, filter_recent
from lamina.capture.caller_input import CONTENT_LIMIT, parse_draft
from lamina.capture.change.change_detection import complete_verdicts
from lamina.capture.change.change_nomination import (
    Nomination,
    Nominator,
    StatementPair,
    find_stored_statements,
    link_stated_relations,
    nominate_changes,
    nominate_stated_changes,
)
from lamina.capture.change.repetitions import Replays, drop_replays, find_replays
from lamina.capture.classification import StatementVerdict
from lamina.capture.echo_filter import is_echo, is_memory_talk, remove_recalled_context, score_importance
from lamina.capture.existing_statements import filters_of_candidates
from lamina.capture.extractors import (
    CapturedTurn,
    DisabledExtractor,
    ExtractedStatement,
    ExtractionResult,
    Extractor,
    StoredStatement,
    follow_guidelines,
    run_extractor,
    speaker_subject,
)
from lamina.capture.memory_requests import find_labelled_statements, find_remember_requests
from lamina.capture.receipt import ModelCounts
from lamina.capture.statement_commit import classify_statements
from lamina.capture.statement_scores import SurpriseScorer
from lamina.capture.store_reads import WriteContext, filter_about
from lamina.errors import InvalidInput
from lamina.lifecycle.action_policy import PolicyContext, PolicyRuling, decide, storing_action
from lamina.logs import summarise_error
from lamina.models.embedder import Embedder
from lamina.models.errors import ModelError
from lamina.states.sentence_models import StateReader
from lamina.text.normal_form import normal_form

logger = logging.getLogger("lamina")

BATCH_TURNS = 5
"""How many turns one call of the extractor reads."""
CONTEXT_TURNS = 4
"""How many earlier turns the extractor sees as context."""
RECENT_RECALLS = 10
"""How many recalls are searched for statements that the turns only repeat."""
MAX_TRIVIAL_IMPORTANCE = 0.15
"""Greetings and thanks have at most this importance."""


@dataclass(frozen=True, slots=True)
class StatementBatch:
    """The statements of some turns, the name of the extractor, and why it failed if it did.

    `nominations` and `counts` are what a language model contributed; `replays` are turns that only repeat earlier ones.
    """

    atoms: list[Atom]
    extractor_name: str
    failure: str | None = None
    nominations: tuple[Nomination, ...] = ()
    counts: ModelCounts | None = None
    replays: Replays = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """One line for the receipt: which extractor read the turns, and why another one was not used."""
        return f"read by {self.extractor_name}" + (f", because {self.failure}" if self.failure else "")


@dataclass(frozen=True, slots=True)
class StatementExtractor:
    """The parts of extraction: the extractor, the patterns that make a turn urgent, and the models that help."""

    extractor: Extractor
    urgency_patterns: tuple[re.Pattern[str], ...] = ()
    embedder: Callable[[], Embedder | None] = lambda: None
    multi_valued: frozenset[str] = frozenset()
    nominator: Nominator | None = None
    state_reader: StateReader | None = None

    @property
    def is_instant(self) -> bool:
        """Return whether extraction calls no service, so that no one needs to wait for it."""
        return self.extractor.instant

    @property
    def detects_changes(self) -> bool:
        """Return whether new statements are compared with earlier ones; not if extraction is switched off."""
        return not isinstance(self.extractor, DisabledExtractor)

    def extract_new(
        self,
        turns: Sequence[CapturedTurn],
        before: Sequence[CapturedTurn],
        segments: Mapping[str, Atom],
        context: WriteContext,
    ) -> StatementBatch:
        """Return the statements of turns, without those of turns that only repeat captured ones."""
        replays = find_replays(turns, segments.values(), context) if self.detects_changes else {}
        return replace(self.extract(drop_replays(turns, replays), before, segments, context), replays=replays)

    def extract(
        self,
        turns: Sequence[CapturedTurn],
        before: Sequence[CapturedTurn],
        segments: Mapping[str, Atom],
        context: WriteContext,
    ) -> StatementBatch:
        """Return the statements of turns, each assigned to a box and scored for surprise, and the nominated changes."""
        if not turns:
            return StatementBatch([], self.extractor.name)
        stored = [] if self.is_instant else find_stored_statements(turns, context)
        recalled = _recently_recalled(context)
        extractor = follow_guidelines(self.extractor, context.reads.store, context.scope)
        extracted = build_statements(turns, before, extractor, segments, context.ids, recalled, stored)
        self._prefetch_existing(extracted.atoms, context)
        embedder = self.embedder() if extracted.atoms else None
        scorer = SurpriseScorer(context.reads.store, embedder, context.now)
        boxed_atoms = assign_boxes(extracted.atoms, context, embedder)
        batch = replace(extracted, atoms=[scorer.apply(atom) for atom in boxed_atoms])
        return self._add_nominations(batch, turns, segments, context)

    def _prefetch_existing(self, atoms: Sequence[Atom], context: WriteContext) -> None:
        """Read in one round trip what new statements are compared with."""
        if atoms:
            subjects = sorted({atom.subject for atom in atoms}) if self.detects_changes and self.state_reader else []
            about = (filter_about(subject, context.scope) for subject in subjects)
            context.reads.prefetch(filter_recent(context.scope), *filters_of_candidates(atoms), *about)

    def _add_nominations(
        self, batch: StatementBatch, turns: Sequence[CapturedTurn], segments: Mapping[str, Atom], context: WriteContext
    ) -> StatementBatch:
        """Add the changes that a language model nominates; after a failed extraction the model is not called again."""
        if self.nominator is None or batch.failure:
            return batch
        try:
            result = nominate_changes(self.nominator, turns, segments, context)
        except ModelError as error:
            failure_counts = ModelCounts(calls=error.calls, failures=(f"changes were not compared: {error}",))
            return replace(batch, counts=(batch.counts or ModelCounts()) + failure_counts)
        sure_count = sum(change.is_sure for change in result.changes)
        change_counts = ModelCounts(
            result.calls, pairs=result.pairs, likely=len(result.changes) - sure_count, sure=sure_count
        )
        nominations = (*batch.nominations, *result.changes)
        return replace(batch, nominations=nominations, counts=(batch.counts or ModelCounts()) + change_counts)

    def decide_verdicts(
        self,
        batch: StatementBatch,
        turns: Sequence[CapturedTurn],
        segments: Sequence[Atom],
        context: WriteContext,
        *,
        detect_changes: bool,
    ) -> list[StatementVerdict]:
        """Return the verdicts on a batch of statements and on the earlier statements that it ends."""
        verdicts = classify_statements(batch.atoms, context.reads, context.now, self.multi_valued)
        if not (self.detects_changes and detect_changes):
            return verdicts
        return complete_verdicts(
            verdicts, turns, segments, context, batch.replays, self.state_reader, batch.nominations
        )


def _recently_recalled(context: WriteContext) -> list[str]:
    """Return the contents of the statements that the last recalls returned; repeating them states nothing new."""
    recalls = context.reads.store.admin.recalls.read(context.scope, limit=RECENT_RECALLS)
    ids = list(dict.fromkeys(atom_id for recall in recalls for atom_id in recall.atom_ids))
    return [atom.content for atom in context.reads.read_by_id(context.scope, ids).values() if not atom.is_segment]


def build_statements(
    turns: Sequence[CapturedTurn],
    before: Sequence[CapturedTurn],
    extractor: Extractor,
    segments: Mapping[str, Atom],
    ids: Iterator[AtomId],
    recalled: Collection[str] = (),
    stored: Sequence[StoredStatement] = (),
) -> StatementBatch:
    """Return the atoms that the turns state, in their order, with the relations that they name among each other and to
    `stored` statements.

    A sentence that a user asks to remember always becomes one. Repetitions of `recalled` statements and talk about the
    memory itself are left out.
    """
    atoms: list[Atom] = []
    nominations: list[Nomination] = []
    extractor_name, failure = extractor.name, None
    counts: ModelCounts | None = None
    for start in range(0, len(turns), BATCH_TURNS):
        spoken = [turn for turn in turns[start : start + BATCH_TURNS] if not _is_tool_or_prompt(turn.speaker)]
        batch = [turn for turn in spoken if not _is_memory_text(turn.text, recalled)]
        context_turns = [*before, *turns[max(0, start - CONTEXT_TURNS) : start]][-CONTEXT_TURNS:]
        result = _run_extractor_safely(extractor, batch, context_turns, stored)
        extractor_name, failure = (
            (result.extractor_name, result.failure) if result.failure else (extractor_name, failure)
        )
        counts = result.counts + counts if result.counts and counts else result.counts or counts
        turn_texts = {(turn.segment, turn.n): turn.text for turn in batch}
        own_words = {key: remove_recalled_context(text).text for key, text in turn_texts.items()}
        extracted = [
            statement
            for statement in result.statements
            if not _is_recalled_or_redacted(statement, turn_texts, own_words)
        ]
        extracted += _find_requested_statements(batch, extracted)
        times = {(turn.segment, turn.n): turn.at for turn in batch}
        pairs = list(_make_atoms(sorted(extracted, key=_position), segments, times, ids))
        if pairs:
            atoms += link_causes(link_stated_relations(pairs, batch[-1].at), turn_texts, batch[-1].at)
            nominations += nominate_stated_changes(pairs)
    return StatementBatch(atoms, extractor_name, failure, tuple(nominations), counts)


def _run_extractor_safely(
    extractor: Extractor,
    turns: Sequence[CapturedTurn],
    before: Sequence[CapturedTurn],
    stored: Sequence[StoredStatement],
) -> ExtractionResult:
    """Return what the extractor finds; an extractor that raises contributes nothing, and the text is stored anyway."""
    try:
        return run_extractor(extractor, turns, before, stored)
    except Exception as error:  # noqa: BLE001 - extractors may be third-party code
        logger.error("%s failed on %d turns: %s", extractor.name, len(turns), summarise_error(error))
        return ExtractionResult((), "no extractor", f"{extractor.name} failed: {type(error).__name__}")


def _is_tool_or_prompt(speaker: str | None) -> bool:
    """Return whether a turn is the output of a tool or a system prompt; neither states anything."""
    return is_tool(speaker) or is_system(speaker)


def _is_memory_text(text: str, recalled: Collection[str]) -> bool:
    """Return whether a text is about the memory itself or repeats recalled statements."""
    return is_memory_talk(text) or is_echo(text, recalled)


def _position(statement: ExtractedStatement) -> tuple[str, int, int]:
    return statement.evidence.segment, statement.evidence.passage, statement.evidence.start


def _is_recalled_or_redacted(
    statement: ExtractedStatement, turn_texts: Mapping[tuple[str, int], str], own_words: Mapping[tuple[str, int], str]
) -> bool:
    """Return whether the sentence is part of recalled context, or lost a secret and with it its meaning."""
    evidence = statement.evidence
    key = evidence.segment, evidence.passage
    sentence = turn_texts[key][evidence.start : evidence.end].strip()
    return sentence not in own_words[key] or "[redacted: " in sentence


def _find_requested_statements(
    turns: Sequence[CapturedTurn], extracted: Sequence[ExtractedStatement]
) -> list[ExtractedStatement]:
    """Return the sentences that a user asked to remember or labelled with a kind, and that the extractor did not cover,
    verbatim."""
    covered = [statement.evidence for statement in extracted]
    return [
        ExtractedStatement(
            content=turn.text[evidence.start : evidence.end],
            kind=kind,
            confidence=1.0,
            subject=speaker_subject(turn.speaker),
            evidence=evidence,
        )
        for turn in turns
        if not is_assistant(turn.speaker)  # "keep in mind that…" is no request if an assistant says it
        for evidence, kind in _find_requests(turn)
        if len(turn.text[evidence.start : evidence.end].encode()) <= CONTENT_LIMIT
        if not any(map(evidence.overlaps, covered))
    ]


def _find_requests(turn: CapturedTurn) -> list[tuple[Evidence, str]]:
    """Return the sentences of a turn that it asks to remember or labels with a kind, each with its kind."""
    labelled = find_labelled_statements(turn.text)
    spans = [(start, end, "fact") for start, end in find_remember_requests(turn.text) if end not in labelled]
    spans += [(start, end, kind) for end, (start, kind) in labelled.items()]
    return [(Evidence(turn.segment, turn.n, start, end), kind) for start, end, kind in spans]


def _make_atoms(
    statements: Sequence[ExtractedStatement],
    segments: Mapping[str, Atom],
    times: Mapping[tuple[str, int], datetime],
    ids: Iterator[AtomId],
) -> Iterator[StatementPair]:
    """Yield extracted statements with their atoms, without greetings and statements that have no words."""
    for finding in statements:
        importance = score_importance(finding.content, finding.kind)
        if importance <= MAX_TRIVIAL_IMPORTANCE or not normal_form(finding.content):
            continue
        turn_key = finding.evidence.segment, finding.evidence.passage
        atom = _make_atom(finding, segments[turn_key[0]], times[turn_key], importance, next(ids))
        if atom is not None:
            yield finding, atom


def _make_atom(
    statement: ExtractedStatement, segment: Atom, at: datetime, importance: float, atom_id: AtomId
) -> Atom | None:
    """Return the atom of one extracted statement, pending if its words are; None if it is too long for a statement."""
    # A preference without an attribute says nothing about the person's other preferences.
    ends_others = statement.may_end_others and (statement.attribute is not None or statement.kind != "preference")
    try:
        draft = parse_draft(
            content=statement.content,
            kind=statement.kind,
            subject=statement.subject,
            attribute=statement.attribute,
            value=statement.value,
            confidence=statement.confidence,
            valid_from=statement.valid_from,
            importance=importance,
            evidence=(statement.evidence,),
            observed_at=at,
            session_id=segment.session_id,
            source_id=segment.source_id,
            agents=segment.agents,
            metadata={} if ends_others else {MULTI_VALUED_KEY: "true"},
        )
    except InvalidInput:
        return None  # the words themselves are stored in the segment
    atom = draft.to_atom(atom_id, segment.scope, segment.origin, segment.principal, at)
    is_pending = statements_need_review(segment.origin) or segment.status is Status.CONSTRAINED or _is_deferred(atom)
    return atom.with_(status=Status.CONSTRAINED) if is_pending else atom


def _is_deferred(atom: Atom) -> bool:
    """Return whether the action policy leaves it to a person to store an extracted statement."""
    context = PolicyContext(confidence=atom.confidence, importance=atom.importance)
    return decide(storing_action(atom), context) is not PolicyRuling.ALLOW


STATED_CAUSE_CONFIDENCE = 0.7
"""The confidence of a relation that rests on a word such as "therefore"."""

_CONSEQUENCE = re.compile(
    r"(?:and )?(?:so|therefore|hence|thus|consequently|as a result|that(?:['’]s| is| was) why|which is why|"
    r"because of (?:that|this)|for that reason|that led to|this led to)\b(?! (?:far|much|many|long)\b)",
    re.IGNORECASE,
)


def link_causes(atoms: Sequence[Atom], turn_texts: Mapping[tuple[str, int], str], now: datetime) -> list[Atom]:
    """Return the statements of some turns, each consequence related to the statement of its cause in the same turn."""
    linked = list(atoms)
    for n, (cause, effect) in enumerate(pairwise(atoms)):
        cause_place, effect_place = cause.evidence[0], effect.evidence[0]
        if (cause_place.segment, cause_place.passage) != (
            effect_place.segment,
            effect_place.passage,
        ) or cause_place.start == effect_place.start:
            continue
        is_linked = any(relation.target == cause.id for relation in effect.relations)
        if not is_linked and _CONSEQUENCE.match(
            turn_texts[effect_place.segment, effect_place.passage], effect_place.start
        ):
            relation = Relation(RelationName.CAUSED_BY, cause.id, STATED_CAUSE_CONFIDENCE, now)
            linked[n + 1] = effect.with_(relations=(*effect.relations, relation))
    return linked
