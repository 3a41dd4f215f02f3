"""After the steps, precision: store vectors with as many bits as the retention of their atoms justifies.

It writes no commits: precision follows from the ageing states, and a rebuilt store gets the same. Only atoms that were
aged since are processed, so a night without ageing costs nothing.
"""

from __future__ import annotations

from lamina.dream.plan import Plan
from lamina.dream.scene import Scene
from lamina.store.encodings import Moved

AT_ONCE = 5000
"""The number of atoms that are processed between two checks for an interrupt."""


def precision(scene: Scene) -> Plan:
    """Set the precision of vectors that ageing computed, and drop the token states of cold passages."""
    bits, encodings = scene.store.lives.untold(scene.scope), scene.store.encodings

    def apply_precision() -> None:
        items = list(bits.items())
        for start in range(0, len(items), AT_ONCE):
            if scene.stop():
                return  # the rest stays unmarked, and the next dream processes it
            batch = dict(items[start : start + AT_ONCE])
            encodings.set_precision(batch)
            scene.store.lives.told(batch)

    changes = encodings.set_precision(bits, dry_run=True)
    return Plan(notes=(note,) if (note := told_of(changes)) else (), after=apply_precision)


def told_of(moved: Moved) -> str:
    """Describe the changes: 1,204 vectors to 8 bits, 311 to 4 bits; token states of 311 passages dropped."""
    vectors = [f"{count:,} to {bits} bits" for bits, count in moved.vectors.items()]
    if vectors:
        vectors[0] = vectors[0].replace(" to ", " vectors to ")
    states = [f"token states of {moved.states:,} passages dropped"] if moved.states else []
    return "; ".join([", ".join(vectors), *states] if vectors else states)
