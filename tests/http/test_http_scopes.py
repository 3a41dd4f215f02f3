"""Whoever comes with a token of one scope learns nothing of another: no id, no word, no count, not even that it is."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_server import LiveServer, Reply, run_server

from lamina.access import Right
from lamina.atom.atom import Atom
from lamina.atom.provenance import Origin
from lamina.http.operation_policies import list_api_routes, operation_name

SCOPES = ("org:acme", "org:acme:agent:scout", "org:acme:agent:clerk", "org:bolt")
READABLE = {
    "org:acme": {"org:acme"},
    "org:acme:agent:scout": {"org:acme", "org:acme:agent:scout"},
    "org:acme:agent:clerk": {"org:acme", "org:acme:agent:clerk"},
    "org:bolt": {"org:bolt"},
}
SCOUT = "org:acme:agent:scout"
ROUNDS = int(os.environ.get("LAMINA_SCOPE_ROUNDS", "1"))


class TwoScopes:
    """A server with a canary in every scope: a word that others may guess, and one beside it that they cannot."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        self.tokens = {scope: server.token(f"of-{n}", scope) for n, scope in enumerate(SCOPES)}
        self.words: dict[str, str] = {}
        self.secrets: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        for n, scope in enumerate(SCOPES):
            word, token = f"canary{n}zq", self.tokens[scope]
            secret = f"secret{n}vx"
            self.words[scope], self.secrets[scope] = word, secret
            self.ids[scope] = server.remember(
                token, f"The {word} sings of the {secret}.", subject=word, tags=[word], private=True, pinned=True
            )
            body: dict[str, object] = {
                "text": f"I saw the {word} and its {secret} again.",
                "session_id": f"s-{word}",
                "private": True,
            }
            assert server.ask("POST", "/v1/capture", token, body).status == 200
            note = {"text": f"a note on the {word} and the {secret}", "private": True}
            assert server.ask("POST", "/v1/runs/watch/note", token, note).status == 200
            block = {"role": "watcher", "text": f"look for the {word} and the {secret}", "private": True}
            assert server.ask("POST", "/v1/blocks/watch/add", token, block).status == 200
            hold = {"content": f"The {word} may lose its {secret}.", "source_id": word, "private": True}
            assert server.ask("POST", "/v1/propose", token, hold).status == 200

    def of_scout(self) -> list[Atom]:
        """Everything in the one scope that nobody else sees."""
        caller_memory = self.server.house.memory.for_caller(SCOUT)
        return [atom for atom in caller_memory.list(status=None, limit=None) if atom.scope == SCOUT]

    def foreign(self, scope: str, text: str) -> list[str]:
        """What nobody of this scope may read in an answer; what they said themselves may be repeated to them."""
        others = [item for item in SCOPES if item not in READABLE[scope]]
        guessed = [*(self.words[other] for other in others), *(self.ids[other] for other in others)]
        return [*(self.secrets[other] for other in others), *(item for item in guessed if item not in text)]


@pytest.fixture(scope="module")
def two_scopes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoScopes]:
    with run_server(tmp_path_factory.mktemp("town")) as server:
        yield TwoScopes(server)


def _request(town: TwoScopes, scope: str, verb: str, method: str, path: str, rng: random.Random) -> tuple[str, Reply]:
    """One request, with everything another scope is known by put where it may do harm; what it said, and the answer."""
    other = rng.choice(SCOPES)
    word, id = town.words[other], town.ids[other]
    target = path.format(id="watch" if path.startswith("/v1/runs") else id, workstream="watch")
    private = rng.choice(["true", "false"])
    queries = {
        "recall": f"?q=where+does+the+{word}+sing&k=100&include=history&include=challenged&include=constrained",
        "plan_context": f"?goal={word}",
        "context": f"?about={word}",
        "list": f"?status=any&limit=200&{rng.choice(['subject', 'session_id', 'kind'])}={word}",
        "review_list": f"?source={word}",
        "run": f"?private={private}",
        "block": f"?private={private}",
    }
    bodies: dict[str, dict[str, object]] = {
        "recall_long": {"question": f"where does the {word} sing?", "k": 100, "ranking": "plain"},
        "relate": {"relation": "supports", "to": id},
        "revise": {"content": "gone", "reason": "mine"},
        "update_status": {"status": "tombstoned", "reason": "mine"},
        "forget": {"reason": "mine"},
        "erase": {"ids": [id]} if rng.random() < 0.5 else {"session": f"s-{word}"},
        "quarantine": {"source": word, "yes": True},
        "cite": {"ids": [id]},
        "feedback": {"recall_id": "0123456789abcdef", "cited": [id]},
        "review_confirm": {"ids": [id]},
        "review_reject": {"ids": [id]},
        "review_edit": {"id": id, "content": "mine"},
        "review_approve_source": {"source": word},
        "review_reject_source": {"source": word},
        "review_merge": {"a": id, "b": town.ids[scope], "content": "mine"},
        "review_need_more": {"a": id, "b": town.ids[scope]},
        **{name: {"a": id, "b": town.ids[scope]} for name in ("review_keep_a", "review_keep_b", "review_both_valid")},
        "undo": {"commit": id},
    }
    body = bodies.get(verb, {}) if method == "POST" else None
    address = target + queries.get(verb, "")
    return f"{address} {body}", town.server.ask(method, address, town.tokens[scope], body)


