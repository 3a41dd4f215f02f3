"""Source files are summarised by their definitions, by grammar or line by line.

Covers `lamina.codebase.signatures`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpu_time import LONG, cpu_seconds
from lamina.codebase import summarize_codebase
from lamina.codebase.code_summary import MAX_CONTENT_LENGTH, MAX_FILE_BYTES
from lamina.codebase.file_tree import is_ignored, walk_tree
from lamina.codebase.grammar_parser import GRAMMAR_LANGUAGES, parse_with_grammar
from lamina.codebase.line_parser import parse_lines
from lamina.codebase.source_reader import parse_python, read_source
from lamina.errors import InvalidInput, NotFound

PYTHON = '''"""Orders of a shop.

More words.
"""

class Order(Base, kind="x"):
    """One order."""

    def total(self, tax: float = 0.2) -> int:
        """What it costs."""
        return 1

    def _inner(self): ...

async def fetch(url, *, retries=3): ...

def _hidden(): ...

class _Private:
    def shown(self): ...
'''
TYPESCRIPT = """/** One order. */
export class Order<T> extends Base {
  constructor(private readonly api: Api) {}
  async send(to: string, done: (n: number) => void): Promise<void> {
    return;
  }
}

// Adds things.
export const add = async (a: number, b = { c: 1 }) => {
  return a;
};
export type Id = string | number;
const text = `class Fake { }`;
/* function alsoFake() { } */
"""
GO = """package shop

// Sell sells.
func (s *Store) Sell(a int, b map[string]int) (int, error) {
	return 0, nil
}

type Store struct {
	a int
}
"""
RUST = """/// Adds.
#[inline]
pub fn add<T>(x: T) -> u8 where T: Copy {
    1
}

pub fn longest<'a>(x: &'a str, y: &'a str) -> &'a str {
    x
}

pub struct Shop {
    a: u8,
}
"""
JAVA = """package shop;

