"""Step 6, drift: challenge statements about code that no longer exists, with what was searched for and where.

Only folders that a person declared for the scope are searched, on this machine. What a person decided about a challenge
stands until the statement's text changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer
from lamina.atom.status import Status
from lamina.dream.claims_of_code import Named, Sort, named_in
from lamina.dream.dream import VERB
from lamina.dream.entity_pages import is_stated
from lamina.dream.ground import Ground, Sight
from lamina.dream.plan import Move, Plan
from lamina.dream.scene import Scene
from lamina.store.base import Filter, Store
from lamina.text.normal import one_line

STEP = "drift"
BEST = 100
_LOOKED_FORWARD_TO = frozenset({"goal", "commitment", "question", "reminder"})
"""Kinds that may refer to things which do not exist yet."""
_SHOWN = 80


class Severity(IntEnum):
    """How many points a missing thing costs the score."""

    INFO = 1
    WARNING = 3
    ERROR = 10


SEVERITY: dict[Sort, Severity] = {
    Sort.ABSOLUTE: Severity.ERROR,
    Sort.RELATIVE: Severity.WARNING,
    Sort.FILE_NAME: Severity.INFO,
    Sort.DEFINITION: Severity.WARNING,
    Sort.SCRIPT: Severity.WARNING,
    Sort.TARGET: Severity.WARNING,
    Sort.RECIPE: Severity.WARNING,
    Sort.CRATE: Severity.WARNING,
    Sort.BINARY: Severity.WARNING,
    Sort.MODULE: Severity.WARNING,
    Sort.PACKAGE: Severity.WARNING,
}
"""How certain it is that something is wrong. `INFO` is reported and challenges nothing."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A missing thing, how severe it is, and what was searched for, in words."""

    severity: Severity
    told: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement and the missing things it refers to."""

    atom: Atom
    missing: tuple[Missing, ...]

    @property
    def severity(self) -> Severity:
        return max(missing.severity for missing in self.missing)

    @property
    def why(self) -> str:
        return "; ".join(missing.told for missing in self.missing)


def drift(scene: Scene) -> Plan:
    """Challenge statements about code that none of the scope's folders has; pinned or reviewed ones are only noted."""
    if not scene.roots:
        return Plan()
    code = Ground(scene.roots)
    findings = list(_findings(scene, code))
    changes: list[Atom] = []
    moves: list[Move] = []
    notes = [*code.notes, *_score(findings)]
    for finding in findings:
        text = one_line(finding.atom.content)
        skip_reason = _left_alone(finding, scene.store)
        if skip_reason is not None:
            notes.append(f"{finding.atom.id[-6:]} {text[:_SHOWN]}: {finding.why} ({skip_reason})")
            continue
        changes.append(finding.atom.with_(status=Status.CHALLENGED))
        moves.append(Move("challenge", finding.atom.id, text, finding.why))
    return Plan(tuple(changes), tuple(moves), (*notes, *_back(scene, code)))


def _findings(scene: Scene, ground: Ground) -> Iterator[Finding]:
    missing: list[tuple[Atom, list[Named]]] = []
    for atom in sorted(scene.stated(), key=lambda atom: (atom.observed_at, atom.id)):
        if scene.stop():
            return
        if references := [reference for reference in _claims(atom) if ground.sight(reference) is Sight.GONE]:
            missing.append((atom, references))
    last_seen_days = _last_seen(scene) if missing else {}
    for atom, references in missing:
        details = (
            Missing(_severity(reference, ground, last_seen_days), _told(reference, atom, ground, last_seen_days))
            for reference in references
        )
        yield Finding(atom, tuple(details))


def _severity(named: Named, ground: Ground, seen: Mapping[str, str]) -> Severity:
    """Return the severity; a path into a folder that no root has may belong to another project."""
    is_foreign = named.sort is Sort.RELATIVE and named.name not in seen and not ground.has_folder_of(named.name)
    return Severity.INFO if is_foreign else SEVERITY[named.sort]


