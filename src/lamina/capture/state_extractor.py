"""Extraction without a language model: the sentences that assert a current value, verbatim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lamina.atom.atom import Evidence
from lamina.atom.passage import is_assistant, is_role
from lamina.capture.extractor import CapturedTurn, ExtractedStatement
from lamina.capture.memory_requests import find_labelled_statements, find_remember_requests, is_direct_order
from lamina.capture.prose import find_fenced_code, is_in_code, is_pasted, is_prose, is_question
from lamina.models.state_model import SentenceState
from lamina.states.state_reader import StateReader
from lamina.text.normal_form import one_line

MIN_PROBABILITY = 0.5
"""The least probability at which the state model is believed."""
MAX_SENTENCE_CHARS = 600
MAX_STATEMENTS_PER_TURN = 12
"""The most statements of one turn; the most probable ones are taken."""


class StateExtractor:
    """Selects the sentences that assert something, by the state model; nothing is rewritten."""

    name = "state model"
    instant = True

    def __init__(self, state_reader: StateReader) -> None:
        self._reader = state_reader

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        """Return one statement for each sentence that asserts something; assistants and pasted text state nothing."""
        return [
            statement
            for turn in turns
            if not is_assistant(turn.speaker) and not is_pasted(turn.text)
            for statement in self._extract_turn(turn)
        ]

    def _extract_turn(self, turn: CapturedTurn) -> list[ExtractedStatement]:
        most_probable = sorted(self._find_statements(turn), key=lambda statement: -statement.confidence)[
            :MAX_STATEMENTS_PER_TURN
        ]
        return sorted(most_probable, key=lambda statement: statement.evidence.start)

    def _find_statements(self, turn: CapturedTurn) -> Iterator[ExtractedStatement]:
        states = self._reader.read(turn.text)
        labelled = find_labelled_statements(turn.text)
        requested = {end: start for end, (start, _) in labelled.items()}
        requested |= {end: start for start, end in find_remember_requests(turn.text)}
        is_kept_out = any(state.keep_out >= MIN_PROBABILITY for state in states)
        code_spans = find_fenced_code(turn.text)
        seen_contents: set[str] = set()
        for state in states:
            is_requested = state.end in requested
            start = requested.get(state.end, state.start)
            content = turn.text[start : state.end].strip()
            in_code = is_in_code(state.start, state.start + 1, code_spans)
            is_statement = is_requested or (not is_kept_out and not in_code and asserts_value(state, content))
            if not is_statement or content in seen_contents:
                continue
            seen_contents.add(content)
            has_value = state.value is not None and state.value[0] >= start
            yield ExtractedStatement(
                content=content,
                kind=labelled[state.end][1] if state.end in labelled else "fact",
                evidence=Evidence(turn.segment, turn.n, start, state.end),
                subject=speaker_subject(turn.speaker),
                value=(turn.text[slice(*state.value)].strip() or None) if state.value and has_value else None,
                confidence=1.0 if is_requested else round(state.asserts, 2),
            )


def asserts_value(state: SentenceState, sentence: str) -> bool:
    """Return whether a sentence becomes a statement: it asserts a current value and is no secret and no request."""
    if state.asserts < MIN_PROBABILITY or max(state.secret, state.keep_out, state.forget) >= MIN_PROBABILITY:
        return False
    if len(sentence) > MAX_SENTENCE_CHARS or is_question(sentence) or is_direct_order(sentence):
        return False
    return is_prose(sentence)


def speaker_subject(speaker: str | None) -> str:
    """Return the subject of what a speaker says: the name, or "user" if only a role is known."""
    return "user" if speaker is None or is_role(speaker) else one_line(speaker)
