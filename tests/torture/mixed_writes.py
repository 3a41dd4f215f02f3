"""One write of any kind, chosen by chance: every verb that changes a vault, except erasure, which has its own tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.capture.receipt import Receipt
from lamina.errors import NotFound
from lamina.memory import Memory


@dataclass(frozen=True, slots=True)
class Written:
    """What a write acknowledged: the atoms it showed and the commits it named."""

    atoms: tuple[Atom, ...] = ()
    commits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draw:
    """What a write may use: a memory, chance, a name that occurs nowhere else, and ids that are known."""

    memory: Memory
    rng: random.Random
    name: str
    known: list[str]

    def pick(self) -> str:
        return self.rng.choice(self.known)


def write_something(memory: Memory, rng: random.Random, name: str, known: list[str]) -> Written:
    """One write of any kind; ids of new atoms are added to the known ones. `Refused` if a rule forbids it."""
    verb = rng.choice(_ANY_TIME if known else _FIRST)
    written = verb(Draw(memory, rng, name, known))
    known += [atom.id for atom in written.atoms if atom.revision == 1]
    return written


def _written(receipts: Iterable[Receipt]) -> Written:
    listed = list(receipts)
    atoms = tuple(outcome.atom for receipt in listed for outcome in receipt.outcomes)
    return Written(atoms, tuple(receipt.commit for receipt in listed if receipt.commit))


def _remember(draw: Draw) -> Written:
    return _written([draw.memory.remember(f"Fact {draw.name} of the torture.", tags=["t"])])


def _supersede(draw: Draw) -> Written:
    subject = f"slot {draw.rng.randrange(3)}"
    return _written(
        [draw.memory.remember(f"The value is {draw.name}.", kind="preference", subject=subject, attribute="value")]
    )


def _remember_many(draw: Draw) -> Written:
    count = draw.rng.randint(2, 8)
    return _written([draw.memory.remember_many([{"content": f"Part {i} of {draw.name}."} for i in range(count)])])


def _capture(draw: Draw) -> Written:
    name = draw.name
    turns = [{"speaker": who, "content": f"{name} said {who}. Remember that {name} is {who}."} for who in "AB"]
    session = f"session {draw.rng.randrange(3)}"
    return _written([draw.memory.capture(turns, session_id=session, wait=draw.rng.random() < 0.3)])


def _read_waiting(draw: Draw) -> Written:
    return _written(draw.memory.read_waiting())


def _import(draw: Draw) -> Written:
    file = draw.memory.root.parent / f"import-{draw.name}.md"
    try:
        file.write_text(f"# Notes of {draw.name}\n\nThe first thing of {draw.name}.\n\nThe second thing.\n")
    except OSError:  # the disk is full in some suites
        return Written()
    draw.memory.import_(file)
    return Written()


def _propose(draw: Draw) -> Written:
    return _written([draw.memory.propose(f"Proposal {draw.name}.", origin="agent")])


def _decide(draw: Draw) -> Written:
    held = draw.memory.review.held()
    if not held:
        return _propose(draw)
    review, atom = draw.memory.review, draw.rng.choice(held)
    match draw.rng.randrange(3):
        case 0:
            receipt = review.confirm(atom.id)
        case 1:
            receipt = review.reject(atom.id)
        case _:
            receipt = review.edit(atom.id, f"Edited {draw.name}.")
    return _written([receipt])


def _rollback(draw: Draw) -> Written:
    return _written([draw.memory.rollback(draw.pick())])


def _quarantine(draw: Draw) -> Written:
    try:
        return _written([draw.memory.quarantine(session=f"session {draw.rng.randrange(3)}", yes=True)])
    except NotFound:  # nothing came from that session yet
        return Written()


def _undo(draw: Draw) -> Written:
    try:
        undone = draw.memory.undo()
    except NotFound:  # all there is was undone before
        return Written()
    return Written(
        tuple(atom for result in undone for atom in result.atoms), tuple(result.id for result in undone if result.id)
    )


def _revise(draw: Draw) -> Written:
    words = f"Revised in {draw.name}." + " More words." * draw.rng.randrange(200)
    return Written((draw.memory.revise(draw.pick(), words, reason="torture"),))


def _forget(draw: Draw) -> Written:
    return Written((draw.memory.forget(draw.pick(), "torture"),))


def _pin(draw: Draw) -> Written:
    change = draw.memory.pin if draw.rng.random() < 0.6 else draw.memory.unpin
    return Written((change(draw.pick()),))


def _resolve(draw: Draw) -> Written:
    return Written((draw.memory.resolve(draw.pick()),))


def _set_status(draw: Draw) -> Written:
    status = draw.rng.choice(("archived", "active", "active", "challenged"))
    return Written((draw.memory.update_status(draw.pick(), status, "torture"),))


def _move_layer(draw: Draw) -> Written:
    change = draw.memory.upkeep.promote if draw.rng.random() < 0.5 else draw.memory.upkeep.demote
    return Written((change(draw.pick()),))


def _relate(draw: Draw) -> Written:
    one, other = draw.pick(), draw.pick()
    return Written((draw.memory.relate(one, "supports", other),)) if one != other else _pin(draw)


def _note_of_run(draw: Draw) -> Written:
    run = draw.memory.run(f"run-{draw.rng.randrange(2)}")
    if draw.rng.random() < 0.2:
        return _written([run.close("success", f"Done in {draw.name}.")])
    return Written((run.note(f"Note {draw.name}."),))


def _entry_of_block(draw: Draw) -> Written:
    return Written((draw.memory.block("stream").add("decision", f"Entry {draw.name}."),))


def _dream(draw: Draw) -> Written:
    draw.memory.upkeep.dream(yes=True)
    return Written()


def _sync(draw: Draw) -> Written:
    draw.memory.upkeep.sync()
    return Written()


_FIRST: tuple[Callable[[Draw], Written], ...] = (_remember, _supersede, _remember_many, _capture)
_OFTEN = (*_FIRST, _capture, _supersede, _revise, _revise, _forget, _pin, _relate, _set_status, _set_status, _undo)
_RARELY = (
    *(_resolve, _move_layer, _propose, _decide, _decide, _rollback, _quarantine, _read_waiting, _import),
    *(_note_of_run, _entry_of_block, _dream, _sync),
)
_ANY_TIME = (*_OFTEN, *_OFTEN, *_RARELY)
