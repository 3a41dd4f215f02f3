"""Markdown is rendered inert.

Covers `lamina.documents.atom_mentions`.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from payloads import CORPUS_WORDS

from lamina.text.normal_form import escape_unprintable
from lamina.web.safe_markdown import render_markdown

TAG = re.compile(r"<(/?)([a-z0-9]+)((?:\s[^>]*)?)>")
ALLOWED_TAGS = {
    "p",
    "br",
    "hr",
    "em",
    "strong",
    "s",
    "code",
    "pre",
    "blockquote",
    "ul",
    "ol",
    "li",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "a",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "span",
}
ADDRESS = re.compile(r'\s(href|class|rel|start)="([^"<>]*)"')


def _assert_inert(html: str) -> None:
    """Every tag is one of those that show, with an attribute that leads somewhere harmless at most."""
    rest = TAG.sub("", html)
    assert "<" not in rest, rest
    for _, name, inside in TAG.findall(html):
        assert name in ALLOWED_TAGS
        assert ADDRESS.sub("", inside).strip() == "", inside
        for kind, value in ADDRESS.findall(inside):
            if kind == "href":
                assert value.lower().startswith(("http://", "https://", "mailto:", "/atom/")), value


@given(st.text())
def test_any_markdown_is_rendered_inert(text: str) -> None:
    _assert_inert(str(render_markdown(text)))


@given(st.lists(st.sampled_from(CORPUS_WORDS), min_size=1, max_size=6), st.sampled_from(["", " ", "\n", "\n\n", "`"]))
def test_adjacent_hostile_texts_are_rendered_inert(words: list[str], between: str) -> None:
    _assert_inert(str(render_markdown(between.join(words))))


def test_markdown_is_rendered_correctly() -> None:
    html = str(
        render_markdown("# Bread\n\n- **rye**, *slow*\n- `225`\n\n> said so\n\n[the mill](https://mill.example)")
    )
    for part in ("<h1>Bread</h1>", "<strong>rye</strong>", "<em>slow</em>", "<code>225</code>", "<blockquote>"):
        assert part in html
    assert '<a href="https://mill.example" rel="noopener noreferrer nofollow">the mill</a>' in html


def test_an_image_is_described_and_not_fetched() -> None:
    html = str(render_markdown("![the oven](https://evil.example/pixel.png)"))
    assert "<img" not in html
    assert "the oven (https://evil.example/pixel.png)" in html


def test_links_to_atoms_point_to_their_pages() -> None:
    html = str(
        render_markdown("see [[preference-01arz3ndektsv4rrffq69g5fav]] and [[talk-01arz3ndektsv4rrffq69g5fav#^p7]]")
    )
    assert 'href="/atom/01arz3ndektsv4rrffq69g5fav"' in html
    assert 'href="/atom/01arz3ndektsv4rrffq69g5fav?passage=7#p7"' in html
    assert str(render_markdown("[[a note of mine]]")) == "<p>[[a note of mine]]</p>\n"


@pytest.mark.parametrize("char", ["\u200b", "\u202e", "\U000e0041", "\u2066", "\ufeff"])
def test_invisible_characters_are_escaped(char: str) -> None:
    assert f"U+{ord(char):04X}" in escape_unprintable(f"a{char}b")
    assert char not in str(render_markdown(f"a{char}b"))


def test_control_characters_are_replaced() -> None:
    assert escape_unprintable("a\x1b[31mb\x00c\x85") == "a\ufffd[31mb\ufffdc\ufffd"
