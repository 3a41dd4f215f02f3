"""`lamina import` and `lamina review`: import, see what was extracted, confirm or reject it with one key.

Covers `lamina.cli.key_input`.
"""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from command_result import Cli


def turn(role: str, text: str, at: float) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"author": {"role": role}, "create_time": at, "content": content, "recipient": "all"}


def conversation(own_id: str, *texts: str) -> dict[str, Any]:
    mapping: dict[str, Any] = {"root": {"message": None, "parent": None}}
    for n, text in enumerate(texts):
        message = turn("user", text, 1714557600.0 + n)
        mapping[f"n{n}"] = {"message": message, "parent": f"n{n - 1}" if n else "root", "children": []}
    leaf = f"n{len(texts) - 1}"
    return {"id": own_id, "title": own_id, "create_time": 1714557600.0, "mapping": mapping, "current_node": leaf}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    file = tmp_path / "conversations.json"
    talks = [
        conversation("home", "Remember that I live in Rome.", "Remember that my favourite colour is green."),
        conversation("pets", "Remember that I have a dog called Rex."),
    ]
    file.write_text(json.dumps(talks), encoding="utf-8")
    return file


def test_import_reports_what_was_imported_and_how_to_decide(cli: Cli, export: Path) -> None:
    result = cli("import", str(export))
    assert result.code == 0
    assert "ChatGPT export: imported" in result.out
    assert "new statements, pending your review" in result.out
    assert "“I live in Rome.”  user · 2024-05-01 · chatgpt:home" in result.out
    assert "lamina review confirm " in result.out
    assert "lamina review reject " in result.out
    assert "--source chatgpt:" in result.out
    again = cli("import", str(export), "--json").data
    assert (again["conversations"], again["skipped"]) == (0, {"imported before": 2})


def test_import_as_json_has_the_source_turn_of_every_statement(cli: Cli, export: Path) -> None:
    data = cli("import", str(export), "--json").data
    assert (data["conversations"], data["turns"], data["problems"]) == (2, 3, [])
    assert data["held"] == len(data["learnt"]) >= 2
    assert {item["status"] for item in data["learnt"]} == {"constrained"}
    assert any(item["quote"] == "I live in Rome." and "2024-05-01" in item["said_in"] for item in data["learnt"])


def test_a_dry_run_of_an_import_stores_nothing(cli: Cli, export: Path) -> None:
    cli("init")
    result = cli("import", str(export), "--dry-run")
    assert "would be imported" in result.out
    assert "nothing was changed" in result.out
    assert cli("list", "--all", "--json").data["atoms"] == []


