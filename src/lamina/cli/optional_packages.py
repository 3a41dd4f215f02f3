"""Checks for the packages of optional extras."""

from __future__ import annotations

from importlib.util import find_spec

from lamina.errors import InvalidInput

EXTRA_PACKAGES = {"mcp": ("mcp",), "serve": ("fastapi", "jinja2", "markdown_it", "mcp", "multipart", "nh3", "uvicorn")}
"""The packages that each extra needs."""


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed."""
    return [part for part in EXTRA_PACKAGES[extra] if find_spec(part) is None]


def require_extra(extra: str) -> None:
    """Raise InvalidInput with the install command if a package of an extra is missing."""
    absent = missing_packages(extra)
    if absent:
        raise InvalidInput(f"{', '.join(absent)} not installed; run `pip install 'lamina[{extra}]'`")
