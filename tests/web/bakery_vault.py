"""A made vault: a small bakery's notes over half a year, with changes, doubts, a session and things that wait."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import lamina
from lamina import FixedClock, Memory

START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
NOW = datetime(2026, 11, 14, 9, 0, tzinfo=UTC)

TALKS: dict[str, list[tuple[str, str]]] = {
    "morning-talk": [
        ("Me", "The oven at the front runs hot, so we set it lower these days."),
        ("Helper", "Noted. Shall I keep that as a rule for the front oven?"),
        ("Me", "Yes. I prefer the stone-ground rye from the mill by the river."),
        ("Helper", "Then the dough has to rest from nine in the evening."),
        ("Me", "My favourite loaf is the walnut loaf. I decided to bake it every Friday."),
    ],
    "market-day": [
        ("Me", "We sold out of the walnut loaf before ten."),
        ("Me", "Remember that I am allergic to hazelnuts, so keep them out of the mix."),
        ("Helper", "I will remember that."),
    ],
    "supplier-call": [
        ("Me", "The mill by the river moved its delivery day from Monday to Thursday."),
        ("Me", "I plan to buy a second mixer next year."),
    ],
}
FACTS: list[dict[str, object]] = [
    {
        "content": "The front oven runs hot and is set to 225 degrees.",
        "kind": "rule",
        "subject": "front oven",
        "attribute": "temperature",
        "value": "225",
        "pinned": True,
    },
    {
        "content": "Rye sourdough rests for fourteen hours before it is baked.",
        "kind": "procedure",
        "subject": "rye sourdough",
        "tags": ["bread", "rye"],
    },
    {
        "content": "The bakery opens at 8 on Saturdays.",
        "kind": "fact",
        "subject": "bakery",
        "attribute": "opens on saturdays",
        "value": "8",
    },
    {
        "content": "Prefers stone-ground rye from the mill by the river.",
        "kind": "preference",
        "subject": "flour",
        "attribute": "rye",
        "value": "stone-ground",
        "tags": ["flour"],
    },
    {"content": "The mixer was repaired in May and has a two-year warranty.", "kind": "event", "subject": "mixer"},
    {
        "content": "Order the winter flour before the first of December.",
        "kind": "commitment",
        "subject": "winter flour",
    },
    {
        "content": "The walnut loaf sells best on market days.",
        "kind": "insight",
        "subject": "walnut loaf",
        "tags": ["sales"],
    },
    {
        "content": "The cinnamon rolls are baked with cardamom, never with nutmeg.",
        "kind": "decision",
        "subject": "cinnamon rolls",
    },
    {
        "content": "Customers ask for a gluten-free loaf about twice a week.",
        "kind": "fact",
        "subject": "gluten-free loaf",
    },
    {"content": "The delivery van is serviced every spring.", "kind": "habit", "subject": "delivery van"},
    {"content": "Salt is bought by the sack from the harbour wholesaler.", "kind": "fact", "subject": "salt"},
    {"content": "The proofing cabinet holds thirty-two trays.", "kind": "fact", "subject": "proofing cabinet"},
]


@dataclass(frozen=True, slots=True)
class BakeryVault:
    """The opened vault, and the atoms a test names."""

    memory: Memory
    clock: FixedClock
    opening: str
    oven: str
    session: str
    waiting: tuple[str, ...]


def make_bakery(root: Path) -> BakeryVault:
    """Make the vault."""
    clock = FixedClock(START)
    memory = lamina.open(root, clock=clock, watch=False, background=False)

    def later(**by: float) -> None:
        clock.at += timedelta(**(by or {"days": 9, "hours": 3}))

    session = ""
    for name, turns in TALKS.items():
        result = [{"speaker": who, "content": what} for who, what in turns]
        receipt = memory.capture(result, session_id=name, source_id="voice notes", wait=True)
        session = session or receipt.outcomes[0].atom.id
        later(days=2)
    memory.upkeep.tend()
    ids: list[str] = []
    for fact in FACTS:
        later()
        ids.append(memory.remember(**fact).atom.id)  # type: ignore[arg-type]
    later()
    changed = memory.remember(
        "The bakery opens at 7 on Saturdays.", kind="fact", subject="bakery", attribute="opens on saturdays", value="7"
    ).atom
    memory.revise(
        ids[6], "The walnut loaf sells best on market days and before holidays.", reason="seen again in autumn"
    )
    memory.relate(ids[1], "depends_on", ids[3])
    memory.relate(ids[0], "supports", ids[1])
    memory.relate(ids[6], "leads_to", ids[5])
    memory.relate(ids[5], "depends_on", ids[3])
    memory.relate(ids[8], "caused_by", ids[6])
    for _ in range(3):
        later(hours=20)
        memory.cite([ids[0], ids[1]])
    clock.at = NOW - timedelta(days=3)
    waiting = [
        memory.remember(words, kind="fact", subject=about, origin="web", source_id="newsletter").atom.id
        for words, about in (
            ("The mill by the river closes for repairs in January.", "mill"),
            ("A new oven thermostat costs 180 crowns.", "thermostat"),
            ("Spelt is said to rise faster in a warm kitchen.", "spelt"),
        )
    ]
    later(hours=5)
    waiting.append(
        memory.propose(
            "Profile, closing day: Monday",
            reason="mentioned twice",
            value="Monday",
            metadata={"profile_key": "closing day", "value": "Monday", "reason": "mentioned twice"},
        ).atom.id
    )
    later(hours=1)
    rival = memory.remember(
        "The proofing cabinet holds twenty-eight trays.", kind="fact", subject="proofing cabinet"
    ).atom
    memory.relate(rival.id, "contradicts", ids[11])
    clock.at = NOW
    return BakeryVault(memory, clock, changed.id, ids[0], session, tuple(waiting))
