"""Parts that are installed only where they are wanted."""

from __future__ import annotations

from importlib.util import find_spec

from lamina.errors import InvalidInput

PARTS = {"mcp": ("mcp",), "serve": ("fastapi", "jinja2", "markdown_it", "mcp", "multipart", "nh3", "uvicorn")}
"""What has to be there for each extra."""


def missing(extra: str) -> list[str]:
    """What of an extra is not installed."""
    return [part for part in PARTS[extra] if find_spec(part) is None]


def needed(extra: str) -> None:
    """InvalidInput, with what to install, where a part of an extra is missing."""
    absent = missing(extra)
    if absent:
        raise InvalidInput(f"{', '.join(absent)} not installed; `pip install 'lamina[{extra}]'`")
