"""Small files in the schema of each data set."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a greyhound called Pixel yesterday."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a photo of a marmalade cat"},
                {"speaker": "Ann", "dia_id": "D1:3", "text": "   "},
            ],
            "session_2_date_time": "10:00 am on 1 June, 2023",
            "session_2": [
                {"speaker": "Ben", "dia_id": "D2:1", "text": "My violin teacher moved to Lisbon."},
                {"speaker": "Ann", "dia_id": "D2:2", "text": "Pixel ran along the harbour this morning."},
            ],
            "session_3_date_time": "10:00 am on 2 June, 2023",
            "session_3": [],
        },
        "qa": [
            {"question": "Which greyhound did Ann adopt?", "evidence": ["D1:1"], "category": 4},
            {
                "question": "What did the greyhound Pixel do at the harbour?",
                "evidence": ["D1:01; D:2:2"],
                "category": 1,
            },
            {"question": "Whose marmalade cat is it?", "evidence": ["D1:2"], "category": 5},
            {"question": "Where is nothing?", "evidence": ["D9:9"], "category": 4},
            {"question": "Where is the violin teacher?", "evidence": [], "category": 3},
        ],
    },
    {
        "sample_id": "conv-2",
        "conversation": {
            "session_1_date_time": "9:00 am on 3 March, 2022",
            "session_1": [{"speaker": "Eva", "dia_id": "D1:1", "text": "The greyhound bus was late again."}],
        },
        "qa": [{"question": "Which bus was late?", "evidence": ["D1:1"], "category": 2}],
    },
]

ORACLE: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "How many orchids did I buy?",
        "question_date": "2023/05/30 (Tue) 01:13",
        "haystack_dates": ["2023/05/20 (Sat) 06:13", "2023/05/25 (Thu) 08:00"],
        "haystack_session_ids": ["s1", "s2"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I bought two orchids today.", "has_answer": True},
                {"role": "assistant", "content": "Keep them away from draughts.", "has_answer": False},
            ],
            [{"role": "user", "content": "One more orchid came home with me.", "has_answer": True}],
        ],
        "answer_session_ids": ["s1", "s2"],
    },
    {
        "question_id": "q2",
        "question_type": "single-session-assistant",
        "question": "What did you say about draughts?",
        "question_date": "2023/06/01 (Thu) 12:00",
        "haystack_dates": ["2023/05/20 (Sat) 06:13"],
        "haystack_session_ids": ["s1"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I bought two orchids today."},
                {"role": "assistant", "content": "Keep them away from draughts.", "has_answer": True},
            ]
        ],
        "answer_session_ids": ["s1"],
    },
    {
        "question_id": "q3_abs",
        "question_type": "multi-session",
        "question": "How many parrots did I buy?",
        "question_date": "2023/06/01 (Thu) 12:00",
        "haystack_dates": ["2023/05/21 (Sun) 06:13"],
        "haystack_session_ids": ["s3"],
        "haystack_sessions": [[{"role": "user", "content": "I like budgerigars.", "has_answer": False}]],
        "answer_session_ids": ["s3"],
    },
]

HEADS: dict[str, Any] = {
    "sessions": {"a": "I redeemed a coupon for creamer.", "b": "My kayak leaks.", "c": "The creamer was cheap."},
    "questions": [
        {
            "question_id": "h1",
            "question_type": "single-session-user",
            "question": "Where did I redeem a coupon?",
            "question_date": "2023/05/30 (Tue) 01:13",
            "answer_session_ids": ["a"],
            "haystack": [
                ["b", "2023/05/20 (Sat) 06:13"],
                ["a", "2023/05/21 (Sun) 06:13"],
                ["b", "2023/05/22 (Mon) 01:00"],
            ],
        },
        {
            "question_id": "h2",
            "question_type": "knowledge-update",
            "question": "Is the kayak dry?",
            "question_date": "2023/05/30 (Tue) 01:13",
            "answer_session_ids": ["b", "c"],
            "haystack": [["b", "2023/05/20 (Sat) 06:13"], ["c", "2023/05/21 (Sun) 06:13"]],
        },
    ],
}

BEAM: list[dict[str, Any]] = [
    {
        "id": 7,
        "chat": [
            {
                "batch_number": 1,
                "time_anchor": None,
                "turns": [
                    [
                        {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "My sprint ends in May."},
                        {"role": "assistant", "id": 1, "content": "Noted, the sprint is short."},
                    ]
                ],
            },
            {
                "batch_number": 2,
                "time_anchor": None,
                "turns": [[{"role": "user", "id": 2, "time_anchor": "April-05-2024", "content": "Flask uses SQLite."}]],
            },
        ],
        "probing_questions": {
            "abstention": [{"question": "What about pandas?"}],
            "information_extraction": [{"question": "When does my sprint end?", "source_chat_ids": [0]}],
            "knowledge_update": [
                {"question": "Which database does Flask use?", "source_chat_ids": {"first": [2], "second": [[0, 99]]}}
            ],
        },
    }
]

SCIFACT: dict[str, Any] = {
    "docs": {
        "11": {"title": "Cerebral white matter", "text": "Newborns were imaged.\n\nDiffusion was measured. " * 80},
        "12": {"title": "Glioma stem cells", "text": "A20 decreases survival."},
    },
    "queries": [
        {"id": "1", "text": "Diffusion shows cerebral white matter.", "gold": ["11"]},
        {"id": "2", "text": "A20 matters for glioma.", "gold": ["12", "404"]},
        {"id": "3", "text": "Nobody wrote of this.", "gold": ["405"]},
    ],
}

FACTS: list[dict[str, Any]] = [
    {
        "name": "factconsolidation_sh_6k",
        "context": "Here is a list:\n0. The capital of Atlantis is Rodez.\n1. Goaltender is a place in Hockey.\n",
        "questions": ["What is the capital of Atlantis?", "Which sport knows the goaltender?"],
        "answers": [["rodez"], ["pesäpallo"]],
    },
    {
        "name": "factconsolidation_mh_6k",
        "context": "Here is a list:\n0. The capital of Atlantis is Rodez.\n1. Goaltender is a place in Hockey.\n",
        "questions": ["Which sport knows the goaltender of the capital?"],
        "answers": [["Hockey", "Ice"]],
    },
    {"name": "another_task", "context": "", "questions": [], "answers": []},
]

CHANGE: dict[str, Any] = {
    "name": "small",
    "scenarios": [
        {
            "id": "moved",
            "family": "current_value",
            "domain": "home",
            "user": "Ann",
            "scopes": ["main", "office"],
            "sessions": [
                {
                    "id": "s1",
                    "scope": "main",
                    "origin": "human",
                    "at": "2025-01-10T10:00:00Z",
                    "turns": [
                        {"speaker": "user", "name": "Ann", "at": "2025-01-10T10:01:00Z", "text": "I live in Oslo."},
                        {"speaker": "assistant", "name": "assistant", "at": "2025-01-10T10:02:00Z", "text": "Noted."},
                        {"speaker": "other", "name": "Ben", "at": "2025-01-10T10:03:00Z", "text": "I live in Riga."},
                    ],
                },
                {
                    "id": "s2",
                    "scope": "office",
                    "origin": "document",
                    "at": "2025-02-10T10:00:00Z",
                    "turns": [
                        {
                            "speaker": "user",
                            "name": "Ann",
                            "at": "2025-02-10T10:01:00Z",
                            "text": "The office is in Kiel.",
                        }
                    ],
                },
            ],
            "steps": [
                {"do": "capture", "session": "s1"},
                {"do": "capture", "session": "s2"},
                {"do": "recapture", "session": "s1"},
                {"do": "maintain", "times": 2},
                {"do": "check", "checks": ["k1", "k2", "k3", "k4"]},
            ],
            "checks": [
                {
                    "id": "k1",
                    "type": "current_value",
                    "rule": "current",
                    "tier": "core",
                    "scope": "main",
                    "query": "Where do I live?",
                    "now": "2025-02-11T10:00:00Z",
                    "expect": ["Oslo"],
                    "expect_k": 3,
                    "reject": ["Paris"],
                    "reject_k": 5,
                    "strict": False,
                },
                {
                    "id": "k2",
                    "type": "scope",
                    "rule": "absent",
                    "tier": "core",
                    "scope": "main",
                    "query": "Where is the office?",
                    "now": "2025-02-11T10:00:00Z",
                    "expect": [],
                    "expect_k": 3,
                    "reject": ["Kiel"],
                    "reject_k": 5,
                    "strict": True,
                },
                {
                    "id": "k3",
                    "type": "history",
                    "rule": "as_of",
                    "tier": "core",
                    "scope": "main",
                    "query": "Where did I live?",
                    "now": "2025-02-11T10:00:00Z",
                    "as_of": "2025-01-10",
                    "expect": ["Oslo"],
                    "expect_k": 3,
                    "reject": [],
                    "reject_k": 5,
                    "strict": False,
                },
                {
                    "id": "k4",
                    "type": "current_value",
                    "rule": "current",
                    "tier": "hard",
                    "scope": "office",
                    "query": "Where is the office?",
                    "now": "2025-02-11T10:00:00Z",
                    "known_at": "2025-01-31",
                    "expect": ["Kiel"],
                    "expect_k": 3,
                    "reject": [],
                    "reject_k": 5,
                    "strict": False,
                    "requires": "k1",
                },
            ],
        }
    ],
}


def _belief(own_id: str, name: str, content: str, **fields: Any) -> dict[str, Any]:
    return {
        "_id": own_id,
        "user_id": "ann",
        "type": "preference",
        "canonical_name": name,
        "aliases": [],
        "content": content,
        "scope": ["domain:code"],
        "pinned": False,
        "confidence": 0.9,
        "created_at": "2026-01-01T00:00:00Z",
        "resolved_at": None,
        "superseded_by": None,
        **fields,
    }


BELIEFS: dict[str, Any] = {
    "beliefs.seed.json": [
        _belief("b-cat", "cat_food", "Feeds the cat at noon.", aliases=["feline"]),
        _belief("b-old", "lint_old", "Linted with Alpha.", superseded_by="b-new", aliases=["Alpha"]),
        _belief(
            "b-new", "lint_new", "Lints with Beta.", pinned=True, created_at="2026-02-01T00:00:00Z", aliases=["Beta"]
        ),
        _belief("b-open", "hosting", "Undecided where to host.", type="open_question", pinned=True),
        _belief(
            "b-done", "naming", "Was undecided on names.", type="open_question", resolved_at="2026-01-15T00:00:00Z"
        ),
        _belief("b-link", "deploys", "Deploys need the cat.", type="relation", participants=["b-cat"]),
        _belief("b-secret", "secret", "Ben likes felines.", user_id="ben", aliases=["feline"]),
    ],
    "retrieval.cases.json": [
        {
            "caseId": "alias",
            "category": "Alias resolution",
            "scope": ["domain:code"],
            "query": "feline dinner",
            "userId": "ann",
            "expect": {
                "pinnedFacts": {"mustInclude": ["b-new"]},
                "relevantBeliefs": {"shouldOnlyInclude": ["b-cat"]},
                "openQuestions": {"mustInclude": ["b-open"], "mustExclude": ["b-done"]},
            },
        },
        {
            "caseId": "chain",
            "category": "Supersession chain exclusion",
            "scope": ["domain:code"],
            "userId": "ann",
            "query": "Alpha",
            "expect": {"pinnedFacts": {"mustInclude": ["b-new"]}, "relevantBeliefs": {"shouldOnlyInclude": []}},
        },
        {
            "caseId": "empty",
            "category": "Boundary",
            "scope": ["domain:code"],
            "query": "  ",
            "userId": "ann",
            "budget": {"maxBeliefs": 0},
            "expect": {"pinnedFacts": {"mustExclude": ["b-new"]}},
        },
    ],
    "session-retrieval.cases.json": [
        {
            "caseId": "talk",
            "turns": [
                {
                    "turnIndex": 0,
                    "label": "establishes_topic",
                    "scope": ["domain:code"],
                    "userId": "ann",
                    "userMessage": "feline",
                    "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["b-cat"]}},
                    "createBeliefAtTurn": _belief("b-dog", "hound", "Walks the hound."),
                },
                {
                    "turnIndex": 1,
                    "label": "drift",
                    "scope": ["domain:code"],
                    "userId": "ann",
                    "userMessage": "hound",
                    "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["b-dog"]}},
                    "updateBeliefAtTurn": {"beliefId": "b-cat", "addAliases": ["mouser"]},
                },
                {
                    "turnIndex": 2,
                    "label": "re_entry",
                    "scope": ["domain:code"],
                    "userId": "ann",
                    "userMessage": "mouser",
                    "expect": {
                        "relevantBeliefs": {"shouldOnlyInclude": ["b-cat"]},
                        "noiseCheck": {"mustNotSurface": ["b-dog"]},
                    },
                },
            ],
        }
    ],
}

OVERTAKEN: list[dict[str, Any]] = [
    {
        "question_id": "u1",
        "question_type": "knowledge-update",
        "question": "How many orchids do I have?",
        "question_date": "2023/06/30 (Fri) 01:13",
        "haystack_dates": ["2023/06/20 (Tue) 08:00", "2023/05/20 (Sat) 06:13"],
        "haystack_session_ids": ["later", "sooner"],
        "haystack_sessions": [
            [{"role": "user", "content": "I have five orchids.", "has_answer": True}],
            [{"role": "user", "content": "I have two orchids.", "has_answer": True}],
        ],
        "answer_session_ids": ["later", "sooner"],
    }
]


NATURAL: dict[str, Any] = {
    "about": "Tove, who repairs boats.",
    "now": "2026-06-01T12:00:00Z",
    "speaker": "Tove",
    "sessions": [
        {
            "id": "t1",
            "turns": [
                {"speaker": "Tove", "content": "The yard's crane lifts 12 tonnes.", "at": "2026-01-05T08:00:00Z"},
                {"speaker": "Tove", "content": "My mooring is at Skagen.", "at": "2026-01-05T08:02:00Z"},
            ],
        },
        {
            "id": "t2",
            "turns": [
                {"speaker": "Tove", "content": "New crane came, it lifts 20 tonnes.", "at": "2026-04-05T08:00:00Z"}
            ],
        },
    ],
    "checks": [
        {"kind": "changed", "query": "crane lifts", "expect": ["20 tonnes"], "reject": ["12 tonnes"], "at": None},
        {"kind": "stable", "query": "mooring", "expect": ["skagen"], "reject": [], "at": None},
        {"kind": "history", "query": "crane lifts", "expect": ["12 tonnes"], "reject": ["20"], "at": "2026-02-01"},
        {"kind": "unknown", "query": "zebra", "expect": [], "reject": [], "at": None},
        {"kind": "gone", "query": "mooring", "expect": [], "reject": ["skagen"], "at": None},
    ],
}

NATURAL_LINKS: list[dict[str, Any]] = [
    {
        "old": {"session": "t1", "turn": 0, "quote": "The yard's crane lifts 12 tonnes"},
        "new": {"session": "t2", "turn": 0, "quote": "it lifts 20 tonnes"},
        "verdict": "replaces",
        "note": "",
    }
]

CHAINS: list[dict[str, Any]] = [
    {
        "uid": "boat",
        "slot": "boat",
        "chain": [{"value": "Sea Wren", "date": "2024-02-03"}, {"value": "The Puffin", "date": "2025-02-03"}],
        "state_sessions": [
            {"date": "2024-02-03", "turns": ["The boat I sail is called Sea Wren."]},
            {"date": "2025-02-03", "turns": ["Cold morning.", "The boat I sail is the Puffin since the sale."]},
        ],
        "queries": {
            "dim1_current": {"q": "Which boat do I sail?", "gold": "The Puffin"},
            "dim4_point_in_time": {"q": "Which boat did I sail?", "gold": "Sea Wren", "date": "2024-06-01"},
        },
    },
    {
        "uid": "too short",
        "slot": "boat",
        "chain": [{"value": "Sea Wren", "date": "2024"}, {"value": "The Puffin", "date": "2025"}],
        "state_sessions": [{"date": "2024", "turns": ["The boat I sail is called Sea Wren."]}],
        "queries": {"dim1_current": {"q": "Which boat do I sail?", "gold": "The Puffin"}},
    },
]


def beliefs(folder: Path) -> Path:
    """The three files of PrecisionMemBench in a folder."""
    folder.mkdir()
    for name, data in BELIEFS.items():
        write(folder / name, data)
    return folder


def write(path: Path, data: object) -> Path:
    """The data as a JSON file, gzipped if the name says so."""
    raw = json.dumps(data).encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path
