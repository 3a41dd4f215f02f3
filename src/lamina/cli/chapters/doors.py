"""Doors: the same memory over HTTP, over MCP, in a browser and in an agent's own settings."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from typing import Any
from urllib.parse import urlencode, urlsplit

from lamina.cli import token, write
from lamina.cli.extras import missing
from lamina.cli.output import Facts, Line, View
from lamina.cli.scene import Chapter, Scene
from lamina.cli.session import Session

_ABSENT = View({}, (Line("not installed here: pip install 'lamina[serve]'", "yellow"),))


class Doors(Chapter):
    """What others see of a vault, and what they do not."""

    def token(self) -> Scene:
        def create(session: Session) -> View:
            made = token.create(session, "tour", right="write")
            self.ids["token"] = str(made.data["token"])
            told = (("token", self.ids["token"][:8] + "…"), ("scope", made.data["scope"]), ("right", "write"))
            return View({**made.data, "token": "…"}, (Facts(told),))

        scene = self.play(
            "Others come in with a token of their own; only its hash is kept.",
            "lamina token create tour --right write",
            create,
        )
        kept = (self.vault / ".lamina" / "tokens.json").read_text("utf-8")
        scene.checks.append(("the token itself stands nowhere", self.ids["token"] not in kept))
        return scene

    def serve(self) -> Scene:
        told: dict[str, int] = {}
        words: list[str] = []
        feed = page = ""

        def asked(session: Session) -> View:
            nonlocal feed, page
            from lamina.access import House
            from lamina.server import serving

            with serving(House.of(session.memory), port=0) as (_, address):
                there, opens = urlsplit(address), {"Authorization": f"Bearer {self.ids['token']}"}
                told["without a token"], _ = _ask(there.netloc, "GET", "/v1/atoms", {})
                told["by another name"], _ = _ask(there.netloc, "GET", "/v1/atoms", {**opens, "Host": "evil.example"})
                told["recall"], found = _ask(there.netloc, "GET", "/v1/recall?q=harbour+office&k=3", opens)
                words.extend(hit["text"] for hit in found["hits"])
                told["tools of MCP"], tools = _ask(there.netloc, "POST", "/mcp", opens, _TOOLS)
                words.extend(tool["name"] for tool in tools["result"]["tools"])
                told["erase"], _ = _ask(there.netloc, "POST", "/v1/erase", opens, {"ids": ["x"], "reason": "no"})
                told["stream"], feed = _first_event(there.netloc, opens)
                told["web page"], page = _signed_in(there.netloc, self.ids["token"], "/recall?q=harbour+office")
            return View(told, (Facts(tuple((name, str(status)) for name, status in told.items())),))

        if missing("serve"):
            return self.play("One process answers for a vault.", "lamina serve", lambda session: _ABSENT)
        scene = self.play(
            "One process answers for a vault: API, MCP and web page, behind one gate.", "lamina serve", asked
        )
        scene.checks += [
            ("nobody comes in without a token", told["without a token"] == 401),
            ("nor by a name that is not this machine's", told["by another name"] == 403),
            ("recall answers over HTTP", told["recall"] == 200 and any("harbour office" in word for word in words)),
            ("MCP tells its tools", {"recall", "remember", "review"} <= set(words)),
            ("who may write may not erase", told["erase"] == 403),
            ("programs hear of every commit", feed.startswith("id: ")),
            ("the web page shows the same, with the bars of every score", "harbour office" in page and "why" in page),
        ]
        return scene

    def install(self) -> Scene:
        from lamina.cli import install

        scene = self.play(
            "An agent's program is told of it by a few lines in its settings.",
            "lamina install cursor",
            lambda session: install.install(session, "cursor"),
        )
        scene.checks.append(("it says what to add, and adds nothing", "mcp" in json.dumps(scene.view.data)))
        return scene

    def hook(self) -> Scene:
        """A real process, as a host starts it; what it tells comes back with the transcript and is not kept again."""
        event = {"session_id": "tour", "cwd": str(self.vault), "prompt": "where is the harbour office?"}
        ran = subprocess.run(
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
        kept: dict[str, str] = {}

        def shown(session: Session) -> View:
            words = f"{ran.stdout}\nThe agent thanked for it."
            kept.update(write.capture(session, words, session_id="hook").data["stages"])
            context = json.loads(ran.stdout or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")
            return View({"context": context}, tuple(Line(line) for line in context.splitlines()[:6]))

        scene = self.play(
            "A hook tells an agent what is known, before it is asked.", "lamina hook user-prompt-submit", shown
        )
        scene.checks += [
            ("it ends well and tells of the office", ran.returncode == 0 and "harbour office" in ran.stdout),
            ("what it told is not captured again", "taken out" in kept.get("context", "")),
        ]
        return scene


_TOOLS = {
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


def _ask(
    where: str, method: str, path: str, headers: dict[str, str], body: dict[str, Any] | None = None
) -> tuple[int, Any]:
    """One request, and the document that came back."""
    sent = json.dumps(body) if body is not None else None
    if sent is not None:
        headers = {
            **headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Mcp-Method": "tools/list",
            "MCP-Protocol-Version": "2026-07-28",
        }
    connection = http.client.HTTPConnection(where, timeout=30)
    try:
        connection.request(method, path, sent, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    return answer.status, json.loads(text) if "json" in (answer.headers["Content-Type"] or "") else text


def _signed_in(where: str, token: str, page: str) -> tuple[int, str]:
    """A page as a browser gets it that has shown its token once."""
    connection = http.client.HTTPConnection(where, timeout=30)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    try:
        connection.request("POST", "/login", urlencode({"token": token, "next": page}), form)
        answer = connection.getresponse()
        answer.read()
        cookie = (answer.headers["Set-Cookie"] or "").partition(";")[0]
        connection.request("GET", answer.headers["Location"] or page, headers={"Cookie": cookie})
        shown = connection.getresponse()
        return shown.status, shown.read().decode()
    finally:
        connection.close()


def _first_event(where: str, headers: dict[str, str]) -> tuple[int, str]:
    """The status of the change feed, and the first commit it tells of."""
    connection = http.client.HTTPConnection(where, timeout=30)
    try:
        connection.request("GET", "/v1/feed?since=0", headers=headers)
        answer = connection.getresponse()
        line = next((each for each in iter(answer.readline, b"") if each.startswith(b"id: ")), b"")
        return answer.status, line.decode()
    finally:
        connection.close()
