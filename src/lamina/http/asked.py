"""A request as the gate sees it: what its head says, before anything of it is believed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from starlette.types import Scope

from lamina.http.replies import HEADER as KEY

SECRET = re.compile(r"la[ms]_[A-Za-z0-9_-]{43}")
_NAMES = frozenset({"token", "access_token", "api_key", "apikey", "authorization", "bearer"})
_MOST_FIELDS = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Asked:
    """The head of a request."""

    method: str
    path: str
    raw_path: bytes
    query: str
    headers: tuple[tuple[bytes, bytes], ...]
    address: str
    port: int | None
    is_local: bool
    """Whether it came through the socket in the file system; nothing else is without a port."""

    @classmethod
    def of(cls, scope: Scope) -> Asked:
        server = scope.get("server")
        address, port = server or ("", None)
        return cls(
            scope["method"],
            scope["path"],
            scope.get("raw_path") or scope["path"].encode(),
            scope["query_string"].decode("latin-1"),
            tuple((name.lower(), value) for name, value in scope["headers"]),
            address,
            port,
            is_local=server is not None and port is None,
        )

    def every(self, name: bytes) -> list[bytes]:
        """Every value of a header."""
        return [value for each, value in self.headers if each == name]

    def one(self, name: bytes) -> str:
        """The value of a header that is there once; empty otherwise."""
        found = self.every(name)
        return found[0].decode("latin-1").strip() if len(found) == 1 else ""

    @property
    def content_type(self) -> str:
        """The media type of the body, without its parameters."""
        return self.one(b"content-type").partition(";")[0].strip().lower()

    @property
    def is_relative(self) -> bool:
        """Whether it names a path here, and not a whole address that would overrule the Host header."""
        return self.raw_path.startswith(b"/")

    @property
    def is_plain(self) -> bool:
        """Whether it can be read in one way only: no line ends in its path, and one word on where its body ends."""
        framed = len(self.every(b"content-length")) + len(self.every(b"transfer-encoding"))
        return framed <= 1 and len(self.every(KEY)) <= 1 and not _CONTROL.search(self.path)

    @property
    def tells_secret(self) -> bool:
        """Whether its address holds what belongs into a header: addresses are logged and remembered everywhere."""
        if SECRET.search(unquote_plus(self.query)) or SECRET.search(self.path):
            return True
        try:
            pairs = parse_qsl(self.query, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            return False
        return any(name.lower() in _NAMES for name, _ in pairs)

    @property
    def shows_page(self) -> bool:
        """Whether a browser shows the answer as a whole page; a script that puts it into one says so."""
        return "text/html" in self.one(b"accept") and not self.every(b"hx-request")

    @property
    def place(self) -> str:
        """The page a person is on, to come back to: the one asked for, or the one a script of ours asks from."""
        if self.every(b"hx-request"):
            try:
                found = urlsplit(self.one(b"hx-current-url"))
            except ValueError:
                return ""
            return found.path + (f"?{found.query}" if found.query else "")
        return self.path + (f"?{self.query}" if self.query else "") if self.method == "GET" else ""

    @property
    def wants_page(self) -> bool:
        """Whether a browser asks for a page for a person."""
        return self.method == "GET" and "text/html" in self.one(b"accept")
