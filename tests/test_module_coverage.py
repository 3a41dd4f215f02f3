"""Each module of lamina has a test module that imports from it, names it or is named after it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src"
MODULE = re.compile(r"\blamina(?:\.\w+)+")


def _modules() -> Iterator[str]:
    """Yield the dotted name of each module, without the files of packages."""
    for path in sorted((SOURCE / "lamina").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[-1] != "__init__":
            yield ".".join(parts)


def _origins(module: str, name: str) -> Iterator[str]:
    """Yield where an imported name is defined, and its base classes: packages export what their modules define."""
    value = getattr(import_module(module), name, None)
    for definition in inspect.getmro(value) if inspect.isclass(value) else (value,):
        yield getattr(definition, "__module__", module)


def _named_in(path: Path) -> Iterator[str]:
    """Yield the modules that a test module imports from, or names in a text such as its docstring or a program."""
    for node in ast.walk(_parse(path)):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == "lamina":
                yield module
                for alias in names:
                    yield f"{module}.{alias.name}"
                    yield from _origins(module, alias.name)
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.Constant(value=str(text)):
                yield from MODULE.findall(text)


def _test_names(module: str) -> set[str]:
    """Return the names that a test module of this module may have."""
    *_, package, name = module.split(".")
    return {f"test_{name.strip('_')}", f"test_{package}_{name.strip('_')}"}


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_each_module_is_named_by_a_test_module() -> None:
    paths = sorted(TESTS.rglob("*.py"))
    named = {name for path in paths for name in _named_in(path)}
    stems = {path.stem for path in paths}
    assert [module for module in _modules() if module not in named and stems.isdisjoint(_test_names(module))] == []


def test_each_named_module_exists() -> None:
    modules = {*_modules(), *(".".join(path.relative_to(SOURCE).parts) for path in (SOURCE / "lamina").rglob("*/"))}
    covered = {
        name for path in TESTS.rglob("test_*.py") for name in MODULE.findall(ast.get_docstring(_parse(path)) or "")
    }
    assert covered - modules == set()
