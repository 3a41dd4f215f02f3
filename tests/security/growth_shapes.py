"""Texts of many shapes and any length: hostile ones, and ones that are merely long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

Shape = Callable[[int], str]


def _repeat(unit: str) -> Shape:
    """Return a shape that repeats a unit."""
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def _lines(line: Callable[[int], str]) -> Shape:
    """Return a shape whose lines depend on their number."""

    def build(size: int) -> str:
        parts: list[str] = []
        length = 0
        for n in count():
            if length >= size:
                break
            parts.append(line(n))
            length += len(parts[-1]) + 1
        return "\n".join(parts)

    return build


def _nest(opening: str, closing: str) -> Shape:
    """Return a shape of nested marks."""

    def build(size: int) -> str:
        depth = size // (len(opening) + len(closing))
        return opening * depth + "x" + closing * depth

    return build


def _open_then_close(opening: str, closing: str) -> Shape:
    """Return a shape of many openings without an end, then many ends."""
    return lambda size: opening * (size // 2 // len(opening)) + "\n" + closing * (size // 2 // len(closing))


_NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon"]
_THINGS = ["kettle", "boat", "bike", "desk", "lamp", "phone", "garden", "piano", "oven", "tent"]
_COLOURS = ["red", "blue", "green", "white", "black", "yellow", "grey", "brown", "pink", "violet"]

SHAPES: dict[str, Shape] = {
    # merely long
    "prose": _lines(lambda n: f"On day {n} I bought a {_COLOURS[n % 10]} {_THINGS[n * 7 % 10]} for {_NAMES[n % 9]}."),
    "one paragraph of prose": lambda size: SHAPES["prose"](size).replace("\n", " "),
    "a list of things": _lines(lambda n: f"- {_THINGS[n % 10]} number {n}, {_COLOURS[n * 3 % 10]}"),
    "a list of statements": _lines(lambda n: f"- My {_THINGS[n % 10]} {n} is {_COLOURS[n * 3 % 10]}."),
    "a numbered list": _lines(lambda n: f"{n}. I like {_THINGS[n % 10]} {n}."),
    "a nested list": _lines(lambda n: "  " * (n % 12) + f"- item {n}"),
    "a checklist": _lines(lambda n: f"- [ ] buy the {_THINGS[n % 10]}"),
    "a log": _lines(lambda n: f"2026-11-14T12:{n % 60:02}:00Z INFO worker-{n % 7} job {n} done in {n}ms"),
    "a log with keys": _lines(lambda n: f"level=info id={n} token_count={n * 3} key=value{n} secret_len={n % 9}"),
    "a table": _lines(lambda n: f"| {n} | {_NAMES[n % 10]} | {_THINGS[n % 10]} | {n * 31} |"),
    "comma separated values": _lines(lambda n: f"{n},{_NAMES[n % 10]},{_THINGS[n % 10]},{n * 1.5:.2f},2026-01-03"),
    "code": _lines(lambda n: f"def f{n}(x):\n    return x + {n}\n"),
    "code in one fence": lambda size: "```python\n" + SHAPES["code"](size),
    "json": _lines(lambda n: f'{{"id": {n}, "name": "{_NAMES[n % 10]}", "tags": ["a", "b{n}"]}},'),
    "a transcript": _lines(lambda n: f"{_NAMES[n % 2]}: my {_THINGS[n % 10]} number {n} is {_COLOURS[n % 10]}."),
    "a dated transcript": _lines(lambda n: f"[1/5/24, 12:{n % 60:02}:11 PM] {_NAMES[n % 3]}: see you at {n % 12}"),
    "markdown with headings": _lines(lambda n: f"{'#' * (n % 6 + 1)} Part {n}\n\nWords on the {_THINGS[n % 10]}.\n"),
    "mail with quotes": _lines(lambda n: ">" * (n % 40) + f" I wrote line {n}"),
    "dates": _lines(lambda n: f"from 3 March {1900 + n % 200} to May {n % 28 + 1}, next Tuesday, {n} days ago"),
    "questions": _lines(lambda n: f"Where is the {_THINGS[n % 10]} number {n}?"),
    "equal lines": _repeat("My locker is number 14.\n"),
    "equal short lines": _repeat("a\n"),
    "near-identical statements": _lines(
        lambda n: f"I keep {n} {_THINGS[n % 3]}s in the cellar of the house by the sea."
    ),
    "one long line": _repeat("word "),
    "one long word": _repeat("a"),
    "digits": _repeat("0123456789"),
    "short sentences": _repeat("I am. "),
    "Chinese": _repeat("我的电话是红色的。今天我们去了海边"),
    "Thai": _repeat("ฉันชอบชาร้อนในตอนเช้า"),
    "Arabic": _repeat("أنا أسكن في البيت القديم، "),
    "accents": _repeat("Çà et là, l'été naïf où j'étais. "),
    "emoji": _repeat("👩‍👩‍👧‍👦🎉 "),
    "base64": _repeat("QWxhZGRpbjpvcGVuIHNlc2FtZQ"),
    "hexadecimal": _repeat("deadbeef0123 "),
    "addresses": _lines(lambda n: f"https://user{n}.example.com/a/b?c={n}&d=e#f mail{n}@example.com"),
    "requests to forget": _repeat("Forget my old address. "),
    "requests to remember": _repeat("Remember that tea is at noon. "),
    # hostile
    "spaces": _repeat(" "),
    "blank lines": _repeat("\n"),
    "blank lines with spaces": _repeat(" \n\t"),
    "full stops": _repeat("."),
    "full stops and spaces": _repeat(". "),
    "quotation marks": _repeat('"'),
    "curly quotation marks": _nest("“", "”"),
    "round brackets": _nest("(", ")"),
    "square brackets": _nest("[", "]"),
    "open square brackets": _repeat("["),
    "braces": _nest("{", "}"),
    "colons": _repeat("a:"),
    "commas": _repeat(", "),
    "dashes": _repeat("-"),
    "equals signs": _repeat("="),
    "hash signs": _repeat("#"),
    "pipes": _repeat("|"),
    "stars": _repeat("*"),
    "underscores": _repeat("_a"),
    "back quotes": _repeat("`"),
    "fences": _repeat("```\n"),
    "tildes": _repeat("~~~ x\n"),
    "greater-than signs": _repeat(">"),
    "unclosed tags": _repeat("<a "),
    "unclosed tags with attributes": _repeat('<a href="'),
    "opened tags": _repeat("<div>"),
    "nested tags": _nest("<b>", "</b>"),
    "unclosed comments": _repeat("<!-- "),
    "unclosed declarations": _repeat("<!["),
    "closing tags": _repeat("</p"),
    "entities": _repeat("&amp"),
    "scripts": _repeat("<script>"),
    "opened memories": _repeat("<memories>\n"),
    "closed memories": _repeat("</memories>\n"),
    "memories that are opened, then closed": _open_then_close("<memories>\n## facts\n", "</memories>"),
    "items of memories": _repeat("- [01jc0000000000000000000000 human active 2026-11-14] tea\n"),
    "sections of memories": _repeat("## facts\n- [x y] tea\n"),
    "escaped line ends": _repeat("\\n"),
    "back slashes": _repeat("\\"),
    "key blocks": _repeat("-----BEGIN PRIVATE KEY-----\n"),
    "key blocks with lines": _repeat("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n"),
    "passwords": _repeat("password "),
    "passwords and signs": _repeat("password: "),
    "passwords with values": _lines(lambda n: f"my password is hunter{n}x and the code is {n:04}"),
    "tokens": _repeat("token="),
    "web tokens": _repeat("eyJhbGciOi."),
    "numbers of cards": _repeat("4111 1111 "),
    "codes": _repeat("the code is "),
    "recovery phrases": _repeat("abandon ability able about above absent "),
    "providers": _repeat("aws key "),
    "headers": _repeat("bearer "),
    "commands": _repeat("curl -u "),
    "names and colons": _repeat("Ann Bob: "),
    "starred names": _repeat("**Ann "),
    "times in brackets": _repeat("[12:03] "),
    "months": _repeat("May "),
    "ordinals": _repeat("1st of "),
    "weekdays": _repeat("next Tuesday "),
    "years": _repeat("2026-11-"),
    "combining marks": _repeat("a\u0301\u0302"),
    "zero-width characters": _repeat("\u200b\u200d"),
    "apostrophes": _repeat("o'"),
    "capitals": _repeat("AbC"),
    "wiki links": _repeat("[[a|b]] "),
    "addresses with passwords": _repeat("://a:b@"),
    "calls": _repeat("f(a, "),
    "definitions": _repeat("const a = ("),
    "modifiers": _repeat("public static "),
    "memory talk": _repeat("I saved it to my "),
    "pasted notes": _repeat("old "),
    "found notes": _repeat("found "),
    "tool calls": _repeat('{"name": "'),
    "orders": _repeat("please don't forget my "),
    "possessives": _repeat("my sister's "),
    "line separators": _repeat("a\u2028"),
    "carriage returns": _repeat("a\r"),
}


def build_lines(shape: str, size: int) -> Iterator[str]:
    """Yield the lines of a shape, without blank ones."""
    return (line for line in SHAPES[shape](size).splitlines() if line.strip())
