"""What is wrong with the settings, in the names of the environment or of lily.toml."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from lily.model.suggestions import similar
from lily.settings import Settings


def described(error: ValidationError) -> str:
    """All problems as one sentence, with its full stop."""
    problems = "; ".join(_problem(entry) for entry in error.errors())
    return problems if problems.endswith("?") else f"{problems}."


def _problem(entry: Any) -> str:
    path = [str(step) for step in entry["loc"]]
    if entry["type"] == "extra_forbidden":
        return _unknown(path)
    message = entry["msg"].removeprefix("Value error, ")
    if isinstance(entry["input"], dict):  # a whole section, which may have a password in it
        return f"{_variable(path)}: {message}"
    return f"{_variable(path)} is {entry['input']!r}: {message}"


def _unknown(path: Sequence[str]) -> str:
    by_name = {"__".join(known): known for known in _paths(Settings)}
    meant = similar("__".join(path), by_name)
    variables = {name.upper() for name in os.environ}
    # A variable may hold the JSON of a whole section or list.
    set_in_environment = any(_variable(path[:length]) in variables for length in range(1, len(path) + 1))
    shown = _variable if set_in_environment else _key
    remedy = f"did you mean {shown(by_name[meant])}?" if meant else "the settings are in docs/operations.md"
    return f"unknown setting {shown(path)}{'' if set_in_environment else ' in lily.toml'}; {remedy}"


def _paths(shape: type[BaseModel], *above: str) -> Iterator[tuple[str, ...]]:
    for name, field in shape.model_fields.items():
        yield (*above, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _paths(field.annotation, *above, name)


def _variable(path: Sequence[str]) -> str:
    return f"LILY_{'__'.join(path)}".upper()


def _key(path: Sequence[str]) -> str:
    return ".".join(path)
