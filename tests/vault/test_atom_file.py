"""A file represents exactly its atom, and rendering it changes nothing else.

Covers `lamina.vault.frontmatter_fields` and `lamina.vault.frontmatter_fields`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom import Atom, AtomId, Evidence, Origin, Relation, RelationName, Scope, Signals, Status
from lamina.atom.kinds import KINDS, Durability, Layer, MemoryType
from lamina.errors import InvalidInput
from lamina.vault.atom_file import FILE_FIELDS, parse_file, render_file
from lamina.vault.yaml_codec import Unreadable

NOW = datetime(2026, 11, 14, 9, 12, tzinfo=UTC)
ONE, TWO, THREE = (AtomId(f"01jc9x2k7m3f5r8t0v2w4y6z8{end}") for end in "abc")

FRESH = f"""---
id: {ONE}
kind: preference
subject: Anna
tags: [coffee, "oat: milk"]
observed_at: 2026-11-14T09:12:00Z
supersedes: ["[[fact-{TWO}]]"]
---

Anna drinks oat milk.
"""


def stem(atom_id: str) -> str:
    return f"fact-{atom_id}"


def renamed(atom_id: str) -> str:
    return "A note of mine" if atom_id == TWO else f"fact-{atom_id}"


def an_atom(**fields: Any) -> Atom:
    initial = {"id": ONE, "scope": Scope("org:local"), "kind": "fact", "content": "Words.", "observed_at": NOW}
    return Atom(**{**initial, **fields})


def parsed_fields(data: bytes) -> Mapping[str, Any]:
    return parse_file(data).fields


def fields_of(atom: Atom) -> dict[str, Any]:
    return {name: getattr(atom, name) for name in FILE_FIELDS}


def sheet_of(text: str, body: str = "Words.\n") -> Mapping[str, Any]:
    return parsed_fields(f"---\n{text}---\n{body}".encode())


def test_a_new_file_has_only_non_default_fields_in_canonical_order() -> None:
    atom = an_atom(
        kind="preference",
        layer=Layer.PROFILE,
        subject="Anna",
        tags=("coffee", "oat: milk"),
        supersedes=(TWO,),
        content="Anna drinks oat milk.",
    )
    assert render_file(atom, None, stem).decode() == FRESH


def test_a_file_without_fields_is_a_fact_stated_by_a_person() -> None:
    fields = sheet_of("")
    assert set(fields) == set(FILE_FIELDS)
    assert (fields["kind"], fields["origin"], fields["status"]) == ("fact", Origin.HUMAN, Status.ACTIVE)
    assert (fields["confidence"], fields["importance"]) == (1.0, 0.5)
    assert (fields["observed_at"], fields["recorded_at"], fields["id"]) == (None, None, None)


def test_defaults_of_the_kind_are_filled_in() -> None:
    assert sheet_of("kind: decision\n")["layer"] is Layer.PROCEDURAL
    assert sheet_of("kind: decision\n")["durability"] is Durability.CORE
    assert sheet_of("kind: event\n")["memory_type"] is MemoryType.NARRATIVE
    assert sheet_of("kind: decision\nconfidence: 0.5\n")["layer"] is Layer.EPISODIC
    assert sheet_of("kind: decision\norigin: web\n")["layer"] is Layer.EPISODIC


def test_an_empty_property_counts_as_absent() -> None:
    assert sheet_of("subject:\nattribute:\ntags:\nstatus:\nconfidence:\nlayer:\nmetadata:\nvalid_from:\n") == sheet_of(
        ""
    )


@pytest.mark.parametrize(("tier", "layer"), [("stm", "episodic"), ("episodic", "episodic"), ("semantic", "semantic")])
def test_a_tier_is_read_as_a_layer(tier: str, layer: str) -> None:
    assert sheet_of(f"tier: {tier}\n")["layer"] == layer
    assert sheet_of(f"tier: {tier}\nlayer: profile\n")["layer"] is Layer.PROFILE


def test_older_formats_are_read() -> None:
    text = (
        f"atom_id: {ONE}\nis_superseded: TRUE\nsuperseded_by: {TWO}\nsupersedes:\n  - '[[note {THREE}]]'\n"
        "tags: coffee, milk\nprovenance:\n  observed_at: 2026-11-14T10:12:00+01:00\n  ingested_at: 2026-11-15\n"
        "  source_id: telegram\n  session_id: s1\n  segment_id: g1\nsession_id: s2\n"
        "quality_score: 1.4\nrecall_count: 3\nlast_recalled_at: 2026-11-14\n"
    )
    sheet = parse_file(f"---\n{text}---\n".encode())
    fields = sheet.fields
    assert (sheet.id, fields["status"]) == (ONE, Status.SUPERSEDED)
    assert (fields["superseded_by"], fields["supersedes"]) == ((TWO,), (THREE,))
    assert fields["tags"] == ("coffee", "milk")
    assert (fields["observed_at"], fields["recorded_at"]) == (NOW, datetime(2026, 11, 15, tzinfo=UTC))
    assert (fields["source_id"], fields["session_id"], fields["segment_id"]) == ("telegram", "s2", "g1")
    assert sheet.signals == Signals(1.4, 3, datetime(2026, 11, 14, tzinfo=UTC))
    assert (sheet.lines["status"], sheet.lines["source_id"], sheet.lines["session_id"]) == (3, 8, 14)


def test_an_id_of_another_format_is_foreign() -> None:
    sheet = parse_file(b"---\nid: note-17\n---\nx\n")
    assert (sheet.id, sheet.foreign_id) == (None, "note-17")
    written = render_file(an_atom(content="x"), b"---\natom_id: note-17\n---\nx\n", stem)
    assert parse_file(written).id == ONE
    assert b"note-17" not in written


def test_a_bare_end_date_means_through_that_day() -> None:
    assert sheet_of("valid_until: 2026-11-14\n")["valid_until"] == datetime(2026, 11, 15, tzinfo=UTC)


def test_links_contain_the_id_of_their_target() -> None:
    for link in (
        f'"[[fact-{TWO}]]"',
        f'"[[atoms/x/fact-{TWO}.md#top|words]]"',
        TWO,
        f'"[[Mine|{TWO}]]"',
        f"[[fact-{TWO}]]",
    ):
        assert sheet_of(f"derived_from: [{link}]\n")["derived_from"] == (TWO,), link
    assert sheet_of(f"derived_from: [[fact-{TWO}]]\n")["derived_from"] == (TWO,)
    assert sheet_of('derived_from: "[[Some note]]"\n')["derived_from"] == ("Some note",)


def test_a_renamed_file_is_linked_by_its_name_and_identified_by_its_id() -> None:
    atom = an_atom(
        supersedes=(TWO,), evidence=(Evidence(TWO, 7, 0, 4),), relations=(Relation(RelationName.SUPPORTS, TWO),)
    )
    data = render_file(atom, None, renamed)
    assert b"[[A note of mine|" in data
    assert parsed_fields(data) == fields_of(atom)


def test_evidence_and_relations_are_clickable_links() -> None:
    fields = sheet_of(
        f'evidence: ["[[sess-{TWO}#^p7|12-48]]", "[[plain#^p1]]"]\n'
        f'relations:\n  - "depends_on [[fact-{THREE}]] 0.85 2026-11-14T09:12:00Z"\n  - "supports {TWO}"\n'
    )
    assert fields["evidence"] == (Evidence(TWO, 7, 12, 48), Evidence("plain", 1, 0, 0))
    assert fields["relations"] == (
        Relation(RelationName.DEPENDS_ON, THREE, 0.85, NOW),
        Relation(RelationName.SUPPORTS, TWO),
    )


def test_a_content_key_counts_when_the_body_is_blank() -> None:
    assert sheet_of("content: from the key\n", " \n")["content"] == "from the key"
    assert sheet_of("content: from the key\n", "from the body\n")["content"] == "from the body"
    assert parse_file(b"---\ncontent: from the key\n---\nbody\n").content_key == "from the key"


@pytest.mark.parametrize("body", ["", "old\n"])
def test_a_content_key_equal_to_the_body_follows_the_body(body: str) -> None:
    base = f"---\nid: {ONE}\ncontent: old\nobserved_at: 2026-11-14T09:12:00Z\n---\n{body}".encode()
    sheet = parse_file(render_file(an_atom(content="new"), base, stem))
    assert (sheet.fields["content"], sheet.content_key, sheet.document.body) == ("new", "new", "new\n")


def test_a_content_key_that_differs_is_left_alone() -> None:
    base = b"---\ncontent: my own\n---\nold\n"
    assert parse_file(render_file(an_atom(content="new"), base, stem)).content_key == "my own"


def test_rendering_without_a_change_gives_the_same_bytes() -> None:
    base = FRESH.replace("kind: preference", "kind:   'preference'  # mine\nmood: NO").replace("\n", "\r\n").encode()
    atom = an_atom(**{name: value for name, value in parsed_fields(base).items() if name != "id"})
    assert render_file(atom, base, stem) == base


def test_a_changed_field_leaves_its_older_notation() -> None:
    base = f"---\natom_id: {ONE}\ntier: stm\nis_superseded: true\nprovenance:\n  source_id: web\n---\nWords.\n".encode()
    same = an_atom(layer=Layer.EPISODIC, status=Status.SUPERSEDED, source_id="web")
    assert parse_file(render_file(same, base, stem)).document.values == {
        **parse_file(base).document.values,
        "observed_at": "2026-11-14T09:12:00Z",
    }
    changed = render_file(same.with_(layer=Layer.SEMANTIC, status=Status.ACTIVE, source_id=None), base, stem)
    assert b"tier" not in changed
    assert b"is_superseded" not in changed
    assert parsed_fields(changed)["source_id"] is None
    assert b"  source_id: web\n" in changed


def test_a_changed_kind_keeps_the_layer_of_an_atom() -> None:
    base = render_file(an_atom(kind="fact"), None, stem)
    atom = an_atom(kind="decision", layer=Layer.SEMANTIC)
    assert parsed_fields(render_file(atom, base, stem)) == fields_of(atom)


def test_text_about_a_merge_is_not_taken_for_one() -> None:
    atom = an_atom(content="git said:\n<<<<<<< HEAD\nmine\n=======\nyours\n>>>>>>> topic")
    assert parsed_fields(render_file(atom, None, stem)) == fields_of(atom)


def test_signals_are_written_only_when_given() -> None:
    base = render_file(an_atom(), None, stem)
    signals = Signals(1.25, 4, NOW)
    data = render_file(an_atom(), base, stem, signals=signals)
    assert parse_file(data).signals == signals
    assert render_file(an_atom(), data, stem) == data
    assert render_file(an_atom(), data, stem, signals=Signals()) == base


def test_an_atom_too_large_for_a_file_is_refused() -> None:
    with pytest.raises(InvalidInput):
        render_file(an_atom(content="x" * (1 << 20)), None, stem)
    with pytest.raises(InvalidInput):
        render_file(an_atom(metadata={"x": "y" * (64 << 10)}), None, stem)


def test_an_unreadable_base_is_never_overwritten() -> None:
    with pytest.raises(Unreadable):
        render_file(an_atom(), b"---\nid: [\n---\n", stem)


any_char = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
tricky = st.sampled_from(
    [
        "---",
        "a: b",
        "NO",
        "1.10",
        "# x",
        "- y",
        '"q"',
        "'",
        "日本語",
        "שלום עולם",
        "🦊 fox",
        "é",
        "\\n",
        "[[x]]",
        "{a}",
        "&a",
        "*b",
    ]
)
line = (st.text(any_char, min_size=1, max_size=20) | tricky).map(lambda text: " ".join(text.split("\n")).strip("\r\n"))
words = line.filter(bool)
content = st.lists(line | st.just(""), max_size=5).map("\n".join).map(lambda text: text.strip("\r\n"))
times = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
)
ids = st.text("0123456789abcdefghjkmnpqrstvwxyz", min_size=25, max_size=25).map(lambda text: AtomId("0" + text))
share = st.floats(0, 1)
scalars = line | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(allow_nan=False, allow_infinity=False)
relations = st.builds(Relation, st.sampled_from(RelationName), ids, share, st.none() | times)
evidence = st.builds(Evidence, ids | words, st.integers(0, 999), st.integers(0, 9999), st.integers(0, 9999))
a_tuple = st.lists(words, max_size=3).map(tuple)
some_ids = st.lists(ids, max_size=2).map(tuple)
optional_text = st.none() | words
maybe_time = st.none() | times
atoms = st.builds(
    Atom,
    id=ids,
    scope=st.just(Scope("org:local")),
    kind=st.sampled_from(sorted(KINDS)) | words,
    content=content,
    observed_at=times,
    subject=words | st.just(""),
    attribute=optional_text,
    value=optional_text,
    tags=a_tuple,
    entities=a_tuple,
    agents=a_tuple,
    metadata=st.dictionaries(words, scalars | st.lists(scalars, max_size=3).map(tuple), max_size=3),
    recorded_at=maybe_time,
    source_id=optional_text,
    session_id=optional_text,
    segment_id=optional_text,
    source_ref=optional_text,
    evidence=st.lists(evidence, max_size=2).map(tuple),
    origin=st.sampled_from(Origin),
    principal=optional_text,
    derived_from=some_ids,
    valid_from=maybe_time,
    valid_until=maybe_time,
    status=st.sampled_from(Status),
    layer=st.sampled_from(Layer),
    durability=st.sampled_from(Durability),
    memory_type=st.sampled_from(MemoryType),
    pinned=st.booleans(),
    resolved=st.booleans(),
    expires_at=maybe_time,
    run_id=optional_text,
    confidence=share,
    importance=share,
    surprise=st.none() | share,
    valence=st.floats(-1, 1),
    supersedes=some_ids,
    superseded_by=some_ids,
    relations=st.lists(relations, max_size=2).map(tuple),
    episode_id=optional_text,
    box_id=optional_text,
    trace_id=optional_text,
)

foreign_lines = [
    "# a comment of mine",
    "mood: NO  # keep",
    "Due date: 017",
    "'quoted key': {a: [b]}",
    "poem: |\n  one\n\n  two",
    "list:\n  - x\n  # inside\n  - y",
    "",
]
seed_lines = [
    "tier: stm",
    "is_superseded: true",
    f"atom_id: {THREE}",
    "atom_id: foreign",
    "content: said in a key",
    "tags: a, b",
    "supersedes: '[[Some note]]'",
    "provenance:\n  observed_at: 2020-01-01\n  ingested_at: 2020-01-02\n  source_id: tg\n  origin: web",
    "confidence: 0.25   # unsure",
    "status: challenged",
    "layer:",
    "kind: decision",
    "metadata:\n  topic: x",
    "merge_markers: verbatim",
]


def distinct_keys(rows: list[str]) -> bool:
    keys = [row.split(":")[0] for row in rows if ":" in row]
    return len(keys) == len(set(keys))


@st.composite
def bases(draw: st.DrawFn) -> bytes:
    rows = draw(st.lists(st.sampled_from([*foreign_lines, *seed_lines]), max_size=8).filter(distinct_keys))
    body = draw(st.sampled_from(["", "\n", "\n\nold words\n\n", "old words", "---\nrule\n", "said in a key\n", "  \n"]))
    text = "".join(row + "\n" for row in rows)
    whole = f"---\n{text}---\n{body}" if draw(st.booleans()) or rows else body.removeprefix("---\n")
    if draw(st.booleans()):
        whole = whole.replace("\n", "\r\n")
    return (draw(st.sampled_from(["", "\ufeff"])) + whole).encode()


@settings(max_examples=200, deadline=None)
@given(atoms)
def test_a_new_file_round_trips_its_atom(atom: Atom) -> None:
    data = render_file(atom, None, stem)
    assert parsed_fields(data) == fields_of(atom)
    assert render_file(atom, data, stem) == data


@settings(max_examples=400, deadline=None)
@given(atoms, bases())
def test_an_edited_file_round_trips_its_atom_and_keeps_everything_else(atom: Atom, base: bytes) -> None:
    data = render_file(atom, base, stem)
    assert parsed_fields(data) == fields_of(atom)
    assert render_file(atom, data, stem) == data
    old, new = parse_file(base).document.values, parse_file(data).document.values
    for key in ("mood", "Due date", "quoted key", "poem", "list", "provenance"):
        assert old.get(key) == new.get(key)
    assert data.count(b"# a comment of mine") >= base.count(b"# a comment of mine")
    assert data.startswith(b"\xef\xbb\xbf") == base.startswith(b"\xef\xbb\xbf")


@settings(max_examples=100, deadline=None)
@given(atoms)
def test_a_changed_field_changes_only_its_own_entry(atom: Atom) -> None:
    base = render_file(atom, None, stem)
    changed = atom.with_(subject="another subject", pinned=not atom.pinned)
    edited = render_file(changed, base, stem)
    assert parsed_fields(edited) == fields_of(changed)
    parts = [row for row in base.split(b"\n") if not row.startswith((b"subject:", b"pinned:"))]
    assert [row for row in edited.split(b"\n") if not row.startswith((b"subject:", b"pinned:"))] == parts