def _claims(atom: Atom) -> list[Named]:
    """Return what a statement says exists; none for events, plans and code itself."""
    if atom.layer is Layer.CODEBASE or atom.is_episode or atom.kind in _LOOKED_FORWARD_TO:
        return []
    return named_in(atom.content)


def _left_alone(finding: Finding, store: Store) -> str | None:
    """Return why a statement with missing references is not challenged; None if it is."""
    if finding.severity is Severity.INFO:
        return "only a hint"
    if finding.atom.pinned:
        return "pinned"
    return "challenged before and confirmed by a person" if _was_doubted(finding.atom, store) else None


def _was_doubted(atom: Atom, store: Store) -> bool:
    """Return whether drift challenged the atom before with the same text."""
    return any(
        version.verb == VERB
        and version.reason.startswith(STEP)
        and version.atom.status is Status.CHALLENGED
        and version.old_status is Status.ACTIVE
        and version.atom.content == atom.content
        for version in store.versions(atom.id)
    )


def _back(scene: Scene, ground: Ground) -> Iterator[str]:
    """Return a note for each statement that drift challenged and whose references exist again."""
    challenged = Filter(scopes=(scene.scope,), statuses=frozenset({Status.CHALLENGED}), notes=False)
    for atom in sorted(filter(is_stated, scene.store.read(challenged)), key=lambda atom: (atom.observed_at, atom.id)):
        references = _claims(atom)
        if (
            references
            and all(ground.sight(reference) is Sight.THERE for reference in references)
            and _was_doubted(atom, scene.store)
        ):
            names = ", ".join(reference.name for reference in references)[:_SHOWN]
            yield f"{atom.id[-6:]} names {names}, which exists again: `lamina review confirm {atom.id[-6:]}`"


def _score(findings: Sequence[Finding]) -> Iterator[str]:
    severities = Counter(missing.severity for finding in findings for missing in finding.missing)
    if severities:
        counts = ", ".join(
            f"{severities[severity]} {severity.name.lower()}" for severity in sorted(Severity, reverse=True)
        )
        yield f"score {score(severities.elements())} of {BEST}: {counts}"


def score(severities: Iterable[Severity]) -> int:
    """Return how well statements and code agree: 100 less 10 per error, 3 per warning and 1 per hint; at least 0."""
    return max(0, BEST - sum(severities))


def _last_seen(scene: Scene) -> dict[str, str]:
    """Return the day on which each file was last read into the codebase layer, by path."""
    code = scene.store.read(Filter(scopes=(scene.scope,), kinds=frozenset({"code"})))
    return {atom.metadata["path"]: f"{atom.observed_at:%Y-%m-%d}" for atom in reversed(code) if "path" in atom.metadata}


def _told(named: Named, atom: Atom, ground: Ground, seen: Mapping[str, str]) -> str:
    where, name = ground.name, named.name
    match named.sort:
        case Sort.ABSOLUTE | Sort.RELATIVE | Sort.FILE_NAME:
            since = f"last seen {seen[name]}" if name in seen else f"stated {atom.observed_at:%Y-%m-%d}"
            return f"{name} is not in {where}; {since}"
        case Sort.DEFINITION:
            return f"{name} does not occur in the code of {where}"
        case Sort.SCRIPT:
            return f"no package.json of {where} has the script {name}"
        case Sort.TARGET:
            return f"no Makefile of {where} has the target {name}"
        case Sort.RECIPE:
            return f"no justfile of {where} has the recipe {name}"
        case Sort.CRATE:
            return f"no Cargo.toml of {where} names the crate {name}"
        case Sort.BINARY:
            return f"cargo finds no binary {name} in {where}"
        case Sort.MODULE:
            return f"{where} has no module {name}"
        case Sort.PACKAGE:
            return f"no manifest of {where} names {name}, and no code uses it"
