"""Step probe: a chat model compares statements that were not used for a while with later sentences.

Without a chat model nothing is probed. Five statements a day, the longest unused first, and none twice in 14 days.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, Field

from lamina.atom.atom import Atom, Evidence, Relation, RelationName, effective_from, kind_defaults
from lamina.atom.kinds import KINDS
from lamina.atom.passage import Passage
from lamina.atom.proposals_and_pairs import are_both_valid, find_pair_link
from lamina.atom.provenance import Origin, statements_need_review
from lamina.atom.status import Status
from lamina.capture.change.repetitions import is_trusted_passage
from lamina.capture.classification import DOUBTFUL
from lamina.capture.llm.quotes import occurs_in
from lamina.capture.prose import find_statable_sentences
from lamina.capture.store_reads import StoreReads, WorkingSet
from lamina.dream.entity_pages import is_plain_statement
from lamina.dream.step import LIVE, TEXT_CHARS, PlanBuilder, StepContext, StepPlan
from lamina.lifecycle.signals import recorded_at
from lamina.models.chat import Chat, Message, system_message, user_message
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise
from lamina.store.queue import ProbeQuery
from lamina.text.analyser import content_tokens
from lamina.text.normal_form import normal_form, one_line

MAX_CANDIDATES = 40
"""The most passages with common words that are compared with a statement."""
MAX_LINES = 12
_MAX_CHARS = 400
_MAX_TOKENS = 600
_RULES = f"""\
You check whether what a memory holds is still so. {DATA_ONLY} The first line of the data is the statement; each line
after it was said later: its number, who said it, the day, and the words."""
_TASK = """\
Task: does any of the numbered lines contradict the statement, so that both cannot be so now? None is a good answer, and
the usual one. More of the same, another occasion or another thing contradicts nothing.
line: its number. was: the words of the statement that no longer hold. now: the words of the line that say so. Both are
copied letter by letter, as few as possible."""

_Quote = Annotated[str, Field(max_length=120)]


class ContradictingLine(BaseModel):
    """One line that contradicts the statement, as the model returns it."""

    line: int = Field(ge=1, le=MAX_LINES)
    was: _Quote
    now: _Quote


class Doubts(BaseModel):
    """Every line that contradicts the statement."""

    contradictions: list[ContradictingLine] = Field(max_length=4)


@dataclass(frozen=True, slots=True)
class LaterSentence:
    """A later sentence: its text, speaker and time.

    `source` is the statement itself or the segment that contains it; `evidence` is its place in that segment.
    """

    text: str
    speaker: str | None
    at: datetime
    source: Atom
    evidence: Evidence | None


def find_contradictions(chat: Chat, statement: Atom, candidates: Sequence[LaterSentence]) -> list[LaterSentence]:
    """Return the later sentences that contradict a statement, as the model says and quotes; ModelError if it fails."""
    recent = list(candidates)[-MAX_LINES:]
    answer = chat.ask(_build_prompt(statement, recent), Doubts, most_tokens=_MAX_TOKENS).value.contradictions
    contradicting = {
        answer_line.line - 1
        for answer_line in answer
        if answer_line.line <= len(recent) and _is_quoted(answer_line, statement, recent)
    }
    return [recent[n] for n in sorted(contradicting)]


def _is_quoted(answer: ContradictingLine, statement: Atom, candidates: Sequence[LaterSentence]) -> bool:
    quoted = occurs_in(answer.was, statement.content) and occurs_in(answer.now, candidates[answer.line - 1].text)
    return quoted and normal_form(answer.was) != normal_form(answer.now)


def _build_prompt(statement: Atom, candidates: Sequence[LaterSentence]) -> list[Message]:
    lines = [f"statement | {sanitise(statement.content, _MAX_CHARS)}"]
    for n, candidate in enumerate(candidates, 1):
        speaker = sanitise(candidate.speaker or "somebody", 60).replace("|", "/")
        lines.append(f"{n} | {speaker} | {candidate.at:%Y-%m-%d} | {sanitise(candidate.text, _MAX_CHARS)}")
    return [system_message(_RULES), user_message(f"{fence_data(lines)}\n\n{_TASK}")]


MAX_PER_DAY = 5
"""The most statements that are probed in one day."""
MIN_IDLE = timedelta(days=14)
"""How long a statement must be unused, and the shortest time between two probes of it."""
DAY = timedelta(days=1)
PROBED_KINDS = frozenset(name for name, kind in KINDS.items() if not kind.is_episode and not kind.is_listing) - {
    "entity",
    "code",
}


def probe(context: StepContext) -> StepPlan:
    """Compare idle statements with later evidence and create a pair for review where they contradict."""
    plan, working_set = PlanBuilder(), WorkingSet(StoreReads(context.store), context.scope, context.now)
    idle = select_idle(context)
    plan.examined = f"{len(idle)} statements that were not used for {MIN_IDLE.days} days, at most {MAX_PER_DAY} a day"
    if context.chat is None:
        plan.examined += "; not compared: no chat model is set"
    for statement in idle:
        if statement.validity.covers(context.now):
            _probe(statement, working_set, context, plan)
    ids, queue = [statement.id for statement in idle], context.store.queue
    return replace(plan.build(), after_commit=lambda: queue.mark_probed(context.scope, ids, context.now))


def select_idle(context: StepContext) -> list[Atom]:
    """Return the statements to probe, the longest unused first."""
    ids = context.store.queue.find_unused(
        ProbeQuery(
            scope=context.scope,
            kinds=PROBED_KINDS,
            unused_since=context.moment.active_now - MIN_IDLE,
            unprobed_since=context.now - MIN_IDLE,
            limit=MAX_PER_DAY,
            counted_since=context.now - DAY,
        )
    )
    atoms = {atom.id: atom for atom in context.read(ids=tuple(ids))}
    return [atoms[atom_id] for atom_id in ids if atom_id in atoms]


def _probe(statement: Atom, working_set: WorkingSet, context: StepContext, plan: PlanBuilder) -> None:
    chat = context.available_chat
    later_sentences = find_later_sentences(statement, working_set, context) if chat is not None else []
    if chat is None or not later_sentences:
        return
    for sentence in sorted(find_contradictions(chat, statement, later_sentences), key=_newest_first):
        if _link_pair(statement, sentence, working_set, context, plan):
            return  # one pair for each statement is enough


def _newest_first(sentence: LaterSentence) -> tuple[float, str, int]:
    return -sentence.at.timestamp(), sentence.source.id, sentence.evidence.start if sentence.evidence else 0


def _link_pair(
    statement: Atom, sentence: LaterSentence, working_set: WorkingSet, context: StepContext, plan: PlanBuilder
) -> bool:
    """Create a pair of a statement and a later sentence if there is none; False if a person decided about it."""
    quoted = next(_statements_for(sentence, working_set), None)
    other = quoted or _quote_as_statement(sentence, statement, context, plan)
    if other is None:
        return False
    latest = plan.changes.get(other.id, other)
    if find_pair_link(statement, latest):
        return True
    if _was_decided(statement, other, context):
        return False
    statement, other = plan.changes.get(statement.id, statement), latest
    if other.pinned and statement.pinned:
        plan.notes.append(
            f"{statement.id} and {other.id} may contradict each other; both are pinned, so no pair was created"
        )
        return True
    linked, target = (statement, other) if other.pinned else (other, statement)
    link = Relation(RelationName.CONTRADICTS, target.id, DOUBTFUL, context.now)
    plan.changes[linked.id] = linked.with_(relations=(*linked.relations, link))
    plan.list_move("ask", statement, f"{sentence.at:%Y-%m-%d}: {sentence.text[:TEXT_CHARS]} [{other.id}]")
    return True


def _statements_for(sentence: LaterSentence, working_set: WorkingSet) -> Iterator[Atom]:
    """Return the statement that a later sentence is, or that was extracted from it."""
    if sentence.evidence is None:
        yield sentence.source
        return
    resting = sorted(working_set.statements_on(sentence.evidence), key=lambda atom: atom.id)
    yield from (atom for atom in resting if atom.status is Status.ACTIVE and is_plain_statement(atom))


def _quote_as_statement(
    sentence: LaterSentence, statement: Atom, context: StepContext, plan: PlanBuilder
) -> Atom | None:
    """Return the sentence as a challenged statement for review; None if a person decided about its text before."""
    pending = next(
        (change for change in plan.changes.values() if not change.revision and change.content == sentence.text), None
    )
    if pending is not None:
        return pending
    earlier = context.read(contents=(sentence.text,))
    if earlier:
        return next((atom for atom in earlier if find_pair_link(statement, atom)), None)
    source = sentence.source
    return Atom(
        id=next(context.ids),
        scope=context.scope,
        kind="fact",
        content=sentence.text,
        observed_at=sentence.at,
        origin=Origin.DREAM,
        derived_from=(source.id,),
        session_id=source.session_id,
        agents=source.agents,
        status=Status.CHALLENGED,
        confidence=DOUBTFUL,
        metadata={"origin": "probe"},
        **kind_defaults("fact", DOUBTFUL, Origin.DREAM),
    )


def _was_decided(statement: Atom, other: Atom, context: StepContext) -> bool:
    """Return whether a person decided about the pair: one that was settled or undone does not return."""
    if are_both_valid(statement, other):
        return True
    stored = [atom.id for atom in (statement, other) if atom.revision]
    versions = [version.atom for atom_id in stored for version in context.store.journal.versions(atom_id)]
    return any(find_pair_link(earlier, other) or find_pair_link(statement, earlier) for earlier in versions)


def find_later_sentences(statement: Atom, working_set: WorkingSet, context: StepContext) -> list[LaterSentence]:
    """Return sentences about the same things since a statement was last affirmed, in order of time."""
    words = content_tokens(statement.content)
    if not words:
        return []
    affirmed_at = _last_affirmed(statement, context)
    return [
        line
        for atom, passage in working_set.search(words, LIVE, MAX_CANDIDATES, is_trusted_passage)
        for line in _sentences_after(atom, passage, statement, working_set, affirmed_at)
        if effective_from(statement) < line.at <= context.now
    ]


def _last_affirmed(statement: Atom, context: StepContext) -> datetime:
    """Return when anyone but a dream last wrote the statement: repeated, confirmed, edited or cleared it."""
    times = [version.at for version in context.store.journal.versions(statement.id) if version.verb != "dream"]
    return max(times, default=recorded_at(statement))


def _sentences_after(
    atom: Atom, passage: Passage, statement: Atom, working_set: WorkingSet, affirmed_at: datetime
) -> Iterator[LaterSentence]:
    if not atom.is_segment:
        if _is_comparable(atom, statement) and recorded_at(atom) > affirmed_at:
            yield LaterSentence(one_line(atom.content), atom.subject or None, effective_from(atom), atom, None)
        return
    at = passage.at or atom.observed_at
    if max(at, recorded_at(atom)) <= affirmed_at:
        return
    for start, end, text in find_statable_sentences(passage.text):
        evidence = Evidence(atom.id, passage.n, start, end)
        if working_set.is_sentence_current(evidence) and not any(
            resting.id == statement.id for resting in working_set.statements_on(evidence)
        ):
            yield LaterSentence(text, passage.speaker, at, atom, evidence)


def _is_comparable(atom: Atom, statement: Atom) -> bool:
    """Return whether a statement is a trusted one and may be about the same thing."""
    is_trusted = is_plain_statement(atom) and not statements_need_review(atom.origin)
    if atom.id == statement.id or atom.status is not Status.ACTIVE or not is_trusted:
        return False
    subjects = {form for candidate in (atom, statement) if (form := normal_form(candidate.subject))}
    return len(subjects) <= 1
