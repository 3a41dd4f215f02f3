"""What recall prints of a change: the value that holds, what it took the place of, and what is doubted."""

from __future__ import annotations

from command_result import Cli


def test_a_query_for_the_old_value_prints_the_new_one_and_the_inherited_score(cli: Cli) -> None:
    for place, day in (("Tromso", "2026-01-02"), ("Genoa", "2026-06-02")):
        cli(
            "remember",
            f"Ann lives in {place}.",
            "--subject",
            "Ann",
            "--attribute",
            "home",
            "--value",
            place,
            "--at",
            day,
        )
    data = cli("recall", "Tromso", "--json").data["hits"]
    assert [hit["text"] for hit in data] == ["Ann lives in Genoa."]
    assert data[0]["instead_of"][2] == "superseded"
    assert data[0]["flagged"] is False
    output = cli("recall", "Tromso", "--explain").out
    assert "in place of …" in output
    assert "whose score it has" in " ".join(output.split())


def test_a_doubtful_hit_is_printed_with_its_mark_where_nothing_else_answers(cli: Cli) -> None:
    atom_id = cli("remember", "The lamp is green.", "--json").data["outcomes"][0]["atom"]["id"]
    cli("status", atom_id, "challenged", "--reason", "is it?")
    assert " · challenged · " in cli("recall", "which lamp?").out
    assert "## disputed" in cli("recall", "which lamp?", "--context").out