/** A shop. */
public class Shop extends Base {
    public int buy(int a, List<String> b) throws Sold {
        return 1;
    }
}
"""
EXPECTED = {
    ("TypeScript", TYPESCRIPT): [
        "export class Order<T> extends Base: One order.",
        "export const add = async (a: number, b = { c: 1 }): Adds things.",
        "export type Id = string | number",
    ],
    ("Go", GO): ["func (s *Store) Sell(a int, b map[string]int) (int, error): Sell sells.", "type Store struct"],
    ("Rust", RUST): [
        "pub fn add<T>(x: T) -> u8 where T: Copy: Adds.",
        "pub fn longest<'a>(x: &'a str, y: &'a str) -> &'a str",
        "pub struct Shop",
    ],
    ("Java", JAVA): ["public class Shop extends Base: A shop."],
}


def _write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _content(root: Path, path: str) -> str:
    return next(entry.content for entry in summarize_codebase(root, "shop").entries if entry.path == path)


def test_a_python_file_is_summarised_by_signatures_and_first_lines(tmp_path: Path) -> None:
    root = _write(tmp_path, src__orders_dot_py=PYTHON)
    assert _content(root, "src/orders.py").splitlines() == [
        "src/orders.py (Python): Orders of a shop.",
        "class Order(Base, kind='x'): One order.",
        "  def total(self, tax: float=0.2) -> int: What it costs.",
        "async def fetch(url, *, retries=3)",
        "private: _hidden, _Private",
    ]


@pytest.mark.parametrize(("language", "text"), EXPECTED)
def test_other_languages_are_parsed_line_by_line(language: str, text: str) -> None:
    source = parse_lines(text, language)
    assert [str(signature) for signature in source.signatures if signature.depth == 0] == EXPECTED[language, text]


@pytest.mark.parametrize(("language", "text"), EXPECTED)
def test_a_grammar_gives_the_same_summary_and_the_members_of_classes(language: str, text: str) -> None:
    pytest.importorskip("tree_sitter", reason="the extra `code` is not installed")
    source = parse_with_grammar(text, language)
    assert source is not None
    assert [str(signature) for signature in source.signatures if signature.depth == 0] == EXPECTED[language, text]
    inner = [signature.text for signature in source.signatures if signature.depth == 1]
    if language == "TypeScript":
        assert inner[1] == "async send(to: string, done: (n: number) => void): Promise<void>"
    if language == "Java":
        assert inner == ["public int buy(int a, List<String> b) throws Sold"]


WITHOUT_GRAMMARS = """
import sys
sys.modules["tree_sitter"] = None
from lamina.codebase.source_reader import read_source
print(read_source("shop.go", sys.argv[1]).parser_id)
"""


def test_without_grammars_files_are_parsed_line_by_line() -> None:
    process = subprocess.run([sys.executable, "-c", WITHOUT_GRAMMARS, GO], capture_output=True, text=True, check=True)
    assert process.stdout == "lines-1\n"


def test_invalid_python_is_parsed_line_by_line() -> None:
    source = read_source("old.py", "def f(a):\n    print 'x'\n\nclass Old:\n    pass\n")
    assert source.parser_id.startswith("lines")
    assert [signature.name for signature in source.signatures] == ["f", "Old"]


def test_code_is_never_executed(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    root = _write(tmp_path / "shop", evil_dot_py=f'"""Evil."""\nopen({str(mark)!r}, "w")\n')
    summarize_codebase(root)
    assert not mark.exists() and "evil" not in sys.modules


def test_a_folder_is_summarised_by_its_files(tmp_path: Path) -> None:
    root = _write(tmp_path, src__a_dot_py="x = 1", src__b_dot_md="words", README_dot_md="# Shop")
    assert _content(root, ".").splitlines() == ["shop/ (codebase): 1 file", "- src/", "- README.md"]
    assert _content(root, "src").splitlines() == ["src/ (folder of shop): 2 files", "- a.py", "- b.md"]


def test_a_file_without_definitions_is_only_listed(tmp_path: Path) -> None:
    root = _write(tmp_path, a_dot_py="x = 1\n", b_dot_py="def f(): ...\n")
    assert {entry.path for entry in summarize_codebase(root).entries} == {".", "b.py"}


def test_an_entry_carries_the_hash_of_its_file(tmp_path: Path) -> None:
    root = _write(tmp_path, a_dot_py="def f(): ...\n")
    (entry,) = [entry for entry in summarize_codebase(root).entries if entry.path == "a.py"]
    assert entry.sha256 == hashlib.sha256(b"def f(): ...\n").hexdigest()


def test_ignored_hidden_built_and_generated_files_are_left_out(tmp_path: Path) -> None:
    code = "def f(): ...\n"
    root = _write(
        tmp_path,
        a_dot_py=code,
        node_modules__x_dot_js=code,
        dist__x_dot_js=code,
        _dot_hidden__x_dot_py=code,
        _dot_env="KEY=1",
        env__pyvenv_dot_cfg="",
        env__x_dot_py=code,
        gen__x_dot_py=code,
        gen__keep_dot_py=code,
        deep__x_dot_gen_dot_py=code,
        memory___dot_lamina__settings_dot_toml="",
        memory__note_dot_py=code,
        _dot_gitignore="/gen/*\n!/gen/keep.py\n*.gen.py\n# words\n",
    )
    assert walk_tree(root, 100, project_files_only=True).files == ("a.py", "gen/keep.py")


@pytest.mark.parametrize(
    ("rule", "path", "left_out"),
    [
        ("*.log", "a/b/x.log", True),
        ("*.log", "a/b/x.logs", False),
        ("/x.log", "a/x.log", False),
        ("build/", "a/build/x.py", True),
        ("build/", "a/build", False),
        ("a/*.py", "a/x.py", True),
        ("a/*.py", "a/b/x.py", False),
        ("a/**/x.py", "a/b/c/x.py", True),
        ("**/x.py", "x.py", True),
        ("a/**", "a/b", True),
        ("*.py\n!x.py", "x.py", False),
        ("# *.py", "x.py", False),
        ("[ab].py", "b.py", True),
    ],
)
def test_simple_gitignore_patterns_are_followed(tmp_path: Path, rule: str, path: str, left_out: bool) -> None:
    (tmp_path / ".gitignore").write_text(rule)
    assert is_ignored(tmp_path, path) is left_out


@pytest.mark.parametrize("rule", ["**/" * 8 + "x", "/".join(["**", "a"] * 8), "*a" * 8 + "b", "a?" * 30 + "/**"])
def test_no_gitignore_pattern_is_slow(tmp_path: Path, rule: str) -> None:
    (tmp_path / ".gitignore").write_text(f"{rule}\n" * 1000)
    path = "/".join(["a" * 60] * 40)
    assert cpu_seconds(lambda: is_ignored(tmp_path, path)) < LONG


@pytest.mark.parametrize("suffix", ["js", "ts", "go", "rs", "java", "rb", "py"])
@pytest.mark.parametrize("words", ['"', "'", "`", "{", "(", "fn a<", "@a class X\n", "mod a {", "if x:\n", "-"])
def test_text_that_is_no_code_is_read_in_bounded_time(suffix: str, words: str) -> None:
    text = words * (200_000 // len(words))
    assert cpu_seconds(lambda: read_source(f"a.{suffix}", text)) < LONG


def test_a_gitignore_of_a_folder_applies_to_that_folder(tmp_path: Path) -> None:
    root = _write(tmp_path, a___dot_gitignore="*.tmp\n", a__x_dot_tmp="", b__x_dot_tmp="", a__y_dot_txt="")
    assert walk_tree(root, 100, project_files_only=True).files == ("a/y.txt", "b/x.tmp")
    assert is_ignored(root, "a/z.tmp") and not is_ignored(root, "b/z.tmp")


def test_links_are_listed_and_never_followed(tmp_path: Path) -> None:
    outside = _write(tmp_path / "outside", secret_dot_py="def secret(): ...\n")
    root = _write(tmp_path / "shop", a_dot_py="def f(): ...\n")
    (root / "link").symlink_to(outside)
    (root / "b.py").symlink_to(outside / "secret.py")
    (root / "loop").symlink_to(root)
    assert walk_tree(root, 100, project_files_only=True).files == ("a.py",)
    assert walk_tree(root, 100).links == {"link", "b.py", "loop"}
    assert "secret" not in "".join(entry.content for entry in summarize_codebase(root).entries)


def test_the_limit_of_files_is_kept_and_reported(tmp_path: Path) -> None:
    root = _write(tmp_path, **{f"f{n}_dot_py": "def f(): ...\n" for n in range(9)})
    summary = summarize_codebase(root, max_files=4)
    assert summary.tree.is_truncated and len(summary.tree.files) == 4
    assert "there are more" in summary.description
    assert not summary.is_removed("f8.py") and summary.is_removed("f99.py")


def test_large_and_binary_files_are_left_out_and_reported(tmp_path: Path) -> None:
    root = _write(tmp_path, a_dot_py="def f(): ...\n", big_dot_py="#" * (MAX_FILE_BYTES + 1))
    (root / "bin.py").write_bytes(b"\0\1\2" * 50)
    summary = summarize_codebase(root)
    assert {entry.path for entry in summary.entries} == {".", "a.py"}
    assert summary.skipped_counts == (("not text", 1), ("too large or not readable", 1))
    assert "1 not text" in summary.description


def test_a_named_pipe_does_not_block(tmp_path: Path) -> None:
    root = _write(tmp_path, a_dot_py="def f(): ...\n")
    os.mkfifo(root / "pipe.py")
    assert {entry.path for entry in summarize_codebase(root).entries} == {".", "a.py"}


def test_the_summary_of_a_long_file_is_truncated_and_says_so(tmp_path: Path) -> None:
    root = _write(tmp_path, a_dot_py="".join(f"def function_number_{n}(): ...\n" for n in range(900)))
    content = _content(root, "a.py")
    assert len(content) < MAX_CONTENT_LENGTH + 100 and content.splitlines()[-1].endswith("lines more")


def test_a_missing_empty_or_vault_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no folder"):
        summarize_codebase(tmp_path / "away")
    (tmp_path / "bare").mkdir()
    with pytest.raises(InvalidInput, match="no project files"):
        summarize_codebase(tmp_path / "bare")
    with pytest.raises(InvalidInput, match="vault"):
        summarize_codebase(_write(tmp_path / "vault", _dot_lamina__settings_dot_toml="", a_dot_py=""))


def test_deeply_nested_code_is_parsed() -> None:
    for text in ("(" * 5000, "x = " + "[" * 3000 + "]" * 3000, "def f(a=" + "-" * 20000 + "1): ..."):
        assert read_source("a.py", text).language == "Python"


@given(st.text(max_size=400), st.sampled_from(["a.py", "a.ts", "a.tsx", "a.go", "a.rs", "a.java", "a.rb", "a.c"]))
@settings(max_examples=150, deadline=None)
def test_any_text_is_parsed_in_any_language(text: str, path: str) -> None:
    for signature in read_source(path, text).signatures:
        assert "\n" not in str(signature)


@given(st.text(alphabet=st.sampled_from("abc(){}[]<>=:;,.\"'`/*\n \tclassdef"), max_size=300))
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_the_line_parser(text: str) -> None:
    assert parse_lines(text, "C").parser_id == "lines-1"


def test_parsing_python_is_deterministic() -> None:
    assert parse_python(PYTHON) == parse_python(PYTHON)
    assert "Python" not in GRAMMAR_LANGUAGES
