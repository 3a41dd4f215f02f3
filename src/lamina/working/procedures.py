"""What a workflow that succeeds teaches: one procedure, surer each time, and once a proposal to make it canonical."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.kinds import Durability, Layer
from lamina.atom.status import ENDED, Status
from lamina.atom.trust import TRUST
from lamina.capture.classify import Verdict
from lamina.capture.current import is_undone
from lamina.capture.receipt import Result
from lamina.store.base import Filter
from lamina.text.normal import same_text, value_form
from lamina.working.context import Workplace, is_named

PROCEDURE = "procedure"
FIRST, STEP = 0.7, 0.1
"""How sure a procedure is that worked once, and what each further success adds."""
ENOUGH = 3
"""Successes after which a canonical procedure is proposed."""
LINEAGE = 200


def practised(workflow: str, summary: str, event: Atom, place: Workplace) -> list[Verdict]:
    """What a success does to the workflow's procedure; the caller lets nobody commit meanwhile."""
    known = _procedures(workflow, place)
    base = _base(known)
    content = summary if is_named(workflow, summary) else f"{workflow}: {summary}"
    if base is None:
        return [_first(workflow, content, event, known, place)]
    held = event.status is Status.CONSTRAINED and base.status is not Status.CONSTRAINED
    if held or TRUST[event.origin] < TRUST[base.origin]:
        return [Verdict(Result.REFUSED, base, (), f"what rests on {event.origin} does not make {workflow} surer")]
    surer = _surer(base, workflow, event)
    count = successes(surer)
    verdicts = [Verdict(Result.DUPLICATE, surer, (surer,), f"{workflow} succeeded {count} times")]
    waits = event.status is Status.CONSTRAINED or base.status is Status.CONSTRAINED
    if count >= ENOUGH and not waits and not any(map(_is_canonical, known)):
        verdicts.append(_proposal(workflow, summary, surer, event, place))
    return verdicts


def successes(procedure: Atom) -> int:
    """How often the workflow succeeded by this procedure; a person may have written anything there."""
    count = procedure.metadata.get("successes", "")
    return int(count) if count.isascii() and count.isdecimal() and len(count) < 10 else 0


def _procedures(workflow: str, place: Workplace) -> list[Atom]:
    wanted = Filter(scopes=(place.writer.scope,), kinds=frozenset({PROCEDURE}), subject=workflow)
    named = (atom for atom in place.store.read(wanted) if value_form(atom.subject) == value_form(workflow))
    return [atom for atom in named if not is_undone(atom, place.store)]


def _base(known: Iterable[Atom]) -> Atom | None:
    """The one that is made surer: a confirmed canonical one, else the surest, else the oldest."""
    proposed = Status.CONSTRAINED, True
    standing = (a for a in known if a.status not in ENDED and (a.status, _is_canonical(a)) != proposed)
    return min(
        standing,
        key=lambda a: (a.status is Status.CONSTRAINED, not _is_canonical(a), -a.confidence, a.id),
        default=None,
    )


def _first(workflow: str, content: str, event: Atom, known: Iterable[Atom], place: Workplace) -> Verdict:
    made = _made(event, place, subject=workflow, content=content, confidence=FIRST, durability=Durability.STANDARD,
                 status=event.status, derived_from=(event.id,),
                 metadata={"workflow": workflow, "canonical": "false", "successes": "1"})  # fmt: skip
    barred = next((each for each in known if same_text(each.content, content)), None)
    if barred is not None:
        return Verdict(Result.REFUSED, made, (), f"{barred.id} said so and was taken back")
    if event.status is Status.CONSTRAINED:
        return Verdict(Result.HELD, made, (), f"{workflow} succeeded; waits for review, resting on {event.origin}")
    return Verdict(Result.NEW, made, (), f"{workflow} succeeded for the first time")


def _surer(base: Atom, workflow: str, event: Atom) -> Atom:
    """What was laid aside for want of use is in use again."""
    return base.with_(
        confidence=min(1.0, round(base.confidence + STEP, 3)),
        metadata={"workflow": workflow, **base.metadata, "successes": str(successes(base) + 1)},
        derived_from=(*base.derived_from, event.id)[-LINEAGE:],
        status=Status.ACTIVE if base.status is Status.ARCHIVED else base.status,
    )


def _proposal(workflow: str, summary: str, base: Atom, event: Atom, place: Workplace) -> Verdict:
    told = summary.casefold() in base.content.casefold()
    made = _made(
        event, place, subject=workflow, confidence=base.confidence, durability=Durability.CORE,
        content=base.content if told else f"{base.content}\n\nAs it went the last time: {summary}",
        status=Status.CONSTRAINED, derived_from=(base.id, *base.derived_from[1 - LINEAGE :]),
        metadata={"workflow": workflow, "canonical": "true", "successes": str(successes(base)),
                  "proposal_type": "procedural_canonical"},
    )  # fmt: skip
    reason = f"{workflow} succeeded {successes(base)} times: proposed as the canonical procedure"
    return Verdict(Result.HELD, made, (), reason)


def _made(event: Atom, place: Workplace, **fields: object) -> Atom:
    own = kind_defaults(PROCEDURE) | {"layer": Layer.PROCEDURAL} | fields
    return Atom(
        id=place.ids.new(event.observed_at), scope=event.scope, kind=PROCEDURE, observed_at=event.observed_at,
        agents=event.agents, origin=event.origin, principal=event.principal, **own,
    )  # fmt: skip


def _is_canonical(atom: Atom) -> bool:
    return atom.metadata.get("canonical", "").casefold() == "true"
