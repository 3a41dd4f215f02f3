"""Contract tests that every store must pass: subclass `StoreContract`, create your store, and run it with pytest.

    class TestMyStore(StoreContract):
        def make_store(self, tmp_path, clock):
            return MyStore(tmp_path, clock)

They use plain asserts, so that the package needs no test runner.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.testing.buffer import BufferContract
from lamina.testing.commits import CommitContract
from lamina.testing.encodings import EncodingContract
from lamina.testing.erasures import ErasureContract
from lamina.testing.hand import ANN, ARROWS, BOB, DAY, ENDINGS, LOCAL, NOON, OTHER, STAMP, Contract, Hand, raises
from lamina.testing.jobs import JobContract
from lamina.testing.journal import JournalContract
from lamina.testing.ledger import LedgerContract
from lamina.testing.lives import LivesContract
from lamina.testing.past import PastContract
from lamina.testing.precision import PrecisionContract
from lamina.testing.reading import ReadingContract
from lamina.testing.recalls import RecallContract
from lamina.testing.rules import RuleContract
from lamina.testing.search import SearchContract, random_scope
from lamina.testing.trust import TrustContract

__all__ = [
    "ANN",
    "ARROWS",
    "BOB",
    "DAY",
    "ENDINGS",
    "LOCAL",
    "NOON",
    "OTHER",
    "STAMP",
    "Contract",
    "Hand",
    "StoreContract",
    "contract_names",
    "raises",
    "random_scope",
]


class StoreContract(
    CommitContract,
    RuleContract,
    TrustContract,
    ReadingContract,
    JournalContract,
    SearchContract,
    EncodingContract,
    LedgerContract,
    BufferContract,
    JobContract,
    RecallContract,
    ErasureContract,
    PastContract,
    LivesContract,
    PrecisionContract,
):
    """All contracts of `Store` and of its parts. A backend that passes can replace any other."""


def contract_names() -> Sequence[str]:
    """Return the names of all contract tests, sorted."""
    return sorted(name for name in dir(StoreContract) if name.startswith("test_"))
