"""Train the state model's network on cached trunk states.

Usage: python -m training.train minilm|light OUT.pt [--steps N] [--seed N] [--everything]
       [--start WEIGHTS.onnx] [--rate R]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lamina.models.model_files import MINILM_WEIGHTS
from training.batches import Batch, Sampler
from training.evaluate import evaluate
from training.examples import ASKS, MOODS, Text, chat_texts, is_ranker_chat, load_chats
from training.groups import group_texts, load_groups, load_snippets, snippet_texts
from training.import_weights import read_exported_weights
from training.loop import save_network, seed_torch, train_network
from training.network import Outputs, StateNetwork, load_upper_layers
from training.slot_sentences import event_sentences, read_jsonl, slot_sentences
from training.trunk import StateCache, open_trunk

TEMPERATURE = 0.06
BUCKETS = 5
"""Texts sorted by length are encoded in this many parts, so that short ones are not padded to the longest."""
MODELS = Path("~/.cache/lamina/models").expanduser()


def collate(texts: Sequence[Text], spans: Sequence[tuple[int, int, int]], cache: StateCache) -> tuple[Tensor, ...]:
    """Return states, token mask, sentence mask and each sentence's text; `spans` are (text number, start, end)."""
    cached = [cache[text.text] for text in texts]
    length, width = max(len(sentence.states) for sentence in cached), cached[0].states.shape[1]
    states, keep = np.zeros((len(texts), length, width), np.float32), np.zeros((len(texts), length), np.float32)
    for row, sentence in enumerate(cached):
        states[row, : len(sentence.states)], keep[row, : len(sentence.states)] = sentence.states, 1.0
    inside = np.zeros((len(spans), length), np.float32)
    for row, (number, start, end) in enumerate(spans):
        for token, (first, last) in enumerate(cached[number].spans, 1):
            if first < end and last > start:
                inside[row, token] = 1.0
        if not inside[row].any():
            inside[row, 0] = 1.0
    owner = torch.tensor([number for number, _, _ in spans])
    return torch.from_numpy(states), torch.from_numpy(keep), torch.from_numpy(inside), owner


def run_batch(network: StateNetwork, batch: Batch, cache: StateCache) -> tuple[Outputs, list[Text]]:
    texts = sorted(batch.texts, key=lambda text: len(cache[text.text].states))
    number = {id(text): n for n, text in enumerate(texts)}
    spans = [(number[id(row.text)], row.sentence.start, row.sentence.end) for row in batch.rows]
    states, keep, inside, owner = collate(texts, spans, cache)
    length = states.shape[1]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        parts = []
        for some in torch.chunk(torch.arange(len(texts)), BUCKETS):
            longest = int(keep[some].sum(1).max())
            encoded = network.encode(states[some, :longest], keep[some, :longest])
            parts.append(F.pad(encoded, (0, 0, 0, length - longest)))
        outputs = network.read(torch.cat(parts), inside, owner)
    return Outputs(*(output.float() for output in outputs)), texts


def losses(
    network: StateNetwork, outputs: Outputs, batch: Batch, texts: Sequence[Text], cache: StateCache
) -> dict[str, Tensor]:
    parts = _slot_losses(network, outputs.slot, batch)
    rows = batch.rows
    moods = torch.tensor([MOODS.index(row.sentence.mood) if row.sentence.mood else -100 for row in rows])
    parts["mood"] = F.cross_entropy(outputs.mood, moods, ignore_index=-100)
    parts["own"] = 0.6 * _masked_bce(outputs.own, [row.sentence.is_own for row in rows])
    parts["many"] = 0.3 * _masked_bce(outputs.many, [row.sentence.is_many for row in rows], positive=3.0)
    asks = torch.tensor([ASKS.index(row.text.ask) if row.text.ask else -100 for row in rows])
    weights = torch.tensor([0.15 if row.source.startswith(("slots:", "group:")) else 1.0 for row in rows])
    chosen = asks >= 0
    if chosen.any():
        entropy = F.cross_entropy(outputs.ask[chosen], asks[chosen], reduction="none")
        parts["ask"] = 0.5 * (entropy * weights[chosen]).sum() / weights[chosen].sum()
    parts["value"] = _value_loss(outputs.tokens, texts, cache)
    return parts


