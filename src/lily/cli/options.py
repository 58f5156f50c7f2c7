"""The options that several commands share, and the settings they result in."""

# ruff: noqa: PLC0415 (Pydantic takes a third of a second to import, which `lily --help` must not pay)

from pathlib import Path
from tomllib import TOMLDecodeError
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption

from lily.cli.hints import DEFAULT_DATA_DIR
from lily.cli.output import Format
from lily.model.errors import Terminal

if TYPE_CHECKING:
    from lily.settings import Settings

LOWEST_PORT, HIGHEST_PORT = 1, 65_535


def flag(name: str, description: str, short: str | None = None) -> Any:
    """An option without a value. Its help shows no type."""
    names = (name, short) if short else (name,)
    return typer.Option(*names, metavar=" ", help=description)


def option(name: str, metavar: str, description: str, default: str | None = None) -> Any:
    """An option with a value. `default` describes a default that is not a constant."""
    if default is None:
        return typer.Option(name, metavar=metavar, help=description)
    # Typer puts a described default into parentheses, so it is part of the text; the backslash is for its markup.
    return typer.Option(name, metavar=metavar, help=rf"{description} \[default: {default}]", show_default=False)


class Group(TyperGroup):
    """A group of commands whose help shows no type for `--help`."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        return _without_type(super().get_help_option(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _without_type(command.get_help_option(ctx))  # the command keeps it
        return command


def _without_type(option: TyperOption | None) -> TyperOption | None:
    if option is not None:
        option.metavar = " "
    return option


DataDir = Annotated[
    Path | None,
    option("--data-dir", "DIR", "The stack's data directory (environment: LILY_DATA_DIR).", DEFAULT_DATA_DIR),
]
OutputFormat = Annotated[Format, option("--format", "text|json", "Print text for people, or JSON for programs.")]
Port = Annotated[int | None, option("--port", "PORT", "Port of the API, 1 to 65535 (environment: LILY_PORT).", "8585")]
Tenant = Annotated[str, option("--tenant", "NAME", "Name of the tenant.")]


class BadSettings(Terminal):
    """A setting has an invalid value."""


def read_settings(data_dir: Path | None, port: int | None = None) -> "Settings":
    """Returns the settings of the environment and of lily.toml, overridden by the command line, with absolute paths."""
    settings = _configured()
    if port is not None and not LOWEST_PORT <= port <= HIGHEST_PORT:
        raise BadSettings(f"--port is {port}; a port is a number from {LOWEST_PORT} to {HIGHEST_PORT}, such as 8585.")
    directory = (data_dir or settings.data_dir).expanduser().resolve()
    if directory.exists() and not directory.is_dir():
        raise BadSettings(f"{directory} is a file, not a directory. Choose another data directory with --data-dir.")
    return settings.model_copy(
        update={"data_dir": directory, "port": settings.port if port is None else port},
    )


def _configured() -> "Settings":
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from lily.cli.bad_settings import described
    from lily.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        raise BadSettings(f"{described(error)} Correct it in the environment or in lily.toml.") from error
    except SettingsError as error:  # a variable that has to be JSON and is not
        raise BadSettings(f"A LILY_ variable is not valid JSON ({error}). Correct it in the environment.") from error
    except TOMLDecodeError as error:
        raise BadSettings(f"lily.toml is not valid TOML: {error}. Correct that line.") from error
