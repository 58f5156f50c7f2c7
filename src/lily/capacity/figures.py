"""Reads and validates TOML files of numbers: all known keys must be present, and no others."""

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from lily.model.errors import Terminal


class BadFigures(Terminal):
    """A file of figures is invalid. The message names the file and the key."""


def packaged(name: str) -> str:
    """Returns the text of a file that ships with Lily."""
    return files("lily.capacity").joinpath(name).read_text(encoding="utf-8")


def read_toml(path: Path | None, name: str) -> tuple[str, dict[str, Any]]:
    """Returns the file's name for messages, and its content: the file at `path`, or the packaged one if None."""
    if path is None:
        return name, tomllib.loads(packaged(name))
    try:
        return str(path), tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFigures(f"{path} cannot be read: {error.strerror}. Use the path of an existing file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFigures(f"{path} is not valid TOML: {error}.") from error


def check_keys(location: str, found: Iterable[str], known: Iterable[str]) -> None:
    found, known = set(found), set(known)
    if unknown := sorted(found - known):
        raise BadFigures(
            f"{location}: unknown {_keys(unknown)}. Remove or rename it; valid keys are {_keys(sorted(known))}."
        )
    if missing := sorted(known - found):
        raise BadFigures(
            f"{location}: missing {_keys(missing)}. Add it; `lily cost --write-prices FILE` and "
            "`lily cost --write-measured FILE` write a complete file to start from."
        )


def check_number(location: str, value: object, *, positive: bool) -> float:
    """Returns the value as a float. Raises BadFigures unless it is a finite number, zero or more, or above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadFigures(f"{location} is {value!r}, not a number. Write it without quotes, for example 0.03.")
    if not 0 <= value < float("inf") or (positive and value == 0):
        limit = "above zero" if positive else "zero or more"
        raise BadFigures(f"{location} is {value!r}; it must be finite and {limit}.")
    return float(value)


def check_table(location: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        section = location.rpartition(" ")[2]
        raise BadFigures(f"{location} is {value!r}, not a table. Write it as a section: [{section}].")
    return value


def write_packaged(name: str, path: Path) -> None:
    """Writes a copy for the user to edit. Never overwrites a file, which may hold the user's own figures."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(packaged(name))
    except FileExistsError as error:
        raise BadFigures(f"{path} already exists. Choose another name, or remove the file first.") from error
    except OSError as error:
        raise BadFigures(f"{path} cannot be written: {error.strerror}. Choose another path.") from error


def _keys(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
