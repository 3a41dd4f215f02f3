"""What a look at a vault's health found."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.store.ledger import Problem


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `doctor` found: problems a person can mend, faults inside, and things worth knowing."""

    problems: tuple[Problem, ...]
    faults: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        return not self.problems and not self.faults
