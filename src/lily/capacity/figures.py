"""Reading TOML files of numbers: every key that is known has to be there, and no other."""

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from lily.model.errors import Terminal


class BadFigures(Terminal):
    """A file of figures cannot be used. The message names the file and the key."""


def packaged(name: str) -> str:
    """The text of a file that ships with Lily."""
    return files("lily.capacity").joinpath(name).read_text(encoding="utf-8")


def read_toml(path: Path | None, name: str) -> tuple[str, dict[str, Any]]:
    """How to call the file in a message, and what it holds: the user's if one is named, else the packaged one."""
    if path is None:
        return name, tomllib.loads(packaged(name))
    try:
        return str(path), tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFigures(f"{path} cannot be read: {error.strerror}. Name a file that exists.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFigures(f"{path} is not TOML: {error}. Correct that place.") from error


def check_keys(place: str, found: Iterable[str], known: Iterable[str]) -> None:
    found, known = set(found), set(known)
    if unknown := sorted(found - known):
        raise BadFigures(f"{place}: unknown {_keys(unknown)}. Remove or correct it; known are {_keys(sorted(known))}.")
    if missing := sorted(known - found):
        raise BadFigures(
            f"{place}: missing {_keys(missing)}. Add it; `lily cost` writes a complete file to start from."
        )


def number_of(place: str, value: object, *, positive: bool) -> float:
    """Raises BadFigures for anything but a finite number, above zero where it has to be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadFigures(f"{place} is {value!r}, not a number. Write it without quotes, such as 0.03.")
    if not 0 <= value < float("inf") or (positive and value == 0):
        raise BadFigures(f"{place} is {value!r}; it has to be {'above' if positive else 'at least'} zero, and finite.")
    return float(value)


def table_of(place: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadFigures(f"{place} is {value!r}, not a table. Write it as in the file that `lily cost` writes.")
    return value


def write_packaged(name: str, path: Path) -> None:
    """A copy for the user to edit. Never writes over a file: it may hold somebody's own figures."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(packaged(name))
    except FileExistsError as error:
        raise BadFigures(f"{path} exists already. Name another file, or remove it first.") from error
    except OSError as error:
        raise BadFigures(f"{path} cannot be written: {error.strerror}. Name a place that can.") from error


def _keys(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