def test_yes_confirms_what_this_import_extracted(cli: Cli, export: Path, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("I work at a mill.")
    cli("import", str(tmp_path / "note.md"))
    before = {atom["id"] for atom in cli("review", "list", "--json").data["atoms"]}
    data = cli("import", str(export), "--yes", "--json").data
    assert data["kept"] == data["held"] > 0
    assert {atom["id"] for atom in cli("review", "list", "--json").data["atoms"]} == before


def test_an_unsupported_file_is_a_usage_error(cli: Cli, tmp_path: Path) -> None:
    assert cli("import", str(tmp_path / "nowhere")).code == 3
    (tmp_path / "odd.json").write_text('{"what": "ever"}')
    assert cli("import", str(tmp_path / "odd.json")).code == 2


def test_review_lists_confirms_and_rejects(cli: Cli, export: Path) -> None:
    assert "nothing is pending" in cli("review", "list").out or cli("review", "list").code == 3
    cli("import", str(export))
    data = cli("review", "list", "--json").data
    rome = next(atom for atom in data["atoms"] if "Rome" in atom["content"])
    assert rome["said"][0]["quote"] == "I live in Rome."
    assert "said in" in cli("review", "list").out
    decision = cli("review", "confirm", rome["id"][-10:], "--json").data["decisions"][0]
    assert decision["outcomes"][0]["atom"]["status"] == "active"
    assert decision["undo"].startswith("lamina undo ")
    assert cli("undo", decision["commit"]).code == 0
    assert cli("get", rome["id"], "--json").data["status"] == "constrained"
    result = cli("review", "reject", rome["id"], "--reason", "moved away")
    assert "tombstoned" in result.out
    assert "moved away" in result.out
    assert cli("review", "reject", rome["id"]).code == 4


def test_review_decides_by_source_or_by_id_and_never_by_both(cli: Cli, export: Path) -> None:
    cli("import", str(export))
    tried = cli("review", "confirm", "--source", "chatgpt", "--dry-run", "--json").data["decisions"]
    assert cli("review", "list", "--json").data["held"] == len(tried) > 0
    assert len(cli("review", "confirm", "--source", "chatgpt:pets", "--json").data["decisions"]) < len(tried)
    assert cli("review", "reject", "--source", "chatgpt", "--reason", "no").code == 0
    assert cli("review", "list", "--json").data["held"] == 0
    assert cli("review", "confirm").code == 2
    assert cli("review", "confirm", "abcd", "--source", "chatgpt").code == 2
    assert cli("review", "confirm", "--source", "chatgpt").code == 3


def test_a_captured_file_is_a_document_and_typed_text_is_the_persons_own(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "home.md").write_text("Ann lives in Rome.\n\nShe has a dog.\n")
    from_file = cli("capture", str(tmp_path / "home.md"), "--json").data["outcomes"]
    assert {outcome["atom"]["origin"] for outcome in from_file} == {"document"}
    assert from_file[0]["atom"]["status"] == "active"
    assert {outcome["atom"]["status"] for outcome in from_file[1:]} <= {"constrained"}
    assert cli("capture", "I live in Oslo.", "--json").data["outcomes"][0]["atom"]["origin"] == "human"
    assert cli("capture", "-", "--json", stdin="I am here.").data["outcomes"][0]["atom"]["origin"] == "human"
    (tmp_path / "said.jsonl").write_text('{"speaker": "Ann", "content": "Hello."}')
    turns = cli("capture", str(tmp_path / "said.jsonl"), "--turns", "--json").data["outcomes"][0]["atom"]
    assert turns["origin"] == "human"
    atom = cli("capture", str(tmp_path / "home.md"), "--origin", "human", "--json").data["outcomes"][0]["atom"]
    assert atom["origin"] == "human"


def test_a_captured_document_is_read_with_its_reader(cli: Cli, tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("Kettle", 1)
    document.add_paragraph("The kettle is blue.")
    document.save(str(tmp_path / "kettle.docx"))
    atom = cli("capture", str(tmp_path / "kettle.docx"), "--json").data["outcomes"][0]["atom"]
    assert "The kettle is blue." in atom["content"]
    assert (atom["origin"], atom["source_id"]) == ("document", "kettle.docx")
    (tmp_path / "page.html").write_text("<p>The <b>cup</b> is red.</p><script>no()</script>")
    assert (
        "The cup is red."
        in cli("capture", str(tmp_path / "page.html"), "--json").data["outcomes"][0]["atom"]["content"]
    )
    (tmp_path / "old.doc").write_text("x")
    assert cli("capture", str(tmp_path / "old.doc")).code == 2


def test_a_missing_document_reader_is_named(tmp_path: Path) -> None:
    (tmp_path / "kettle.pdf").write_bytes(b"%PDF-1.4\n")
    script = (
        "import sys; sys.modules['pypdf'] = None\n"
        f"sys.argv = ['lamina', 'capture', {str(tmp_path / 'kettle.pdf')!r}, '--vault', {str(tmp_path / 'v')!r}]\n"
        "from lamina.cli.app import run; run()"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 2
    assert "lamina[documents]" in " ".join(result.stderr.split())


class Terminal:
    """A real terminal with the command running on it."""

    def __init__(self, vault: Path, *words: str) -> None:
        self.seen = ""
        script = "from lamina.cli.app import run; run()"
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.environ.update(
                LAMINA_EMBEDDER="none", LAMINA_BACKGROUND="false", TERM="xterm", COLUMNS="200", NO_COLOR="1"
            )
            os.execv(sys.executable, [sys.executable, "-c", script, *words, "--vault", str(vault)])

    def until(self, text: str, seconds: float = 60.0) -> None:
        """Read until the text appears after what was read before."""
        start, deadline = len(self.seen), time.monotonic() + seconds
        while text not in self.seen[start:]:
            assert time.monotonic() < deadline, self.seen
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self._fd, 65536).decode(errors="replace")
                except OSError:
                    break
        assert text in self.seen[start:], self.seen

    def press(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def interrupt(self) -> None:
        os.kill(self._pid, signal.SIGINT)

    def end(self) -> int:
        code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        os.close(self._fd)
        return code


def test_on_a_terminal_one_key_confirms_or_rejects(cli: Cli, export: Path, vault: Path) -> None:
    pending = len(cli("import", str(export), "--json", "--vault", str(vault.parent / "other")).data["learnt"])
    screen = Terminal(vault, "import", str(export))
    screen.until(f"1 of {pending}")
    screen.press("x\x1b[Ak")
    screen.until(f"2 of {pending}")
    screen.press("d")
    if pending > 2:
        screen.until(f"3 of {pending}")
        screen.press("s")
        if pending > 3:
            screen.until(f"4 of {pending}")
            screen.press("q")
    screen.until("kept 1, dropped 1")
    assert screen.end() == 0
    atoms = cli("list", "--all", "--json").data["atoms"]
    verbs = [entry["verb"] for entry in cli("journal", "--json").data["entries"]]
    assert (verbs.count("confirm"), verbs.count("reject")) == (1, 1)
    assert sum(atom["status"] == "constrained" for atom in atoms) == pending - 2


def test_on_a_terminal_one_key_confirms_the_rest_of_a_source(cli: Cli, export: Path, vault: Path) -> None:
    (export.parent / "notes").mkdir()
    (export.parent / "notes" / "a.md").write_text(
        "Remember that I live in Rome. Remember that my favourite colour is green."
    )
    screen = Terminal(vault, "import", str(export.parent / "notes"))
    screen.until("1 of ")
    screen.press("a")
    screen.until("left for later 0")
    assert screen.end() == 0
    assert cli("review", "list", "--json").data["held"] == 0


def test_an_interrupted_import_reports_it_and_continues_the_next_time(cli: Cli, tmp_path: Path, vault: Path) -> None:
    talks = [conversation(f"c{n}", f"I have {n} books about tea.", "They are old.") for n in range(400)]
    (tmp_path / "conversations.json").write_text(json.dumps(talks))
    screen = Terminal(vault, "import", str(tmp_path / "conversations.json"))
    screen.until("importing")
    screen.interrupt()
    screen.until("running it again imports the rest")
    assert screen.end() == 130
    rest = cli("import", str(tmp_path / "conversations.json"), "--json").data
    assert 0 < rest["conversations"] < 400
    assert rest["conversations"] + rest["skipped"]["imported before"] == 400
