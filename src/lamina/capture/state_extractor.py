"""Extraction without a language model: the sentences that assert a current value, verbatim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lamina.atom.atom import Evidence
from lamina.capture.explicit import asked_for
from lamina.capture.forget_requests import is_direct_order
from lamina.capture.found import Finding, Said
from lamina.capture.prose import fenced, is_pasted, is_prose, is_question
from lamina.models.state_model import SentenceState
from lamina.states.state_reader import StateReader
from lamina.text.normal import one_line
from lamina.text.roles import is_assistant, is_role

LEAST = 0.5
"""The least probability at which the state model is believed."""
LONGEST_SENTENCE = 600
MOST_A_TURN = 12
"""The most statements of one turn; the most probable ones are taken."""


class StateExtractor:
    """Selects the sentences that assert something, by the state model; nothing is rewritten."""

    name = "state model"
    instant = True

    def __init__(self, reader: StateReader) -> None:
        self._reader = reader

    def extract(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> list[Finding]:
        """Return one statement for each sentence that asserts something; assistants and pasted text state nothing."""
        return [
            statement
            for turn in turns
            if not is_assistant(turn.speaker) and not is_pasted(turn.text)
            for statement in self._read(turn)
        ]

    def _read(self, turn: Said) -> list[Finding]:
        most_probable = sorted(self._findings(turn), key=lambda statement: -statement.confidence)[:MOST_A_TURN]
        return sorted(most_probable, key=lambda statement: statement.evidence.start)

    def _findings(self, turn: Said) -> Iterator[Finding]:
        states = self._reader.read(turn.text)
        requested = {end: start for start, end in asked_for(turn.text)}
        is_kept_out = any(state.keep_out >= LEAST for state in states)
        code_spans = fenced(turn.text)
        seen_contents: set[str] = set()
        for state in states:
            is_requested = state.end in requested
            start = requested.get(state.end, state.start)
            content = turn.text[start : state.end].strip()
            in_code = any(first <= state.start < last for first, last in code_spans)
            is_statement = is_requested or (not is_kept_out and not in_code and asserts_value(state, content))
            if not is_statement or content in seen_contents:
                continue
            seen_contents.add(content)
            has_value = state.value is not None and state.value[0] >= start
            yield Finding(
                content=content,
                kind="fact",
                evidence=Evidence(turn.segment, turn.n, start, state.end),
                subject=subject_of(turn.speaker),
                value=(turn.text[slice(*state.value)].strip() or None) if state.value and has_value else None,
                confidence=1.0 if is_requested else round(state.asserts, 2),
            )


def asserts_value(state: SentenceState, sentence: str) -> bool:
    """Return whether a sentence becomes a statement: it asserts a current value and is no secret and no request."""
    if state.asserts < LEAST or max(state.secret, state.keep_out, state.forget) >= LEAST:
        return False
    if len(sentence) > LONGEST_SENTENCE or is_question(sentence) or is_direct_order(sentence):
        return False
    return is_prose(sentence)


def subject_of(speaker: str | None) -> str:
    """Return the subject of what a speaker says: the name, or "user" if only a role is known."""
    return "user" if speaker is None or is_role(speaker) else one_line(speaker)
