"""Edit frontmatter as rows of text, so that one entry can be set or removed without changing any other row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.vault.fast_yaml_reader import KEY_LINE, trailing_comment


class _EntryRows:
    """The rows of one entry, and the comments and blank rows after it."""

    __slots__ = ("after", "key", "rows")

    def __init__(self, key: str | None, rows: list[str], after: list[str]) -> None:
        self.key, self.rows, self.after = key, rows, after


class FrontmatterRows:
    """Frontmatter as rows, split into parts that can be replaced one by one; the first part has no key."""

    def __init__(self, front: str, spans: Mapping[str, tuple[int, int]]) -> None:
        rows = [row + "\n" for row in front.split("\n")[:-1]]
        starts = [start for start, _ in spans.values()] + [len(rows)]
        self._parts = [_EntryRows(None, [], rows[: starts[0]])]
        for (key, (start, end)), stop in zip(spans.items(), starts[1:], strict=True):
            self._parts.append(_EntryRows(key, rows[start:end], rows[end:stop]))
        self._by_key = {part.key: part for part in self._parts}

    def text(self) -> str:
        """Return the rows as text."""
        return "".join("".join(part.rows) + "".join(part.after) for part in self._parts)

    def comment(self, key: str) -> str:
        """Return the comment on the line of a key."""
        part = self._by_key.get(key)
        match = KEY_LINE.fullmatch(part.rows[0].strip()) if part else None
        return trailing_comment(match[2] or "") if match else ""

    def remove(self, key: str) -> None:
        """Remove an entry; what follows it stays."""
        if part := self._by_key.pop(key, None):
            index = self._parts.index(part)
            self._parts[index - 1].after += self._parts.pop(index).after

    def put(self, key: str, rows: list[str], order: Sequence[str]) -> None:
        """Replace an entry, or insert it after the last key that precedes it in the order."""
        if part := self._by_key.get(key):
            part.rows = rows
            return
        index, follows_key = self._insert_position(key, order)
        after: list[str] = []
        if follows_key:
            after, self._parts[index - 1].after = self._parts[index - 1].after, []
        self._by_key[key] = _EntryRows(key, rows, after)
        self._parts.insert(index, self._by_key[key])

    def _insert_position(self, key: str, order: Sequence[str]) -> tuple[int, bool]:
        if key in order:
            rank = order.index(key)
            for known in reversed(order[:rank]):
                if known in self._by_key:
                    return self._parts.index(self._by_key[known]) + 1, True
            for known in order[rank + 1 :]:
                if known in self._by_key:
                    return self._parts.index(self._by_key[known]), False
        return len(self._parts), False
