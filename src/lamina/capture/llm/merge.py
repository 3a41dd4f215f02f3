"""Merging the statements of a language model with those of the base extractor. The base's are always kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lamina.atom.atom import Evidence
from lamina.capture.found import Finding
from lamina.capture.llm.counts import Reason
from lamina.capture.llm.support import content_words, names_in, time_words
from lamina.text.analyse import QUESTION_STOP, analyse

MOST_FINDINGS = 12
"""The model adds nothing beyond this number; later steps would drop statements of the base."""
REPLACES = 0.8
"""The least share of a base statement's words that the model's wording in its place must contain."""


@dataclass(slots=True)
class Merged:
    """The statements of both, how many of the model's are among them, and why others are not."""

    findings: list[Finding]
    kept: int = 0
    dropped: list[Reason] = field(default_factory=list)


def merge(base: Sequence[Finding], model: Sequence[Finding]) -> Merged:
    """Return the base's statements and the model's other ones.

    A base statement is reworded if the model's statements on the same sentence cover it.
    """
    reworded: dict[int, list[Finding]] = {}
    used: set[int] = set()
    for index, statement in enumerate(base):
        free = [n for n, other in enumerate(model) if other.evidence == statement.evidence and n not in used]
        covering = _covering(statement, [model[n] for n in free])
        if covering:
            used |= {free[n] for n in covering}
            reworded[index] = _inherited(statement, [model[free[n]] for n in covering])
    merged = Merged(
        [merged_statement for n, statement in enumerate(base) for merged_statement in reworded.get(n, [statement])],
        len(used),
    )
    not_reworded = [statement for n, statement in enumerate(base) if n not in reworded]
    for n, statement in enumerate(model):
        if n in used:
            continue
        if any(_says(other, statement) for other in (*not_reworded, *merged.findings)):
            merged.dropped.append(Reason.KNOWN)
        elif len(merged.findings) >= MOST_FINDINGS:
            merged.dropped.append(Reason.TOO_MANY)
        else:
            merged.findings.append(statement)
            merged.kept += 1
    return merged


def _covering(base: Finding, model: Sequence[Finding]) -> list[int]:
    """Return the indexes of the model's statements that cover the base's: one of them, or all together."""
    complete = [n for n, statement in enumerate(model) if _covers([statement], base)]
    if complete:
        return [max(complete, key=lambda n: _shared(model[n].content, base))]
    return list(range(len(model))) if len(model) > 1 and _covers(model, base) else []


def _covers(model: Sequence[Finding], base: Finding) -> bool:
    """Return whether statements contain most words, every name and number, and the value of a base statement.

    Words of time may be missing if the model gives the day.
    """
    content = " ".join(statement.content for statement in model)
    base_words, tokens = content_words(base.content), set(analyse(content))
    day = next((statement.valid_from for statement in model if statement.valid_from), None)
    base_words -= time_words(base.content, day.date()) if day else frozenset()
    required = {token for name in names_in(base.content) for token in analyse(name)} | set(analyse(base.value or ""))
    is_exact = required - QUESTION_STOP <= tokens | set(analyse(base.subject))
    return is_exact and len(base_words & _words(content, base)) >= REPLACES * len(base_words)


def _shared(content: str, base: Finding) -> int:
    return len(content_words(base.content) & _words(content, base))


def _words(content: str, base: Finding) -> frozenset[str]:
    return content_words(content) | content_words(base.subject)


def _inherited(base: Finding, model: Sequence[Finding]) -> list[Finding]:
    """Return the model's statements in the base's place: the nearest takes over everything but the wording."""
    nearest = max(range(len(model)), key=lambda n: _shared(model[n].content, base))
    return [_reworded(base, statement) if n == nearest else statement for n, statement in enumerate(model)]


def _reworded(base: Finding, model: Finding) -> Finding:
    has_claim = base.attribute is not None
    return replace(
        base,
        content=model.content,
        subject=base.subject or model.subject,
        attribute=base.attribute if has_claim else model.attribute,
        value=base.value if has_claim else model.value,
        valid_from=base.valid_from or model.valid_from,
        is_sure=base.is_sure if has_claim or model.attribute is None else False,
    )


def _says(known: Finding, finding: Finding) -> bool:
    """Return whether a statement on the same sentence adds nothing to a known one."""
    if not _overlap(known.evidence, finding.evidence):
        return False
    words = content_words(finding.content) - content_words(finding.subject)
    return words <= content_words(known.content) | content_words(known.subject)


def _overlap(one: Evidence, other: Evidence) -> bool:
    same = (one.segment, one.passage) == (other.segment, other.passage)
    return same and one.start < other.end and other.start < one.end
