"""After the steps, precision: store vectors with as many bits as the retention of their atoms justifies.

It writes no commits: precision follows from the ageing states, and a rebuilt store gets the same. Only atoms that were
aged since are processed, so a night without ageing costs nothing.
"""

from __future__ import annotations

from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import StepPlan
from lamina.store.encodings import PrecisionChange

BATCH_SIZE = 5000
"""The number of atoms that are processed between two checks for an interrupt."""


def precision(context: StepContext) -> StepPlan:
    """Set the precision of vectors that ageing computed, and drop the token states of cold passages."""
    bits, encodings = context.store.ageing_states.unapplied_bits(context.scope), context.store.encodings

    def apply_precision() -> None:
        items = list(bits.items())
        for start in range(0, len(items), BATCH_SIZE):
            if context.should_stop():
                return  # the rest stays unmarked, and the next dream processes it
            batch = dict(items[start : start + BATCH_SIZE])
            encodings.set_precision(batch)
            context.store.ageing_states.mark_bits_applied(batch)

    changes = encodings.set_precision(bits, dry_run=True)
    return StepPlan(notes=(note,) if (note := describe_changes(changes)) else (), after_commit=apply_precision)


def describe_changes(changes: PrecisionChange) -> str:
    """Describe the changes: 1,204 vectors to 8 bits, 311 to 4 bits; token states of 311 passages dropped."""
    vectors = [f"{count:,} to {bits} bits" for bits, count in changes.vectors.items()]
    if vectors:
        vectors[0] = vectors[0].replace(" to ", " vectors to ")
    states = [f"token states of {changes.states:,} passages dropped"] if changes.states else []
    return "; ".join([", ".join(vectors), *states] if vectors else states)
