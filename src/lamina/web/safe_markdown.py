"""Renders stored text as safe HTML: markdown without anything that acts, loads or hides.

Stored text is not trusted. Raw HTML stays text, links need an address that a person can judge, images are shown as
their address and never loaded, and invisible characters are written out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from lamina.atom.atom import SECTION_BEGIN, SECTION_END, is_atom_id
from lamina.text.normal_form import escape_unprintable

_SAFE_URL = re.compile(r"(?:https?://[^/\s]|mailto:[^\s])", re.IGNORECASE)
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:#\^p(\d{1,6}))?(?:\|([^\[\]\n]{1,200}))?\]\]")
_PAGE_MARKERS = re.compile(rf"(?:{re.escape(SECTION_BEGIN)}|{re.escape(SECTION_END)})\n?")
"""Markers around the parts that lamina generates in pages that people edit as well; they mean nothing on the web page.
"""
ID_LENGTH = 26

_ALLOWED_TAGS = frozenset(
    {
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
)


def strip_page_markers(text: str) -> str:
    """Return the text without the markers of generated parts."""
    return _PAGE_MARKERS.sub("", text)


def render_markdown(text: str) -> Markup:
    """Render markdown as safe HTML."""
    return Markup(_render_html(strip_page_markers(text)))


@lru_cache(maxsize=512)
def _render_html(text: str) -> str:
    html = _markdown_parser().render(escape_unprintable(text))
    return nh3.clean(
        html,
        tags=set(_ALLOWED_TAGS),
        attributes={"*": set(), "a": {"href", "class"}, "span": {"class"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


@lru_cache(maxsize=1)
def _markdown_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = _is_safe_url  # type: ignore[method-assign]
    parser.inline.ruler.before("link", "wikilink", _parse_wikilink)
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("wikilink", _render_wikilink)
    return parser


def _is_safe_url(url: str) -> bool:
    return _SAFE_URL.match(url) is not None


def _render_image(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """Render an image as text: loading it would tell its server that the page was read."""
    label = tokens[at].content or "picture"
    return f'<span class="picture">{escape(label)} ({escape(str(tokens[at].attrs.get("src", "")))})</span>'


def _parse_wikilink(state: StateInline, silent: bool) -> bool:
    match = _WIKILINK.match(state.src, state.pos)
    if match is None or not is_atom_id(match[1][-ID_LENGTH:]):
        return False
    if not silent:
        token = state.push("wikilink", "a", 0)
        token.content = match[3] or match[1]
        token.meta = {"id": match[1][-ID_LENGTH:], "passage": match[2]}
    state.pos = match.end()
    return True


def _render_wikilink(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    atom_id, passage = tokens[at].meta["id"], tokens[at].meta["passage"]
    suffix = f"?passage={passage}#p{passage}" if passage else ""
    return f'<a class="own" href="/atom/{atom_id}{suffix}">{escape(tokens[at].content)}</a>'
