"""The passages of an index as columns of numbers: speaker, times, status, scope, text and session.

Most rows are sorted by key and found by binary search; newer rows follow in the order they were added. An outdated row
is marked as deleted, and `compact` sorts everything again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import compress, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.atom.atom import AtomId
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.provenance import Origin
from lamina.atom.status import ENDED, REPLACED, Status
from lamina.store.encodings import PassageKey
from lamina.store.sqlite.array_files import Arrays, SavedArrays
from lamina.store.sqlite.database import CorruptDatabase

RowNumbers = NDArray[np.int64]

DIGEST_BYTES = 16
_DIGEST_TYPE = np.dtype(f"S{DIGEST_BYTES}")
STATUSES, TYPES, LAYERS, ORIGINS = tuple(Status), tuple(MemoryType), tuple(Layer), tuple(Origin)
ALWAYS, NEVER_ENDS = -(2**62), 2**62
SELECTED = (
    "a.atom_id, p.n, a.scope, a.status, a.memory_type, a.valid_from, a.valid_until, a.recorded_at, a.session, "
    "p.digest, p.speaker, p.at, p.asks, a.layer, a.origin, p.tells_of, a.agents"
)
"""The selected columns of a passage, in the order they are read."""
_ID_CHARS, _NUMBER_CHARS = 26, 8
_KEY_TYPE = np.dtype(f"S{_ID_CHARS + _NUMBER_CHARS}")
_NO_SESSION = -1
_COLUMNS: dict[str, np.dtype[Any]] = {
    "key": _KEY_TYPE,
    **dict.fromkeys(("alive", "asks"), np.dtype(np.bool_)),
    **dict.fromkeys(("status", "type", "layer", "origin"), np.dtype(np.int8)),
    **dict.fromkeys(("scope", "speaker", "text", "session", "agents"), np.dtype(np.int32)),
    **dict.fromkeys(("starts", "ends", "recorded", "at", "tells_of", "begins", "until"), np.dtype(np.int64)),
}
_STATUS_OF = {status.value: number for number, status in enumerate(STATUSES)}
_TYPE_OF = {kind.value: number for number, kind in enumerate(TYPES)}
_LAYER_OF = {layer.value: number for number, layer in enumerate(LAYERS)}
_ORIGIN_OF = {origin.value: number for number, origin in enumerate(ORIGINS)}
_HAS_ENDED = np.array([status in ENDED for status in STATUSES], dtype=np.bool_)
_WAS_REPLACED = np.array([status in REPLACED for status in STATUSES], dtype=np.bool_)


class PassageColumns:
    """Columns over passages, and lookups of the rows of a passage, an atom and a session."""

    def __init__(self) -> None:
        self._columns: Arrays = {name: np.empty(0, dtype=kind) for name, kind in _COLUMNS.items()}
        self.count = self.deleted_count = self._sorted_count = 0
        self.texts = TextNumbers()
        self.speakers: dict[str, int] = {}
        self.agent_lists: dict[str, int] = {}
        self._sessions: dict[tuple[int, str], int] = {}
        self._by_session: RowNumbers = np.empty(0, dtype=np.int64)
        self._session_starts: RowNumbers = np.zeros(1, dtype=np.int64)
        self._clear_unsorted()

    def _clear_unsorted(self) -> None:
        self._unsorted_rows: dict[AtomId, list[int]] = {}
        self._unsorted_session_rows: dict[int, list[int]] = defaultdict(list)
        self._session_names: list[str] = []
        self._add_names()

    def _add_names(self) -> None:
        """Name the speakers and sessions that were added."""
        self.speaker_names = tuple(self.speakers)
        new_sessions = islice(self._sessions, len(self._session_names), None)
        self._session_names += [f"{scope}/{session}" for scope, session in new_sessions]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column, cut to the number of rows."""
        return self._columns[name][: self.count]

    @property
    def needs_compaction(self) -> bool:
        """Return whether so many rows were added or deleted that everything should be sorted again."""
        return self.deleted_count + self.count - self._sorted_count > 1000 + self._sorted_count // 4

    def key(self, row: int) -> PassageKey:
        """Return the passage of a row."""
        key = bytes(self._columns["key"][row])
        return AtomId(key[:_ID_CHARS].decode()), int(key[_ID_CHARS:], 16)

    def keys(self, rows: RowNumbers) -> list[PassageKey]:
        """Return the passages of some rows."""
        texts: list[str] = self._columns["key"][rows].astype(np.str_).tolist()
        return [(AtomId(text[:_ID_CHARS]), int(text[_ID_CHARS:], 16)) for text in texts]

    def session_names(self, rows: RowNumbers) -> list[str]:
        """Return for each row a name that it shares with its neighbours only."""
        return [
            self._session_names[number]
            if number != _NO_SESSION
            else f"{self._columns['scope'][row]}/{self.key(row)[0]}"
            for row, number in zip(rows.tolist(), self._columns["session"][rows].tolist(), strict=True)
        ]

    def append(self, rows: Sequence[tuple[Any, ...]]) -> list[bytes]:
        """Add passages as read from the index; return the texts among them that existed before."""
        start = self.count
        columns, existed = self._to_columns(rows)
        self._grow(start + len(rows))
        self.count += len(rows)
        for name, values in columns.items():
            self._columns[name][start : self.count] = values
        sessions: list[int] = columns["session"].tolist()
        for row, (item, session) in enumerate(zip(rows, sessions, strict=True), start):
            self._unsorted_rows.setdefault(AtomId(item[0]), []).append(row)
            if session != _NO_SESSION:
                self._unsorted_session_rows[session].append(row)
        self._add_names()
        return [passage[9] for passage, is_old in zip(rows, existed, strict=True) if is_old]

    def _grow(self, needed: int) -> None:
        for name, column in self._columns.items():
            if needed > len(column):
                grown = np.empty(max(needed, 2 * len(column), 64), dtype=column.dtype)
                grown[: self.count] = column[: self.count]
                self._columns[name] = grown

    def _to_columns(self, rows: Sequence[tuple[Any, ...]]) -> tuple[Arrays, list[bool]]:
        """Return the columns of some passages, and which of their texts had a number already.

        CorruptDatabase if a row has a value that lamina never writes: SQLite does not notice a changed bit.
        """
        try:
            return self._convert_rows(rows)
        except (KeyError, ValueError, TypeError) as error:
            raise CorruptDatabase(f"index.db has a row with an unknown value: {error}") from error

    def _convert_rows(self, rows: Sequence[tuple[Any, ...]]) -> tuple[Arrays, list[bool]]:
        ids, ns, scopes, statuses, types, starts, ends, recorded, sessions, digests, *details = zip(*rows, strict=True)
        speakers, at, asks, layers, origins, tells_of, agents = details
        texts, existed = self._number_texts(digests)
        status = np.array([_STATUS_OF[name] for name in statuses], dtype=np.int8)
        ended, moments = _HAS_ENDED[status], np.array(at, dtype=np.int64)
        begins = np.array([ALWAYS if start is None else start for start in starts], dtype=np.int64)
        until = np.array([NEVER_ENDS if end is None else end for end in ends], dtype=np.int64)
        # One that was replaced without a date is not known to have been valid at any time.
        valid_until = np.where((until == NEVER_ENDS) & _WAS_REPLACED[status], ALWAYS, until)
        columns = {
            "key": np.array([_key(atom_id, n) for atom_id, n in zip(ids, ns, strict=True)], dtype=_KEY_TYPE),
            "alive": np.ones(len(rows), dtype=np.bool_),
            "scope": scopes,
            "status": status,
            "type": [_TYPE_OF[type_name] for type_name in types],
            "starts": np.where(ended, ALWAYS, begins),
            "ends": np.where(ended, NEVER_ENDS, until),
            "recorded": recorded,
            "speaker": [self.speakers.setdefault(speaker, len(self.speakers)) for speaker in speakers],
            "agents": [self.agent_lists.setdefault(names, len(self.agent_lists)) for names in agents],
            "at": moments,
            "asks": asks,
            "text": texts,
            "layer": [_LAYER_OF[layer] for layer in layers],
            "origin": [_ORIGIN_OF[origin] for origin in origins],
            "tells_of": [ALWAYS if tell is None else tell for tell in tells_of],
            "begins": np.where(begins == ALWAYS, moments, begins),
            "until": valid_until,
            "session": [
                _NO_SESSION if session == atom_id else self._sessions.setdefault((scope, session), len(self._sessions))
                for atom_id, scope, session in zip(ids, scopes, sessions, strict=True)
            ],
        }
        return {name: np.asarray(values, dtype=_COLUMNS[name]) for name, values in columns.items()}, existed

    def _number_texts(self, digests: Sequence[bytes]) -> tuple[list[int], list[bool]]:
        before = self.texts.numbers(digests)
        numbers = []
        for digest, number in zip(digests, before, strict=True):
            if number is None:
                number = self.texts.number(digest)
            numbers.append(self.texts.add(digest) if number is None else number)
        return numbers, [number is not None for number in before]

    def delete_atoms(self, ids: Iterable[AtomId]) -> None:
        """Mark the rows of these atoms as deleted."""
        for atom_id in ids:
            rows = self.rows_of_atom(atom_id)
            self._columns["alive"][rows] = False
            self._unsorted_rows.pop(atom_id, None)
            self.deleted_count += len(rows)

    def rows_of_atom(self, atom_id: AtomId) -> list[int]:
        """Return the rows of an atom, in order."""
        keys = self._columns["key"][: self._sorted_count]
        start = int(np.searchsorted(keys, np.array(atom_id, dtype=_KEY_TYPE)))
        end = int(np.searchsorted(keys, np.array(f"{atom_id}~", dtype=_KEY_TYPE)))
        alive = self._columns["alive"]
        return [row for row in range(start, end) if alive[row]] + self._unsorted_rows.get(atom_id, [])

    def rows_of_session(self, row: int) -> list[int]:
        """Return the rows of a row's session, in order."""
        number = int(self._columns["session"][row])
        if number == _NO_SESSION:
            return self.rows_of_atom(self.key(row)[0])
        alive, rows = self._columns["alive"], []
        if number + 1 < len(self._session_starts):
            start, end = self._session_starts[number : number + 2]
            rows = [session_row for session_row in self._by_session[start:end].tolist() if alive[session_row]]
        since = [session_row for session_row in self._unsorted_session_rows.get(number, ()) if alive[session_row]]
        return sorted(rows + since, key=self.key) if since else rows

    def rows_of_keys(self, keys: Collection[PassageKey]) -> dict[PassageKey, int]:
        """Return the rows of those passages that exist."""
        key_list = list(keys)
        if not key_list:
            return {}
        settled, alive = self._columns["key"][: self._sorted_count], self._columns["alive"]
        encoded = np.array([_key(*key) for key in key_list], dtype=_KEY_TYPE)
        places = np.searchsorted(settled, encoded)
        rows_by_key = {}
        for key, text, place in zip(key_list, encoded, places.tolist(), strict=True):
            if place < self._sorted_count and settled[place] == text and alive[place]:
                rows_by_key[key] = place
            else:
                for row in self._unsorted_rows.get(key[0], ()):
                    if self.key(row) == key:
                        rows_by_key[key] = row
        return rows_by_key

    def compact(self) -> RowNumbers:
        """Sort the remaining rows by key and renumber texts in row order; return the old number of each text."""
        rows = np.flatnonzero(self["alive"])
        rows = rows[np.argsort(self["key"][rows], kind="stable")]
        self._columns = {name: column[: self.count][rows] for name, column in self._columns.items()}
        self.count = self._sorted_count = len(rows)
        self.deleted_count = 0
        first_rows = np.unique(self._columns["text"], return_index=True)[1]
        old_numbers = self._columns["text"][np.sort(first_rows)].astype(np.int64)
        self.texts.compact(old_numbers)
        renumbered = np.zeros(int(old_numbers.max(initial=-1)) + 1, dtype=np.int32)
        renumbered[old_numbers] = np.arange(len(old_numbers), dtype=np.int32)
        self._columns["text"] = renumbered[self._columns["text"]]
        sessions = self._columns["session"]
        order = np.argsort(sessions, kind="stable")
        self._by_session = order[np.searchsorted(sessions[order], 0) :]
        self._session_starts = np.searchsorted(sessions[self._by_session], np.arange(len(self._sessions) + 1))
        self._clear_unsorted()
        return old_numbers

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the arrays and metadata to save; call `compact` first."""
        arrays = {f"row.{name}": column[: self.count] for name, column in self._columns.items()}
        arrays |= {"by_session": self._by_session, "session_starts": self._session_starts, **self.texts.to_arrays()}
        return arrays, {
            "speakers": list(self.speakers),
            "agent_lists": list(self.agent_lists),
            "sessions": list(self._sessions),
        }

    @classmethod
    def from_arrays(cls, array_file: SavedArrays) -> PassageColumns:
        """Return the columns of saved arrays."""
        rows = cls()
        rows._columns = {name: array_file.arrays[f"row.{name}"] for name in _COLUMNS}
        rows.count = rows._sorted_count = array_file.lengths["row.key"]
        rows.texts = TextNumbers.from_arrays(array_file)
        rows.speakers = {name: number for number, name in enumerate(array_file.metadata["speakers"])}
        rows.agent_lists = {names: number for number, names in enumerate(array_file.metadata["agent_lists"])}
        rows._sessions = {(scope, name): number for number, (scope, name) in enumerate(array_file.metadata["sessions"])}
        rows._by_session = array_file.arrays["by_session"][: array_file.lengths["by_session"]]
        rows._session_starts = array_file.arrays["session_starts"][: array_file.lengths["session_starts"]]
        rows._clear_unsorted()
        return rows


class TextNumbers:
    """Numbers of the texts of passages; equal texts share one.

    Digests by number, sorted for binary search; new ones are in a dictionary until the next `compact`.
    """

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


def _key(atom_id: str, n: int) -> str:
    return f"{atom_id}{n:0{_NUMBER_CHARS}x}"
