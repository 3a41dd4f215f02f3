"""Contract tests that every store must pass: subclass `StoreContract`, create your store, and run it with pytest.

    class TestMyStore(StoreContract):
        def make_store(self, tmp_path, clock):
            return MyStore(tmp_path, clock)

They use plain asserts, so that the package needs no test runner. A backend that cannot do everything names what it can:
`capabilities = frozenset({Capability.SCRUB})`; the tests of the others are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.testing.admin import AccessContract, ProblemContract, RecallContract, UsageContract
from lamina.testing.atom_reads import AtomReadContract
from lamina.testing.capabilities import Capability
from lamina.testing.commit_rules import RuleContract
from lamina.testing.erasures import ErasureContract
from lamina.testing.journal import CommitContract, JournalContract
from lamina.testing.passage_search import PassageSearchContract
from lamina.testing.past_states import PastStateContract
from lamina.testing.precision import PrecisionContract
from lamina.testing.projection import ProjectionContract
from lamina.testing.queue import BufferContract, DreamProgressContract, JobContract
from lamina.testing.signals import AgeingStateContract, SignalContract
from lamina.testing.store_harness import (
    ANN,
    BOB,
    DAY,
    ENDED_STATUSES,
    LOCAL,
    NOON,
    OTHER,
    STAMP,
    STATUS_TRANSITIONS,
    Contract,
    StoreHarness,
    raises,
)
from lamina.testing.stored_encodings import EncodingContract
from lamina.testing.text_and_graph_search import SearchContract, random_scope
from lamina.testing.trust_rules import TrustContract

__all__ = [
    "ANN",
    "BOB",
    "DAY",
    "ENDED_STATUSES",
    "LOCAL",
    "NOON",
    "OTHER",
    "STAMP",
    "STATUS_TRANSITIONS",
    "Capability",
    "Contract",
    "StoreContract",
    "StoreHarness",
    "contract_names",
    "raises",
    "random_scope",
]


class StoreContract(
    CommitContract,
    RuleContract,
    TrustContract,
    AtomReadContract,
    JournalContract,
    SearchContract,
    EncodingContract,
    PassageSearchContract,
    ProjectionContract,
    AccessContract,
    ProblemContract,
    SignalContract,
    BufferContract,
    JobContract,
    DreamProgressContract,
    UsageContract,
    RecallContract,
    ErasureContract,
    PastStateContract,
    AgeingStateContract,
    PrecisionContract,
):
    """All contracts of `Store` and of its parts. A backend that passes can replace any other."""


def contract_names() -> Sequence[str]:
    """Return the names of all contract tests, sorted."""
    return sorted(name for name in dir(StoreContract) if name.startswith("test_"))
