"""Step 5, probe: a chat model compares statements that were not used for a while with what was said since.

Without a chat model nothing is probed. Five statements a day, the longest unused first, and none twice in 14 days.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.kinds import KINDS
from lamina.atom.pair import are_both_valid, find_pair_link
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.change.working_set import WorkingSet
from lamina.capture.classification import DOUBTFUL
from lamina.dream.contradiction_check import find_contradictions
from lamina.dream.counter_evidence import LaterSentence, find_later_sentences
from lamina.dream.entity_pages import is_plain_statement
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import Move, StepPlan
from lamina.store.base import AtomFilter
from lamina.text.normal_form import one_line

MAX_PER_DAY = 5
"""The most statements that are probed in one day."""
MIN_IDLE = timedelta(days=14)
"""How long a statement must be unused, and the shortest time between two probes of it."""
DAY = timedelta(days=1)
PROBED_KINDS = frozenset(name for name, each in KINDS.items() if not each.is_episode and not each.is_listing) - {
    "entity",
    "code",
}
_TEXT_CHARS = 80


@dataclass(slots=True)
class _ProbeResult:
    """The changes that the step collects; one statement may contradict several."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def latest(self, atom: Atom) -> Atom:
        return self.changes.get(atom.id, atom)


def probe(context: StepContext) -> StepPlan:
    """Compare idle statements with later evidence and create a pair for review where they contradict."""
    result, working_set, idle = (
        _ProbeResult(),
        WorkingSet(context.store, context.scope, context.now),
        select_idle(context),
    )
    for statement in idle:
        if statement.validity.covers(context.now):
            _probe(statement, working_set, context, result)
    ids = [statement.id for statement in idle]
    return StepPlan(
        tuple(result.changes.values()),
        tuple(result.moves),
        tuple(result.notes),
        after_commit=lambda: context.store.dream_progress.mark_probed(context.scope, ids, context.now),
    )


def select_idle(context: StepContext) -> list[Atom]:
    """Return the statements to probe, the longest unused first."""
    dreams, remaining = (
        context.store.dream_progress,
        MAX_PER_DAY - context.store.dream_progress.count_probed_since(context.scope, context.now - DAY),
    )
    if remaining <= 0:
        return []
    ids = dreams.find_unused(
        context.scope, PROBED_KINDS, context.moment.active_now - MIN_IDLE, context.now - MIN_IDLE, remaining
    )
    atoms = {atom.id: atom for atom in context.store.read(AtomFilter(scopes=(context.scope,), ids=tuple(ids)))}
    return [atoms[atom_id] for atom_id in ids if atom_id in atoms]


def _probe(statement: Atom, working_set: WorkingSet, context: StepContext, result: _ProbeResult) -> None:
    chat = context.available_chat
    later_sentences = find_later_sentences(statement, working_set, context) if chat is not None else []
    contradictions = (
        find_contradictions(chat, statement, later_sentences) if chat is not None and later_sentences else []
    )
    for sentence in sorted(contradictions, key=_newest_first):
        if _link_pair(statement, sentence, working_set, context, result):
            return  # one pair for each statement is enough


def _newest_first(sentence: LaterSentence) -> tuple[float, str, int]:
    return -sentence.at.timestamp(), sentence.source.id, sentence.evidence.start if sentence.evidence else 0


def _link_pair(
    statement: Atom, sentence: LaterSentence, working_set: WorkingSet, context: StepContext, result: _ProbeResult
) -> bool:
    """Create a pair of a statement and a later sentence if there is none; False if a person decided about it."""
    other = next(_statements_for(sentence, working_set), None) or _quote_as_statement(
        sentence, statement, context, result
    )
    if other is not None and find_pair_link(statement, result.latest(other)):
        return True
    if other is None or _was_decided(statement, other, context):
        return False
    statement, other = result.latest(statement), result.latest(other)
    link = RelationName.CONTRADICTS, DOUBTFUL, context.now
    if not other.pinned:
        other = other.with_(relations=(*other.relations, Relation(link[0], statement.id, *link[1:])))
        result.changes[other.id] = other
    elif not statement.pinned:
        statement = statement.with_(relations=(*statement.relations, Relation(link[0], other.id, *link[1:])))
        result.changes[statement.id] = statement
    else:
        result.notes.append(
            f"{statement.id} and {other.id} may contradict each other; both are pinned, so no pair was created"
        )
        return True
    why = f"{sentence.at:%Y-%m-%d}: {sentence.text[:_TEXT_CHARS]} [{other.id}]"
    result.moves.append(Move("ask", statement.id, one_line(statement.content)[:_TEXT_CHARS], why))
    return True


def _statements_for(sentence: LaterSentence, working_set: WorkingSet) -> Iterator[Atom]:
    """Return the statement that a later sentence is, or that was extracted from it."""
    if sentence.evidence is None:
        yield sentence.source
        return
    resting = sorted(working_set.statements_on(sentence.evidence), key=lambda atom: atom.id)
    yield from (atom for atom in resting if atom.status is Status.ACTIVE and is_plain_statement(atom))


def _quote_as_statement(
    sentence: LaterSentence, statement: Atom, context: StepContext, result: _ProbeResult
) -> Atom | None:
    """Return the sentence as a challenged statement for review; None if a person decided about its text before."""
    pending = next(
        (change for change in result.changes.values() if not change.revision and change.content == sentence.text), None
    )
    if pending is not None:
        return pending
    earlier = context.store.read(AtomFilter(scopes=(context.scope,), contents=(sentence.text,)))
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
    versions = [
        version.atom for atom in (statement, other) if atom.revision for version in context.store.versions(atom.id)
    ]
    return any(find_pair_link(earlier, other) or find_pair_link(statement, earlier) for earlier in versions)
