"""What the server offers, as its lists tell it, without what does the work: a list is asked for before anything else.

The tools stand in a file made from the tools themselves, by `python -m lamina.mcp.tools`; a test keeps it true.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import mcp.types as types

TOOLS_FILE = Path(__file__).with_name("tools.json")

ATOM = "memory://atom/{id}"
PROFILE, INBOX, JOURNAL = "memory://profile", "memory://inbox", "memory://journal"
JSON, TEXT = "application/json", "text/plain"
NEWEST = 50
RECALL_CONTEXT, REVIEW_INBOX = "recall_context", "review_inbox"
READING = ("recall", "get", "review", "status")
"""The tools that read; of review, what it lists."""

RESOURCES = [
    types.Resource(
        uri=PROFILE,
        name="profile",
        title="Profile",
        mime_type=TEXT,
        description="What the people here prefer, do, care for and ask to be kept to. Stored words, fenced as data.",
        annotations=types.Annotations(audience=["assistant"], priority=0.8),
    ),
    types.Resource(
        uri=INBOX,
        name="inbox",
        title="Inbox",
        mime_type=JSON,
        description=f"What waits for a person's word, the first {NEWEST}: what it says, why it waits, and what each "
        "decision would do.",
        annotations=types.Annotations(audience=["user", "assistant"], priority=0.4),
    ),
    types.Resource(
        uri=JOURNAL,
        name="journal",
        title="Journal",
        mime_type=JSON,
        description=f"The newest {NEWEST} commits, oldest first: who changed which atom, when and why.",
        annotations=types.Annotations(audience=["user", "assistant"], priority=0.2),
    ),
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template=ATOM,
        name="atom",
        title="Atom",
        mime_type=JSON,
        description="One remembered thing, by its id: its words and fields, the sentences it rests on, its history "
        "and its links.",
        annotations=types.Annotations(audience=["user", "assistant"], priority=0.5),
    )
]
PROMPTS = [
    types.Prompt(
        name=RECALL_CONTEXT,
        title="Recall context",
        description="Put what is remembered on a question before the model, fenced as data.",
        arguments=[
            types.PromptArgument(
                name="question",
                title="Question",
                required=True,
                description="What you are going to ask or work on; what is known of it is put before the model.",
            )
        ],
    ),
    types.Prompt(
        name=REVIEW_INBOX,
        title="Review inbox",
        description="Go through what waits for your word, item by item, with the model as your clerk.",
        arguments=[],
    ),
]


@cache
def tools() -> list[types.Tool]:
    """The tools with their schemas."""
    return [types.Tool.model_validate(load) for load in json.loads(TOOLS_FILE.read_text(encoding="utf-8"))]


def tools_that(*, reads_only: bool) -> list[types.Tool]:
    """All the tools, or those that are of use where nothing may be written."""
    return [tool for tool in tools() if not reads_only or tool.name in READING]
