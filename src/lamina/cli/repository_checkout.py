"""Finds the benchmarks and the tour, which are in the repository and not in the installed package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from lamina.errors import NotFound

_PACKAGE = Path(__file__).parents[1]


class CheckoutNotFound(NotFound):
    """A command needs code of the repository, and there is no checkout of it here."""


def import_from_checkout(name: str) -> ModuleType:
    """Import a module of the `benchmarks` package of a checkout; CheckoutNotFound if there is none."""
    root = find_checkout(_PACKAGE, Path.cwd())
    if root is None:
        raise CheckoutNotFound("benchmarks and the tour are in the repository of lamina, not in the installed package")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return import_module(name)


def introduction_command() -> str:
    """Return the command that shows a newcomer what lamina does: the tour, or `try` where there is no checkout."""
    return "tour" if find_checkout(_PACKAGE, Path.cwd()) else "try"


def find_checkout(package: Path, working_folder: Path) -> Path | None:
    """Return the checkout that the package runs from, else the working folder if it is a checkout."""
    candidates = (package.parents[1], working_folder)
    return next((root for root in candidates if _is_checkout(root)), None)


def _is_checkout(root: Path) -> bool:
    return all((root / package / "__init__.py").is_file() for package in ("benchmarks", "src/lamina"))
