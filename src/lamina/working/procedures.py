"""Procedures learned from successful runs of a workflow: one per workflow, with a confidence that grows.

After a few successes a canonical procedure is proposed once, for a person to review.
"""

from __future__ import annotations

from collections.abc import Iterable

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.kinds import Durability, Layer
from lamina.atom.provenance import TRUST
from lamina.atom.status import ENDED, Status
from lamina.capture.classification import StatementVerdict
from lamina.capture.existing_statements import is_undone
from lamina.capture.receipt import Result
from lamina.store.base import AtomFilter
from lamina.text.normal_form import is_same_text, value_form
from lamina.working.writer_access import LINEAGE_LIMIT, WriterAccess, is_named

PROCEDURE = "procedure"
FIRST_CONFIDENCE, CONFIDENCE_STEP = 0.7, 0.1
"""The confidence of a procedure after one success, and what each further success adds."""
PROPOSAL_THRESHOLD = 3
"""The number of successes after which a canonical procedure is proposed."""


def record_success(workflow: str, summary: str, event: Atom, context: WriterAccess) -> list[StatementVerdict]:
    """Return the changes that a success makes to the workflow's procedure. The caller holds the store's write lock."""
    known = _read_procedures(workflow, context)
    base = _choose_base(known)
    content = summary if is_named(workflow, summary) else f"{workflow}: {summary}"
    if base is None:
        return [_create(workflow, content, event, known, context)]
    is_event_pending, is_base_pending = (atom.status is Status.CONSTRAINED for atom in (event, base))
    if (is_event_pending and not is_base_pending) or TRUST[event.origin] < TRUST[base.origin]:
        reason = f"a run that rests on {event.origin} does not raise the confidence of {workflow}"
        return [StatementVerdict(Result.REFUSED, base, (), reason)]
    raised = _raise_confidence(base, workflow, event)
    count = count_successes(raised)
    verdicts = [StatementVerdict(Result.DUPLICATE, raised, (raised,), f"{workflow} succeeded {count} times")]
    is_pending = is_event_pending or is_base_pending
    if count >= PROPOSAL_THRESHOLD and not is_pending and not any(map(_is_canonical, known)):
        verdicts.append(_propose(workflow, summary, raised, event, context))
    return verdicts


def count_successes(procedure: Atom) -> int:
    """Return how often the workflow succeeded; 0 if the metadata, which people can edit, holds no number."""
    count = procedure.metadata_text("successes")
    return int(count) if count.isascii() and count.isdecimal() and len(count) < 10 else 0


def _read_procedures(workflow: str, context: WriterAccess) -> list[Atom]:
    query = AtomFilter(scopes=(context.writer.scope,), kinds=frozenset({PROCEDURE}), subject=workflow)
    matching = (atom for atom in context.store.atoms.read(query) if value_form(atom.subject) == value_form(workflow))
    return [atom for atom in matching if not is_undone(atom, context.store)]


def _choose_base(known: Iterable[Atom]) -> Atom | None:
    """Return the procedure to update: a confirmed canonical one, else the most confident, else the oldest."""
    proposed = Status.CONSTRAINED, True
    candidates = (atom for atom in known if atom.status not in ENDED and (atom.status, _is_canonical(atom)) != proposed)
    return min(
        candidates,
        key=lambda atom: (atom.status is Status.CONSTRAINED, not _is_canonical(atom), -atom.confidence, atom.id),
        default=None,
    )


def _create(workflow: str, content: str, event: Atom, known: Iterable[Atom], context: WriterAccess) -> StatementVerdict:
    """Return a first procedure; refused if an earlier one with the same text was rejected or forgotten."""
    procedure = _new_procedure(
        event,
        context,
        subject=workflow,
        content=content,
        confidence=FIRST_CONFIDENCE,
        durability=Durability.STANDARD,
        status=event.status,
        derived_from=(event.id,),
        metadata={"workflow": workflow, "canonical": False, "successes": 1},
    )
    ended = next((atom for atom in known if is_same_text(atom.content, content)), None)
    if ended is not None:
        reason = f"{ended.id} has the same text and was rejected or forgotten"
        return StatementVerdict(Result.REFUSED, procedure, (), reason)
    if event.status is Status.CONSTRAINED:
        reason = f"{workflow} succeeded; pending review: it rests on {event.origin}"
        return StatementVerdict(Result.HELD, procedure, (), reason)
    return StatementVerdict(Result.NEW, procedure, (), f"{workflow} succeeded for the first time")


def _raise_confidence(base: Atom, workflow: str, event: Atom) -> Atom:
    """Return the procedure with one more success; an archived one becomes active again."""
    return base.with_(
        confidence=min(1.0, round(base.confidence + CONFIDENCE_STEP, 3)),
        metadata={"workflow": workflow, **base.metadata, "successes": count_successes(base) + 1},
        derived_from=(*base.derived_from, event.id)[-LINEAGE_LIMIT:],
        status=Status.ACTIVE if base.status is Status.ARCHIVED else base.status,
    )


def _propose(workflow: str, summary: str, base: Atom, event: Atom, context: WriterAccess) -> StatementVerdict:
    """Return a canonical procedure that is pending review."""
    has_summary = summary.casefold() in base.content.casefold()
    count = count_successes(base)
    procedure = _new_procedure(
        event,
        context,
        subject=workflow,
        confidence=base.confidence,
        durability=Durability.CORE,
        content=base.content if has_summary else f"{base.content}\n\nAs it went the last time: {summary}",
        status=Status.CONSTRAINED,
        derived_from=(base.id, *base.derived_from[1 - LINEAGE_LIMIT :]),
        metadata={"workflow": workflow, "canonical": True, "successes": count, "proposal_type": "procedural_canonical"},
    )
    reason = f"{workflow} succeeded {count} times: proposed as the canonical procedure"
    return StatementVerdict(Result.HELD, procedure, (), reason)


def _new_procedure(event: Atom, context: WriterAccess, **fields: object) -> Atom:
    values = kind_defaults(PROCEDURE) | {"layer": Layer.PROCEDURAL} | fields
    return Atom(
        id=context.ids.new(event.observed_at),
        scope=event.scope,
        kind=PROCEDURE,
        observed_at=event.observed_at,
        agents=event.agents,
        origin=event.origin,
        principal=event.principal,
        **values,
    )


def _is_canonical(atom: Atom) -> bool:
    return atom.metadata_text("canonical").casefold() == "true"
