"""Contract tests that every store must pass: subclass `StoreContract`, create your store, and run it with pytest.

    class TestMyStore(StoreContract):
        def make_store(self, tmp_path, clock):
            return MyStore(tmp_path, clock)

They use plain asserts, so that the package needs no test runner.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.testing.ageing_state import AgeingStateContract
from lamina.testing.atom_reads import AtomReadContract
from lamina.testing.capture_buffer import BufferContract
from lamina.testing.commit_rules import RuleContract
from lamina.testing.commits import CommitContract
from lamina.testing.erasures import ErasureContract
from lamina.testing.jobs import JobContract
from lamina.testing.journal import JournalContract
from lamina.testing.ledger import LedgerContract
from lamina.testing.past_states import PastStateContract
from lamina.testing.precision import PrecisionContract
from lamina.testing.recalls import RecallContract
from lamina.testing.search import SearchContract, random_scope
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
    LedgerContract,
    BufferContract,
    JobContract,
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
