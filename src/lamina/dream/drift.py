"""Drift: statements that name code which is not there any more are doubted, with what was looked for and where.

Only folders that a person declared for the scope are looked at, on this machine: what another machine has is no error.
What a person has said of such a doubt stands until the words change.
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
"""What speaks of things that need not be there yet."""
_SHOWN = 80


class Severity(IntEnum):
    """What a missing thing costs the score."""

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
"""How sure it is that something is wrong. A hint (`INFO`) is told and doubts nothing."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A thing that is not there, how sure it is that something is wrong, and the evidence in words."""

    severity: Severity
    told: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement and what it names that is not there."""

    atom: Atom
    missing: tuple[Missing, ...]

    @property
    def severity(self) -> Severity:
        return max(each.severity for each in self.missing)

    @property
    def why(self) -> str:
        return "; ".join(each.told for each in self.missing)


def drift(scene: Scene) -> Plan:
    """Challenge what names code that is in none of the scope's folders; pinned and decided ones are only told of."""
    if not scene.roots:
        return Plan()
    ground = Ground(scene.roots)
    findings = list(_findings(scene, ground))
    changes: list[Atom] = []
    moves: list[Move] = []
    notes = [*ground.notes, *_score(findings)]
    for finding in findings:
        text = one_line(finding.atom.content)
        left = _left_alone(finding, scene.store)
        if left is not None:
            notes.append(f"{finding.atom.id[-6:]} {text[:_SHOWN]}: {finding.why} ({left})")
            continue
        changes.append(finding.atom.with_(status=Status.CHALLENGED))
        moves.append(Move("challenge", finding.atom.id, text, finding.why))
    return Plan(tuple(changes), tuple(moves), (*notes, *_back(scene, ground)))


def _findings(scene: Scene, ground: Ground) -> Iterator[Finding]:
    gone: list[tuple[Atom, list[Named]]] = []
    for atom in sorted(scene.stated(), key=lambda each: (each.observed_at, each.id)):
        if scene.stop():
            return
        if named := [claim for claim in _claims(atom) if ground.sight(claim) is Sight.GONE]:
            gone.append((atom, named))
    seen = _last_seen(scene) if gone else {}
    for atom, named in gone:
        told = (Missing(_severity(each, ground, seen), _told(each, atom, ground, seen)) for each in named)
        yield Finding(atom, tuple(told))


def _severity(named: Named, ground: Ground, seen: Mapping[str, str]) -> Severity:
    """A path into a folder that none of the roots has may be meant of another project."""
    is_foreign = named.sort is Sort.RELATIVE and named.name not in seen and not ground.has_folder_of(named.name)
    return Severity.INFO if is_foreign else SEVERITY[named.sort]


def _claims(atom: Atom) -> list[Named]:
    """What a statement says is there. What happened stays so, and code tells of itself."""
    if atom.layer is Layer.CODEBASE or atom.is_episode or atom.kind in _LOOKED_FORWARD_TO:
        return []
    return named_in(atom.content)


def _left_alone(finding: Finding, store: Store) -> str | None:
    """Why a statement is not doubted though something it names is missing."""
    if finding.severity is Severity.INFO:
        return "only a hint"
    if finding.atom.pinned:
        return "pinned"
    return "doubted before, and a person let it stand" if _was_doubted(finding.atom, store) else None


def _was_doubted(atom: Atom, store: Store) -> bool:
    """Whether drift has doubted the very words an atom has."""
    return any(
        version.verb == VERB
        and version.reason.startswith(STEP)
        and version.atom.status is Status.CHALLENGED
        and version.old_status is Status.ACTIVE
        and version.atom.content == atom.content
        for version in store.versions(atom.id)
    )


def _back(scene: Scene, ground: Ground) -> Iterator[str]:
    """What drift has doubted and is there again: a person decides whether it counts."""
    doubted = Filter(scopes=(scene.scope,), statuses=frozenset({Status.CHALLENGED}), notes=False)
    for atom in sorted(filter(is_stated, scene.store.read(doubted)), key=lambda each: (each.observed_at, each.id)):
        named = _claims(atom)
        if named and all(ground.sight(each) is Sight.THERE for each in named) and _was_doubted(atom, scene.store):
            told = ", ".join(each.name for each in named)[:_SHOWN]
            yield f"{atom.id[-6:]} names {told}, which is there again: `lamina review confirm {atom.id[-6:]}`"


def _score(findings: Sequence[Finding]) -> Iterator[str]:
    counted = Counter(each.severity for finding in findings for each in finding.missing)
    if counted:
        told = ", ".join(f"{counted[each]} {each.name.lower()}" for each in sorted(Severity, reverse=True))
        yield f"score {score(counted.elements())} of {BEST}: {told}"


def score(severities: Iterable[Severity]) -> int:
    """How well statements and code agree: 100 less 10 for each error, 3 for a warning, 1 for a hint; never below 0."""
    return max(0, BEST - sum(severities))


def _last_seen(scene: Scene) -> dict[str, str]:
    """When files were last read into the codebase layer, by path."""
    code = scene.store.read(Filter(scopes=(scene.scope,), kinds=frozenset({"code"})))
    return {each.metadata["path"]: f"{each.observed_at:%Y-%m-%d}" for each in reversed(code) if "path" in each.metadata}


def _told(named: Named, atom: Atom, ground: Ground, seen: Mapping[str, str]) -> str:
    where, name = ground.name, named.name
    match named.sort:
        case Sort.ABSOLUTE | Sort.RELATIVE | Sort.FILE_NAME:
            since = f"last seen {seen[name]}" if name in seen else f"stated {atom.observed_at:%Y-%m-%d}"
            return f"{name} is not in {where}; {since}"
        case Sort.DEFINITION:
            return f"{name} stands nowhere in the code of {where}"
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
