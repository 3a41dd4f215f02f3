"""Pages written from the code itself: `python -m lamina.cli.reference > docs/cli.md`, and the same with `settings`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer.main

from lamina.cli.app import EPILOG, app
from lamina.cli.vault_choice import VARIABLE
from lamina.settings import Settings

_SHARED = ("--vault", "--scope", "--json", "--help")


def render() -> str:
    """The whole reference as markdown."""
    group: Any = typer.main.get_command(app)
    return "\n".join([*_opening(group), *(line for command in group.commands.values() for line in _whole(command))])


def _whole(command: Any) -> Iterator[str]:
    """A command, and those of its family."""
    yield from _command(command, command.name, "##")
    for each in getattr(command, "commands", {}).values():
        yield from _command(each, f"{command.name} {each.name}", "###")


def _opening(group: Any) -> Iterator[str]:
    yield "# The command line\n"
    yield "Written from the help texts by `python -m lamina.cli.reference`; a test keeps it so.\n"
    yield f"{group.help}\n"
    yield "Options before or after every command's name:\n"
    yield from (_option(param) for param in group.params if param.opts[0] in _SHARED)
    yield (
        "\n**Which vault.** `--vault`, else `"
        + VARIABLE
        + "`, else the nearest folder upwards that is a vault, else `~/lamina`."
    )
    yield "Commands that read never make a vault; `remember`, `capture` and `try` make it at first use and say so.\n"
    yield "**Ids** may be given by their ending (four characters or more); tables show the last eight.\n"
    yield "**Times** are ISO 8601 and, like those in the files, UTC where they name no zone.\n"
    yield f"**Ends.** {EPILOG} 130 interrupted, 141 the reader of a pipe went away. An error is one line and a hint;"
    yield 'with `--json` it is `{"error": {"type", "message", "hint"}}`, on stderr too.\n'


def _command(command: Any, name: str, mark: str) -> Iterator[str]:
    own = [param for param in command.params if param.opts[0] not in _SHARED]
    arguments = [each for each in own if each.param_type_name == "argument"]
    usage = " ".join(["lamina", name, *(_metavar(argument) for argument in arguments)])
    yield f"{mark} lamina {name}\n"
    yield f"{' '.join(command.help.split())}\n"
    yield f"```\n{usage}{' [OPTIONS]' if len(own) > len(arguments) else ''}\n```\n"
    yield from (f"- `{_metavar(argument)}`: {argument.help}" for argument in arguments)
    yield from (_option(each) for each in own if each not in arguments)
    yield ("\n" if own else "") + "".join(f"`{part}`  \n" for part in _examples(command.epilog))


def _metavar(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    default = option.default
    shown = f" Default: {default}." if isinstance(default, str | int | float) and not isinstance(default, bool) else ""
    return f"- {names}: {option.help}{shown}"


def _examples(epilog: str) -> list[str]:
    return [part.strip() for part in epilog.removeprefix("Example: ").split("  ·  ")]


def render_settings() -> str:
    """Every setting with its default and what it is for, as markdown."""
    rows = [f"| `{name}` | {_default(each)} | {each.description} |" for name, each in Settings.model_fields.items()]
    return "\n".join(
        [
            "# Settings\n",
            "Written from the code by `python -m lamina.cli.reference settings`; a test keeps it so.\n",
            'Set them in `.lamina/settings.toml` (`embedder = "light"`). The environment (`LAMINA_EMBEDDER=light`) overrides',
            "the file, and arguments override both. Keys of services belong into the environment.\n",
            "| setting | default | what it is for |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _default(field: Any) -> str:
    if field.default is None:
        return "none"
    return str(field.default).lower() if isinstance(field.default, bool) else f"`{field.default}`"


if __name__ == "__main__":
    sys.stdout.write(render_settings() if sys.argv[1:] == ["settings"] else render())
