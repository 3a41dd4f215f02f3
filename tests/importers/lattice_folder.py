"""A Lattice folder of 45 atoms with every field of its documentation, in both shapes of its files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from exports import note

KINDS = ("fact", "preference", "goal", "decision", "event", "question", "insight", "synthesis")
TIERS = ("stm", "episodic", "semantic")
START = datetime(2025, 11, 14, 9, 12, tzinfo=UTC)
COUNT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeAtom:
    """One file of the folder: what it says about itself."""

    number: int
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"a1b2c3d4e{self.number:03x}"

    @property
    def kind(self) -> str:
        return "preference" if self.superseded_by or self.supersedes else KINDS[self.number % len(KINDS)]

    @property
    def subject(self) -> str:
        return "coffee preference" if self.superseded_by or self.supersedes else f"topic {self.number}"

    @property
    def content(self) -> str:
        return f"Statement number {self.number} about {self.subject}, as Ann said it."

    @property
    def observed_at(self) -> datetime:
        return START + timedelta(days=self.number)

    @property
    def quality(self) -> float:
        return round(0.1 + 1.9 * (self.number % 20) / 19, 3)

    @property
    def recalled_at(self) -> datetime:
        return self.observed_at + timedelta(days=3, minutes=17)

    @property
    def session(self) -> str:
        return f"sess_{self.observed_at:%Y%m%d_%H%M}"

    @property
    def tier(self) -> str:
        return TIERS[self.number % 3]

    def text(self) -> str:
        """The file: flat for even numbers, with nested provenance for odd ones."""
        at = f"{self.observed_at:%Y-%m-%dT%H:%M:%SZ}"
        provenance = [
            f"observed_at: {at}",
            "source_id: telegram",
            f"session_id: {self.session}",
            f"segment_id: seg_{self.number}",
        ]
        nested = ["provenance:", *(f"  {line}" for line in [*provenance, f"ingested_at: {at}"])]
        id_key, where = ("atom_id", nested) if self.number % 2 else ("id", provenance)
        lines = [
            f"{id_key}: {self.id}",
            f"kind: {self.kind}",
            f"subject: {self.subject}",
            f"content: {self.content}",
            *where,
            f"quality_score: {self.quality}",
            f"recall_count: {self.number}",
            *([f"last_recalled_at: {self.recalled_at:%Y-%m-%dT%H:%M:%SZ}"] if self.number else []),
            f"tier: {self.tier}",
            f"episode_id: {self.observed_at:%Y-%m-%d}:{self.session}",
            "valid_from: 2025-01-01",
            f"valid_until: {'2025-12-31' if self.superseded_by else 'null'}",
            f"is_superseded: {'true' if self.superseded_by else 'false'}",
            f"superseded_by: {self.superseded_by or 'null'}",
            f"supersedes: [{', '.join(self.supersedes)}]",
            "mood: cheerful",
            "dedup:",
            "  content_hash: 0f1e2d",
        ]
        return "\n".join(["---", *lines, "---", self.content, ""])


def lattice_atoms() -> list[LatticeAtom]:
    """Forty atoms side by side, and a chain: 41 superseded 40, 42 superseded 41, and 44 superseded 42 and 43."""
    ids = {number: LatticeAtom(number=number).id for number in range(45)}
    chain = [
        LatticeAtom(number=40, superseded_by=ids[41]),
        LatticeAtom(number=41, superseded_by=ids[42], supersedes=(ids[40],)),
        LatticeAtom(number=42, superseded_by=ids[44], supersedes=(ids[41],)),
        LatticeAtom(number=43, superseded_by=ids[44]),
        LatticeAtom(number=44, supersedes=(ids[42], ids[43])),
    ]
    return [*(LatticeAtom(number=number) for number in range(COUNT)), *chain]


def write_lattice_folder(folder: Path) -> list[LatticeAtom]:
    """Write the folder, and return its atoms."""
    atoms = lattice_atoms()
    for atom in atoms:
        note(folder / f"{atom.id}.md", atom.text())
    return atoms
