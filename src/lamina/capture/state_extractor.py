"""Statements without a language model: the sentences that assert a current value, as they were said."""

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
"""The least probability at which the model is believed."""
LONGEST_SENTENCE = 600
MOST_A_TURN = 12
"""The most statements of one turn, the surest of them."""


class StateExtractor:
    """Finds the sentences that assert something with the state model; nothing is rewritten."""

    name = "state model"
    instant = True

    def __init__(self, reader: StateReader) -> None:
        self._reader = reader

    def extract(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> list[Finding]:
        """Return one finding for each sentence that asserts something; assistants state nothing."""
        return [
            finding
            for turn in turns
            if not is_assistant(turn.speaker) and not is_pasted(turn.text)
            for finding in self._read(turn)
        ]

    def _read(self, turn: Said) -> list[Finding]:
        surest = sorted(self._findings(turn), key=lambda each: -each.confidence)[:MOST_A_TURN]
        return sorted(surest, key=lambda each: each.evidence.start)

    def _findings(self, turn: Said) -> Iterator[Finding]:
        states = self._reader.read(turn.text)
        asked = {end: start for start, end in asked_for(turn.text)}
        is_kept_out = any(state.keep_out >= LEAST for state in states)
        code = fenced(turn.text)
        contents: set[str] = set()
        for state in states:
            is_asked = state.end in asked
            start = asked.get(state.end, state.start)
            content = turn.text[start : state.end].strip()
            in_code = any(first <= state.start < last for first, last in code)
            wanted = is_asked or (not is_kept_out and not in_code and asserts_value(state, content))
            if not wanted or content in contents:
                continue
            contents.add(content)
            has_value = state.value is not None and state.value[0] >= start
            yield Finding(
                content=content,
                kind="fact",
                evidence=Evidence(turn.segment, turn.n, start, state.end),
                subject=subject_of(turn.speaker),
                value=(turn.text[slice(*state.value)].strip() or None) if state.value and has_value else None,
                confidence=1.0 if is_asked else round(state.asserts, 2),
            )


def asserts_value(state: SentenceState, sentence: str) -> bool:
    """Whether a sentence is kept as a statement: it asserts a current value and is neither a secret nor a request."""
    if state.asserts < LEAST or max(state.secret, state.keep_out, state.forget) >= LEAST:
        return False
    if len(sentence) > LONGEST_SENTENCE or is_question(sentence) or is_direct_order(sentence):
        return False
    return is_prose(sentence)


def subject_of(speaker: str | None) -> str:
    """The subject of what somebody says: their name, or "user" where only a role is known."""
    return "user" if speaker is None or is_role(speaker) else one_line(speaker)
