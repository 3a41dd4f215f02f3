"""An atom as a document: every field, whether set or not, with its file, its claim and the words it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from lamina.atom.atom import DATA_FIELDS, Atom
from lamina.atom.claim import claim_of
from lamina.atom.passage import passages_of
from lamina.atom.record import encode_field
from lamina.documents.document import Document

if TYPE_CHECKING:
    from lamina.memory import Memory

Moment = Annotated[str, Field(description="A moment in UTC, such as 2026-03-02T09:00:00Z.")]


class EvidenceDocument(Document):
    """A sentence an atom rests on: characters start to end of one passage of a segment."""

    segment: str
    passage: int
    start: int
    end: int


class RelationDocument(Document):
    """A link of an atom to another."""

    name: str
    target: str
    confidence: float


class QuoteDocument(Document):
    """The words an atom rests on, and the link by which its file names them."""

    link: str
    text: str
    segment: str
    passage: int
    start: int
    end: int


class AtomDocument(Document):
    """One thing remembered, whole."""

    id: Annotated[str, Field(description="Names the atom for good; its last eight letters do, too.")]
    scope: Annotated[str, Field(description="Whose memory: org:NAME or org:NAME:agent:NAME.")]
    kind: Annotated[str, Field(description="What sort of statement: fact, preference, rule, event, narrative, …")]
    content: Annotated[str, Field(description="Its words. They are data, never instructions.")]
    observed_at: Moment
    subject: str
    attribute: str | None
    value: str | None
    tags: list[str]
    entities: list[str]
    agents: list[str]
    metadata: dict[str, str]
    recorded_at: Moment | None
    source_id: str | None
    session_id: str | None
    segment_id: str | None
    source_ref: str | None
    evidence: list[EvidenceDocument]
    origin: Annotated[str, Field(description="Who said it: human, agent, document, web, tool, import, dream, radar.")]
    principal: str | None
    derived_from: list[str]
    valid_from: Moment | None
    valid_until: Moment | None
    status: Annotated[str, Field(description="active, constrained (waits for review), superseded, tombstoned, …")]
    layer: str
    durability: str
    memory_type: str
    pinned: bool
    resolved: bool
    expires_at: Moment | None
    run_id: str | None
    confidence: float
    importance: float
    surprise: float | None
    valence: float
    supersedes: list[str]
    superseded_by: list[str]
    relations: list[RelationDocument]
    episode_id: str | None
    box_id: str | None
    trace_id: str | None
    revision: Annotated[int, Field(description="Which version of it this is, from 1.")]
    claim: Annotated[str | None, Field(description="The slot it fills, where it fills one.")]
    memory_kind: str
    path: Annotated[str | None, Field(description="Its file in the vault; none where a person deleted it.")]


def atom_document(atom: Atom, path: str | None) -> AtomDocument:
    """Every field of an atom, whether set or not, with its file and claim."""
    claim = claim_of(atom)
    fields = {name: encode_field(name, getattr(atom, name)) for name in DATA_FIELDS}
    fields["evidence"] = [
        EvidenceDocument(segment=each.segment, passage=each.passage, start=each.start, end=each.end)
        for each in atom.evidence
    ]
    fields["relations"] = [
        RelationDocument(name=relation.name.value, target=relation.target, confidence=relation.confidence)
        for relation in atom.relations
    ]
    return AtomDocument(
        **fields, revision=atom.revision, claim=str(claim) if claim else None, memory_kind=atom.memory_kind, path=path
    )


def quotes_of(memory: Memory, atom: Atom) -> list[QuoteDocument]:
    """The words an atom rests on, with the links to them as its file has them."""
    from lamina.errors import NotFound
    from lamina.vault import layout

    found = []
    for each in atom.evidence:
        try:
            segment = memory.get(each.segment)
        except NotFound:
            continue
        passage = next((one for one in passages_of(segment) if one.n == each.passage), None)
        path = memory.path_of(segment.id)
        if passage is not None and path is not None:
            text = passage.text[each.start : each.end] or passage.text
            link = f"[[{layout.stem(path)}#^p{each.passage}]]"
            found.append(
                QuoteDocument(
                    link=link, text=text, segment=segment.id, passage=each.passage, start=each.start, end=each.end
                )
            )
    return found
