"""Unit vectors."""

from __future__ import annotations

import numpy as np

from lamina.vectors.integer_vectors import Floats


def normalise_rows(rows: Floats) -> Floats:
    """Return each row (or the one vector) scaled to length one; a row of zeros stays, so its cosine with anything is
    0."""
    rows = np.asarray(rows, np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, np.float32(1)), np.float32)
