"""Capabilities that a backend may lack: the tests of one are skipped by its name."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Any, Protocol, TypeVar
from unittest import SkipTest


class Capability(StrEnum):
    """A part of the contract that a backend may leave out.

    `FILES`: the projection to markdown files. `PRECISION`: vectors stored in fewer bits. `SCRUB`: erased text leaves no
    bytes in free space and logs.
    """

    FILES = "files"
    PRECISION = "precision"
    SCRUB = "scrub"


class HasCapabilities(Protocol):
    """A contract under test."""

    @property
    def capabilities(self) -> frozenset[Capability]: ...


ContractTest = Callable[..., None]
ClassT = TypeVar("ClassT", bound=type)


def needs(capability: Capability) -> Callable[[ContractTest], ContractTest]:
    """Skip a test for backends without the capability."""

    def decorate(test: ContractTest) -> ContractTest:
        @wraps(test)
        def run(self: HasCapabilities, *args: Any, **kwargs: Any) -> None:
            if capability not in self.capabilities:
                raise SkipTest(f"this backend lacks the capability `{capability}`")
            test(self, *args, **kwargs)

        return run

    return decorate


def all_need(capability: Capability) -> Callable[[ClassT], ClassT]:
    """Skip all tests of a contract class for backends without the capability."""

    def decorate(contract: ClassT) -> ClassT:
        for name, test in list(vars(contract).items()):
            if name.startswith("test_"):
                setattr(contract, name, needs(capability)(test))
        return contract

    return decorate
