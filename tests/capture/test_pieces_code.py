"""Source code is split into definitions with their comments, and long ones at their methods.

Covers `lamina.capture.pieces.text_format`.
"""

from __future__ import annotations

import pytest

from lamina.capture.pieces import PARAGRAPH_LIMIT, TextFormat, split_text

PYTHON = '''"""A module."""

import os


# Where we are.
@cache
def here():
    def inner():
        return 1

    return os.getcwd()


LIMIT = 3


class Store:
    """Keeps."""

    def keep(self):
        return 1
'''
TYPESCRIPT = """import { x } from "y";

/** Adds. */
export async function add(a: number) {
  return a;
}

export const twice = (a: number) => {
  return a * 2;
};

export interface Shape {
  side: number;
}
"""
GO = """package main

// Main runs.
func main() {
\tprintln(1)
}

type Shape struct {
\tSide int
}
"""
RUST = """use std::io;

#[derive(Debug)]
pub struct Shape {
    side: u32,
}

impl Shape {
    pub fn area(&self) -> u32 {
        self.side
    }
}
"""
JAVA = """package a;

/** A shape. */
public final class Shape {
    public int area() {
        return 1;
    }
}
"""
C = """#include <stdio.h>

static int add(int a, int b)  {
  if (a) {
    return b;
  }
  return a;
}
"""
SQL = "create table a (x int);\n\nCREATE OR REPLACE FUNCTION f() returns int as $$ select 1 $$;\n"


@pytest.mark.parametrize(
    ("text", "firsts"),
    [
        (PYTHON, ['"""A module."""', "# Where we are.", "class Store:"]),
        (TYPESCRIPT, ["import { x }", "/** Adds. */", "export const twice", "export interface Shape"]),
        (GO, ["package main", "// Main runs.", "type Shape struct"]),
        (RUST, ["use std::io;", "#[derive(Debug)]", "impl Shape"]),
        (JAVA, ["package a;", "/** A shape. */"]),
        (C, ["#include <stdio.h>", "static int add"]),
        (SQL, ["create table a", "CREATE OR REPLACE FUNCTION"]),
    ],
)
def test_a_definition_is_a_piece_with_the_comments_above_it(text: str, firsts: list[str]) -> None:
    texts = [piece.text for piece in split_text(text, TextFormat.CODE)]
    assert len(texts) == len(firsts)
    assert all(piece.startswith(first) for piece, first in zip(texts, firsts, strict=True))


def test_a_long_class_is_split_at_its_methods_which_carry_the_class_name() -> None:
    body = "".join(f"    def m{n}(self):\n" + f"        x = {n}\n" * 60 + "\n" for n in range(10))
    first, *methods = split_text(f"class Store(Base):\n    kept = 1\n\n{body}", TextFormat.CODE)
    assert first.text == "class Store(Base):\n    kept = 1"
    assert [piece.text.split("(")[0].strip() for piece in methods] == [f"def m{n}" for n in range(10)]
    assert {piece.context for piece in methods} == {"class Store(Base)"}


def test_no_piece_exceeds_the_limit_and_no_line_is_split() -> None:
    lines = [f"value_{n} = {n}" if n % 40 else "" for n in range(2_000)]
    texts = [piece.text for piece in split_text("\n".join(lines), TextFormat.CODE)]
    assert all(len(text) <= PARAGRAPH_LIMIT for text in texts)
    assert [line for text in texts for line in text.split("\n") if line] == [line for line in lines if line]
    assert all(text.startswith("value_") and int(text[6 : text.index(" ")]) % 40 == 1 for text in texts)


def test_fences_in_pasted_code_separate_text_from_code() -> None:
    text = "Look at this.\n\n```\ndef f():\n    return 1\n\ndef g():\n    return 2\n```\n\nNice."
    assert [piece.text for piece in split_text(text, TextFormat.CODE)] == [
        "Look at this.",
        "```",
        "def f():\n    return 1",
        "def g():\n    return 2\n```",
        "Nice.",
    ]
