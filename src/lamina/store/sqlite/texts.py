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
    """Digests by number and the order they are found in by halving; those that came since in a table of their own."""

    def __init__(self) -> None:
        self._settled: NDArray[np.bytes_] = np.empty(0, dtype=_KIND)
        self._order: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._since: dict[bytes, int] = {}
        self._new: list[bytes] = []

    def __len__(self) -> int:
        return len(self._settled) + len(self._new)

    def number(self, digest: bytes) -> int | None:
        """The number of a text, if it has one."""
        return self.numbers([digest])[0]

    def add(self, digest: bytes) -> int:
        """The number of a text that has none yet."""
        number = self._since[digest] = len(self)
        self._new.append(digest)
        return number

    def digest(self, number: int) -> bytes:
        """What a text is known by."""
        if number >= len(self._settled):
            return self._new[number - len(self._settled)]
        # NumPy leaves out the zeros that a value ends with.
        return bytes(self._settled[number]).ljust(WIDTH, b"\0")

    def settle(self, used: Numbers) -> None:
        """Forget all texts but these, and number them in this order."""
        every = np.concatenate([self._settled, np.array(self._new, dtype=_KIND)])
        self._settled, self._since, self._new = every[used], {}, []
        self._order = np.argsort(self._settled, kind="stable").astype(np.int32)

    def numbers(self, digests: Sequence[bytes]) -> list[int | None]:
        """The numbers of many texts."""
        if not digests:
            return []
        wanted = np.array(digests, dtype=_KIND)
        places = np.searchsorted(self._settled, wanted, sorter=self._order)
        numbers = np.full(len(wanted), -1, dtype=np.int64)
        inside = np.flatnonzero(places < len(self._settled))
        found = self._order[places[inside]]
        same = self._settled[found] == wanted[inside]
        numbers[inside[same]] = found[same]
        return [
            number if number >= 0 else self._since.get(digest)
            for digest, number in zip(digests, numbers.tolist(), strict=True)
        ]

    def saved(self) -> Arrays:
        """What has to be kept; settled before."""
        return {"digests": self._settled, "digest_order": self._order}

    @classmethod
    def of(cls, saved: Saved) -> Texts:
        """The texts that were kept."""
        texts = cls()
        texts._settled = saved.arrays["digests"][: saved.lengths["digests"]]
        texts._order = saved.arrays["digest_order"][: saved.lengths["digest_order"]]
        return texts
