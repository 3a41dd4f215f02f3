"""Step drift: challenge statements about code that no longer exists, with what was searched for and where.

Only folders that a person declared for the scope are searched, on this machine. What a person decided about a challenge
stands until the statement's text changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from lamina.atom.atom import Atom, AtomId
from lamina.atom.kinds import Layer
from lamina.atom.status import Status
from lamina.dream.code_presence import CodeRoots, Presence
from lamina.dream.code_references import CodeReference, ReferenceType, find_references
from lamina.dream.dream import VERB
from lamina.dream.entity_pages import is_plain_statement
from lamina.dream.step import TEXT_CHARS, Move, PlanBuilder, StepContext, StepPlan
from lamina.store.base import Store
from lamina.text.normal_form import one_line

STEP = "drift"
MAX_SCORE = 100
_FUTURE_KINDS = frozenset({"goal", "commitment", "question", "reminder"})
"""Kinds that may refer to things which do not exist yet."""


class Severity(IntEnum):
    """The points that a missing thing costs the score."""

    INFO = 1
    WARNING = 3
    ERROR = 10


SEVERITY: dict[ReferenceType, Severity] = {
    **dict.fromkeys(ReferenceType, Severity.WARNING),
    ReferenceType.ABSOLUTE: Severity.ERROR,
    ReferenceType.FILE_NAME: Severity.INFO,
}
"""How certain it is that something is wrong. `INFO` is reported and challenges nothing."""


@dataclass(frozen=True, slots=True)
class MissingReference:
    """A missing thing, how severe it is, and what was searched for, in words."""

    severity: Severity
    description: str


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """A statement and the missing things it refers to."""

    atom: Atom
    missing: tuple[MissingReference, ...]

    @property
    def severity(self) -> Severity:
        return max(missing.severity for missing in self.missing)

    @property
    def why(self) -> str:
        return "; ".join(missing.description for missing in self.missing)


def drift(context: StepContext) -> StepPlan:
    """Challenge statements about code that none of the scope's folders has; pinned or reviewed ones are only noted."""
    if not context.code_roots:
        return StepPlan(examined="nothing: no folders of code are declared (the setting `roots`)")
    code = CodeRoots(context.code_roots)
    findings = list(_find_drift(context, code))
    plan = PlanBuilder(
        notes=[*code.notes, *_score_notes(findings)],
        examined=f"all statements against {len(context.code_roots)} folders; with missing references: {len(findings)}",
    )
    for finding in findings:
        text = one_line(finding.atom.content)
        skip_reason = _skip_reason(finding, context.store)
        if skip_reason is not None:
            plan.notes.append(f"{finding.atom.id[-6:]} {text[:TEXT_CHARS]}: {finding.why} ({skip_reason})")
            continue
        plan.changes[finding.atom.id] = finding.atom.with_(status=Status.CHALLENGED)
        plan.moves.append(Move("challenge", finding.atom.id, text, finding.why))
    plan.notes += _returned_notes(context, code)
    return plan.build()


def _find_drift(context: StepContext, code: CodeRoots) -> Iterator[DriftFinding]:
    missing: list[tuple[Atom, list[CodeReference]]] = []
    for atom in sorted(context.statements(), key=_oldest_first):
        if context.should_stop():
            return
        references = [
            reference for reference in _references_of(atom) if code.presence_of(reference) is Presence.MISSING
        ]
        if references:
            missing.append((atom, references))
    last_seen_days = _last_seen(context) if missing else {}
    for atom, references in missing:
        details = (
            MissingReference(
                _severity_of(reference, code, last_seen_days), _describe_missing(reference, atom, code, last_seen_days)
            )
            for reference in references
        )
        yield DriftFinding(atom, tuple(details))


def _oldest_first(atom: Atom) -> tuple[datetime, AtomId]:
    return atom.observed_at, atom.id


def _severity_of(reference: CodeReference, code: CodeRoots, last_seen: Mapping[str, str]) -> Severity:
    """Return the severity; a path into a folder that no root has may belong to another project."""
    is_foreign = (
        reference.type is ReferenceType.RELATIVE
        and reference.name not in last_seen
        and not code.has_top_folder(reference.name)
    )
    return Severity.INFO if is_foreign else SEVERITY[reference.type]


