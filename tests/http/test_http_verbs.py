"""Every verb has the same effect over HTTP as in Python, and the same documents.

Covers `lamina.documents.pending_items`, `lamina.http.api.endpoint`, `lamina.http.api.read_endpoints`,
`lamina.http.api.request_bodies`,
`lamina.http.api.response_documents`, `lamina.http.api.review_endpoints`, `lamina.http.api.upkeep_endpoints`,
`lamina.http.api.working_memory_endpoints` and `lamina.http.api.write_endpoints`.
"""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from live_server import LiveServer, run_server

from lamina.access import Right
from lamina.atom.provenance import Origin
from lamina.http.operation_policies import list_api_routes, operation_name


def _post(
    server: LiveServer, token: str, path: str, expected: int = 200, /, key: str | None = None, **body: object
) -> Any:
    reply = server.ask("POST", f"/v1{path}", token, body, {"Idempotency-Key": key} if key else None)
    assert reply.status == expected, reply.body
    return reply.data


def _get(server: LiveServer, token: str, path: str, status: int = 200) -> Any:
    reply = server.ask("GET", f"/v1{path}", token)
    assert reply.status == status, reply.body
    return reply.data


def test_a_remembered_fact_is_recalled_with_its_reason(server: LiveServer, owner: str) -> None:
    id = server.remember(owner, "Ann prefers light roast coffee.", kind="preference", subject="Ann")
    for result in (
        _get(server, owner, "/recall?q=how+does+Ann+take+her+coffee&k=3&include=history&include=challenged"),
        _post(server, owner, "/recall", question="how does Ann take her coffee?", k=3, budget=300),
    ):
        assert result["known"]
        assert result["hits"][0]["id"] == id
        assert result["hits"][0]["why"]
        assert result["context"].startswith("<memories>")
    taught = _post(server, owner, "/feedback", recall_id=result["recall_id"], cited=[id], verdict="up")
    assert taught == {"ids": [id]}
    assert _post(server, owner, "/cite", ids=[id]) == {"ids": [id]}
    assert _get(server, owner, f"/atoms/{id}/signals")["recall_count"] == 2
    shown = _get(server, owner, f"/atoms/{id}")
    assert (shown["quality_score"], shown["recall_count"]) == (1.1, 2)
    assert shown["last_recalled_at"]


def test_atoms_of_one_episode_are_listed(server: LiveServer, owner: str) -> None:
    fields = {"session_id": "standup", "observed_at": "2026-03-02T09:00:00Z"}
    id = server.remember(owner, "Ann fixed the gate.", **fields)
    server.remember(owner, "Ann painted the gate.", **fields | {"observed_at": "2026-03-03T09:00:00Z"})
    listed = _get(server, owner, "/atoms?episode_id=2026-03-02:standup")["atoms"]
    assert [(atom["id"], atom["episode_id"]) for atom in listed] == [(id, "2026-03-02:standup")]


def test_an_atom_is_read_with_its_history(server: LiveServer, owner: str) -> None:
    id = server.remember(owner, "Bo drives a van.", subject="Bo", attribute="vehicle", value="van")
    got = _get(server, owner, f"/atoms/{id[-8:]}")
    assert got["atom"]["id"] == id
    assert got["atom"]["claim"] == "bo::vehicle"
    assert got["confirmations"] == 0
    changed = _post(server, owner, f"/atoms/{id}/revise", content="Bo drives an old van.", reason="asked again")
    assert changed["atom"]["content"] == "Bo drives an old van."
    past = _get(server, owner, f"/atoms/{id}/history")
    assert [version["verb"] for version in past["versions"]] == ["remember", "revise"]
    assert past["versions"][1]["commit"] == changed["commit"]
    moves = _get(server, owner, f"/atoms/{id}/status_history")
    assert moves == {"id": id, "transitions": past["transitions"]}


