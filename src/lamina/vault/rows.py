"""Frontmatter as rows of text, so that one entry can be put, replaced or removed and no other row is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.vault.plain_yaml import KEY_LINE, comment_of


class _Part:
    """The rows of one entry, and the comments and blank rows after it."""

    __slots__ = ("after", "key", "rows")

    def __init__(self, key: str | None, rows: list[str], after: list[str]) -> None:
        self.key, self.rows, self.after = key, rows, after


class Rows:
    """Frontmatter as rows, cut into parts that can be replaced one by one; the first part has no key."""

    def __init__(self, front: str, spans: Mapping[str, tuple[int, int]]) -> None:
        rows = [row + "\n" for row in front.split("\n")[:-1]]
        starts = [start for start, _ in spans.values()] + [len(rows)]
        self._parts = [_Part(None, [], rows[: starts[0]])]
        for (key, (start, end)), stop in zip(spans.items(), starts[1:], strict=True):
            self._parts.append(_Part(key, rows[start:end], rows[end:stop]))

    def text(self) -> str:
        return "".join("".join(part.rows) + "".join(part.after) for part in self._parts)

    def comment(self, key: str) -> str:
        at = self._find(key)
        match = KEY_LINE.fullmatch(self._parts[at].rows[0].strip()) if at else None
        return comment_of(match[2] or "") if match else ""

    def remove(self, key: str) -> None:
        at = self._find(key)
        if at:
            self._parts[at - 1].after += self._parts.pop(at).after

    def put(self, key: str, rows: list[str], order: Sequence[str]) -> None:
        at = self._find(key)
        if at:
            self._parts[at].rows = rows
            return
        at, behind = self._place(key, order)
        after: list[str] = []
        if behind:
            after, self._parts[at - 1].after = self._parts[at - 1].after, []
        self._parts.insert(at, _Part(key, rows, after))

    def _place(self, key: str, order: Sequence[str]) -> tuple[int, bool]:
        if key in order:
            rank = order.index(key)
            for known in reversed(order[:rank]):
                if at := self._find(known):
                    return at + 1, True
            for known in order[rank + 1 :]:
                if at := self._find(known):
                    return at, False
        return len(self._parts), False

    def _find(self, key: str) -> int:
        return next((at for at, part in enumerate(self._parts) if part.key == key), 0)
