"""The loop by which each network is trained: two learning rates, warm-up and decay, progress, saving."""

from __future__ import annotations

import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

WARM_UP_STEPS, LAST_RATE = 30, 0.03
"""Steps until the full learning rate, and the share of it at the end."""
PROGRESS_STEPS = 25
"""A line of progress is printed after this many steps."""


def seed_torch(seed: int) -> None:
    """Seed torch and use the threads that OMP_NUM_THREADS allows."""
    torch.manual_seed(seed)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))


def train_network(
    network: nn.Module,
    losses: Iterator[dict[str, Tensor]],
    steps: int,
    rates: tuple[float, float],
    report_steps: int,
    report: Callable[[], None],
) -> None:
    """Take one step for each of `steps` losses; `rates` are those of `network.layers`, pretrained, and of the rest.

    `report` is called after every `report_steps` and at the end; the caller saves the network there.
    """
    optimiser = _make_optimiser(network, *rates)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate_share(step, steps))
    began, totals = time.monotonic(), defaultdict[str, float](float)
    for step in range(1, steps + 1):
        network.train()
        parts = next(losses)
        optimiser.zero_grad()
        torch.stack(list(parts.values())).sum().backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        for name, value in parts.items():
            totals[name] += float(value.detach()) / PROGRESS_STEPS
        if step % PROGRESS_STEPS == 0:
            means = " ".join(f"{name} {value:.3f}" for name, value in totals.items())
            print(f"step {step} of {steps}, {time.monotonic() - began:.0f} s: {means}", flush=True)
            totals.clear()
        if step % report_steps == 0 or step == steps:
            report()


def save_network(network: nn.Module, path: Path, **more: object) -> None:
    """Save a network's sizes and weights."""
    sizes = {"width": network.width, "layers": len(network.layers), "heads": network.layers[0].heads}
    torch.save({**sizes, **more, "weights": network.state_dict()}, path)


def _rate_share(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / WARM_UP_STEPS) * max(LAST_RATE, 0.5 * (1 + math.cos(math.pi * step / steps)))


def _make_optimiser(network: nn.Module, layer_rate: float, head_rate: float) -> torch.optim.Optimizer:
    layers = list(network.layers.parameters())
    layer_ids = {id(parameter) for parameter in layers}
    heads = [parameter for parameter in network.parameters() if id(parameter) not in layer_ids]
    groups = [{"params": layers, "lr": layer_rate}, {"params": heads, "lr": head_rate}]
    return torch.optim.AdamW(groups, weight_decay=0.01)
