"""Where passages stand in their sessions, and which stand beside them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress

import numpy as np
from numpy.typing import NDArray


class Order:
    """The rows of a session, in order, and the place of each."""

    __slots__ = ("place_of", "rows")

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows
        self.place_of = {row: place for place, row in enumerate(rows)}


class Places:
    """Where rows stand in their sessions, among those a query lets through: what it may not see moves nothing."""

    def __init__(self, order_of: Callable[[int], Order], allowed: NDArray[np.bool_]) -> None:
        self._order_of, self._allowed = order_of, allowed
        self._orders: dict[int, Order] = {}

    def of(self, row: int) -> int:
        """The place of a row that is let through."""
        return self._found(row).place_of[row]

    def beside(self, row: int, reach: int) -> list[int]:
        """The rows before and after one."""
        found = self._found(row)
        order, place = found.rows, found.place_of[row]
        return order[max(0, place - reach) : place] + order[place + 1 : place + 1 + reach]

    def _found(self, row: int) -> Order:
        whole = self._order_of(row)
        if len(whole.rows) == 1:
            return whole
        first = whole.rows[0]
        if first not in self._orders:
            let_through = self._allowed[whole.rows]
            self._orders[first] = (
                whole if let_through.all() else Order(list(compress(whole.rows, let_through.tolist())))
            )
        return self._orders[first]
