"""What the description promises is what happens: whatever fits it or does not, no answer breaks it and none is a crash.

LAMINA_SCHEMA_EXAMPLES=200 asks more of every operation than there is time for each day.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from live_server import LiveServer
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from lamina.http.operation_policies import OPERATION_POLICIES

EXAMPLES = int(os.environ.get("LAMINA_SCHEMA_EXAMPLES", "2"))
VERBS = sorted(set(OPERATION_POLICIES) - {"feed", "openapi"})
"""A stream has no end to be looked at, and what describes the rest is left out by who reads it."""


@pytest.fixture(scope="module")
def schema(server: LiveServer, owner: str) -> dict[str, Any]:
    """Every operation as the description has it, and something to find."""
    server.remember(owner, "Yan prefers paper maps.", kind="preference", subject="Yan")
    headers = {"Authorization": f"Bearer {owner}"}
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/v1/openapi.json", headers=headers)
    all_items: list[Any] = list(schema.get_all_operations())
    result = [atom.ok() for atom in all_items]
    return {item.definition.raw["operationId"]: item for item in result}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fits", "does not fit"])
@pytest.mark.parametrize("verb", VERBS)
def test_an_operation_conforms_to_its_schema(
    server: LiveServer, owner: str, schema: dict[str, Any], verb: str, mode: GenerationMode
) -> None:
    operation = schema[verb]
    if mode is GenerationMode.NEGATIVE and verb == "health":
        pytest.skip("nothing can be wrong about a request that takes nothing")

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        database=None,
        derandomize=True,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def keeps(case: Any) -> None:
        headers = {"Authorization": f"Bearer {owner}"}
        reply = case.call(base_url=f"http://127.0.0.1:{server.port}", headers=headers)
        # Whether an id exists or a day is one, no schema can tell; such a request is refused though it fits.
        unfair = [positive_data_acceptance, *([] if _is_shown(case) else [negative_data_rejection])]
        case.validate_response(reply, excluded_checks=unfair)
        assert reply.status_code < 500

    keeps()


def _is_shown(case: Any) -> bool:
    """Whether what does not fit can be seen by who is asked.

    The token is put back into every request, and an address has no way to write a list or an object where none belongs.
    """
    wrong = {where.value for where, item in case.meta.components.items() if item.mode is GenerationMode.NEGATIVE}
    result = [*case.query.values()] if "query" in wrong else []
    plain = all(isinstance(item, (str, int, float)) and item != "" for item in result)
    return bool(wrong & {"body", "path"}) or (bool(result) and plain) or "Idempotency-Key" in (case.headers or {})


BODIES: tuple[tuple[str, dict[str, object]], ...] = (
    ("/v1/recall", {"question": "maps", "k": "3"}),
    ("/v1/recall", {"question": "maps", "fast": "no"}),
    ("/v1/remember", {"content": "x", "confidence": "0.5"}),
    ("/v1/remember", {"content": "x", "pinned": 0}),
    ("/v1/capture", {"text": "x", "wait": 1}),
    ("/v1/doctor", {"deep": 0}),
    ("/v1/sync", {"accept_deletions": "false"}),
    ("/v1/undo", {"cascade": 0.0}),
    ("/v1/dream", {"dry_run": "no"}),
    ("/v1/review/compact", {"create_proposals": 0}),
    ("/v1/export", {"history": "off"}),
)


@pytest.mark.parametrize(("path", "body"), BODIES, ids=[f"{path} {[*body][-1]}" for path, body in BODIES])
def test_a_value_of_the_wrong_type_is_not_coerced(
    server: LiveServer, owner: str, path: str, body: dict[str, object]
) -> None:
    before = server.house.memory.journal(limit=1)
    assert server.ask("POST", path, owner, body).status == 422
    assert server.house.memory.journal(limit=1) == before


def test_every_operation_is_documented(schema: dict[str, Any]) -> None:
    assert set(schema) | {"openapi"} == set(OPERATION_POLICIES)
