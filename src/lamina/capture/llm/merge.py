"""Merging a language model's findings with those of the base extractor. Whatever the base asserts is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lamina.atom.atom import Evidence
from lamina.capture.found import Finding
from lamina.capture.llm.counts import Reason
from lamina.capture.llm.support import content_words, names_in, time_words
from lamina.text.analyse import QUESTION_STOP, analyse

MOST_FINDINGS = 12
"""The model adds no more where there are so many: beyond this, later steps would drop findings of the base."""
REPLACES = 0.8
"""The least share of a base finding's words that a wording in its place must hold."""


@dataclass(slots=True)
class Merged:
    """The findings of both, how many of the model's are among them, and why others are not."""

    findings: list[Finding]
    kept: int = 0
    dropped: list[Reason] = field(default_factory=list)


def merge(base: Sequence[Finding], model: Sequence[Finding]) -> Merged:
    """Return the base's findings, reworded where the model covers them on the same sentence, and the model's others."""
    reworded: dict[int, list[Finding]] = {}
    used: set[int] = set()
    for place, finding in enumerate(base):
        free = [n for n, other in enumerate(model) if other.evidence == finding.evidence and n not in used]
        covering = _covering(finding, [model[n] for n in free])
        if covering:
            used |= {free[n] for n in covering}
            reworded[place] = _inherited(finding, [model[free[n]] for n in covering])
    merged = Merged([each for n, finding in enumerate(base) for each in reworded.get(n, [finding])], len(used))
    staying = [finding for n, finding in enumerate(base) if n not in reworded]
    for n, finding in enumerate(model):
        if n in used:
            continue
        if any(_says(other, finding) for other in (*staying, *merged.findings)):
            merged.dropped.append(Reason.KNOWN)
        elif len(merged.findings) >= MOST_FINDINGS:
            merged.dropped.append(Reason.TOO_MANY)
        else:
            merged.findings.append(finding)
            merged.kept += 1
    return merged


def _covering(base: Finding, model: Sequence[Finding]) -> list[int]:
    """Return the places of the model's findings that say what the base's finding says: one of them, or all together."""
    whole = [n for n, finding in enumerate(model) if _covers([finding], base)]
    if whole:
        return [max(whole, key=lambda n: _shared(model[n].content, base))]
    return list(range(len(model))) if len(model) > 1 and _covers(model, base) else []


def _covers(model: Sequence[Finding], base: Finding) -> bool:
    """Return whether findings hold most words, every name and number, and the value of a base finding.

    Words of time may be missing where the model gives the day.
    """
    content = " ".join(finding.content for finding in model)
    wanted, tokens = content_words(base.content), set(analyse(content))
    day = next((finding.valid_from for finding in model if finding.valid_from), None)
    wanted -= time_words(base.content, day.date()) if day else frozenset()
    exact = {token for name in names_in(base.content) for token in analyse(name)} | set(analyse(base.value or ""))
    is_exact = exact - QUESTION_STOP <= tokens | set(analyse(base.subject))
    return is_exact and len(wanted & _words(content, base)) >= REPLACES * len(wanted)


def _shared(content: str, base: Finding) -> int:
    return len(content_words(base.content) & _words(content, base))


def _words(content: str, base: Finding) -> frozenset[str]:
    return content_words(content) | content_words(base.subject)


def _inherited(base: Finding, model: Sequence[Finding]) -> list[Finding]:
    """Return the model's findings in the base's place: the nearest takes over everything but the wording."""
    nearest = max(range(len(model)), key=lambda n: _shared(model[n].content, base))
    return [_reworded(base, finding) if n == nearest else finding for n, finding in enumerate(model)]


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
    """Return whether a finding of the same sentence adds nothing to a known one."""
    if not _overlap(known.evidence, finding.evidence):
        return False
    words = content_words(finding.content) - content_words(finding.subject)
    return words <= content_words(known.content) | content_words(known.subject)


def _overlap(one: Evidence, other: Evidence) -> bool:
    same = (one.segment, one.passage) == (other.segment, other.passage)
    return same and one.start < other.end and other.start < one.end
