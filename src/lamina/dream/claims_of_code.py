"""Finds what a statement says about code that can be checked: paths, definitions, commands and packages.

The reading is cautious: a sentence that may be true although the thing is missing (it was removed, it is planned, it is
an example) yields nothing.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from lamina.capture.pieces.fences import fences
from lamina.capture.pieces.form import CODE_NAMES, MARKDOWN_NAMES
from lamina.dream.code_words import BRANDS, COMMANDS, LIBRARIES, PACKAGES, PLACEHOLDERS
from lamina.text.sentences import sentences


class Sort(StrEnum):
    """What type of thing is referred to."""

    ABSOLUTE = "absolute path"
    RELATIVE = "relative path"
    FILE_NAME = "file name"
    DEFINITION = "definition"
    SCRIPT = "script"
    TARGET = "target"
    RECIPE = "recipe"
    CRATE = "crate"
    BINARY = "binary"
    MODULE = "module"
    PACKAGE = "package"


@dataclass(frozen=True, slots=True)
class Named:
    """A thing that a statement refers to as existing; `owner` is what a definition is said to belong to."""

    sort: Sort
    name: str
    owner: str = ""


_LONGEST = 20_000
_TEXTS = "json toml yaml yml ini cfg conf txt xml html htm csv tsv lock env ipynb rst adoc tex svg png dockerfile"
ENDINGS = CODE_NAMES | MARKDOWN_NAMES | frozenset(_TEXTS.split())
"""Extensions of files that projects contain."""

_IDENT = r"[A-Za-z_$][\w$]*"
_CODEY = r"(?:[A-Za-z$]\w{0,60}_\w{1,60}|_\w{1,60}|[a-z$][a-z0-9]{0,60}[A-Z]\w{0,60}|[A-Z][a-z0-9]{1,60}[A-Z]\w{0,60})"
"""An identifier that only code uses, with an underscore or an inner capital; bounded, so that matching stays fast."""
_MAY_NAME = re.compile(
    r"[/`(]|\b(?:function|method|def|class|npm|pnpm|yarn|bun|make|cargo|python|uses?|depends?|rel(?:y|ies)|requires?|imports?"
    r"|built|written)\b",
    re.IGNORECASE,
)
"""A sentence without one of these refers to nothing; most sentences have none."""
_SPAN = re.compile(r"`([^`\n]+)`")
_MOOT = re.compile(
    r"\b(?:remov\w*|delet\w*|dropped|drops|renam\w*|moved|moving|no longer|any ?more|used to|formerly|previously"
    r"|earlier|deprecat\w*|obsolete|gone|missing|replac\w*|migrat\w*|split into|merged into|switch\w* (?:to|from)"
    r"|was|were|had|been|did|no|nor|not exist|(?:is|are|was|were)(?: not|n['’]t)|cannot|can['’]t"
    r"|(?:does|do)(?: not|n['’]t) (?:use|need|depend|exist|have|contain|require|import|rely)|without|instead of"
    r"|rather than|will|would|could|might|plan\w*|going to|todo|to-do|create\w*|creating|add(?:s|ed|ing)?|introduc\w*"
    r"|generat\w*|output\w*|produc\w*|emit\w*|writes?|written|sav(?:e|es|ed|ing)|logs? to|upload\w*|download\w*"
    r"|e\.g|for example|for instance|such as|example|imagin\w*|hypothetical\w*|if)\b",
    re.IGNORECASE,
)
"""Words of a sentence about what is gone, not yet there, or created only when something runs."""
_MAKES_FILES = re.compile(r"(?:sudo )?(?:touch|mkdir|cp|mv|rm|ln|curl|wget|echo|tee|git|tar|zip|docker|scp|rsync)\b")
"""Commands that create or remove files."""
_FOREIGN = re.compile(r"[<>{}$*?|%\\…]|://|\.\.\.|\[|\]")
_PLACE_IN_FILE = re.compile(r"(?::\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?)$")
_PATH = re.compile(r"[\w.@+\-/~ ]+")
_CALL = re.compile(rf"((?:{_IDENT}(?:\.|::))*)({_IDENT})\([^`]*\)")
_SCRIPT = re.compile(r"\b(?:npm|pnpm|yarn|bun) run(?:-script)? ([A-Za-z][\w:.-]*)")
_SHORT_SCRIPT = re.compile(r"(?:yarn|pnpm) ([A-Za-z][\w:.-]*)")
_MAKE = re.compile(r"make((?: [\w.=:/@-]+)+)")
_JUST = re.compile(r"just ([A-Za-z_][\w-]*)(?![\w:=]|\.\w)")
"""Only matched in code: in a sentence `just` is an ordinary word."""
_CARGO = re.compile(r"\bcargo (?:\+[\w.-]+ )?(?:run|build|test|check|bench|clippy|doc|[rbtc])(?= )((?: [\w.=:/@,-]+)+)")
_CRATE = re.compile(r" (?:-p|--package|--bin)[ =]([A-Za-z_][\w-]*)(?![\w@:/]|\.\w)")
_MODULE = re.compile(r"\bpython[\d.]* -m ([A-Za-z_][\w.]*)")
_RUN = re.compile(r"\b(?:[Rr]un|[Ee]xecute|[Tt]ype|[Ii]nvoke|[Cc]all) ((?:make|yarn|pnpm) [^,;.`\n]+)")
_BEFORE = re.compile(rf"\b(?:function|method|def|class) `?({_IDENT})`?(\()?")
_AFTER = re.compile(rf"(?<![\w.$/])`?({_CODEY})(?!\w)`?(?:\(\))? (?:function|method|class)\b")
_CODE_SIGN = re.compile(r"`|\w/\w+\.\w|\(\)|\b(?:module|method|constructor|instance|subclass|inherit\w*|API|package)\b")
_WHO = (
    r"(?:we|i?t|projects?|apps?|applications?|services?|back-?end|front-?end|repo|repository|codebase|code|api|server"
    r"|client|cli|library|package|module|tool|site|website|worker|bot|daemon|pipeline|importer|tests?)"
)
_USES = r"(?:uses?|depends? on|relies on|rely on|requires?|imports?|is built (?:on|with)|(?:is|are) written with)"
_PACKAGE = re.compile(
    rf"\b{_WHO}\b[^.;:`\n]{{0,40}}?\b{_USES} (?:the )?(?:`([@\w./-]+)(?:[<>=~^!@][^`]*)?`|([@\w./-]+))"
    r"( (?:package|library|dependency|framework|module|crate)\b)?",
    re.IGNORECASE,
)
_BROWSER = "fetch require setTimeout setInterval parseInt alert"
_BUILT_IN = frozenset([*dir(builtins), *_BROWSER.split()])
_QUOTES = "\"'“”‘’()[]{},;:!*"


def named_in(text: str) -> list[Named]:
    """Return what a text says exists, each thing once, in the order of the text."""
    text = text[:_LONGEST]
    references: dict[Named, None] = {}
    position = 0
    for start, end in [*fences(text, closed=True), (len(text), len(text))]:
        for a, b in sentences(text[position:start]):
            references |= dict.fromkeys(_in_sentence(text[position + a : position + b]))
        for line in text[start:end].splitlines()[1:-1]:
            references |= dict.fromkeys(_in_code(line.strip().removeprefix("$ ")))
        position = end
    return list(references)


def _in_sentence(sentence: str) -> Iterator[Named]:
    if not _MAY_NAME.search(sentence):
        return
    prose = _SPAN.sub(" ", sentence)
    if _MOOT.search(" ".join(word for word in prose.split() if "/" not in word)):
        return
    for span in _SPAN.finditer(sentence):
        yield from _in_code(span[1].strip())
    yield from _paths(prose)
    for run in _RUN.finditer(prose):
        yield from _commands(run[1])
    yield from _anywhere(prose)
    yield from _definitions(sentence)
    yield from _packages(sentence)


def _paths(prose: str) -> Iterator[Named]:
    """Return the paths in prose. After an absolute path without a known extension, the next word may be its rest."""
    is_open = False
    for word in prose.split():
        references = list(_path(word, is_code=False)) if "/" in word else []
        if not is_open or word.startswith(("/", "~")):
            yield from references
        is_open = any(reference.sort is Sort.ABSOLUTE and not _ends_known(reference.name) for reference in references)


def _in_code(span: str) -> Iterator[Named]:
    """Return what a code span refers to: itself, or what it runs as a command."""
    if call := _CALL.fullmatch(span):
        yield from _definition(call[2], call[1].rstrip(".:"))
        return
    if span.startswith(("/", "~/")) and " " in span and not _FOREIGN.search(span):
        yield from _path(span, is_code=True)
        return
    if not _MAKES_FILES.match(span) and ">" not in span:
        for word in span.split():
            yield from _path(word, is_code=True)
    yield from _commands(span)
    yield from _anywhere(span)


def _path(word: str, *, is_code: bool) -> Iterator[Named]:
    if "/" not in word and "." not in word:
        return
    bare = _PLACE_IN_FILE.sub("", word.strip(_QUOTES).rstrip("."))
    if _FOREIGN.search(bare) or not _PATH.fullmatch(bare) or bare.startswith("//") or "@" in bare.split("/")[0]:
        return
    names = [name for name in bare.split("/") if name not in ("", ".")]
    if not names or ".." in names or any(name.lower() in PLACEHOLDERS for name in names):
        return
    if bare.startswith(("/", "~/")):
        if len(names) > 1:
            yield Named(Sort.ABSOLUTE, bare.rstrip("/"))
    elif "/" not in bare:
        if is_code and _ends_known(bare) and bare.lower() not in LIBRARIES and not bare.startswith("."):
            yield Named(Sort.FILE_NAME, bare)
    elif "." not in names[0][1:] or bare.startswith("./"):
        runs = is_code and not bare.endswith("/") and (bare.startswith("./") or names[0] in ("bin", "scripts"))
        if len(names) > 1 and (_ends_known(names[-1]) or runs):
            yield Named(Sort.RELATIVE, "/".join(names))


def _ends_known(name: str) -> bool:
    stem, dot, ending = name.rpartition(".")
    return bool(dot and stem) and ending.lower() in ENDINGS


def _anywhere(text: str) -> Iterator[Named]:
    """Return commands that are recognisable anywhere in a text."""
    for script in _SCRIPT.finditer(text):
        yield Named(Sort.SCRIPT, script[1].rstrip(".:-"))
    for cargo in _CARGO.finditer(text):
        arguments = cargo[1].partition(" -- ")[0]  # the rest are arguments of the program that cargo runs
        for crate in _CRATE.finditer(arguments):
            yield Named(Sort.BINARY if "--bin" in crate[0] else Sort.CRATE, crate[1].rstrip("-"))
    for module in _MODULE.finditer(text):
        if module[1].split(".")[0] not in sys.stdlib_module_names:
            yield Named(Sort.MODULE, module[1].rstrip("."))


def _commands(line: str) -> Iterator[Named]:
    """Return what a line runs that begins with the name of a tool."""
    for part in re.split(r"&&|\|\||[;|]", line):
        command = part.strip()
        if script := _SHORT_SCRIPT.match(command):
            if script[1] not in COMMANDS and "run" not in script[1].split():
                yield Named(Sort.SCRIPT, script[1].rstrip(".:-"))
        elif just := _JUST.match(command):
            yield Named(Sort.RECIPE, just[1])
        elif make := _MAKE.match(command):
            words = make[1].split()
            if not any(word.startswith("-") for word in words):
                goals = [word.rstrip(".:") for word in words if "=" not in word]
                yield from (Named(Sort.TARGET, goal) for goal in goals[: None if command == make[0] else 1])


def _definitions(sentence: str) -> Iterator[Named]:
    for match in _BEFORE.finditer(sentence):
        word, name = match[0].split()[0], match[1]
        is_explicit = match[0].endswith("(") or "`" in match[0] or bool(re.fullmatch(_CODEY, name)) or word == "def"
        is_class = word == "class" and name[0].isupper() and bool(_CODE_SIGN.search(sentence))
        if is_explicit or is_class:
            yield from _definition(name)
    for match in _AFTER.finditer(sentence):
        yield from _definition(match[1])


def _definition(name: str, owner: str = "") -> Iterator[Named]:
    head = re.split(r"\.|::", owner)[0] if owner else ""
    if name in _BUILT_IN or name in BRANDS or head in sys.stdlib_module_names or len(name) < 2:
        return
    yield Named(Sort.DEFINITION, name, head)


def _packages(sentence: str) -> Iterator[Named]:
    for match in _PACKAGE.finditer(sentence):
        name, is_quoted = (match[1] or match[2]).rstrip("./-"), bool(match[1])
        is_package = bool(match[3]) or (is_quoted and "depend" in match[0]) or name.lower() in PACKAGES
        if is_package and name and not _ends_known(name) and name.lower() not in ("a", "an", "this", "that", "its"):
            yield Named(Sort.PACKAGE, name)
