"""Every verb does over HTTP what it does in Python, and tells it in the same documents."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path
from typing import Any

import pytest
from live import Live, live

from lamina.access import Right
from lamina.atom.trust import Origin
from lamina.http.route_rights import list_api_routes, operation_name


def _post(server: Live, token: str, path: str, expected: int = 200, /, key: str | None = None, **body: object) -> Any:
    reply = server.ask("POST", f"/v1{path}", token, body, {"Idempotency-Key": key} if key else None)
    assert reply.status == expected, reply.body
    return reply.data


def _get(server: Live, token: str, path: str, status: int = 200) -> Any:
    reply = server.ask("GET", f"/v1{path}", token)
    assert reply.status == status, reply.body
    return reply.data


def test_what_is_remembered_is_recalled_with_its_reason(server: Live, owner: str) -> None:
    id = server.remember(owner, "Ann prefers light roast coffee.", kind="preference", subject="Ann")
    for found in (
        _get(server, owner, "/recall?q=how+does+Ann+take+her+coffee&k=3&include=history&include=challenged"),
        _post(server, owner, "/recall", question="how does Ann take her coffee?", k=3, budget=300),
    ):
        assert found["known"]
        assert found["hits"][0]["id"] == id
        assert found["hits"][0]["why"]
        assert found["context"].startswith("<memories>")
    taught = _post(server, owner, "/feedback", recall_id=found["recall_id"], cited=[id], verdict="up")
    assert taught == {"ids": [id]}
    assert _post(server, owner, "/cite", ids=[id]) == {"ids": [id]}
    assert _get(server, owner, f"/atoms/{id}/signals")["recall_count"] == 2


def test_an_atom_is_read_whole_with_its_past(server: Live, owner: str) -> None:
    id = server.remember(owner, "Bo drives a van.", subject="Bo", attribute="vehicle", value="van")
    got = _get(server, owner, f"/atoms/{id[-8:]}")
    assert got["atom"]["id"] == id
    assert got["atom"]["claim"] == "bo::vehicle"
    assert got["confirmations"] == 0
    changed = _post(server, owner, f"/atoms/{id}/revise", content="Bo drives an old van.", reason="asked again")
    assert changed["atom"]["content"] == "Bo drives an old van."
    past = _get(server, owner, f"/atoms/{id}/history")
    assert [each["verb"] for each in past["versions"]] == ["remember", "revise"]
    assert past["versions"][1]["commit"] == changed["commit"]
    moves = _get(server, owner, f"/atoms/{id}/status_history")
    assert moves == {"id": id, "transitions": past["transitions"]}


def test_words_are_captured_and_lead_back_to_the_turn(server: Live, owner: str) -> None:
    turns = [{"speaker": "Cy", "content": "I moved to Porto in May.", "at": "2026-05-20T10:00Z"}]
    receipt = _post(server, owner, "/capture", turns=turns, session_id="call-1", source_id="phone", wait=True)
    assert receipt["outcomes"][0]["result"] == "kept"
    statements = [each["atom"] for each in receipt["outcomes"] if each["atom"]["evidence"]]
    assert statements
    quotes = _get(server, owner, f"/atoms/{statements[0]['id']}")["quotes"]
    assert "Porto" in quotes[0]["text"]
    text = _post(server, owner, "/capture", text="# Notes\n\nDee plays chess.", name="notes.md")
    assert text["commit"]


def test_the_hands_of_a_keeper_pin_promote_resolve_relate_and_forget(server: Live, owner: str) -> None:
    a = server.remember(owner, "Eve owes Finn a letter.", kind="commitment", subject="Eve")
    b = server.remember(owner, "Finn lives in Ghent.", subject="Finn", confidence=0.5)
    assert _post(server, owner, f"/atoms/{a}/pin")["atom"]["pinned"] is True
    assert [each["id"] for each in _get(server, owner, "/top")["atoms"]] == [a]
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


def test_what_waits_is_listed_and_decided_by_a_person(server: Live, owner: str) -> None:
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


def test_a_pair_is_settled(fresh: Live) -> None:
    token = fresh.token("owner")
    a = fresh.remember(token, "Hal drinks tea.", subject="Hal", tags=["drink"])
    b = fresh.remember(token, "Hal drinks no tea.", subject="Hal", tags=["drink"])
    _post(fresh, token, f"/atoms/{a}/relate", relation="contradicts", to=b)
    assert [(each["a"]["id"], each["b"]["id"]) for each in _get(fresh, token, "/review/pairs")["pairs"]] == [(a, b)]
    _post(fresh, token, "/review/need_more", a=a, b=b, note="ask Hal")
    assert _get(fresh, token, "/review/pairs")["pairs"] == []
    assert _get(fresh, token, "/review/pairs?later=true")["pairs"][0]["note"] == "ask Hal"
    done = _post(fresh, token, "/review/merge", a=a, b=b, content="Hal drinks tea on Sundays.")
    assert done["decisions"][0]["outcomes"][0]["atom"]["content"] == "Hal drinks tea on Sundays."


def test_statements_are_grouped_and_put_before_a_person(fresh: Live) -> None:
    token = fresh.token("owner")
    for n in range(3):
        fresh.remember(token, f"The harbour has pier {n}.", subject="harbour", tags=["harbour"])
    assert _post(fresh, token, "/review/compact")["commit"] is None
    found = _post(fresh, token, "/review/compact", create_proposals=True)
    assert found["groups"] == [] or found["groups"][0]["proposal"]["status"] == "constrained"
    assert _post(fresh, token, "/review/dedup") == {"commit": None, "groups": []}


def test_a_run_has_notes_until_it_is_closed(server: Live, owner: str) -> None:
    _post(server, owner, "/runs/task-7/note", text="Port 8080 is taken.", tags=["port"])
    shown = _get(server, owner, "/runs/task-7?ask=which+port")
    assert [each["content"] for each in shown["notes"]] == ["Port 8080 is taken."]
    _post(server, owner, "/runs/task-7/close", outcome="success", summary="Deployed on 9090.")
    ended = _get(server, owner, "/runs/task-7")
    assert (ended["outcome"], ended["notes"]) == ("success", [])
    _post(server, owner, "/runs/task-7/note", 409, text="too late")


def test_a_block_keeps_the_notes_of_a_workstream(server: Live, owner: str) -> None:
    _post(server, owner, "/blocks/release%202/add", role="planner", text="Freeze on Friday.")
    shown = _get(server, owner, "/blocks/release%202")
    assert shown["entries"] == [{"role": "planner", "text": "Freeze on Friday."}]


def test_an_agent_is_told_what_matters_before_it_asks(fresh: Live) -> None:
    token = fresh.token("owner")
    empty = _get(fresh, token, "/context")
    assert (empty["known"], empty["atoms"]) == (False, [])
    core = fresh.remember(token, "Never deploy on a Friday.", kind="rule", pinned=True)
    liked = fresh.remember(token, "Ida prefers dark themes.", kind="preference", subject="Ida")
    recent = fresh.remember(token, "The build moved to Ghent.", subject="build")
    told = _get(fresh, token, "/context?budget=400&about=build")
    assert told["known"]
    assert set(told["atoms"]) == {core, liked, recent}
    assert told["context"].startswith("<memories>\n## core")
    assert _get(fresh, token, "/context?budget=12")["context"].count("Friday") == 0
    plan = _get(fresh, token, "/plan_context?goal=a+theme+for+Ida")
    assert [each["id"] for each in plan["profile"]] == [liked]


def test_lists_come_in_pages(fresh: Live) -> None:
    token = fresh.token("owner")
    made = [fresh.remember(token, f"Jay owns boat number {n}.", subject=f"boat {n}") for n in range(5)]
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = _get(fresh, token, f"/atoms?limit=2&offset={offset}")
        seen += [each["id"] for each in page["atoms"]]
        offset = page["next"]
    assert seen == made[::-1]
    assert _get(fresh, token, "/atoms?subject=boat+3")["atoms"][0]["id"] == made[3]
    assert _get(fresh, token, "/atoms?status=any&kind=rule")["atoms"] == []
    seqs: list[int] = []
    since, more = 0, True
    while more:
        journal = _get(fresh, token, f"/journal?since={since}&limit=2")
        seqs += [each["seq"] for each in journal["entries"]]
        since, more = journal["next"], journal["more"]
    assert seqs == sorted(seqs)
    assert len(seqs) == 5
    assert _get(fresh, token, f"/journal?since={since}") == {"entries": [], "more": False, "next": since}


def test_the_past_can_be_asked(fresh: Live) -> None:
    token = fresh.token("owner")
    id = fresh.remember(token, "Kit lives in Rome.", subject="Kit", valid_from="2020-01-01", valid_until="2021-12-31")
    assert [each["id"] for each in _get(fresh, token, "/atoms?as_of=2021-06-01")["atoms"]] == [id]
    assert _get(fresh, token, "/recall?q=where+does+Kit+live&as_of=2021-06-01")["hits"][0]["id"] == id
    assert _get(fresh, token, f"/atoms/{id}?known_at=2019-01-01", 404)["type"] == "urn:lamina:error:NotFound"


def test_upkeep_is_done_on_request(fresh: Live) -> None:
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
    held = _post(fresh, token, "/quarantine", source="letters", yes=True)
    assert held["outcomes"][0]["atom"]["status"] == "constrained"
    gone = _post(fresh, token, "/erase", ids=[id], reason="asked to")
    assert gone["erased"] == [id]
    erased = _get(fresh, token, f"/atoms/{id}", 410)
    assert erased["type"] == "urn:lamina:error:Erased"
    assert erased["atom_id"] == id


def test_only_admins_wave_a_dream_through(server: Live) -> None:
    token = server.token("dreamer", right=Right.WRITE)
    refused = _post(server, token, "/dream", 403, yes=True)
    assert refused["needs"] == "admin"


def test_only_a_person_erases(server: Live, owner: str) -> None:
    id = server.remember(owner, "Max has a secret garden.")
    agent = server.token("admin-agent", right=Right.ADMIN, origin=Origin.AGENT)
    assert _post(server, agent, "/erase", 409, ids=[id])["type"] == "urn:lamina:error:Refused"


def test_an_answer_needs_a_chat_model(server: Live, owner: str) -> None:
    assert _post(server, owner, "/answer", 424, question="who keeps goats?")["type"] == "urn:lamina:error:ModelMissing"


def test_a_key_is_done_once_and_answered_twice(fresh: Live) -> None:
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


def test_what_was_erased_is_not_told_again_to_its_key(fresh: Live) -> None:
    token, headers = fresh.token("owner"), {"Idempotency-Key": "k-6"}
    said: dict[str, object] = {"content": "Ira keeps a SENTINEL."}
    id = fresh.ask("POST", "/v1/remember", token, said, headers).data["outcomes"][0]["atom"]["id"]
    gone = fresh.ask("POST", "/v1/erase", token, {"ids": [id], "reason": "asked to"}, {"Idempotency-Key": "k-7"})
    assert gone.status == 200
    again = fresh.ask("POST", "/v1/remember", token, said, headers)
    assert "idempotency-replayed" not in again.headers
    assert b"SENTINEL" not in again.body
    assert (
        fresh.ask("POST", "/v1/erase", token, {"ids": [id], "reason": "asked to"}, {"Idempotency-Key": "k-7"}).status
        == 200
    )


def test_what_was_refused_may_be_tried_again_with_the_same_key(server: Live, owner: str) -> None:
    assert _post(server, owner, "/remember", 422, content=" ", key="k-2")
    assert _post(server, owner, "/remember", content="Ole skis.", key="k-2")


@pytest.mark.parametrize("verb", ["capture", "remember", "propose"])
def test_a_key_outlives_the_server(tmp_path: Path, verb: str) -> None:
    field = "text" if verb == "capture" else "content"
    with live(tmp_path) as server:
        token = server.token("owner")
        _post(server, token, f"/{verb}", key="k-3", **{field: "Pia paints."})
        before = server.house.memory.journal()
    (tmp_path / "near.sock").unlink()
    with live(tmp_path) as server:
        _post(server, token, f"/{verb}", key="k-3", **{field: "Pia paints."})
        assert _post(server, token, f"/{verb}", key="k-5", **{field: "Pia paints and sings."})["repeated"] is False
        assert server.house.memory.journal()[:-1] == before


def test_the_key_of_a_capture_may_stand_in_its_body(fresh: Live) -> None:
    token = fresh.token("owner")
    one, two = (fresh.ask("POST", "/v1/capture", token, {"text": "Rex runs.", "key": "k-4"}).data for _ in range(2))
    assert (one["repeated"], two["repeated"]) == (False, True)
    other = fresh.ask("POST", "/v1/capture", token, {"text": "Rex sleeps.", "key": "k-4"}).data
    assert other["repeated"] is False
    assert any("Rex sleeps." in each.content for each in fresh.house.memory.list())


def test_a_get_changes_nothing(server: Live, owner: str) -> None:
    id = server.remember(owner, "Sam collects stamps.", kind="preference", subject="Sam")
    filled = {"/v1/recall": "?q=stamps", "/v1/plan_context": "?goal=stamps", "/v1/context": "?about=stamps"}
    before, files = server.house.memory.journal(), _files(server)
    asked = 0
    for route in list_api_routes(server.app):
        if "GET" in (route.methods or ()) and operation_name(route) != "feed":
            path = route.path.format(id=id, workstream="release")
            reply = server.ask("GET", path + filled.get(route.path, ""), owner)
            assert reply.status == 200, (path, reply.body)
            asked += 1
    assert asked > 20
    assert server.house.memory.journal() == before
    assert _files(server) == files


def _files(server: Live) -> dict[str, bytes]:
    root = server.house.memory.root
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*.md"))
        if ".lamina" not in path.parts
    }


def test_problems_name_the_error_and_carry_its_data(server: Live, owner: str) -> None:
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


def test_the_description_is_for_those_who_may_come_in(server: Live, owner: str) -> None:
    told = _get(server, owner, "/openapi.json")
    verbs = {each["operationId"] for path in told["paths"].values() for each in path.values()}
    assert verbs == {operation_name(route) for route in list_api_routes(server.app)}
    assert told["security"] == [{"token": []}]
    for path in told["paths"].values():
        for operation in path.values():
            assert operation["description"]
            assert operation["responses"]["401"]["content"].keys() == {"application/problem+json"}
    assert server.ask("GET", "/v1/openapi.json").status == 401


def test_whoever_may_open_the_socket_needs_no_token(server: Live) -> None:
    line = http.client.HTTPConnection("localhost", timeout=20)
    line.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.sock.connect(str(server.near))
    line.request("POST", "/v1/remember", b'{"content": "Una juggles."}', {"Content-Type": "application/json"})
    reply = line.getresponse()
    made = reply.read()
    assert reply.status == 200, made
    assert b'"origin":"agent"' in made
    assert b'"principal":"local"' in made
    line.request("POST", "/v1/rebuild", b"{}", {"Content-Type": "application/json"})
    assert (line.getresponse()).status == 403
    line.close()


def test_no_page_reaches_the_socket(server: Live) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.connect(str(server.near))
        line.sendall(b"GET /v1/top HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n")
        assert line.recv(200).startswith(b"HTTP/1.1 403")
