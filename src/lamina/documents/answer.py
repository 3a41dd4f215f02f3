"""The JSON document of an answer in words, with the atoms it cites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from lamina.recall.cited_answer import CitedAnswer


class AnswerDocument(JsonDocument):
    """An answer, or the reason why nothing is known."""

    question: str
    known: bool
    text: str
    why: str
    cited: list[str]
    labels: dict[str, str]
    steps: list[str]
    recall_id: str
    model: str
    tokens: int


def answer_document(answer: CitedAnswer) -> AnswerDocument:
    """Return the document of an answer."""
    return AnswerDocument(
        question=answer.question,
        known=answer.is_known,
        text=answer.text,
        why=answer.reason,
        cited=list(answer.cited),
        labels={str(label): atom_id for label, atom_id in answer.labels},
        steps=[str(step) for step in answer.steps],
        recall_id=answer.recall_id,
        model=answer.model,
        tokens=answer.tokens,
    )
