"""Health and figures: enough to look after a server, and nothing anybody said."""

from __future__ import annotations

import re

from live_server import LiveServer

from lamina.http.request_metrics import RequestMetrics, gauge, labelled_gauge

_LINE = re.compile(r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\.)*"(,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? [0-9.e+-]+')


def test_without_a_token_the_server_reports_only_that_it_is_alive(server: LiveServer) -> None:
    assert server.ask("GET", "/v1/health").data == {"alive": True}


def test_with_a_token_it_reports_the_state_of_the_memory(server: LiveServer, owner: str) -> None:
    server.remember(owner, "Wes has a SENTINEL.", kind="preference", subject="SENTINEL")
    (server.house.memory.root / "atoms" / "broken.md").write_text("---\nid: [\n---\n", encoding="utf-8")
    assert server.ask("POST", "/v1/sync", owner, {}).status == 200
    response = server.ask("GET", "/v1/health", owner)
    assert response.data["alive"]
    assert response.data["layers"] == {"profile": 1}
    assert [item["path"] for item in response.data["quarantined"]] == ["atoms/broken.md"]
    assert response.data["keeper"] is None
    assert b"SENTINEL" not in response.body
    assert str(server.house.memory.root).encode() not in response.body


def test_the_daemon_is_reported_where_there_is_one(server: LiveServer, owner: str) -> None:
    server.app.state.daemon_status = lambda: "read 3 turns"
    try:
        assert server.ask("GET", "/v1/health", owner).data["keeper"] == "read 3 turns"
    finally:
        server.app.state.daemon_status = None


def test_metrics_are_in_the_prometheus_format(server: LiveServer, owner: str) -> None:
    id = server.remember(owner, "Xan has a SENTINEL.")
    server.ask("GET", f"/v1/atoms/{id}", owner)
    server.ask("GET", "/v1/recall?q=SENTINEL", owner)
    server.ask("GET", "/v1/top")
    server.ask("BREW", "/v1/top", owner)
    reply = server.ask("GET", "/metrics", owner)
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = reply.body.decode()
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or _LINE.fullmatch(line), line
    assert id not in text
    assert "SENTINEL" not in text
    assert re.search(r'lamina_http_requests_total\{scope="org:local",method="GET",route="/v1/atoms/\{id\}",.* 1', text)
    assert 'method="other"' in text
    assert 'lamina_http_refused_total{reason="Unauthenticated"}' in text
    assert re.search(r'lamina_database_bytes\{scope="org:local",file="history.db"\} \d{4,}', text)


def test_durations_are_counted_in_every_bucket_above_them() -> None:
    meters = RequestMetrics()
    for seconds in (0.001, 0.2, 99.0):
        meters.record_request("org:a", "/v1/top", "GET", 200, seconds)
    text = meters.render("org:a")
    assert '_bucket{scope="org:a",route="/v1/top",le="0.005"} 1' in text
    assert '_bucket{scope="org:a",route="/v1/top",le="0.25"} 2' in text
    assert '_bucket{scope="org:a",route="/v1/top",le="10"} 2' in text
    assert '_bucket{scope="org:a",route="/v1/top",le="+Inf"} 3' in text
    assert '_sum{scope="org:a",route="/v1/top"} 99.201000' in text


def test_a_scope_gets_its_own_metrics_and_admins_all() -> None:
    meters = RequestMetrics()
    meters.record_request("org:a", "/v1/top", "GET", 200, 0.1)
    meters.record_request("org:b", "/v1/atoms", "GET", 200, 0.1)
    meters.record_refusal("UnknownHost")
    assert "org:b" not in meters.render("org:a")
    assert "UnknownHost" not in meters.render("org:a")
    assert {"org:a", "org:b", "UnknownHost"} <= set(re.findall(r'"([^"]+)"', meters.render(None)))


def test_a_value_cannot_break_out_of_its_label() -> None:
    text = RequestMetrics().render(
        None, [labelled_gauge("x", "h", "l", {'a"b\\c\nd': 12_345_678}, "org:a"), gauge("y", "h", 0.5, "s")]
    )
    assert 'x{scope="org:a",l="a\\"b\\\\c\\nd"} 12345678\n' in text
    assert 'y{scope="s"} 0.5\n' in text
