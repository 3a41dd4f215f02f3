"""The head of a request as the security middleware reads it, before anything in it is trusted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from starlette.types import Scope

from lamina.http.idempotency import KEY_HEADER as KEY

SECRET_PATTERN = re.compile(r"la[ms]_[A-Za-z0-9_-]{43}")
_SECRET_PARAMETERS = frozenset({"token", "access_token", "api_key", "apikey", "authorization", "bearer"})
_MAX_FIELDS = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class RequestHead:
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
    def from_scope(cls, scope: Scope) -> RequestHead:
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

    def header_values(self, name: bytes) -> list[bytes]:
        """Return every value of a header."""
        return [value for header, value in self.headers if header == name]

    def header(self, name: bytes) -> str:
        """Return the value of a header that occurs exactly once, or an empty string."""
        values = self.header_values(name)
        return values[0].decode("latin-1").strip() if len(values) == 1 else ""

    @property
    def content_type(self) -> str:
        """The media type of the body, without parameters."""
        return self.header(b"content-type").partition(";")[0].strip().lower()

    @property
    def is_relative(self) -> bool:
        """Return whether the target is a path, not an absolute URL that would override the Host header."""
        return self.raw_path.startswith(b"/")

    @property
    def is_unambiguous(self) -> bool:
        """Return whether it can be parsed in one way only: no control characters in the path, one body length."""
        framed = len(self.header_values(b"content-length")) + len(self.header_values(b"transfer-encoding"))
        return framed <= 1 and len(self.header_values(KEY)) <= 1 and not _CONTROL.search(self.path)

    @property
    def has_secret_in_url(self) -> bool:
        """Return whether the URL contains a token: URLs are logged and kept in histories, so tokens belong in a
        header.
        """
        if SECRET_PATTERN.search(unquote_plus(self.query)) or SECRET_PATTERN.search(self.path):
            return True
        try:
            pairs = parse_qsl(self.query, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
        except ValueError:
            return False
        return any(name.lower() in _SECRET_PARAMETERS for name, _ in pairs)

    @property
    def is_page_navigation(self) -> bool:
        """Return whether a browser shows the response as a whole page, not as a fragment that htmx inserts."""
        return "text/html" in self.header(b"accept") and not self.header_values(b"hx-request")

    @property
    def return_path(self) -> str:
        """The path to return to after signing in: the requested page, or the page that an htmx request comes from."""
        if self.header_values(b"hx-request"):
            try:
                url = urlsplit(self.header(b"hx-current-url"))
            except ValueError:
                return ""
            return url.path + (f"?{url.query}" if url.query else "")
        return self.path + (f"?{self.query}" if self.query else "") if self.method == "GET" else ""

    @property
    def wants_html(self) -> bool:
        """Return whether a browser requests an HTML page."""
        return self.method == "GET" and "text/html" in self.header(b"accept")