def test_captured_text_links_to_its_turn(server: LiveServer, owner: str) -> None:
    turns = [{"speaker": "Cy", "content": "I moved to Porto in May.", "at": "2026-05-20T10:00Z"}]
    receipt = _post(server, owner, "/capture", turns=turns, session_id="call-1", source_id="phone", wait=True)
    assert receipt["outcomes"][0]["result"] == "kept"
    statements = [outcome["atom"] for outcome in receipt["outcomes"] if outcome["atom"]["evidence"]]
    assert statements
    quotes = _get(server, owner, f"/atoms/{statements[0]['id']}")["quotes"]
    assert "Porto" in quotes[0]["text"]
    text = _post(server, owner, "/capture", text="# Notes\n\nDee plays chess.", name="notes.md")
    assert text["commit"]


def test_upkeep_verbs_pin_promote_resolve_relate_and_forget(server: LiveServer, owner: str) -> None:
    a = server.remember(owner, "Eve owes Finn a letter.", kind="commitment", subject="Eve")
    b = server.remember(owner, "Finn lives in Ghent.", subject="Finn", confidence=0.5)
    assert _post(server, owner, f"/atoms/{a}/pin")["atom"]["pinned"] is True
    assert [atom["id"] for atom in _get(server, owner, "/top")["atoms"]] == [a]
    assert _post(server, owner, f"/atoms/{a}/unpin")["atom"]["pinned"] is False
    layer = _post(server, owner, f"/atoms/{b}/promote")["atom"]["layer"]
    assert _post(server, owner, f"/atoms/{b}/demote")["atom"]["layer"] != layer
    linked = _post(server, owner, f"/atoms/{a}/relate", relation="supports", to=b, confidence=0.8)
    assert linked["atom"]["relations"][0]["target"] == b
    assert _get(server, owner, f"/atoms/{b}/neighbours")["neighbours"][0]["direction"] == "in"
    assert _post(server, owner, f"/atoms/{a}/resolve")["atom"]["resolved"] is True
    assert _post(server, owner, f"/atoms/{b}/forget", reason="moved")["atom"]["status"] == "tombstoned"
    back = _post(server, owner, f"/atoms/{b}/update_status", status="active", reason="moved back")
    assert back["atom"]["status"] == "active"
    undone = _post(server, owner, "/undo", commit=back["commit"])
    assert undone["commits"][0]["atoms"][0]["status"] == "tombstoned"


def test_pending_items_are_listed_and_decided_by_a_person(server: LiveServer, owner: str) -> None:
    for n in range(3):
        _post(server, owner, "/propose", content=f"Gus may like number {n}.", source_id="radar", subject="Gus")
    page = _get(server, owner, "/review?source=radar&limit=2")
    assert (page["waiting"], len(page["items"]), page["more"], page["next"]) == (3, 2, True, 2)
    rest = _get(server, owner, "/review?source=radar&limit=2&offset=2")
    assert (len(rest["items"]), rest["more"], rest["next"]) == (1, False, None)
    ids = [item["ids"][0] for item in (*page["items"], *rest["items"])]
    assert len(set(ids)) == 3
    agent = server.token("agent", origin=Origin.AGENT)
    refused = _post(server, agent, "/review/confirm", 409, ids=ids[:1])
    assert refused["type"] == "urn:lamina:error:Refused"
    assert _post(server, owner, "/review/confirm", ids=ids[:1])["decisions"][0]["commit"]
    assert _post(server, owner, "/review/edit", id=ids[1], content="Gus likes two.")["decisions"][0]["commit"]
    assert len(_post(server, owner, "/review/reject_source", source="radar")["decisions"]) == 1
    assert _get(server, owner, "/review?source=radar")["waiting"] == 0
    _post(server, owner, f"/atoms/{ids[0]}/rollback", reason="no")
    assert _get(server, owner, f"/atoms/{ids[0]}")["atom"]["status"] == "tombstoned"


