"""The passages of an index as columns of numbers: speaker, times, status, scope, text and session.

Most rows are sorted by key and found by binary search; newer rows follow in the order they were added. An outdated row
is marked as deleted, and `compact` sorts everything again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.status import ENDED, REPLACED, Status
from lamina.atom.trust import Origin
from lamina.store.encodings import Key
from lamina.store.sqlite.saved import Arrays, Saved
from lamina.store.sqlite.texts import Numbers, Texts

STATUSES, TYPES, LAYERS, ORIGINS = tuple(Status), tuple(MemoryType), tuple(Layer), tuple(Origin)
ALWAYS, NEVER_ENDS = -(2**62), 2**62
TOLD = (
    "a.atom_id, p.n, a.scope, a.status, a.memory_type, a.valid_from, a.valid_until, a.recorded_at, a.session, "
    "p.digest, p.speaker, p.at, p.asks, a.layer, a.origin, p.tells_of"
)
"""The selected columns of a passage, in the order they are read."""
_ID, _NUMBER = 26, 8
_KEY = np.dtype(f"S{_ID + _NUMBER}")
_ALONE = -1
_COLUMNS: dict[str, np.dtype[Any]] = {
    "key": _KEY,
    **dict.fromkeys(("alive", "asks"), np.dtype(np.bool_)),
    **dict.fromkeys(("status", "type", "layer", "origin"), np.dtype(np.int8)),
    **dict.fromkeys(("scope", "speaker", "text", "session"), np.dtype(np.int32)),
    **dict.fromkeys(("starts", "ends", "recorded", "at", "tells_of", "begins", "until"), np.dtype(np.int64)),
}
_STATUS_OF = {status.value: number for number, status in enumerate(STATUSES)}
_TYPE_OF = {kind.value: number for number, kind in enumerate(TYPES)}
_LAYER_OF = {layer.value: number for number, layer in enumerate(LAYERS)}
_ORIGIN_OF = {origin.value: number for number, origin in enumerate(ORIGINS)}
_HAS_ENDED = np.array([status in ENDED for status in STATUSES], dtype=np.bool_)
_WAS_REPLACED = np.array([status in REPLACED for status in STATUSES], dtype=np.bool_)


class Rows:
    """Columns over passages, and lookups of the rows of a passage, an atom and a session."""

    def __init__(self) -> None:
        self._columns: Arrays = {name: np.empty(0, dtype=kind) for name, kind in _COLUMNS.items()}
        self.count = self.struck = self._settled = 0
        self.texts = Texts()
        self.speakers: dict[str, int] = {}
        self._sessions: dict[tuple[int, str], int] = {}
        self._by_session: Numbers = np.empty(0, dtype=np.int64)
        self._session_starts: Numbers = np.zeros(1, dtype=np.int64)
        self._forget_since()

    def _forget_since(self) -> None:
        self._rows_since: dict[AtomId, list[int]] = {}
        self._session_since: dict[int, list[int]] = defaultdict(list)
        self.names = tuple(self.speakers)
        self.session_names = tuple(self._sessions)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column, cut to the number of rows."""
        return self._columns[name][: self.count]

    @property
    def is_unsettled(self) -> bool:
        """Return whether so many rows were added or deleted that everything should be sorted again."""
        return self.struck + self.count - self._settled > 1000 + self._settled // 4

    def key(self, row: int) -> Key:
        """Return the passage of a row."""
        key = bytes(self._columns["key"][row])
        return AtomId(key[:_ID].decode()), int(key[_ID:], 16)

    def session(self, row: int) -> str:
        """Return a name that a row shares with its neighbours only."""
        number = int(self._columns["session"][row])
        if number == _ALONE:
            return f"{self._columns['scope'][row]}/{self.key(row)[0]}"
        scope, session = self.session_names[number]
        return f"{scope}/{session}"

    def append(self, found: Sequence[tuple[Any, ...]]) -> list[bytes]:
        """Add passages as read from the index; return the texts among them that existed before."""
        start = self.count
        columns, existed = self._read(found)
        self._make_room(start + len(found))
        self.count += len(found)
        for name, values in columns.items():
            self._columns[name][start : self.count] = values
        sessions: list[int] = columns["session"].tolist()
        for row, (item, session) in enumerate(zip(found, sessions, strict=True), start):
            self._rows_since.setdefault(AtomId(item[0]), []).append(row)
            if session != _ALONE:
                self._session_since[session].append(row)
        self.names, self.session_names = tuple(self.speakers), tuple(self._sessions)
        return [passage[9] for passage, is_old in zip(found, existed, strict=True) if is_old]

    def _make_room(self, needed: int) -> None:
        for name, column in self._columns.items():
            if needed > len(column):
                grown = np.empty(max(needed, 2 * len(column), 64), dtype=column.dtype)
                grown[: self.count] = column[: self.count]
                self._columns[name] = grown

    def _read(self, found: Sequence[tuple[Any, ...]]) -> tuple[Arrays, list[bool]]:
        """Return the columns of some passages, and which of their texts had a number already."""
        ids, ns, scopes, statuses, types, starts, ends, recorded, sessions, digests, *details = zip(*found, strict=True)
        speakers, at, asks, layers, origins, tells_of = details
        texts, existed = self._texts(digests)
        status = np.array([_STATUS_OF[name] for name in statuses], dtype=np.int8)
        ended, moments = _HAS_ENDED[status], np.array(at, dtype=np.int64)
        begins = np.array([ALWAYS if start is None else start for start in starts], dtype=np.int64)
        until = np.array([NEVER_ENDS if end is None else end for end in ends], dtype=np.int64)
        # One that was replaced without a date is not known to have been valid at any time.
        valid_until = np.where((until == NEVER_ENDS) & _WAS_REPLACED[status], ALWAYS, until)
        columns = {
            "key": np.array([_key(atom_id, n) for atom_id, n in zip(ids, ns, strict=True)], dtype=_KEY),
            "alive": np.ones(len(found), dtype=np.bool_),
            "scope": scopes,
            "status": status,
            "type": [_TYPE_OF[type_name] for type_name in types],
            "starts": np.where(ended, ALWAYS, begins),
            "ends": np.where(ended, NEVER_ENDS, until),
            "recorded": recorded,
            "speaker": [self.speakers.setdefault(speaker, len(self.speakers)) for speaker in speakers],
            "at": moments,
            "asks": asks,
            "text": texts,
            "layer": [_LAYER_OF[layer] for layer in layers],
            "origin": [_ORIGIN_OF[origin] for origin in origins],
            "tells_of": [ALWAYS if tell is None else tell for tell in tells_of],
            "begins": np.where(begins == ALWAYS, moments, begins),
            "until": valid_until,
            "session": [
                _ALONE if session == atom_id else self._sessions.setdefault((scope, session), len(self._sessions))
                for atom_id, scope, session in zip(ids, scopes, sessions, strict=True)
            ],
        }
        return {name: np.asarray(values, dtype=_COLUMNS[name]) for name, values in columns.items()}, existed

    def _texts(self, digests: Sequence[bytes]) -> tuple[list[int], list[bool]]:
        before = self.texts.numbers(digests)
        numbers = []
        for digest, number in zip(digests, before, strict=True):
            if number is None:
                number = self.texts.number(digest)
            numbers.append(self.texts.add(digest) if number is None else number)
        return numbers, [number is not None for number in before]

    def strike(self, ids: Iterable[AtomId]) -> None:
        """Mark the rows of these atoms as deleted."""
        for atom_id in ids:
            rows = self.of_atom(atom_id)
            self._columns["alive"][rows] = False
            self._rows_since.pop(atom_id, None)
            self.struck += len(rows)

    def of_atom(self, atom_id: AtomId) -> list[int]:
        """Return the rows of an atom, in order."""
        keys = self._columns["key"][: self._settled]
        start = int(np.searchsorted(keys, np.array(atom_id, dtype=_KEY)))
        end = int(np.searchsorted(keys, np.array(f"{atom_id}~", dtype=_KEY)))
        alive = self._columns["alive"]
        return [row for row in range(start, end) if alive[row]] + self._rows_since.get(atom_id, [])

    def of_session(self, row: int) -> list[int]:
        """Return the rows of a row's session, in order."""
        number = int(self._columns["session"][row])
        if number == _ALONE:
            return self.of_atom(self.key(row)[0])
        alive, rows = self._columns["alive"], []
        if number + 1 < len(self._session_starts):
            start, end = self._session_starts[number : number + 2]
            rows = [session_row for session_row in self._by_session[start:end].tolist() if alive[session_row]]
        since = [session_row for session_row in self._session_since.get(number, ()) if alive[session_row]]
        return sorted(rows + since, key=self.key) if since else rows

    def of_keys(self, keys: Collection[Key]) -> dict[Key, int]:
        """Return the rows of those passages that exist."""
        key_list = list(keys)
        if not key_list:
            return {}
        settled, alive = self._columns["key"][: self._settled], self._columns["alive"]
        encoded = np.array([_key(*key) for key in key_list], dtype=_KEY)
        places = np.searchsorted(settled, encoded)
        rows_by_key = {}
        for key, text, place in zip(key_list, encoded, places.tolist(), strict=True):
            if place < self._settled and settled[place] == text and alive[place]:
                rows_by_key[key] = place
            else:
                for row in self._rows_since.get(key[0], ()):
                    if self.key(row) == key:
                        rows_by_key[key] = row
        return rows_by_key

    def settle(self) -> Numbers:
        """Sort the remaining rows by key and renumber texts in row order; return the old number of each text."""
        rows = np.flatnonzero(self["alive"])
        rows = rows[np.argsort(self["key"][rows], kind="stable")]
        self._columns = {name: column[: self.count][rows] for name, column in self._columns.items()}
        self.count = self._settled = len(rows)
        self.struck = 0
        first_rows = np.unique(self._columns["text"], return_index=True)[1]
        old_numbers = self._columns["text"][np.sort(first_rows)].astype(np.int64)
        self.texts.settle(old_numbers)
        renumbered = np.zeros(int(old_numbers.max(initial=-1)) + 1, dtype=np.int32)
        renumbered[old_numbers] = np.arange(len(old_numbers), dtype=np.int32)
        self._columns["text"] = renumbered[self._columns["text"]]
        sessions = self._columns["session"]
        order = np.argsort(sessions, kind="stable")
        self._by_session = order[np.searchsorted(sessions[order], 0) :]
        self._session_starts = np.searchsorted(sessions[self._by_session], np.arange(len(self._sessions) + 1))
        self._forget_since()
        return old_numbers

    def saved(self) -> tuple[Arrays, dict[str, Any]]:
        """Return the arrays and metadata to save; call `compact` first."""
        arrays = {f"row.{name}": column[: self.count] for name, column in self._columns.items()}
        arrays |= {"by_session": self._by_session, "session_starts": self._session_starts, **self.texts.saved()}
        return arrays, {"speakers": list(self.speakers), "sessions": list(self._sessions)}

    @classmethod
    def of(cls, saved: Saved) -> Rows:
        """Return the columns of saved arrays."""
        rows = cls()
        rows._columns = {name: saved.arrays[f"row.{name}"] for name in _COLUMNS}
        rows.count = rows._settled = saved.lengths["row.key"]
        rows.texts = Texts.of(saved)
        rows.speakers = {name: number for number, name in enumerate(saved.told["speakers"])}
        rows._sessions = {(scope, name): number for number, (scope, name) in enumerate(saved.told["sessions"])}
        rows._by_session = saved.arrays["by_session"][: saved.lengths["by_session"]]
        rows._session_starts = saved.arrays["session_starts"][: saved.lengths["session_starts"]]
        rows._forget_since()
        return rows


def _key(atom_id: str, n: int) -> str:
    return f"{atom_id}{n:0{_NUMBER}x}"
