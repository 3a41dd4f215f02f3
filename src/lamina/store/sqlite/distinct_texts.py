"""Numbers for the texts of passages: equal texts share one number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lamina.store.sqlite.array_files import Arrays, SavedArrays

RowNumbers = NDArray[np.int64]

DIGEST_BYTES = 16
_DIGEST_TYPE = np.dtype(f"S{DIGEST_BYTES}")


class TextNumbers:
    """Digests by number, sorted for binary search; new ones are in a dictionary until the next `compact`."""

    def __init__(self) -> None:
        self._sorted: NDArray[np.bytes_] = np.empty(0, dtype=_DIGEST_TYPE)
        self._order: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._new_numbers: dict[bytes, int] = {}
        self._new: list[bytes] = []

    def __len__(self) -> int:
        return len(self._sorted) + len(self._new)

    def number(self, digest: bytes) -> int | None:
        """Return the number of a text; None if it has none."""
        return self.numbers([digest])[0]

    def add(self, digest: bytes) -> int:
        """Give a new text the next number."""
        number = self._new_numbers[digest] = len(self)
        self._new.append(digest)
        return number

    def digest(self, number: int) -> bytes:
        """Return the digest of a text."""
        if number >= len(self._sorted):
            return self._new[number - len(self._sorted)]
        # NumPy drops trailing zero bytes.
        return bytes(self._sorted[number]).ljust(DIGEST_BYTES, b"\0")

    def compact(self, used: RowNumbers) -> None:
        """Keep only these texts, and number them in this order."""
        digests = np.concatenate([self._sorted, np.array(self._new, dtype=_DIGEST_TYPE)])
        self._sorted, self._new_numbers, self._new = digests[used], {}, []
        self._order = np.argsort(self._sorted, kind="stable").astype(np.int32)

    def numbers(self, digests: Sequence[bytes]) -> list[int | None]:
        """Return the numbers of several texts."""
        if not digests:
            return []
        keys = np.array(digests, dtype=_DIGEST_TYPE)
        places = np.searchsorted(self._sorted, keys, sorter=self._order)
        numbers = np.full(len(keys), -1, dtype=np.int64)
        inside = np.flatnonzero(places < len(self._sorted))
        candidates = self._order[places[inside]]
        same = self._sorted[candidates] == keys[inside]
        numbers[inside[same]] = candidates[same]
        return [
            number if number >= 0 else self._new_numbers.get(digest)
            for digest, number in zip(digests, numbers.tolist(), strict=True)
        ]

    def to_arrays(self) -> Arrays:
        """Return the arrays to save; call `compact` first."""
        return {"digests": self._sorted, "digest_order": self._order}

    @classmethod
    def from_arrays(cls, array_file: SavedArrays) -> TextNumbers:
        """Return the texts of saved arrays."""
        texts = cls()
        texts._sorted = array_file.arrays["digests"][: array_file.lengths["digests"]]
        texts._order = array_file.arrays["digest_order"][: array_file.lengths["digest_order"]]
        return texts
