"""The head of a request as the security middleware reads it, before anything in it is trusted."""

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
    """The method, path, query and headers of a request."""

    method: str
    path: str
    raw_path: bytes
    query: str
    headers: tuple[tuple[bytes, bytes], ...]
    address: str
    port: int | None
    is_local: bool
    """Whether it came over the Unix socket; only such requests have no port."""

    @classmethod
    def of(cls, scope: Scope) -> Asked:
        """Return the request head of an ASGI scope."""
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
        """Return every value of a header."""
        return [value for header, value in self.headers if header == name]

    def one(self, name: bytes) -> str:
        """Return the value of a header that occurs exactly once, or an empty string."""
        values = self.every(name)
        return values[0].decode("latin-1").strip() if len(values) == 1 else ""

    @property
    def content_type(self) -> str:
        """The media type of the body, without parameters."""
        return self.one(b"content-type").partition(";")[0].strip().lower()

    @property
    def is_relative(self) -> bool:
        """Whether the target is a path, not an absolute URL that would override the Host header."""
        return self.raw_path.startswith(b"/")

    @property
    def is_plain(self) -> bool:
        """Whether it can be parsed in one way only: no control characters in the path, one body length."""
        framed = len(self.every(b"content-length")) + len(self.every(b"transfer-encoding"))
        return framed <= 1 and len(self.every(KEY)) <= 1 and not _CONTROL.search(self.path)

    @property
    def tells_secret(self) -> bool:
        """Whether the URL contains a token: URLs are logged and kept in histories, so tokens belong in a header."""
        if SECRET.search(unquote_plus(self.query)) or SECRET.search(self.path):
            return True
        try:
            pairs = parse_qsl(self.query, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            return False
        return any(name.lower() in _NAMES for name, _ in pairs)

    @property
    def shows_page(self) -> bool:
        """Whether a browser shows the response as a whole page, not as a fragment that htmx inserts."""
        return "text/html" in self.one(b"accept") and not self.every(b"hx-request")

    @property
    def place(self) -> str:
        """The path to return to after signing in: the requested page, or the page that an htmx request comes from."""
        if self.every(b"hx-request"):
            try:
                url = urlsplit(self.one(b"hx-current-url"))
            except ValueError:
                return ""
            return url.path + (f"?{url.query}" if url.query else "")
        return self.path + (f"?{self.query}" if self.query else "") if self.method == "GET" else ""

    @property
    def wants_page(self) -> bool:
        """Whether a browser requests an HTML page."""
        return self.method == "GET" and "text/html" in self.one(b"accept")
