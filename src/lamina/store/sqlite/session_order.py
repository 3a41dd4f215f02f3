"""The positions of passages in their sessions, and their neighbours."""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress

import numpy as np
from numpy.typing import NDArray


class SessionRows:
    """The rows of a session, in order, and the position of each."""

    __slots__ = ("position_of", "rows")

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows
        self.position_of = {row: position for position, row in enumerate(rows)}


class SessionOrder:
    """Positions of rows in their sessions, counted among allowed rows only: hidden passages change nothing."""

    def __init__(self, session_of: Callable[[int], SessionRows], allowed: NDArray[np.bool_]) -> None:
        self._session_of, self._allowed = session_of, allowed
        self._orders: dict[int, SessionRows] = {}

    def position(self, row: int) -> int:
        """Return the position of an allowed row."""
        return self._allowed_rows(row).position_of[row]

    def neighbours(self, row: int, reach: int) -> list[int]:
        """Return the rows before and after a row, up to `reach` on each side."""
        session = self._allowed_rows(row)
        rows, position = session.rows, session.position_of[row]
        return rows[max(0, position - reach) : position] + rows[position + 1 : position + 1 + reach]

    def _allowed_rows(self, row: int) -> SessionRows:
        """Return the allowed rows of a row's session; cached."""
        session = self._session_of(row)
        if len(session.rows) == 1:
            return session
        first_row = session.rows[0]
        if first_row not in self._orders:
            is_allowed = self._allowed[session.rows]
            self._orders[first_row] = (
                session if is_allowed.all() else SessionRows(list(compress(session.rows, is_allowed.tolist())))
            )
        return self._orders[first_row]
