"""The texts that passages share, numbered: each once, however often it stands somewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lamina.store.sqlite.saved import Arrays, Saved

Numbers = NDArray[np.int64]

WIDTH = 16
_KIND = np.dtype(f"S{WIDTH}")


class Texts:
    """Digests in order, found by halving; those that came since in a table of their own."""

    def __init__(self) -> None:
        self._sorted: NDArray[np.bytes_] = np.empty(0, dtype=_KIND)
        self._since: dict[bytes, int] = {}
        self._new: list[bytes] = []

    def __len__(self) -> int:
        return len(self._sorted) + len(self._new)

    def number(self, digest: bytes) -> int | None:
        """The number of a text, if it has one."""
        if digest in self._since:
            return self._since[digest]
        wanted = np.array(digest, dtype=_KIND)
        place = int(np.searchsorted(self._sorted, wanted))
        there = place < len(self._sorted) and self._sorted[place] == wanted
        return place if there else None

    def add(self, digest: bytes) -> int:
        """The number of a text that has none yet."""
        number = self._since[digest] = len(self)
        self._new.append(digest)
        return number

    def digest(self, number: int) -> bytes:
        """What a text is known by."""
        if number >= len(self._sorted):
            return self._new[number - len(self._sorted)]
        # NumPy leaves out the zeros that a value ends with.
        return bytes(self._sorted[number]).ljust(WIDTH, b"\0")

    def settle(self, used: Numbers) -> Numbers:
        """Forget all texts but these and put them in order; returns the old number of each new one."""
        every = np.concatenate([self._sorted, np.array(self._new, dtype=_KIND)])
        order = used[np.argsort(every[used], kind="stable")]
        self._sorted, self._since, self._new = every[order], {}, []
        return order

    def numbers(self, digests: Sequence[bytes]) -> list[int | None]:
        """The numbers of many texts."""
        if not digests:
            return []
        wanted = np.array(digests, dtype=_KIND)
        places = np.searchsorted(self._sorted, wanted)
        there = np.zeros(len(wanted), dtype=np.bool_)
        inside = places < len(self._sorted)
        there[inside] = self._sorted[places[inside]] == wanted[inside]
        return [
            int(place) if known else self._since.get(digest)
            for digest, place, known in zip(digests, places, there, strict=True)
        ]

    def saved(self) -> Arrays:
        """What has to be kept; settled before."""
        return {"digests": self._sorted}

    @classmethod
    def of(cls, saved: Saved) -> Texts:
        """The texts that were kept."""
        texts = cls()
        texts._sorted = saved.arrays["digests"][: saved.lengths["digests"]]
        return texts