def test_a_pair_is_settled(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    a = fresh.remember(token, "Hal drinks tea.", subject="Hal", tags=["drink"])
    b = fresh.remember(token, "Hal drinks no tea.", subject="Hal", tags=["drink"])
    _post(fresh, token, f"/atoms/{a}/relate", relation="contradicts", to=b)
    assert [(pair["a"]["id"], pair["b"]["id"]) for pair in _get(fresh, token, "/review/pairs")["pairs"]] == [(a, b)]
    _post(fresh, token, "/review/need_more", a=a, b=b, note="ask Hal")
    assert _get(fresh, token, "/review/pairs")["pairs"] == []
    assert _get(fresh, token, "/review/pairs?later=true")["pairs"][0]["note"] == "ask Hal"
    result = _post(fresh, token, "/review/merge", a=a, b=b, content="Hal drinks tea on Sundays.")
    assert result["decisions"][0]["outcomes"][0]["atom"]["content"] == "Hal drinks tea on Sundays."


def test_statements_are_grouped_and_proposed_to_a_person(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    for n in range(3):
        fresh.remember(token, f"The harbour has pier {n}.", subject="harbour", tags=["harbour"])
    assert _post(fresh, token, "/review/compact")["commit"] is None
    result = _post(fresh, token, "/review/compact", create_proposals=True)
    assert result["groups"] == [] or result["groups"][0]["proposal"]["status"] == "constrained"
    assert _post(fresh, token, "/review/dedup") == {"commit": None, "groups": []}


def test_a_run_has_notes_until_it_is_closed(server: LiveServer, owner: str) -> None:
    _post(server, owner, "/runs/task-7/note", text="Port 8080 is taken.", tags=["port"])
    result = _get(server, owner, "/runs/task-7?ask=which+port")
    assert [note["content"] for note in result["notes"]] == ["Port 8080 is taken."]
    _post(server, owner, "/runs/task-7/close", outcome="success", summary="Deployed on 9090.")
    ended = _get(server, owner, "/runs/task-7")
    assert (ended["outcome"], ended["notes"]) == ("success", [])
    _post(server, owner, "/runs/task-7/note", 409, text="too late")


def test_a_block_keeps_the_notes_of_a_workstream(server: LiveServer, owner: str) -> None:
    _post(server, owner, "/blocks/release%202/add", role="planner", text="Freeze on Friday.")
    result = _get(server, owner, "/blocks/release%202")
    assert result["entries"] == [{"role": "planner", "text": "Freeze on Friday."}]


def test_an_agent_gets_the_core_context_before_it_asks(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    empty = _get(fresh, token, "/context")
    assert (empty["known"], empty["atoms"]) == (False, [])
    core = fresh.remember(token, "Never deploy on a Friday.", kind="rule", pinned=True)
    liked = fresh.remember(token, "Ida prefers dark themes.", kind="preference", subject="Ida")
    recent = fresh.remember(token, "The build moved to Ghent.", subject="build")
    result = _get(fresh, token, "/context?budget=400&about=build")
    assert result["known"]
    assert set(result["atoms"]) == {core, liked, recent}
    assert result["context"].startswith("<memories>\n## core")
    assert _get(fresh, token, "/context?budget=12")["context"].count("Friday") == 0
    plan = _get(fresh, token, "/plan_context?goal=a+theme+for+Ida")
    assert [item["id"] for item in plan["profile"]] == [liked]


def test_lists_are_paginated(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    result = [fresh.remember(token, f"Jay owns boat number {n}.", subject=f"boat {n}") for n in range(5)]
    actual: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = _get(fresh, token, f"/atoms?limit=2&offset={offset}")
        actual += [atom["id"] for atom in page["atoms"]]
        offset = page["next"]
    assert actual == result[::-1]
    assert _get(fresh, token, "/atoms?subject=boat+3")["atoms"][0]["id"] == result[3]
    assert _get(fresh, token, "/atoms?status=any&kind=rule")["atoms"] == []
    seqs: list[int] = []
    since, more = 0, True
    while more:
        journal = _get(fresh, token, f"/journal?since={since}&limit=2")
        seqs += [entry["seq"] for entry in journal["entries"]]
        since, more = journal["next"], journal["more"]
    assert seqs == sorted(seqs)
    assert len(seqs) == 5
    assert _get(fresh, token, f"/journal?since={since}") == {"entries": [], "more": False, "next": since}


def test_the_past_can_be_queried(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    id = fresh.remember(token, "Kit lives in Rome.", subject="Kit", valid_from="2020-01-01", valid_until="2021-12-31")
    assert [atom["id"] for atom in _get(fresh, token, "/atoms?as_of=2021-06-01")["atoms"]] == [id]
    assert _get(fresh, token, "/recall?q=where+does+Kit+live&as_of=2021-06-01")["hits"][0]["id"] == id
    assert _get(fresh, token, f"/atoms/{id}?known_at=2019-01-01", 404)["type"] == "urn:lamina:error:NotFound"


def test_upkeep_runs_on_request(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    id = fresh.remember(token, "Lea keeps goats.", subject="Lea", source_id="letters")
    assert set(_post(fresh, token, "/sync")) == {
        "edited",
        "adopted",
        "moved",
        "deleted",
        "held",
        "unreadable",
        "written",
    }
    assert _post(fresh, token, "/doctor", deep=True)["healthy"]
    dreamt = _post(fresh, token, "/dream", dry_run=True, steps=["age"])
    assert dreamt["dry_run"]
    assert _post(fresh, token, "/rebuild") == {"atoms": 1}
    exported = _post(fresh, token, "/export", format="csv")
    assert (fresh.house.memory.root / exported["path"]).read_text(encoding="utf-8").count("Lea keeps goats.") == 1
    assert _get(fresh, token, "/topics")["topics"][0]["name"] == "lea"
    assert _get(fresh, token, "/stats")["atoms"] == 1
    assert _get(fresh, token, "/jobs")["waiting"] == 0
    pending = _post(fresh, token, "/quarantine", source="letters", yes=True)
    assert pending["outcomes"][0]["atom"]["status"] == "constrained"
    removed = _post(fresh, token, "/erase", ids=[id], reason="asked to")
    assert removed["erased"] == [id]
    erased = _get(fresh, token, f"/atoms/{id}", 410)
    assert erased["type"] == "urn:lamina:error:Erased"
    assert erased["atom_id"] == id


def test_only_admins_confirm_a_held_dream(server: LiveServer) -> None:
    token = server.token("dreamer", right=Right.WRITE)
    refused = _post(server, token, "/dream", 403, yes=True)
    assert refused["needs"] == "admin"


def test_a_dry_run_of_an_erasure_lists_the_passages_and_erases_nothing(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    id, other = fresh.remember(token, "The code is red seven."), fresh.remember(token, "Listen. The code is red seven.")
    planned = _post(fresh, token, "/erase", ids=[id], everywhere=True, dry_run=True)
    changes = {change["atom_id"]: change["becomes"] for change in planned["changes"]}
    assert (planned["commit"], changes) == (None, {id: "", other: "Listen. [erased]"})
    assert _post(fresh, token, "/erase", ids=[id])["also_in"] == [other]
    assert _get(fresh, token, f"/atoms/{other}")["atom"]["content"] == "Listen. The code is red seven."


def test_only_a_person_erases(server: LiveServer, owner: str) -> None:
    id = server.remember(owner, "Max has a secret garden.")
    agent = server.token("admin-agent", right=Right.ADMIN, origin=Origin.AGENT)
    assert _post(server, agent, "/erase", 409, ids=[id])["type"] == "urn:lamina:error:Refused"


def test_an_answer_needs_a_chat_model(server: LiveServer, owner: str) -> None:
    assert _post(server, owner, "/answer", 424, question="who keeps goats?")["type"] == "urn:lamina:error:ModelMissing"


def test_an_idempotency_key_is_executed_once_and_answered_twice(fresh: LiveServer) -> None:
    token, memory = fresh.token("owner"), fresh.house.memory
    first = _post(fresh, token, "/remember", content="Nia sings.", key="k-1")
    again = fresh.ask("POST", "/v1/remember", token, {"content": "Nia sings."}, {"Idempotency-Key": "k-1"})
    assert again.data == first
    assert again.headers["idempotency-replayed"] == "true"
    assert _post(fresh, token, "/remember", 422, content="Nia dances.", key="k-1")["type"] == (
        "urn:lamina:error:KeyReused"
    )
    id = first["outcomes"][0]["atom"]["id"]
    assert _post(fresh, token, f"/atoms/{id}/pin", 422, key="k-1")
    other = fresh.token("other")
    assert _post(fresh, other, f"/atoms/{id}/pin", key="k-1")
    assert len(memory.list()) == 1
    bad = fresh.ask("POST", "/v1/remember", token, {"content": "x"}, {"Idempotency-Key": "k" * 201})
    assert bad.status == 422


def test_an_erased_response_is_not_repeated_for_its_key(fresh: LiveServer) -> None:
    token, headers = fresh.token("owner"), {"Idempotency-Key": "k-6"}
    fields: dict[str, object] = {"content": "Ira keeps a SENTINEL."}
    id = fresh.ask("POST", "/v1/remember", token, fields, headers).data["outcomes"][0]["atom"]["id"]
    response = fresh.ask("POST", "/v1/erase", token, {"ids": [id], "reason": "asked to"}, {"Idempotency-Key": "k-7"})
    assert response.status == 200
    again = fresh.ask("POST", "/v1/remember", token, fields, headers)
    assert "idempotency-replayed" not in again.headers
    assert b"SENTINEL" not in again.body
    assert (
        fresh.ask("POST", "/v1/erase", token, {"ids": [id], "reason": "asked to"}, {"Idempotency-Key": "k-7"}).status
        == 200
    )


def test_a_refused_request_may_be_retried_with_the_same_key(server: LiveServer, owner: str) -> None:
    assert _post(server, owner, "/remember", 422, content=" ", key="k-2")
    assert _post(server, owner, "/remember", content="Ole skis.", key="k-2")


@pytest.mark.parametrize("verb", ["capture", "remember", "propose"])
def test_a_key_survives_a_restart(tmp_path: Path, verb: str) -> None:
    field = "text" if verb == "capture" else "content"
    with run_server(tmp_path) as server:
        token = server.token("owner")
        _post(server, token, f"/{verb}", key="k-3", **{field: "Pia paints."})
        before = server.house.memory.journal()
    (tmp_path / "near.sock").unlink()
    with run_server(tmp_path) as server:
        _post(server, token, f"/{verb}", key="k-3", **{field: "Pia paints."})
        assert _post(server, token, f"/{verb}", key="k-5", **{field: "Pia paints and sings."})["repeated"] is False
        assert server.house.memory.journal()[:-1] == before


def test_the_key_of_a_capture_may_be_in_its_body(fresh: LiveServer) -> None:
    token = fresh.token("owner")
    one, two = (fresh.ask("POST", "/v1/capture", token, {"text": "Rex runs.", "key": "k-4"}).data for _ in range(2))
    assert (one["repeated"], two["repeated"]) == (False, True)
    other = fresh.ask("POST", "/v1/capture", token, {"text": "Rex sleeps.", "key": "k-4"}).data
    assert other["repeated"] is False
    assert any("Rex sleeps." in atom.content for atom in fresh.house.memory.list())


def test_a_get_changes_nothing(server: LiveServer, owner: str) -> None:
    id = server.remember(owner, "Sam collects stamps.", kind="preference", subject="Sam")
    filled = {"/v1/recall": "?q=stamps", "/v1/plan_context": "?goal=stamps", "/v1/context": "?about=stamps"}
    before, files = server.house.memory.journal(), _files(server)
    result = 0
    for route in list_api_routes(server.app):
        if "GET" in (route.methods or ()) and operation_name(route) != "feed":
            path = route.path.format(id=id, workstream="release")
            reply = server.ask("GET", path + filled.get(route.path, ""), owner)
            assert reply.status == 200, (path, reply.body)
            result += 1
    assert result > 20
    assert server.house.memory.journal() == before
    assert _files(server) == files


def _files(server: LiveServer) -> dict[str, bytes]:
    root = server.house.memory.root
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*.md"))
        if ".lamina" not in path.parts
    }


def test_problems_name_the_error_and_carry_its_data(server: LiveServer, owner: str) -> None:
    missing = _get(server, owner, "/atoms/01jc9x2k7m3f5r8t0v2w4y6z8a", 404)
    assert missing["type"] == "urn:lamina:error:NotFound"
    id = server.remember(owner, "Tom bakes.", subject="Tom")
    _post(server, owner, f"/atoms/{id}/forget", reason="no")
    refused = _post(server, owner, f"/atoms/{id}/update_status", 409, status="challenged", reason="why not")
    assert refused["type"] == "urn:lamina:error:TransitionRefused"
    assert (refused["old"], refused["new"]) == ("tombstoned", "challenged")
    assert _get(server, owner, "/recall?q=x&scopes=org:other", 403)["type"] == "urn:lamina:error:InvalidScope"
    assert _get(server, owner, "/nothing", 404)["type"] == "urn:lamina:error:NoSuchPath"
    assert server.ask("DELETE", f"/v1/atoms/{id}", owner, {}).status == 405


def test_the_schema_is_only_for_authorised_callers(server: LiveServer, owner: str) -> None:
    result = _get(server, owner, "/openapi.json")
    verbs = {value["operationId"] for path in result["paths"].values() for value in path.values()}
    assert verbs == {operation_name(route) for route in list_api_routes(server.app)}
    assert result["security"] == [{"token": []}]
    for path in result["paths"].values():
        for operation in path.values():
            assert operation["description"]
            assert operation["responses"]["401"]["content"].keys() == {"application/problem+json"}
    assert server.ask("GET", "/v1/openapi.json").status == 401


def test_a_caller_on_the_socket_needs_no_token(server: LiveServer) -> None:
    line = http.client.HTTPConnection("localhost", timeout=20)
    line.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.sock.connect(str(server.near))
    line.request("POST", "/v1/remember", b'{"content": "Una juggles."}', {"Content-Type": "application/json"})
    reply = line.getresponse()
    atoms = reply.read()
    assert reply.status == 200, atoms
    assert b'"origin":"agent"' in atoms
    assert b'"principal":"local"' in atoms
    line.request("POST", "/v1/rebuild", b"{}", {"Content-Type": "application/json"})
    assert (line.getresponse()).status == 403
    line.close()


def test_no_web_page_reaches_the_socket(server: LiveServer) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.connect(str(server.near))
        line.sendall(b"GET /v1/top HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n")
        assert line.recv(200).startswith(b"HTTP/1.1 403")


def test_metadata_keeps_its_types_and_a_missing_key_is_named(server: LiveServer, owner: str) -> None:
    metadata = {"workflow": "deploy", "canonical": True, "minutes": 12, "share": 0.5, "steps": ["test", "push"]}
    id = server.remember(owner, "Test, then push.", metadata=metadata, layer="procedural")
    assert _get(server, owner, f"/atoms/{id}")["atom"]["metadata"] == metadata
    body = {"content": "Dark.", "metadata": {"profile_key": "theme", "value": "dark"}}
    refused = _post(server, owner, "/remember", 422, None, **body)
    assert "needs reason in its metadata" in refused["detail"]


def test_layer_and_status_filter_list_recall_and_export(fresh: LiveServer) -> None:
    owner = fresh.token("owner")
    id = fresh.remember(owner, "Test, then deploy.", metadata={"workflow": "deploy"})
    fresh.remember(owner, "Deploys are on Mondays.")
    _post(fresh, owner, "/propose", content="Deploys need two people.")
    assert [atom["id"] for atom in _get(fresh, owner, "/atoms?layer=procedural&layer=profile")["atoms"]] == [id]
    pending = _get(fresh, owner, "/atoms?status=constrained&status=superseded")["atoms"]
    assert [atom["status"] for atom in pending] == ["constrained"]
    assert len(_get(fresh, owner, "/atoms?status=any")["atoms"]) == 3
    assert [hit["id"] for hit in _get(fresh, owner, "/recall?q=deploy&layer=procedural")["hits"]] == [id]
    hits = _post(fresh, owner, "/recall", question="deploy", status=["constrained"])["hits"]
    assert [hit["text"] for hit in hits] == ["Deploys need two people."]
    path = fresh.house.memory.root / _post(fresh, owner, "/export", layer=["semantic"], status=["active"])["path"]
    assert [atom["content"] for atom in json.loads(path.read_text())["atoms"]] == ["Deploys are on Mondays."]
    _get(fresh, owner, "/atoms?layer=deep", 422)
