"""Fit and judge the model of replacement by slots on pairs of sentences of one chat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lamina.models.state_model import StateModel
from lamina.states.assertion import Assertion, assertions_of
from lamina.states.replacement import CLOSE, FEATURES, pair_features
from training.chat_format import Chat
from training.examples import chat_texts, is_ranker_chat, load_chats, speaker_of, without_speaker
from training.logistic import fit_logistic


def read_chat(chat: Chat, model: StateModel) -> dict[int, list[Assertion]]:
    """Return the assertions of each turn."""
    found = {}
    for turn in chat.turns:
        text = without_speaker(turn.text)
        speaker = speaker_of(turn, chat) if text != turn.text else "user"
        at_ms = int(np.datetime64(turn.day, "ms").astype(int)) + turn.number * 60_000
        found[turn.number] = assertions_of(text, model.read(text), speaker, at_ms, f"{chat.id}-{turn.session}")
    return found


def chat_pairs(chat: Chat, model: StateModel) -> Iterator[tuple[Assertion, Assertion, bool | None]]:
    """Yield (old, new, whether new replaces old) for the similar sentence pairs of a chat; None where it is unclear."""
    labelled = chat_texts(chat)
    rows = []
    for number, assertions in read_chat(chat, model).items():
        sentences = labelled.turns[number].sentences
        facts = {turn.number: turn.facts for turn in chat.turns}[number]
        for assertion in assertions:
            sentence = next((each for each in sentences if each.start == assertion.state.start), None)
            if sentence is not None:
                rows.append((assertion, sentence, facts))
    for j, (new, new_sentence, new_facts) in enumerate(rows):
        for old, old_sentence, _ in rows[:j]:
            if old.at_ms == new.at_ms or float(old.state.slot @ new.state.slot) < CLOSE:
                continue
            yield old, new, _replaces(old_sentence, new_sentence, new_facts)


def _replaces(old_sentence, new_sentence, new_facts) -> bool | None:
    shared = set(old_sentence.slots) & set(new_sentence.slots)
    if not shared:
        return None if old_sentence.mood is None or new_sentence.mood is None else False
    if set(old_sentence.slots) != shared or len(new_sentence.slots) > 2:
        return None
    names = {slot.partition(":")[2] for slot in shared}
    facts = [
        fact for fact in new_facts if f"{fact.owner.lower()}/{fact.attribute.lower()}" in names and fact.is_current
    ]
    if any(fact.replaces or fact.corrects for fact in facts):
        return True
    if any(fact.adds or fact.repeats for fact in facts):
        return False
    return None


def fit_replacement(model: StateModel) -> dict[str, object]:
    """Return the fitted model of replacement by slots."""
    features, labels = _matrix([chat for chat in load_chats() if is_ranker_chat(chat)], model)
    coefficients, bias = fit_logistic(features, labels, ridge=1.0)
    held_out, held_labels = _matrix(load_chats(held_out=True), model)
    for name, x, y in (("ranker chats", features, labels), ("held-out people", held_out, held_labels)):
        _report(name, x @ coefficients + bias, y)
    print({name: round(float(value), 2) for name, value in zip(FEATURES, coefficients)}, round(bias, 2))
    return {"weights": [round(float(each), 5) for each in coefficients], "bias": round(float(bias), 5)}


def _matrix(chats: Sequence[Chat], model: StateModel) -> tuple[np.ndarray, np.ndarray]:
    rows = [
        (pair_features(old, new), label)
        for chat in chats
        for old, new, label in chat_pairs(chat, model)
        if label is not None
    ]
    return np.array([row for row, _ in rows]).reshape(-1, len(FEATURES)), np.array([label for _, label in rows], float)


def _report(name: str, logits: np.ndarray, labels: np.ndarray) -> None:
    chances = 1 / (1 + np.exp(-logits))
    print(f"{name}: {len(labels)} pairs, {int(labels.sum())} replacements")
    for bound in (0.3, 0.5, 0.7, 0.9, 0.95):
        given = chances >= bound
        right = (given & (labels > 0)).sum()
        precision, recall = right / max(1, given.sum()), right / max(1, labels.sum())
        print(f"  at {bound}: {given.sum()} given, precision {precision:.3f}, recall {recall:.3f}")
