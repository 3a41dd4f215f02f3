"""Train the part of the state network that recognises requests and secrets; the layers stay as they are.

Usage: python -m training.train_requests NETWORK.pt [--rounds N] [--seed N]

Requests are rare, so they are learnt by themselves, from snippets and from the turns of the chats.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from training.evaluate import evaluate
from training.examples import REQUESTS, Text, chat_texts, is_ranker_chat, load_chats
from training.export import load_network
from training.groups import group_texts, load_groups, load_snippets, snippet_texts
from training.loop import seed_torch
from training.network import StateNetwork
from training.train import MODELS
from training.trunk import StateCache, open_trunk

BATCH = 64


class EncodedTexts:
    """Computes the last layer's states of each text once."""

    def __init__(self, network: StateNetwork, cache: StateCache) -> None:
        self._network, self._cache = network, cache
        self._known: dict[str, np.ndarray] = {}

    def __getitem__(self, text: str) -> np.ndarray:
        if text not in self._known:
            states = torch.from_numpy(self._cache[text].states.astype(np.float32))[None]
            with torch.no_grad():
                encoded = self._network.encode(states, torch.ones(1, states.shape[1]))
            self._known[text] = encoded[0].numpy().astype(np.float16)
        return self._known[text]


def collate(texts: Sequence[Text], encoded: EncodedTexts) -> tuple[Tensor, Tensor, Tensor]:
    """Return states, token masks and expected labels of whole texts."""
    rows = [encoded[text.text] for text in texts]
    length = max(map(len, rows))
    states = np.zeros((len(rows), length, rows[0].shape[1]), np.float32)
    inside = np.zeros((len(rows), length), np.float32)
    for number, row in enumerate(rows):
        states[number, : len(row)], inside[number, 1 : len(row) - 1] = row, 1.0
        inside[number, 0] = float(len(row) <= 2)
    wanted = [[float(name in text.requests) for name in REQUESTS] for text in texts]
    return torch.from_numpy(states), torch.from_numpy(inside), torch.tensor(wanted)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("network", type=Path)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seed_torch(options.seed)
    draw = random.Random(options.seed)
    saved = torch.load(options.network, map_location="cpu")
    network = load_network(options.network)
    cache = StateCache(open_trunk(saved["trunk"], MODELS))
    encoded = EncodedTexts(network, cache)
    chats = [chat_texts(chat) for chat in load_chats() if not is_ranker_chat(chat)]
    turns = [text for chat in chats for text in chat.turns.values()]
    plain = [text for text in turns if not text.requests]
    texts = [text for snippet in load_snippets() for text in snippet_texts(snippet)]
    group_turns = [text for group in load_groups() for text in group_texts(group).turns.values()]
    texts += [text for text in turns if text.requests] + plain + draw.sample(group_turns, 4000)
    parts = [network.request_pool, network.request_hidden, network.request_out]
    parameters = [parameter for part in parts for parameter in part.parameters()]
    steps = options.rounds * (len(texts) // BATCH)
    optimiser = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-3, total_steps=steps + 1)
    for round_number in range(options.rounds):
        draw.shuffle(texts)
        total = 0.0
        network.train()
        for start in range(0, len(texts) - BATCH + 1, BATCH):
            states, inside, wanted = collate(texts[start : start + BATCH], encoded)
            logits = network.read_requests(states, inside)
            loss = F.binary_cross_entropy_with_logits(logits, wanted, weight=torch.where(wanted > 0, 3.0, 1.0))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
        print(f"round {round_number + 1} of {options.rounds}, loss {total * BATCH / len(texts):.4f}", flush=True)
    figures = evaluate(network.eval(), cache)
    print({name: value for name, value in figures.items() if name.startswith(REQUESTS)})
    torch.save(saved | {"weights": network.state_dict()}, options.network)


if __name__ == "__main__":
    main()
