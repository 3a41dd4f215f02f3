"""The JSON document of an answer in words, with the atoms it cites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.document import Document

if TYPE_CHECKING:
    from lamina.recall.answer import Answer


class AnswerDocument(Document):
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


def answer_document(answer: Answer) -> AnswerDocument:
    """Return the document of an answer."""
    return AnswerDocument(
        question=answer.question,
        known=answer.known,
        text=answer.text,
        why=answer.why,
        cited=list(answer.cited),
        labels={str(label): atom_id for label, atom_id in answer.labels},
        steps=[str(step) for step in answer.steps],
        recall_id=answer.recall_id,
        model=answer.model,
        tokens=answer.tokens,
    )
