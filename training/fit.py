"""Fit the decisions that go with the trained models, on people and chats the models never saw.

Usage: python -m training.fit minilm|light RECORDS.jsonl HELD_OUT.jsonl DECISIONS.json

What comes first, which candidates hold an earlier value and which answer at all. The
figures printed last are on held-out people.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from lamina.models.list_reader import ListReader
from lamina.models.state_model import StateModel
from lamina.states.current_state_ranking import CertaintyRange
from lamina.states.fitted_decisions import LogisticModel
from training.answers import fit_answers
from training.earlier import fit_earlier
from training.ranker import fit_ranker, load_records
from training.train import MODELS
from training.trunk import open_trunk

GATES = {"minilm": CertaintyRange(0.9, 0.995), "light": CertaintyRange(0.6, 0.95)}
"""Chosen on development talk, so that questions about events keep their order."""


def main() -> None:
    name, train_path, held_path, out = sys.argv[1], *map(Path, sys.argv[2:5])
    trunk = open_trunk(name, MODELS)
    model, reader = StateModel(trunk), ListReader(trunk)
    gate = GATES[name]
    decisions: dict[str, object] = {"gate": asdict(gate)}
    training, held_out = (load_records(path, model, reader, gate) for path in (train_path, held_path))
    ranker = fit_ranker(training, held_out)
    decisions["ranker"] = ranker
    answers = fit_answers(training, held_out, ranker)
    decisions["earlier"] = fit_earlier(training, held_out, LogisticModel(**answers))
    decisions["answers"] = answers
    out.write_text(json.dumps(decisions, indent=1) + "\n")


if __name__ == "__main__":
    main()
