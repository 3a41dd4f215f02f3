"""Stored words as a page shows them: markdown without anything that acts, loads or hides.

Nothing of a memory is trusted to be what it looks like. Raw HTML stays text, a link survives only with an address a
person can judge, a picture is told by its address and never loaded, and what nobody would see is written out.
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

from lamina.atom.identity import is_atom_id
from lamina.atom.page import BEGIN, END
from lamina.text.hidden import escaped

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ADDRESS = re.compile(r"(?:https?://[^/\s]|mailto:[^\s])", re.IGNORECASE)
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:#\^p(\d{1,6}))?(?:\|([^\[\]\n]{1,200}))?\]\]")
_MARKS = re.compile(rf"(?:{re.escape(BEGIN)}|{re.escape(END)})\n?")
"""Between these lamina writes on pages that people write on, too; in a page on the screen they say nothing."""
ID_LENGTH = 26

_TAGS = frozenset(
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


def seen(text: str) -> str:
    """The text with characters that command or hide written out."""
    return escaped(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


def without_marks(text: str) -> str:
    """The text without the marks lamina sets on pages it keeps."""
    return _MARKS.sub("", text)


def prose(text: str) -> Markup:
    """Markdown as HTML that only shows."""
    return Markup(_rendered(without_marks(text)))


@lru_cache(maxsize=512)
def _rendered(text: str) -> str:
    made = _reader().render(seen(text))
    return nh3.clean(
        made,
        tags=set(_TAGS),
        attributes={"*": set(), "a": {"href", "class"}, "span": {"class"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


@lru_cache(maxsize=1)
def _reader() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
    made.enable(["table", "strikethrough"])
    made.validateLink = _is_address  # type: ignore[method-assign]
    made.inline.ruler.before("link", "wikilink", _wikilink)
    made.add_render_rule("image", _picture)
    made.add_render_rule("wikilink", _own_link)
    return made


def _is_address(url: str) -> bool:
    return _ADDRESS.match(url) is not None


def _picture(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """A picture is fetched from whoever it names, which tells them that it was looked at; so it stays words."""
    told = tokens[at].content or "picture"
    return f'<span class="picture">{escape(told)} ({escape(str(tokens[at].attrs.get("src", "")))})</span>'


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos)
    if found is None or not is_atom_id(found[1][-ID_LENGTH:]):
        return False
    if not silent:
        token = state.push("wikilink", "a", 0)
        token.content = found[3] or found[1]
        token.meta = {"id": found[1][-ID_LENGTH:], "passage": found[2]}
    state.pos = found.end()
    return True


def _own_link(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    to, passage = tokens[at].meta["id"], tokens[at].meta["passage"]
    place = f"?passage={passage}#p{passage}" if passage else ""
    return f'<a class="own" href="/atom/{to}{place}">{escape(tokens[at].content)}</a>'
