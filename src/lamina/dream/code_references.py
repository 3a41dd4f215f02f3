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

from lamina.capture.pieces.piece import find_code_fences
from lamina.capture.pieces.text_format import CODE_SUFFIXES, MARKDOWN_SUFFIXES
from lamina.text.sentences import find_sentences

_BRANDS = """
    JavaScript TypeScript GitHub GitLab BitBucket PostgreSQL MySQL SQLite NoSQL GraphQL OpenAI LinkedIn YouTube iPhone
    iPad iOS macOS PowerShell PowerPoint NumPy SciPy PyTorch TensorFlow NodeJS NextJS VueJS MongoDB DynamoDB
    CoffeeScript WordPress DevOps OAuth WebSocket WebAssembly RabbitMQ eBay PayPal WhatsApp ChatGPT CircleCI FastAPI
"""
BRANDS = frozenset(_BRANDS.split())
"""Names with an inner capital that are not identifiers."""

_DOTTED_LIBRARIES = """
    node.js next.js vue.js nuxt.js react.js express.js three.js d3.js chart.js socket.io moment.js ember.js backbone.js
    angular.js solid.js alpine.js discord.js knockout.js require.js ext.js asp.net p5.js video.js
"""
DOTTED_LIBRARIES = frozenset(_DOTTED_LIBRARIES.split())
"""Libraries whose names look like file names."""

_PLACEHOLDERS = """
    foo bar baz qux xxx yyy zzz your yourname your-name your_name username user-name somewhere something myfile
    my-project my_project myproject your-project your_project example examplefile file.ext to
"""
PLACEHOLDERS = frozenset(_PLACEHOLDERS.split())
"""Names that stand for others: a path that contains one is a pattern (`path/to/file.py`)."""

_PACKAGE_MANAGER_COMMANDS = """
    add audit autoclean bin cache check config create dedupe deploy dlx exec fetch generate-lock-entry global help
    import info init install link list licenses login logout ls node outdated owner pack patch plugin policies prune
    publish rebuild remove run search set store tag team unlink uninstall unplug up update upgrade
    upgrade-interactive version versions view why workspace workspaces i rm un recursive root start-server setup env
"""
PACKAGE_MANAGER_COMMANDS = frozenset(_PACKAGE_MANAGER_COMMANDS.split())
"""Built-in commands of yarn and pnpm, which need no script of that name."""

_COMMON_PACKAGES = """
    django flask fastapi starlette uvicorn gunicorn celery requests httpx aiohttp urllib3 numpy pandas polars scipy
    matplotlib seaborn plotly scikit-learn xgboost torch pytorch tensorflow keras transformers sqlalchemy alembic
    psycopg psycopg2 asyncpg pymongo boto3 pydantic marshmallow attrs click typer rich jinja2 pytest hypothesis tox nox
    black ruff flake8 mypy pylint isort pillow beautifulsoup4 scrapy selenium playwright networkx spacy nltk gensim
    react react-dom preact vue nuxt svelte angular next express koa fastify nestjs lodash underscore axios jquery redux
    mobx zustand rxjs webpack vite rollup esbuild parcel babel eslint prettier jest vitest mocha chai cypress
    tailwindcss bootstrap styled-components socket.io mongoose sequelize typeorm prisma knex zod joi moment dayjs
    three d3 gin echo cobra viper gorm serde tokio actix rocket axum clap rayon hyper reqwest junit mockito hibernate
"""
COMMON_PACKAGES = frozenset(_COMMON_PACKAGES.split())
"""Packages so common that the bare name identifies them."""


class ReferenceType(StrEnum):
    """A type of thing that is referred to."""

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
class CodeReference:
    """A thing that a statement refers to as existing; `owner` is what a definition belongs to."""

    type: ReferenceType
    name: str
    owner: str = ""


