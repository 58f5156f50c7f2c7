"""The options that every command takes, and the settings they lead to."""

# ruff: noqa: PLC0415 (Pydantic takes a third of a second to import, which `lily --help` must not pay)

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lily.model.errors import Terminal

if TYPE_CHECKING:
    from lily.settings import Settings


class Format(StrEnum):
    """How a command answers: for a person, or for a program."""

    text = "text"
    json = "json"


DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", help="Where the stack keeps its files (LILY_DATA_DIR; default .lily).", show_default=False
    ),
]
AnswerFormat = Annotated[Format, typer.Option("--format", help="Answer for a person, or as JSON for a program.")]


class BadSettings(Terminal):
    """A setting has a value that it cannot have."""


def read_settings(data_dir: Path | None, port: int | None = None) -> "Settings":
    """The settings of the environment and of lily.toml, with what the command line names; its paths made absolute."""
    from pydantic import ValidationError

    from lily.settings import Settings

    try:
        settings = Settings()
    except ValidationError as error:
        problems = "; ".join(f"LILY_{'__'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors())
        raise BadSettings(f"{problems}. Correct it in the environment or in lily.toml.") from error
    return settings.model_copy(
        update={
            "data_dir": (data_dir or settings.data_dir).expanduser().resolve(),
            "port": settings.port if port is None else port,
        }
    )
