"""The tour's story: which scenes are played, in which order. Every result is real, every claim checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lamina.cli.chapters.change import Change
from lamina.cli.chapters.doors import Doors
from lamina.cli.chapters.files import Files
from lamina.cli.chapters.night import Night
from lamina.cli.chapters.talk import Talk
from lamina.cli.chapters.trust import Trust
from lamina.cli.chapters.work import Work
from lamina.cli.scene import Scene


class Story:
    """All chapters on one vault."""

    def __init__(self, vault: Path) -> None:
        self.vault = vault
        ids: dict[str, str] = {}
        self._talk, self._files, self._change = Talk(vault, ids), Files(vault, ids), Change(vault, ids)
        self._trust, self._work, self._night = Trust(vault, ids), Work(vault, ids), Night(vault, ids)
        self._doors = Doors(vault, ids)

    def scenes(self) -> list[Callable[[], Scene]]:
        """The scenes in their order; later ones build on earlier ones."""
        talk, files, change, trust, work = self._talk, self._files, self._change, self._trust, self._work
        night, doors = self._night, self._doors
        return [
            talk.capture,
            talk.recall,
            talk.meaning,
            talk.xray,
            talk.feedback,
            talk.models,
            files.edit,
            files.drop,
            change.supersede,
            change.history,
            change.move,
            change.replay,
            change.as_of,
            change.correct,
            change.known_at,
            change.hush,
            change.erase,
            trust.hold,
            trust.feed,
            trust.dispute,
            trust.decide,
            trust.suspect,
            trust.release,
            work.work,
            work.block,
            work.relate,
            night.dream,
            night.again,
            night.undo,
            night.keep,
            night.code,
            night.move,
            night.picture,
            doors.token,
            doors.serve,
            doors.install,
            doors.hook,
            files.pin,
            files.forget,
            files.undo,
            files.broken,
            files.repair,
            files.lose_index,
            files.lose_everything,
            work.export,
            work.bundle,
            work.stats,
        ]
