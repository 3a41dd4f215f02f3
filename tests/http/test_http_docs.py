"""The page on HTTP is correct: every route with its right, and examples that run.

Covers `lamina.cli.token`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from live_server import LiveServer

from lamina.documents import argument_types
from lamina.http import change_feed, connection_limits, idempotency, request_body, security_middleware
from lamina.http.operation_policies import (
    DEFAULT_SECONDS,
    OPERATION_POLICIES,
    SLOW_SECONDS,
    list_api_routes,
    operation_name,
)

PAGE = Path(__file__).parent.parent.parent / "docs" / "http.md"
TEXT = PAGE.read_text(encoding="utf-8")
MARK = "<!-- routes: checked by tests/http/test_http_docs.py -->\n"
HEAD = "| route | verb | right | what it does |\n|---|---|---|---|\n"


def _row(route: APIRoute) -> str:
    need, verb = OPERATION_POLICIES[operation_name(route)], operation_name(route)
    text = " ".join((route.description or "").partition("\n\n")[0].split())
    right = (need.right.value if need.right else "none") + (", long" if need.timeout_seconds == SLOW_SECONDS else "")
    return f"| {' '.join(sorted(route.methods or ()))} `{route.path}` | `{verb}` | {right} | {text} |\n"


def _table(server: LiveServer) -> str:
    return HEAD + "".join(_row(route) for route in list_api_routes(server.app))


def test_the_page_has_every_route_and_its_right(server: LiveServer) -> None:
    """LAMINA_WRITE_DOCS=1 writes the table anew."""
    before, _, rest = TEXT.partition(MARK)
    part, after = rest.lstrip("\n").split("\n\n", 1)
    if os.environ.get("LAMINA_WRITE_DOCS"):
        PAGE.write_text(f"{before}{MARK}\n{_table(server)}\n{after}", encoding="utf-8")
        return
    assert part + "\n" == _table(server)


def test_the_page_has_the_actual_limits() -> None:
    limits = TEXT.partition("## Limits")[2].partition("\n## ")[0]
    assert (request_body.MAX_BYTES, argument_types.MAX_FACT_BYTES, argument_types.MAX_QUESTION_BYTES) == (
        1024 * 1024,
        64 * 1024,
        4 * 1024,
    )
    for result in (
        f"| `k` | {argument_types.MAX_HITS} |",
        f"{DEFAULT_SECONDS:g} s, and {SLOW_SECONDS:g} s for those",
        f"of which {security_middleware.MAX_SLOW_REQUESTS} are",
        f"{connection_limits.HEAD_SECONDS:g} s, {request_body.MAX_SECONDS:g} s to arrive",
        f"| {connection_limits.MAX_CONNECTIONS}; of more",
        f"| {change_feed.MAX_LISTENERS}; one that is not read for {connection_limits.READ_SECONDS:g} s",
        f"or is {change_feed.MAX_QUEUED_COMMITS:,} commits behind",
    ):
        assert result in limits, result
    assert f"The last {idempotency.REPLY_LIMITS.per_caller} answers of a token" in TEXT
    assert f"at most {argument_types.MAX_KEY_LENGTH} visible" in TEXT
    assert f"`limit` (at most {argument_types.MAX_ROWS})" in TEXT


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here")
def test_the_examples_of_the_page_run(fresh: LiveServer) -> None:
    asks, feeds = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    around = {**os.environ, "LAMINA": f"http://127.0.0.1:{fresh.port}", "TOKEN": fresh.token("owner")}
    result = subprocess.run(["sh", "-ec", asks], env=around, capture_output=True, text=True, check=True)
    document = json.loads(result.stdout.split("}{")[-1].join(["{", ""]))
    assert document["hits"][0]["text"] == "Ann prefers light roast coffee."
    with subprocess.Popen(["sh", "-ec", f"exec {feeds}"], env=around, stdout=subprocess.PIPE, text=True) as stream:
        assert stream.stdout is not None
        lines = iter(stream.stdout.readline, "")
        actual = [next(line for line in lines if line.startswith(text)) for text in ("id: ", "event: ", "data: ")]
        stream.kill()
    assert actual[:2] == ["id: 1\n", "event: commit\n"]
    assert json.loads(actual[2].removeprefix("data: "))["verb"] == "remember"
