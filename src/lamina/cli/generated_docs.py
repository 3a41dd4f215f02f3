"""Generates docs/cli.md (`python -m lamina.cli.generated_docs`) and docs/settings.md (the same with `settings`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer.main

from lamina.cli.app import EPILOG, app
from lamina.cli.vault_choice import VAULT_VARIABLE
from lamina.settings import Settings

_SHARED = ("--vault", "--scope", "--json", "--help")


def render_commands() -> str:
    """Return the reference of all commands as markdown."""
    group: Any = typer.main.get_command(app)
    return "\n".join(
        [*_introduction(group), *(line for command in group.commands.values() for line in _command_group(command))]
    )


def _command_group(command: Any) -> Iterator[str]:
    """Yield the lines of a command and its subcommands."""
    yield from _command_lines(command, command.name, "##")
    for subcommand in getattr(command, "commands", {}).values():
        yield from _command_lines(subcommand, f"{command.name} {subcommand.name}", "###")


def _introduction(group: Any) -> Iterator[str]:
    yield "# The command line\n"
    yield "Generated from the help texts by `python -m lamina.cli.generated_docs`; a test checks it.\n"
    yield f"{group.help}\n"
    yield "Options of every command, before or after its name:\n"
    yield from (_option_line(param) for param in group.params if param.opts[0] in _SHARED)
    yield (
        "\n**Which vault.** `--vault`, else `"
        + VAULT_VARIABLE
        + "`, else the nearest vault in a parent folder, else `~/lamina`."
    )
    yield "Commands that read never create a vault; `remember`, `capture` and `try` create it at first use.\n"
    yield "**Ids** can be shortened to their last characters (four or more); tables show the last eight.\n"
    yield "**Times** are ISO 8601; without a zone they are UTC, as in the files.\n"
    yield f"**Exit codes and output.** {EPILOG} 130: interrupted, 141: broken pipe. An error is one line and a hint;"
    yield 'with `--json` it is `{"error": {"type", "message", "hint"}}` on stderr.\n'


def _command_lines(command: Any, name: str, mark: str) -> Iterator[str]:
    command_parameters = [param for param in command.params if param.opts[0] not in _SHARED]
    arguments = [parameter for parameter in command_parameters if parameter.param_type_name == "argument"]
    usage = " ".join(["lamina", name, *(_metavar(argument) for argument in arguments)])
    yield f"{mark} lamina {name}\n"
    yield f"{' '.join(command.help.split())}\n"
    yield f"```\n{usage}{' [OPTIONS]' if len(command_parameters) > len(arguments) else ''}\n```\n"
    yield from (f"- `{_metavar(argument)}`: {argument.help}" for argument in arguments)
    yield from (_option_line(parameter) for parameter in command_parameters if parameter not in arguments)
    yield ("\n" if command_parameters else "") + "".join(f"`{part}`  \n" for part in _examples(command.epilog))


def _metavar(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _option_line(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    default = option.default
    text = f" Default: {default}." if isinstance(default, str | int | float) and not isinstance(default, bool) else ""
    return f"- {names}: {option.help}{text}"


def _examples(epilog: str) -> list[str]:
    return [part.strip() for part in epilog.removeprefix("Example: ").split("  ·  ")]


def render_settings() -> str:
    """Return all settings with default and purpose, as markdown."""
    rows = [f"| `{name}` | {_default(field)} | {field.description} |" for name, field in Settings.model_fields.items()]
    return "\n".join(
        [
            "# Settings\n",
            "Generated from the code by `python -m lamina.cli.generated_docs settings`; a test checks it.\n",
            'Set them in `.lamina/settings.toml` (`embedder = "light"`). The environment (`LAMINA_EMBEDDER=light`)',
            "overrides the file, and arguments override both. Put keys of services into the environment.\n",
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
    sys.stdout.write(render_settings() if sys.argv[1:] == ["settings"] else render_commands())
