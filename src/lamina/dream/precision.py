"""After the steps, precision: vectors are kept in as many bits as what is left of their memories is worth.

No history and no commits: it follows from what ageing noted, and a store made anew comes to the same. Only atoms that
were looked at since are told of, so a night in which nothing aged costs nothing.
"""

from __future__ import annotations

from lamina.dream.plan import Plan
from lamina.dream.scene import Scene
from lamina.store.encodings import Moved

AT_ONCE = 5000
"""So many atoms are told of before anybody can leave."""


def precision(scene: Scene) -> Plan:
    """Let the index keep vectors in the bits that ageing found right, and drop the token states of cold passages."""
    bits, encodings = scene.store.lives.untold(scene.scope), scene.store.encodings

    def move() -> None:
        every = list(bits.items())
        for start in range(0, len(every), AT_ONCE):
            if scene.stop():
                return  # the rest stays untold, and the next dream tells it
            some = dict(every[start : start + AT_ONCE])
            encodings.set_precision(some)
            scene.store.lives.told(some)

    moved = encodings.set_precision(bits, dry_run=True)
    return Plan(notes=(told,) if (told := told_of(moved)) else (), after=move)


def told_of(moved: Moved) -> str:
    """What was moved, in a line: 1,204 vectors to 8 bits, 311 to 4 bits; token states of 311 passages dropped."""
    vectors = [f"{many:,} to {bits} bits" for bits, many in moved.vectors.items()]
    if vectors:
        vectors[0] = vectors[0].replace(" to ", " vectors to ")
    states = [f"token states of {moved.states:,} passages dropped"] if moved.states else []
    return "; ".join([", ".join(vectors), *states] if vectors else states)