_MAX_CHARS = 20_000
_TEXT_EXTENSIONS = (
    "json toml yaml yml ini cfg conf txt xml html htm csv tsv lock env ipynb rst adoc tex svg png dockerfile"
)
FILE_EXTENSIONS = CODE_SUFFIXES | MARKDOWN_SUFFIXES | frozenset(_TEXT_EXTENSIONS.split())
"""Extensions of files that projects contain."""

_IDENTIFIER = r"[A-Za-z_$][\w$]*"
_CODE_IDENTIFIER = (
    r"(?:[A-Za-z$]\w{0,60}_\w{1,60}|_\w{1,60}|[a-z$][a-z0-9]{0,60}[A-Z]\w{0,60}|[A-Z][a-z0-9]{1,60}[A-Z]\w{0,60})"
)
"""An identifier that only code uses, with an underscore or an inner capital; bounded, so that matching stays fast."""
_REFERENCE_HINT = re.compile(
    r"[/`(]|\b(?:function|method|def|class|npm|pnpm|yarn|bun|make|cargo|python|uses?|depends?|rel(?:y|ies)|requires?|imports?"
    r"|built|written)\b",
    re.IGNORECASE,
)
"""A sentence without one of these refers to nothing; most sentences have none."""
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_NOT_CURRENT = re.compile(
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
_FILE_COMMANDS = re.compile(r"(?:sudo )?(?:touch|mkdir|cp|mv|rm|ln|curl|wget|echo|tee|git|tar|zip|docker|scp|rsync)\b")
"""Commands that create or remove files."""
_NOT_A_PATH = re.compile(r"[<>{}$*?|%\\…]|://|\.\.\.|\[|\]")
_LINE_NUMBER = re.compile(r"(?::\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?)$")
_PATH = re.compile(r"[\w.@+\-/~ ]+")
_CALL = re.compile(rf"((?:{_IDENTIFIER}(?:\.|::))*)({_IDENTIFIER})\([^`]*\)")
_SCRIPT = re.compile(r"\b(?:npm|pnpm|yarn|bun) run(?:-script)? ([A-Za-z][\w:.-]*)")
_SHORT_SCRIPT = re.compile(r"(?:yarn|pnpm) ([A-Za-z][\w:.-]*)")
_MAKE = re.compile(r"make((?: [\w.=:/@-]+)+)")
_JUST = re.compile(r"just ([A-Za-z_][\w-]*)(?![\w:=]|\.\w)")
"""Only matched in code: in a sentence `just` is an ordinary word."""
_CARGO = re.compile(r"\bcargo (?:\+[\w.-]+ )?(?:run|build|test|check|bench|clippy|doc|[rbtc])(?= )((?: [\w.=:/@,-]+)+)")
_CRATE = re.compile(r" (?:-p|--package|--bin)[ =]([A-Za-z_][\w-]*)(?![\w@:/]|\.\w)")
_MODULE = re.compile(r"\bpython[\d.]* -m ([A-Za-z_][\w.]*)")
_RUN = re.compile(r"\b(?:[Rr]un|[Ee]xecute|[Tt]ype|[Ii]nvoke|[Cc]all) ((?:make|yarn|pnpm) [^,;.`\n]+)")
_KEYWORD_THEN_NAME = re.compile(rf"\b(?:function|method|def|class) `?({_IDENTIFIER})`?(\()?")
_NAME_THEN_KEYWORD = re.compile(rf"(?<![\w.$/])`?({_CODE_IDENTIFIER})(?!\w)`?(?:\(\))? (?:function|method|class)\b")
_CODE_SIGN = re.compile(r"`|\w/\w+\.\w|\(\)|\b(?:module|method|constructor|instance|subclass|inherit\w*|API|package)\b")
_PROJECT_NOUN = (
    r"(?:we|i?t|projects?|apps?|applications?|services?|back-?end|front-?end|repo|repository|codebase|code|api|server"
    r"|client|cli|library|package|module|tool|site|website|worker|bot|daemon|pipeline|importer|tests?)"
)
_USE_VERB = r"(?:uses?|depends? on|relies on|rely on|requires?|imports?|is built (?:on|with)|(?:is|are) written with)"
_PACKAGE = re.compile(
    rf"\b{_PROJECT_NOUN}\b[^.;:`\n]{{0,40}}?\b{_USE_VERB} (?:the )?(?:`([@\w./-]+)(?:[<>=~^!@][^`]*)?`|([@\w./-]+))"
    r"( (?:package|library|dependency|framework|module|crate)\b)?",
    re.IGNORECASE,
)
_BROWSER_GLOBALS = "fetch require setTimeout setInterval parseInt alert"
_BUILT_INS = frozenset([*dir(builtins), *_BROWSER_GLOBALS.split()])
_PUNCTUATION = "\"'“”‘’()[]{},;:!*"


def find_references(text: str) -> list[CodeReference]:
    """Return what a text says exists, each thing once, in the order of the text."""
    text = text[:_MAX_CHARS]
    references: dict[CodeReference, None] = {}
    position = 0
    for start, end in [*find_code_fences(text, only_closed=True), (len(text), len(text))]:
        for a, b in find_sentences(text[position:start]):
            references |= dict.fromkeys(_references_in_sentence(text[position + a : position + b]))
        for line in text[start:end].splitlines()[1:-1]:
            references |= dict.fromkeys(_references_in_code(line.strip().removeprefix("$ ")))
        position = end
    return list(references)


def _references_in_sentence(sentence: str) -> Iterator[CodeReference]:
    if not _REFERENCE_HINT.search(sentence):
        return
    prose = _CODE_SPAN.sub(" ", sentence)
    if _NOT_CURRENT.search(" ".join(word for word in prose.split() if "/" not in word)):
        return
    for span in _CODE_SPAN.finditer(sentence):
        yield from _references_in_code(span[1].strip())
    yield from _paths_in_prose(prose)
    for run in _RUN.finditer(prose):
        yield from _commands_in_line(run[1])
    yield from _commands_anywhere(prose)
    yield from _definitions_in_sentence(sentence)
    yield from _packages_in_sentence(sentence)


def _paths_in_prose(prose: str) -> Iterator[CodeReference]:
    """Return the paths in prose. After an absolute path without a known extension, the next word may be its rest."""
    is_open = False
    for word in prose.split():
        references = list(_parse_path(word, is_code=False)) if "/" in word else []
        if not is_open or word.startswith(("/", "~")):
            yield from references
        is_open = any(
            reference.type is ReferenceType.ABSOLUTE and not _has_known_extension(reference.name)
            for reference in references
        )


def _references_in_code(span: str) -> Iterator[CodeReference]:
    """Return what a code span refers to: itself, or what it runs as a command."""
    if call := _CALL.fullmatch(span):
        yield from _definition_reference(call[2], call[1].rstrip(".:"))
        return
    if span.startswith(("/", "~/")) and " " in span and not _NOT_A_PATH.search(span):
        yield from _parse_path(span, is_code=True)
        return
    if not _FILE_COMMANDS.match(span) and ">" not in span:
        for word in span.split():
            yield from _parse_path(word, is_code=True)
    yield from _commands_in_line(span)
    yield from _commands_anywhere(span)


def _parse_path(word: str, *, is_code: bool) -> Iterator[CodeReference]:
    if "/" not in word and "." not in word:
        return
    bare = _LINE_NUMBER.sub("", word.strip(_PUNCTUATION).rstrip("."))
    if _NOT_A_PATH.search(bare) or not _PATH.fullmatch(bare) or bare.startswith("//") or "@" in bare.split("/")[0]:
        return
    names = [name for name in bare.split("/") if name not in ("", ".")]
    if not names or ".." in names or any(name.lower() in PLACEHOLDERS for name in names):
        return
    if bare.startswith(("/", "~/")):
        if len(names) > 1:
            yield CodeReference(ReferenceType.ABSOLUTE, bare.rstrip("/"))
    elif "/" not in bare:
        if is_code and _has_known_extension(bare) and bare.lower() not in DOTTED_LIBRARIES and not bare.startswith("."):
            yield CodeReference(ReferenceType.FILE_NAME, bare)
    elif "." not in names[0][1:] or bare.startswith("./"):
        runs = is_code and not bare.endswith("/") and (bare.startswith("./") or names[0] in ("bin", "scripts"))
        if len(names) > 1 and (_has_known_extension(names[-1]) or runs):
            yield CodeReference(ReferenceType.RELATIVE, "/".join(names))


def _has_known_extension(name: str) -> bool:
    stem, dot, ending = name.rpartition(".")
    return bool(dot and stem) and ending.lower() in FILE_EXTENSIONS


def _commands_anywhere(text: str) -> Iterator[CodeReference]:
    """Return commands that are recognisable anywhere in a text."""
    for script in _SCRIPT.finditer(text):
        yield CodeReference(ReferenceType.SCRIPT, script[1].rstrip(".:-"))
    for cargo in _CARGO.finditer(text):
        arguments = cargo[1].partition(" -- ")[0]  # the rest are arguments of the program that cargo runs
        for crate in _CRATE.finditer(arguments):
            yield CodeReference(
                ReferenceType.BINARY if "--bin" in crate[0] else ReferenceType.CRATE, crate[1].rstrip("-")
            )
    for module in _MODULE.finditer(text):
        if module[1].split(".")[0] not in sys.stdlib_module_names:
            yield CodeReference(ReferenceType.MODULE, module[1].rstrip("."))


def _commands_in_line(line: str) -> Iterator[CodeReference]:
    """Return what a line runs that begins with the name of a tool."""
    for part in re.split(r"&&|\|\||[;|]", line):
        command = part.strip()
        if script := _SHORT_SCRIPT.match(command):
            if script[1] not in PACKAGE_MANAGER_COMMANDS and "run" not in script[1].split():
                yield CodeReference(ReferenceType.SCRIPT, script[1].rstrip(".:-"))
        elif just := _JUST.match(command):
            yield CodeReference(ReferenceType.RECIPE, just[1])
        elif make := _MAKE.match(command):
            words = make[1].split()
            if not any(word.startswith("-") for word in words):
                goals = [word.rstrip(".:") for word in words if "=" not in word]
                yield from (
                    CodeReference(ReferenceType.TARGET, goal) for goal in goals[: None if command == make[0] else 1]
                )


def _definitions_in_sentence(sentence: str) -> Iterator[CodeReference]:
    for match in _KEYWORD_THEN_NAME.finditer(sentence):
        word, name = match[0].split()[0], match[1]
        is_explicit = (
            match[0].endswith("(") or "`" in match[0] or bool(re.fullmatch(_CODE_IDENTIFIER, name)) or word == "def"
        )
        is_class = word == "class" and name[0].isupper() and bool(_CODE_SIGN.search(sentence))
        if is_explicit or is_class:
            yield from _definition_reference(name)
    for match in _NAME_THEN_KEYWORD.finditer(sentence):
        yield from _definition_reference(match[1])


def _definition_reference(name: str, owner: str = "") -> Iterator[CodeReference]:
    head = re.split(r"\.|::", owner)[0] if owner else ""
    if name in _BUILT_INS or name in BRANDS or head in sys.stdlib_module_names or len(name) < 2:
        return
    yield CodeReference(ReferenceType.DEFINITION, name, head)


def _packages_in_sentence(sentence: str) -> Iterator[CodeReference]:
    for match in _PACKAGE.finditer(sentence):
        name, is_quoted = (match[1] or match[2]).rstrip("./-"), bool(match[1])
        is_package = bool(match[3]) or (is_quoted and "depend" in match[0]) or name.lower() in COMMON_PACKAGES
        if (
            is_package
            and name
            and not _has_known_extension(name)
            and name.lower() not in ("a", "an", "this", "that", "its")
        ):
            yield CodeReference(ReferenceType.PACKAGE, name)