SKIPPED = frozenset({"feed", "answer", "dream", "rebuild", "sync", "doctor", "export"})
"""Streams, what needs a model, and upkeep of a whole vault, which is looked at on its own."""
OWN_WRITES = frozenset(
    {
        "capture",
        "remember",
        "remember_many",
        "propose",
        "run_note",
        "run_close",
        "block_add",
        "undo",
        "pin",
        "unpin",
        "promote",
        "demote",
        "resolve",
        "rollback",
        "review_compact",
        "review_dedup",
        "erase",
        "forget",
        "revise",
        "update_status",
        "relate",
        "quarantine",
        "review_confirm",
        "review_reject",
        "review_edit",
        "review_approve_source",
        "review_reject_source",
        "review_merge",
        "review_need_more",
        "review_keep_a",
        "review_keep_b",
        "review_both_valid",
    }
)


def test_no_scope_ever_learns_anything_of_another(two_scopes: TwoScopes) -> None:
    rng, result, before = random.Random(8), 0, two_scopes.of_scout()
    for _ in range(ROUNDS):
        for route in list_api_routes(two_scopes.server.app):
            verb = operation_name(route)
            if verb in SKIPPED:
                continue
            for method in sorted(route.methods or ()):
                for scope in SCOPES:
                    if verb in OWN_WRITES and scope == SCOUT:
                        continue  # whose atom has to be as it was when everybody else has tried
                    text, reply = _request(two_scopes, scope, verb, method, route.path, rng)
                    result += 1
                    decoded = reply.body.decode() + json.dumps(dict(reply.headers))
                    for secret in two_scopes.foreign(scope, text):
                        assert secret not in decoded, (scope, verb, reply.status, decoded[:500])
    assert result > 100 * ROUNDS
    assert two_scopes.of_scout() == before


@pytest.mark.parametrize("path", ["", "/history", "/status_history", "/neighbours", "/signals"])
def test_an_atom_of_another_scope_is_reported_as_missing(two_scopes: TwoScopes, path: str) -> None:
    token = two_scopes.tokens["org:bolt"]
    absent = "01jc9x2k7m3f5r8t0v2w4y6z8a"
    for foreign in ("org:acme", "org:acme:agent:scout"):
        id = two_scopes.ids[foreign]
        there = two_scopes.server.ask("GET", f"/v1/atoms/{id}{path}", token)
        nowhere = two_scopes.server.ask("GET", f"/v1/atoms/{absent}{path}", token)
        assert there.status == nowhere.status == 404
        assert there.body.replace(id.encode(), b"") == nowhere.body.replace(absent.encode(), b"")


def test_recall_in_another_scope_finds_nothing(two_scopes: TwoScopes) -> None:
    data = two_scopes.server.ask(
        "GET", "/v1/recall?q=where+does+the+canary0zq+sing", two_scopes.tokens["org:bolt"]
    ).data
    assert two_scopes.ids["org:acme"] not in json.dumps(data)
    assert all("canary0zq" not in hit["text"] for hit in data["hits"])


@pytest.mark.parametrize(
    "scope", ["org:acme", "*", "", "org:*", "ORG:BOLT", "org:bolt/../acme", "org:bоlt", "org:bolt:agent:scout", "none"]
)
def test_a_foreign_scope_is_refused(two_scopes: TwoScopes, scope: str) -> None:
    body = {"question": "canary", "scopes": [scope]}
    reply = two_scopes.server.ask("POST", "/v1/recall", two_scopes.tokens["org:bolt"], body)
    assert reply.status in (403, 422)
    assert b"hits" not in reply.body


def test_counts_and_metrics_are_those_of_the_callers_scope(tmp_path: Path) -> None:
    with run_server(tmp_path) as server:
        mine, theirs = server.token("mine", "org:acme"), server.token("theirs", "org:bolt")
        reader = server.token("reader", "org:acme", right=Right.READ)
        for n in range(7):
            server.remember(theirs, f"Boat {n} is blue.", subject=f"boat {n}")
        server.remember(mine, "One kite is red.")
        stats = server.ask("GET", "/v1/stats", reader).data
        assert (stats["atoms"], stats["commits"], stats["bytes"], stats["jobs"]) == (1, 1, {}, [])
        figures = server.ask("GET", "/metrics", reader).body.decode()
        assert "org:bolt" not in figures
        assert 'lamina_atoms{scope="org:acme",status="active"} 1' in figures
        assert [entry["seq"] for entry in server.ask("GET", "/v1/journal", reader).data["entries"]] == [8]
        assert server.ask("GET", "/v1/jobs", reader).status == 403


def test_an_admin_of_another_scope_learns_nothing_of_the_whole_vault(tmp_path: Path) -> None:
    with run_server(tmp_path) as server:
        daemon, theirs = server.token("keeper"), server.token("theirs", "org:bolt")
        agent = server.token("agent", right=Right.ADMIN, origin=Origin.AGENT)
        server.remember(daemon, "One kite is red.")
        for name in ("/v1/stats", "/v1/health", "/metrics"):
            response = server.ask("GET", name, theirs)
            assert response.status == 200
            assert b"org:local" not in response.body and b"history.db" not in response.body, name
        assert b"history.db" in server.ask("GET", "/v1/stats", daemon).body
        assert b"org:bolt" in server.ask("GET", "/metrics", daemon).body
        for method, path, body in (
            ("GET", "/v1/jobs", None),
            ("POST", "/v1/doctor", {"deep": True}),
            ("POST", "/v1/sync", {"accept_deletions": True}),
        ):
            refused = server.ask(method, path, theirs, body)
            assert (refused.status, refused.data["type"]) == (403, "urn:lamina:error:NotTheKeeper"), path
            assert server.ask(method, path, daemon, body).status == 200, path
        assert server.ask("POST", "/v1/doctor", theirs, {}).status == 200
        assert server.ask("POST", "/v1/sync", agent, {"accept_deletions": True}).status == 409