def _references_of(atom: Atom) -> list[CodeReference]:
    """Return what a statement says exists; none for events, plans and code itself."""
    if atom.layer is Layer.CODEBASE or atom.is_episode or atom.kind in _FUTURE_KINDS:
        return []
    return find_references(atom.content)


def _skip_reason(finding: DriftFinding, store: Store) -> str | None:
    """Return why a statement with missing references is not challenged; None if it is."""
    if finding.severity is Severity.INFO:
        return "only a hint"
    if finding.atom.pinned:
        return "pinned"
    return "challenged before and confirmed by a person" if _was_challenged(finding.atom, store) else None


def _was_challenged(atom: Atom, store: Store) -> bool:
    """Return whether drift challenged the atom before with the same text."""
    return any(
        version.verb == VERB
        and version.reason.startswith(STEP)
        and version.atom.status is Status.CHALLENGED
        and version.old_status is Status.ACTIVE
        and version.atom.content == atom.content
        for version in store.journal.versions(atom.id)
    )


def _returned_notes(context: StepContext, code: CodeRoots) -> Iterator[str]:
    """Return a note for each statement that drift challenged and whose references exist again."""
    challenged = context.read(statuses=frozenset({Status.CHALLENGED}), include_run_notes=False)
    for atom in sorted(filter(is_plain_statement, challenged), key=_oldest_first):
        references = _references_of(atom)
        exists = all(code.presence_of(reference) is Presence.PRESENT for reference in references)
        if references and exists and _was_challenged(atom, context.store):
            names = ", ".join(reference.name for reference in references)[:TEXT_CHARS]
            yield f"{atom.id[-6:]} names {names}, which exists again: `lamina review confirm {atom.id[-6:]}`"


def _score_notes(findings: Sequence[DriftFinding]) -> Iterator[str]:
    severities = Counter(missing.severity for finding in findings for missing in finding.missing)
    if severities:
        counts = ", ".join(
            f"{severities[severity]} {severity.name.lower()}" for severity in sorted(Severity, reverse=True)
        )
        yield f"score {score(severities.elements())} of {MAX_SCORE}: {counts}"


def score(severities: Iterable[Severity]) -> int:
    """Return how well statements and code agree: 100 less 10 per error, 3 per warning and 1 per hint; at least 0."""
    return max(0, MAX_SCORE - sum(severities))


def _last_seen(context: StepContext) -> dict[str, str]:
    """Return the day on which each file was last read into the codebase layer, by path."""
    code = context.read(kinds=frozenset({"code"}))
    return {
        atom.metadata_text("path"): f"{atom.observed_at:%Y-%m-%d}" for atom in reversed(code) if "path" in atom.metadata
    }


_DESCRIPTIONS = {
    ReferenceType.DEFINITION: "{name} does not occur in the code of {where}",
    ReferenceType.SCRIPT: "no package.json of {where} has the script {name}",
    ReferenceType.TARGET: "no Makefile of {where} has the target {name}",
    ReferenceType.RECIPE: "no justfile of {where} has the recipe {name}",
    ReferenceType.CRATE: "no Cargo.toml of {where} names the crate {name}",
    ReferenceType.BINARY: "cargo finds no binary {name} in {where}",
    ReferenceType.MODULE: "{where} has no module {name}",
    ReferenceType.PACKAGE: "no manifest of {where} names {name}, and no code uses it",
}
"""What is missing, by type; a path also has the day on which it was last seen."""


def _describe_missing(reference: CodeReference, atom: Atom, code: CodeRoots, last_seen: Mapping[str, str]) -> str:
    name = reference.name
    if reference.type in _DESCRIPTIONS:
        return _DESCRIPTIONS[reference.type].format(name=name, where=code.name)
    since = f"last seen {last_seen[name]}" if name in last_seen else f"stated {atom.observed_at:%Y-%m-%d}"
    return f"{name} is not in {code.name}; {since}"
