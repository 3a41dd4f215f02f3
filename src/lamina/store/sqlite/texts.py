"""Numbers for the texts of passages: equal texts share one number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lamina.store.sqlite.saved import Arrays, Saved

Numbers = NDArray[np.int64]

WIDTH = 16
_KIND = np.dtype(f"S{WIDTH}")


class Texts:
    """Digests by number, sorted for binary search; new ones are in a dictionary until the next `compact`."""

    def __init__(self) -> None:
        self._settled: NDArray[np.bytes_] = np.empty(0, dtype=_KIND)
        self._order: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._since: dict[bytes, int] = {}
        self._new: list[bytes] = []

    def __len__(self) -> int:
        return len(self._settled) + len(self._new)

    def number(self, digest: bytes) -> int | None:
        """Return the number of a text; None if it has none."""
        return self.numbers([digest])[0]

    def add(self, digest: bytes) -> int:
        """Give a new text the next number."""
        number = self._since[digest] = len(self)
        self._new.append(digest)
        return number

    def digest(self, number: int) -> bytes:
        """Return the digest of a text."""
        if number >= len(self._settled):
            return self._new[number - len(self._settled)]
        # NumPy drops trailing zero bytes.
        return bytes(self._settled[number]).ljust(WIDTH, b"\0")

    def settle(self, used: Numbers) -> None:
        """Keep only these texts, and number them in this order."""
        digests = np.concatenate([self._settled, np.array(self._new, dtype=_KIND)])
        self._settled, self._since, self._new = digests[used], {}, []
        self._order = np.argsort(self._settled, kind="stable").astype(np.int32)

    def numbers(self, digests: Sequence[bytes]) -> list[int | None]:
        """Return the numbers of several texts."""
        if not digests:
            return []
        keys = np.array(digests, dtype=_KIND)
        places = np.searchsorted(self._settled, keys, sorter=self._order)
        numbers = np.full(len(keys), -1, dtype=np.int64)
        inside = np.flatnonzero(places < len(self._settled))
        candidates = self._order[places[inside]]
        same = self._settled[candidates] == keys[inside]
        numbers[inside[same]] = candidates[same]
        return [
            number if number >= 0 else self._since.get(digest)
            for digest, number in zip(digests, numbers.tolist(), strict=True)
        ]

    def saved(self) -> Arrays:
        """Return the arrays to save; call `compact` first."""
        return {"digests": self._settled, "digest_order": self._order}

    @classmethod
    def of(cls, saved: Saved) -> Texts:
        """Return the texts of saved arrays."""
        texts = cls()
        texts._settled = saved.arrays["digests"][: saved.lengths["digests"]]
        texts._order = saved.arrays["digest_order"][: saved.lengths["digest_order"]]
        return texts