def _slot_losses(network: StateNetwork, slot: Tensor, batch: Batch) -> dict[str, Tensor]:
    """Return the losses: rows of one slot attract each other; other slots of the same chat are the main negatives."""
    rows, count = batch.rows, len(batch.rows)
    positive, masked = np.zeros((count, count), bool), np.eye(count, dtype=bool)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            if i == j:
                continue
            if one.groups & other.groups:
                positive[i, j] = True
            elif (
                one.is_soft
                or other.is_soft
                or one.text.text == other.text.text
                or (one.source != other.source and one.words & other.words)
            ):
                masked[i, j] = True
    pos, mask = torch.from_numpy(positive), torch.from_numpy(masked)
    similarity = slot @ slot.T
    logits = (similarity / TEMPERATURE).masked_fill(mask, -1e4)
    has = pos.any(1)
    shares = ((logits - logits.logsumexp(1, keepdim=True)) * pos).sum(1)[has] / pos.sum(1)[has]
    calibrated = F.binary_cross_entropy_with_logits(
        network.scale[0] * similarity + network.scale[1], pos.float(), reduction="none"
    )
    hardest = torch.topk(calibrated.masked_fill(mask | pos, -1.0).flatten(), max(1, int(pos.sum()) * 2)).values
    return {"slot": -shares.mean(), "pairs": 0.3 * (calibrated[pos].mean() + hardest.clamp(min=0).mean())}


def _masked_bce(logits: Tensor, labels: Sequence[bool | None], positive: float = 1.0) -> Tensor:
    known = torch.tensor([label is not None for label in labels])
    if not known.any():
        return logits.sum() * 0.0
    wanted = torch.tensor([float(bool(label)) for label in labels])
    weights = torch.where(wanted[known] > 0, positive, 1.0)
    return F.binary_cross_entropy_with_logits(logits[known], wanted[known], weight=weights)


def _value_loss(tokens: Tensor, texts: Sequence[Text], cache: StateCache) -> Tensor:
    labels = torch.full(tokens.shape[:2], -100)
    for row, text in enumerate(texts):
        values = [value for sentence in text.sentences for value in sentence.values]
        if not values:
            continue
        for token, (first, last) in enumerate(cache[text.text].spans, 1):
            inside = next((value for value in values if first < value[1] and last > value[0]), None)
            labels[row, token] = 0 if inside is None else 1 if first <= inside[0] else 2
    if not (labels >= 0).any():
        return tokens.sum() * 0.0
    weights = torch.tensor([0.5, 1.0, 1.0])
    return 0.7 * F.cross_entropy(tokens.reshape(-1, 3), labels.reshape(-1), ignore_index=-100, weight=weights)


def main() -> None:
    options = _parse_options()
    seed_torch(options.seed)
    cache = StateCache(open_trunk(options.trunk, MODELS))
    sampler = _make_sampler(options.everything, options.seed)
    network, (layer_rate, head_rate) = _make_network(options.trunk, options.layers)
    if options.start:
        network.load_state_dict(read_exported_weights(options.start, network))
    rates = options.rate * layer_rate, options.rate * head_rate

    def step_losses() -> Iterator[dict[str, Tensor]]:
        while True:
            batch = sampler.batch()
            outputs, texts = run_batch(network, batch, cache)
            yield losses(network, outputs, batch, texts, cache)

    def report() -> None:
        print(json.dumps(evaluate(network, cache)), flush=True)
        save_network(network, options.out, trunk=options.trunk)

    train_network(network, step_losses(), options.steps, rates, 250, report)


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("trunk", choices=["minilm", "light"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=int)
    parser.add_argument("--start", type=Path, help="an exported state model for the transformer, to go on with")
    parser.add_argument("--rate", type=float, default=1.0, help="times the usual learning rates")
    parser.add_argument("--everything", action="store_true", help="train on the ranker's chats too")
    return parser.parse_args()


def _make_sampler(everything: bool, seed: int) -> Sampler:
    """Return a sampler of all training data; the ranker's chats are included only if `everything` is set."""
    chats = [chat_texts(chat) for chat in load_chats()]
    training = [item for item in chats if everything or not is_ranker_chat(item.chat)]
    slots = [sentence for sentence in slot_sentences() if sentence.split == "train"]
    remarks = [
        row["text"]
        for name in ("distractors", "talk", "social")
        for row in read_jsonl(f"{name}.jsonl")
        if row.get("split", "train") == "train" and not row.get("lasting")
    ]
    groups = [group_texts(group) for group in load_groups()]
    requests = [text for snippet in load_snippets() for text in snippet_texts(snippet)]
    events = [text for texts in event_sentences("train").values() for text in texts]
    return Sampler(training, groups, requests, slots, remarks, events, seed)


def _make_network(trunk: str, layer_count: int | None) -> tuple[StateNetwork, tuple[float, float]]:
    """Return the network on a trunk and the learning rates of its layers, pretrained or not, and of its heads."""
    if trunk == "light":
        return StateNetwork(256, layer_count or 2, heads=8), (4e-4, 6e-4)
    network = StateNetwork(384, layer_count or 3)
    load_upper_layers(network, MODELS / MINILM_WEIGHTS.sha256)
    return network, (1e-4, 3e-4)


if __name__ == "__main__":
    main()
