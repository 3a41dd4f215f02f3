"""Compute the figures of the network on slots, wordings and people that it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from training.examples import ASKS, MOODS, REQUESTS, ChatTexts, Text, chat_texts, is_ranker_chat, load_chats, slot_text
from training.groups import group_texts, load_groups, load_snippets, snippet_texts
from training.network import Outputs, StateNetwork
from training.slot_sentences import slot_sentences
from training.trunk import StateCache

Row = tuple[Text, int]


def read_rows(network: StateNetwork, rows: Sequence[Row], cache: StateCache) -> Outputs:
    """Run sentences, given as (text, sentence number), and return the outputs of the network for each."""
    from training.train import collate

    network.eval()
    order = sorted(range(len(rows)), key=lambda n: len(cache[rows[n][0].text].states))
    parts: list[tuple[list[int], Outputs]] = []
    with torch.no_grad():
        for start in range(0, len(order), 128):
            chosen = order[start : start + 128]
            spans = [(n, *_bounds(rows[i])) for n, i in enumerate(chosen)]
            parts.append((chosen, network(*collate([rows[i][0] for i in chosen], spans, cache))))
    joined = []
    for field in range(6):
        width = parts[0][1][field].shape[1:]
        whole = torch.zeros((len(rows), *width))
        for chosen, outputs in parts:
            whole[chosen] = outputs[field].float()
        joined.append(whole)
    return Outputs._make([*joined, torch.zeros(0)])


def _bounds(row: Row) -> tuple[int, int]:
    sentence = row[0].sentences[row[1]]
    return sentence.start, sentence.end


def evaluate(network: StateNetwork, cache: StateCache) -> dict[str, float]:
    """Return the figures on held-out people (or the ranker's, if there are none yet) and held-out slots."""
    held_out = load_chats(held_out=True)
    chats = [chat_texts(chat) for chat in held_out or [chat for chat in load_chats() if is_ranker_chat(chat)]]
    figures = (
        _chat_figures(network, chats, cache) | _template_slot_figures(network, cache) | _group_figures(network, cache)
    )
    return {name: round(float(value), 3) for name, value in figures.items()}


def _chat_figures(network: StateNetwork, chats: Sequence[ChatTexts], cache: StateCache) -> dict[str, float]:
    rows: list[Row] = []
    chat_of: list[int] = []
    for number, chat in enumerate(chats):
        for text in chat.turns.values():
            rows += [(text, n) for n in range(len(text.sentences))]
        rows += [(text, 0) for text, _ in chat.questions]
        chat_of += [number] * (len(rows) - len(chat_of))
    outputs = read_rows(network, rows, cache)
    sentences = [text.sentences[n] for text, n in rows]
    own = [(outputs.own[n] > 0, s.is_own) for n, s in enumerate(sentences) if s.is_own is not None]
    many = [(outputs.many[n] > 0, s.is_many) for n, s in enumerate(sentences) if s.is_many is not None]
    return {
        **_assertion_figures(rows, outputs),
        **_slot_figures(chats, rows, np.array(chat_of), outputs.slot.numpy()),
        **_question_figures(rows, outputs),
        **_request_figures(rows, outputs),
        "own_accuracy": _mean([bool(one) == two for one, two in own]),
        "many_recall": _mean([bool(one) for one, two in many if two]),
        "many_false": _mean([bool(one) for one, two in many if not two]),
    }


def _mean(values: Sequence[float]) -> float:
    """Return the mean; 0 for no values."""
    return float(np.mean(values)) if len(values) else 0.0


def _assertion_figures(rows: Sequence[Row], outputs: Outputs) -> dict[str, float]:
    """Return how well sentences that assert a current value are recognised."""
    sentences = [text.sentences[n] for text, n in rows]
    is_question = np.array(
        [text.ask is not None or sentence.mood == "ask" for (text, _), sentence in zip(rows, sentences)]
    )
    labelled = np.array([sentence.mood is not None for sentence in sentences]) & ~is_question
    current = np.array([sentence.mood == "current" for sentence in sentences])
    says = outputs.mood.softmax(-1).numpy()[:, 1] >= 0.5
    hits = (says & current & labelled).sum()
    return {
        "assert_precision": hits / max(1, (says & labelled).sum()),
        "assert_recall": hits / max(1, (current & labelled).sum()),
    }


def _slot_figures(
    chats: Sequence[ChatTexts], rows: Sequence[Row], chat_number: np.ndarray, slot: np.ndarray
) -> dict[str, float]:
    """Return how well the slot vectors tell pairs of one slot from others, and rank sentences for a question."""
    sentences = [text.sentences[n] for text, n in rows]
    current = np.array([sentence.mood == "current" for sentence in sentences])
    is_spoken = np.array([text.ask is None for text, _ in rows])
    same: list[float] = []
    other: list[float] = []
    reciprocal: list[float] = []
    for number, chat in enumerate(chats):
        stated = np.flatnonzero((chat_number == number) & current)
        similarity = slot[stated] @ slot[stated].T
        for i in range(len(stated)):
            for j in range(i):
                is_same = bool(set(sentences[stated[i]].slots) & set(sentences[stated[j]].slots))
                (same if is_same else other).append(similarity[i, j])
        spoken = np.flatnonzero((chat_number == number) & is_spoken)
        wanted = {id(text): slots for text, slots in chat.questions}
        for n in np.flatnonzero((chat_number == number) & ~is_spoken).tolist():
            slots = set(wanted[id(rows[n][0])])
            order = spoken[np.argsort(-(slot[spoken] @ slot[n]))].tolist()
            rank = next((r for r, at in enumerate(order) if slots & set(sentences[at].slots)), None)
            if rank is not None:
                reciprocal.append(1 / (rank + 1))
    return {"pair_auc": _auc(same, other), "question_mrr": _mean(reciprocal), "changes": len(same)}


def _question_figures(rows: Sequence[Row], outputs: Outputs) -> dict[str, float]:
    """Return how well the targets of questions are recognised."""
    asks = [(n, ASKS.index(text.ask)) for n, (text, _) in enumerate(rows) if text.ask]
    best = outputs.ask.argmax(-1).numpy()
    state = [(ASKS[best[n]] in ("current", "yesno"), ASKS[wanted] in ("current", "yesno")) for n, wanted in asks]
    return {
        "ask_accuracy": np.mean([best[n] == wanted for n, wanted in asks]),
        "asks_current_accuracy": np.mean([one == two for one, two in state]),
    }


def _request_figures(rows: Sequence[Row], outputs: Outputs) -> dict[str, float]:
    """Return how well requests are recognised, at a probability of 0.9."""
    figures: dict[str, float] = {}
    requests = outputs.requests.sigmoid().numpy()
    for k, name in enumerate(REQUESTS):
        texts: dict[int, tuple[bool, float]] = {}
        for n, (text, _) in enumerate(rows):
            if text.ask is None:
                known = texts.get(id(text), (False, 0.0))
                texts[id(text)] = name in text.requests, max(known[1], float(requests[n, k]))
        wanted_count = sum(wanted for wanted, _ in texts.values())
        right = sum(wanted and chance >= 0.9 for wanted, chance in texts.values())
        given = sum(chance >= 0.9 for _, chance in texts.values())
        figures |= {
            f"{name}_precision": right / max(1, given),
            f"{name}_recall": right / max(1, wanted_count),
            f"{name}_n": wanted_count,
        }
    return figures


def _group_figures(network: StateNetwork, cache: StateCache) -> dict[str, float]:
    """Return the figures on held-out groups (assertions) and snippets (requests and secrets, at two bounds)."""
    groups = [group_texts(group) for group in load_groups(held_out=True)]
    rows: list[Row] = [(text, 0) for group in groups for text in group.turns.values()]
    turns: list[Row] = [(text, 0) for snippet in load_snippets(held_out=True) for text in snippet_texts(snippet)]
    if not rows or not turns:
        return {}
    moods = read_rows(network, rows, cache).mood.softmax(-1).numpy()[:, 1]
    current = np.array([text.sentences[0].mood == "current" for text, _ in rows])
    figures = {
        "groups_assert_recall": (moods >= 0.5)[current].mean(),
        "groups_assert_false": (moods >= 0.5)[~current].mean(),
    }
    requests = read_rows(network, turns, cache).requests.sigmoid().numpy()
    for column, name in enumerate(REQUESTS):
        wanted = np.array([name in text.requests for text, _ in turns])
        for bound in (0.5, 0.9):
            given = requests[:, column] >= bound
            right = (given & wanted).sum()
            figures[f"{name}_{bound}_precision"] = right / max(1, given.sum())
            figures[f"{name}_{bound}_recall"] = right / max(1, wanted.sum())
        figures[f"{name}_snippets"] = wanted.sum()
    return figures


def _template_slot_figures(network: StateNetwork, cache: StateCache) -> dict[str, float]:
    items = [sentence for sentence in slot_sentences() if sentence.split == "tune"]
    rng = np.random.RandomState(3)
    items = [items[n] for n in sorted(rng.choice(len(items), min(1500, len(items)), replace=False))]
    outputs = read_rows(network, [(slot_text(item), 0) for item in items], cache)
    slot, ids = outputs.slot.numpy(), np.array([item.slot_id for item in items])
    asserts = np.array([item.role == "assert" for item in items])
    similarity = slot @ slot.T
    np.fill_diagonal(similarity, -9)
    scores: dict[str, list[float]] = {"assert": [], "question": []}
    for n, example in enumerate(items):
        if example.role not in scores:
            continue
        order = np.argsort(-similarity[n])
        order = order[[items[k].role != "question" for k in order]]
        right = np.flatnonzero((ids[order] == example.slot_id) & asserts[order])
        if len(right):
            scores[example.role].append(1 / (right[0] + 1))
    says = outputs.mood.argmax(-1).numpy() == MOODS.index("current")
    negative = np.array([item.role == "negative" and item.style != "other" for item in items])
    return {
        "slots_mrr": np.mean(scores["assert"]),
        "slots_question_mrr": np.mean(scores["question"]),
        "slots_assert_recall": says[asserts].mean(),
        "slots_negative_false": says[negative].mean(),
    }


def _auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    if not positive or not negative:
        return float("nan")
    ordered = np.sort(np.array(negative))
    values = np.array(positive)
    return float(
        (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")).mean() / 2 / len(ordered)
    )
