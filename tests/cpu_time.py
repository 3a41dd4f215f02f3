"""The processor time that a call takes: quadratic work on a long text shows in it, and a busy machine does not."""

from __future__ import annotations

import time
from collections.abc import Callable

LONG = 10.0
"""More seconds than any linear scan of these tests needs; a quadratic one takes minutes."""


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds of this process during the call."""
    started = time.process_time()
    work()
    return time.process_time() - started
