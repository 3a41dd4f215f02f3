"""Merging the statements of a language model with those of the base extractor. The base's are always kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lamina.capture.extractors import ExtractedStatement
from lamina.capture.llm.quotes import content_words, find_names, time_words
from lamina.capture.receipt import DropReason
from lamina.text.analyser import STOP_WORDS, analyse

DEFAULT_KIND = "fact"
"""The kind of a base statement that declares none; then the model's counts."""
MAX_STATEMENTS = 12
"""The model adds nothing beyond this number; later steps would drop statements of the base."""
MIN_REWORDING_OVERLAP = 0.8
"""The least share of a base statement's words that the model's wording in its place must contain."""


@dataclass(slots=True)
class MergedStatements:
    """The statements of both, how many of the model's are among them, and why others are not."""

    statements: list[ExtractedStatement]
    kept: int = 0
    dropped: list[DropReason] = field(default_factory=list)


def merge_statements(
    base_statements: Sequence[ExtractedStatement], model_statements: Sequence[ExtractedStatement]
) -> MergedStatements:
    """Return the base's statements and the model's other ones.

    A base statement is reworded if the model's statements on the same sentence cover it.
    """
    reworded: dict[int, list[ExtractedStatement]] = {}
    used: set[int] = set()
    for index, statement in enumerate(base_statements):
        free = [n for n, other in enumerate(model_statements) if other.evidence == statement.evidence and n not in used]
        covering = _find_covering(statement, [model_statements[n] for n in free])
        if covering:
            used |= {free[n] for n in covering}
            reworded[index] = _take_over_claim(statement, [model_statements[free[n]] for n in covering])
    merged = MergedStatements(
        [
            merged_statement
            for n, statement in enumerate(base_statements)
            for merged_statement in reworded.get(n, [statement])
        ],
        len(used),
    )
    not_reworded = [statement for n, statement in enumerate(base_statements) if n not in reworded]
    for n, statement in enumerate(model_statements):
        if n in used:
            continue
        if any(_adds_nothing(other, statement) for other in (*not_reworded, *merged.statements)):
            merged.dropped.append(DropReason.KNOWN)
        elif len(merged.statements) >= MAX_STATEMENTS:
            merged.dropped.append(DropReason.TOO_MANY)
        else:
            merged.statements.append(statement)
            merged.kept += 1
    return merged


def _find_covering(base: ExtractedStatement, model_statements: Sequence[ExtractedStatement]) -> list[int]:
    """Return the indexes of the model's statements that cover the base's: one of them, or all together."""
    complete = [n for n, statement in enumerate(model_statements) if _covers([statement], base)]
    if complete:
        return [max(complete, key=lambda n: _count_shared_words(model_statements[n].content, base))]
    return list(range(len(model_statements))) if len(model_statements) > 1 and _covers(model_statements, base) else []


def _covers(model_statements: Sequence[ExtractedStatement], base: ExtractedStatement) -> bool:
    """Return whether statements contain most words, every name and number, and the value of a base statement.

    Words of time may be missing if the model gives the day.
    """
    content = " ".join(statement.content for statement in model_statements)
    base_words, tokens = content_words(base.content), set(analyse(content))
    day = next((statement.valid_from for statement in model_statements if statement.valid_from), None)
    base_words -= time_words(base.content, day.date()) if day else frozenset()
    required = {token for name in find_names(base.content) for token in analyse(name)} | set(analyse(base.value or ""))
    is_exact = required - STOP_WORDS <= tokens | set(analyse(base.subject))
    return is_exact and len(base_words & _statement_words(content, base)) >= MIN_REWORDING_OVERLAP * len(base_words)


def _count_shared_words(content: str, base: ExtractedStatement) -> int:
    return len(content_words(base.content) & _statement_words(content, base))


def _statement_words(content: str, base: ExtractedStatement) -> frozenset[str]:
    return content_words(content) | content_words(base.subject)


def _take_over_claim(
    base: ExtractedStatement, model_statements: Sequence[ExtractedStatement]
) -> list[ExtractedStatement]:
    """Return the model's statements in the base's place: the nearest takes over everything but the wording."""
    nearest = max(range(len(model_statements)), key=lambda n: _count_shared_words(model_statements[n].content, base))
    return [_reword(base, statement) if n == nearest else statement for n, statement in enumerate(model_statements)]


def _reword(base: ExtractedStatement, model: ExtractedStatement) -> ExtractedStatement:
    has_claim = base.attribute is not None
    return replace(
        base,
        content=model.content,
        kind=model.kind if base.kind == DEFAULT_KIND else base.kind,
        relations=model.relations,
        subject=base.subject or model.subject,
        attribute=base.attribute if has_claim else model.attribute,
        value=base.value if has_claim else model.value,
        valid_from=base.valid_from or model.valid_from,
        may_end_others=base.may_end_others if has_claim or model.attribute is None else False,
    )


def _adds_nothing(known: ExtractedStatement, candidate: ExtractedStatement) -> bool:
    """Return whether a statement on the same sentence adds nothing to a known one."""
    if not known.evidence.overlaps(candidate.evidence):
        return False
    words = content_words(candidate.content) - content_words(candidate.subject)
    return words <= content_words(known.content) | content_words(known.subject)
