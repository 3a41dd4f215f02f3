"""Which declared attributes depend on which, as the settings say: who changes `gym` may have another `locker`.

A rule compares declared claims of one subject. Where an attribute it names has changed, older claims of the same
subject that depend on it are challenged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.standing import begins
from lamina.text.normal import normal_form


@dataclass(frozen=True, slots=True)
class DependencyRule:
    """Where one of the attributes in `when` has changed, those in `doubts` may no longer hold."""

    name: str
    when: frozenset[str]
    doubts: frozenset[str]


def dependency_rule(name: str, when: Sequence[str], doubts: Sequence[str]) -> DependencyRule:
    """Return a rule with its attributes in the form in which they are compared."""
    return DependencyRule(name, frozenset(map(normal_form, when)), frozenset(map(normal_form, doubts)))


def attributes_doubted(ended: Atom, rules: Sequence[DependencyRule]) -> list[str]:
    """Return the attributes that depend on an ended statement; none where no rule names its attribute."""
    attribute = normal_form(ended.attribute or "")
    return sorted({each for rule in rules if attribute in rule.when for each in rule.doubts}) if attribute else []


def find_doubted(
    ended: Atom, heir: Atom, others: Sequence[Atom], rules: Sequence[DependencyRule]
) -> list[tuple[Atom, str]]:
    """Return those of the other statements that a change makes doubtful, each with the reason."""
    subject, attribute = normal_form(ended.subject), normal_form(ended.attribute or "")
    applied = [rule for rule in rules if attribute and attribute in rule.when]
    found: list[tuple[Atom, str]] = []
    for other in others:
        if other.id in (ended.id, heir.id) or begins(other) >= begins(heir) or normal_form(other.subject) != subject:
            continue
        hit = next((rule for rule in applied if normal_form(other.attribute or "") in rule.doubts), None)
        if hit is not None:
            found.append((other, f"{hit.name}: may no longer hold"))
    return found
