"""Tour chapter about the surfaces: HTTP, MCP, the web page, host configuration and hooks."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from typing import Any
from urllib.parse import urlencode, urlsplit

from benchmarks.tour.tour_chapter import TourChapter, TourStep
from lamina.cli import token, write
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, TextLine
from lamina.cli.serve import missing_packages

_NOT_INSTALLED = CommandResult({}, (TextLine("not installed; run `pip install 'lamina[serve]'`", "yellow"),))


class SurfacesChapter(TourChapter):
    """Steps that show what clients can and cannot see of a vault."""

    def create_token(self) -> TourStep:
        def create(session: CommandSession) -> CommandResult:
            created = token.create(session, "tour", right="write")
            self.ids["token"] = str(created.data["token"])
            fields = (("token", self.ids["token"][:8] + "…"), ("scope", created.data["scope"]), ("right", "write"))
            return CommandResult({**created.data, "token": "…"}, (FieldList(fields),))

        step = self.run_step(
            "Every client gets its own access token; only its hash is stored.",
            "lamina token create tour --right write",
            create,
        )
        stored = b"".join(file.read_bytes() for file in (self.vault / ".lamina").glob("access.db*"))
        step.checks.append(("the token itself is not stored", self.ids["token"].encode() not in stored))
        return step

    def serve_requests(self) -> TourStep:
        statuses: dict[str, int] = {}
        texts: list[str] = []
        feed = page = ""

        def send_requests(session: CommandSession) -> CommandResult:
            nonlocal feed, page
            from lamina.access import ServedMemory
            from lamina.server import run_server

            with run_server(ServedMemory.for_memory(session.memory), port=0) as (_, address):
                url, headers = urlsplit(address), {"Authorization": f"Bearer {self.ids['token']}"}
                statuses["without a token"], _ = _send_request(url.netloc, "GET", "/v1/atoms", {})
                statuses["other host name"], _ = _send_request(
                    url.netloc, "GET", "/v1/atoms", {**headers, "Host": "evil.example"}
                )
                statuses["recall"], recalled = _send_request(
                    url.netloc, "GET", "/v1/recall?q=harbour+office&k=3", headers
                )
                texts.extend(hit["text"] for hit in recalled["hits"])
                statuses["MCP tools"], tools = _send_request(url.netloc, "POST", "/mcp", headers, _TOOLS_REQUEST)
                texts.extend(tool["name"] for tool in tools["result"]["tools"])
                statuses["erase"], _ = _send_request(
                    url.netloc, "POST", "/v1/erase", headers, {"ids": ["x"], "reason": "no"}
                )
                statuses["stream"], feed = _read_first_event(url.netloc, headers)
                statuses["web page"], page = _fetch_signed_in(url.netloc, self.ids["token"], "/recall?q=harbour+office")
            return CommandResult(
                statuses, (FieldList(tuple((name, str(status)) for name, status in statuses.items())),)
            )

        if missing_packages("serve"):
            return self.run_step("One process serves a vault.", "lamina serve", lambda session: _NOT_INSTALLED)
        step = self.run_step(
            "One process serves a vault: HTTP API, MCP and web page, with one access check.",
            "lamina serve",
            send_requests,
        )
        step.checks += [
            ("a request without a token is rejected", statuses["without a token"] == 401),
            ("a request for another host name is rejected", statuses["other host name"] == 403),
            ("recall answers over HTTP", statuses["recall"] == 200 and any("harbour office" in text for text in texts)),
            ("MCP lists its tools", {"recall", "remember", "review"} <= set(texts)),
            ("a token that may write may not erase", statuses["erase"] == 403),
            ("the change feed reports commits", feed.startswith("id: ")),
            ("the web page shows the same hits with their scores", "harbour office" in page and "why" in page),
        ]
        return step

    def print_host_config(self) -> TourStep:
        from lamina.cli import install

        step = self.run_step(
            "A few lines in its settings connect an agent's program.",
            "lamina install cursor",
            lambda session: install.install(session, "cursor"),
        )
        step.checks.append(("it prints what to add, and changes no file", "mcp" in json.dumps(step.view.data)))
        return step

    def run_hook(self) -> TourStep:
        """Run a real hook process; its output comes back in a transcript and is not captured again."""
        event = {"session_id": "tour", "cwd": str(self.vault), "prompt": "where is the harbour office?"}
        process = subprocess.run(
            [
                sys.executable,
                "-m",
                "lamina",
                "--vault",
                str(self.vault),
                "--scope",
                "org:local",
                "hook",
                "user-prompt-submit",
                "--limit",
                "60",
            ],
            input=json.dumps(event),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        stages: dict[str, str] = {}

        def show_context(session: CommandSession) -> CommandResult:
            words = f"{process.stdout}\nThe agent thanked for it."
            stages.update(write.capture(session, words, session_id="hook").data["stages"])
            context = json.loads(process.stdout or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")
            return CommandResult({"context": context}, tuple(TextLine(line) for line in context.splitlines()[:6]))

        step = self.run_step(
            "A hook gives an agent context with every prompt.", "lamina hook user-prompt-submit", show_context
        )
        step.checks += [
            ("it exits with 0 and mentions the office", process.returncode == 0 and "harbour office" in process.stdout),
            ("its context is not captured again", "removed" in stages.get("context", "")),
        ]
        return step


_TOOLS_REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "tour", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}


def _send_request(
    host: str, method: str, path: str, headers: dict[str, str], body: dict[str, Any] | None = None
) -> tuple[int, Any]:
    """Send one request; return the status and the body."""
    body_text = json.dumps(body) if body is not None else None
    if body_text is not None:
        headers = {
            **headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Mcp-Method": "tools/list",
            "MCP-Protocol-Version": "2026-07-28",
        }
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.request(method, path, body_text, headers)
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    return response.status, json.loads(text) if "json" in (response.headers["Content-Type"] or "") else text


def _fetch_signed_in(host: str, token: str, page: str) -> tuple[int, str]:
    """Log in like a browser; return the status and text of a page."""
    connection = http.client.HTTPConnection(host, timeout=30)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    try:
        connection.request("POST", "/login", urlencode({"token": token, "next": page}), form)
        login = connection.getresponse()
        login.read()
        cookie = (login.headers["Set-Cookie"] or "").partition(";")[0]
        connection.request("GET", login.headers["Location"] or page, headers={"Cookie": cookie})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def _read_first_event(host: str, headers: dict[str, str]) -> tuple[int, str]:
    """Return the status of the change feed and its first event."""
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.request("GET", "/v1/feed?since=0", headers=headers)
        response = connection.getresponse()
        line = next((line for line in iter(response.readline, b"") if line.startswith(b"id: ")), b"")
        return response.status, line.decode()
    finally:
        connection.close()
