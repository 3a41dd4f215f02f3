"""Ask every chat's questions through the engine and write down what it finds, for the ranker to learn from.

Usage: python -m training.retrieval OUT.jsonl [--embedder auto|light] [--held-out] [--all]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from training.chat_format import AnnotatedChat
from training.examples import is_ranker_chat, load_chats, speaker_of, without_speaker

CANDIDATES = 30
OTHER_TALK = 120
"""How many turns of other chats, which state nothing, are mixed in: stores are larger than a chat."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--all", action="store_true", help="every training chat, not only the ranker's")
    options = parser.parse_args()
    os.environ["LAMINA_EMBEDDER"], os.environ["LAMINA_EXTRACTOR"] = options.embedder, "none"
    os.environ["LAMINA_STATE_MODEL"] = "off"
    chats = load_chats(held_out=options.held_out)
    chosen = [chat for chat in chats if options.all or options.held_out or is_ranker_chat(chat)]
    draw = random.Random(7)
    with options.out.open("w", encoding="utf-8") as out:
        for number, chat in enumerate(chosen):
            if number % 20 == 0:
                print(f"chat {number} of {len(chosen)}", flush=True)
            for row in ask_chat(chat, draw.sample(_talk(chosen, chat), OTHER_TALK)):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{len(chosen)} chats")


def _talk(chats: Sequence[AnnotatedChat], own: AnnotatedChat) -> list[str]:
    """Return the turns of other chats that state, ask and request nothing, and are said by the user."""
    return [
        turn.text
        for chat in chats
        if chat is not own
        for turn in chat.turns
        if not turn.facts and not turn.requests and without_speaker(turn.text) == turn.text
    ]


def ask_chat(chat: AnnotatedChat, other_talk: Sequence[str]) -> list[dict]:
    """Capture a chat, with other talk in between, into a vault of its own and return what each question finds, best
    first."""
    import lamina
    from lamina.clock import FixedClock

    root = Path(tempfile.mkdtemp(prefix="retrieval-"))
    clock = FixedClock(_moment(chat.turns[0].day, 0))
    turn_at: dict[tuple[str, str], int] = {}
    with lamina.open(root / "vault", clock=clock, watch=False, background=False) as memory:
        numbers = sorted({turn.session for turn in chat.turns})
        for place, session in enumerate(numbers):
            turns = [turn for turn in chat.turns if turn.session == session]
            clock.at = max(clock.at, _moment(turns[-1].day, len(turns)) + timedelta(hours=10))
            captured = []
            for minute, turn in enumerate(turns):
                at = _moment(turn.day, minute).isoformat()
                text = without_speaker(turn.text)
                speaker = speaker_of(turn, chat) if text != turn.text else "user"
                captured.append({"speaker": speaker, "content": text, "at": at})
                turn_at[datetime.fromisoformat(at).isoformat(), text] = turn.number
            memory.capture(captured, session_id=f"{chat.id}-{session}", wait=True)
            at = (_moment(turns[-1].day, 0) + timedelta(hours=9)).isoformat()
            between = [{"speaker": "user", "content": text, "at": at} for text in other_talk[place :: len(numbers)]]
            memory.capture(between, session_id=f"{chat.id}-{session}-other", wait=True)
        clock.at += timedelta(days=2)
        memory.embed()
        rows = []
        for question in chat.questions:
            results = memory.recall(question.text, k=CANDIDATES)
            hits = [
                {
                    "turn": turn_at.get((hit.passage.at.isoformat() if hit.passage.at else "", hit.passage.text)),
                    "text": hit.passage.text,
                    "at": hit.passage.at.timestamp() if hit.passage.at else 0.0,
                    "speaker": hit.passage.speaker,
                    "session": hit.atom.session_id,
                    "relevance": hit.relevance,
                    "terms": dict(hit.terms),
                    "relevant": hit.relevant,
                }
                for hit in results.hits
            ]
            rows.append(
                {
                    "chat": chat.id,
                    "question": question.text,
                    "kind": question.kind,
                    "gold": question.gold,
                    "now": clock.at.timestamp(),
                    "hits": hits,
                }
            )
    shutil.rmtree(root)
    return rows


def _moment(day: str, minute: int) -> datetime:
    return datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC) + timedelta(minutes=minute)


if __name__ == "__main__":
    main()
