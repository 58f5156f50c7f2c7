"""Recipes: which connector to run, through which transforms, into which Lily.

    [source]
    type = "file"
    path = "${HOME}/assets.csv"

    [[transforms]]
    type = "rename"
    add_prefix = "warehouse."

    [sink]
    wait = 30

TOML, like lily.toml: the standard library reads it, and it has no implicit conversions (docs/decisions/0020).
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lily.model.errors import Terminal
from lily.plugins.configuration_errors import described

# `$$` is a literal dollar sign.
_VARIABLE = re.compile(r"\$\$|\$\{([^}]*)\}")


class BadRecipe(Terminal):
    """The recipe cannot be read, or names something that does not exist."""


class Part(BaseModel):
    """A plug-in and its configuration: every key but `type`."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Sink(BaseModel):
    """The Lily to send to. Without an address: LILY_URL and LILY_TOKEN, else the embedded stack."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str | None = None
    token: str | None = Field(None, repr=False)
    wait: int | None = Field(None, ge=0, description="seconds to wait until each batch can be read")


class Recipe(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Part
    data_source: str | None = Field(None, min_length=1, description="that `lily refresh listen` refreshes with it")
    transforms: tuple[Part, ...] = ()
    sink: Sink = Sink()


def read_recipe(path: Path, environment: Mapping[str, str] = os.environ) -> Recipe:
    """Raises BadRecipe with what is wrong, and where."""
    try:
        return Recipe.model_validate(read_toml(path, environment))
    except ValidationError as error:
        raise BadRecipe(f"{path}: {described(error, Recipe)}") from error


def read_toml(path: Path, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """A TOML file with its variables replaced. Raises BadRecipe if it cannot be read, or names a variable that is not
    set."""
    try:
        parsed = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRecipe(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRecipe(f"{path} is not TOML: {error}.") from error
    return dict(expanded(parsed, environment))


def expanded(value: Any, environment: Mapping[str, str], where: str = "") -> Any:
    """Variables are replaced in the parsed values: so the value of a variable cannot change the rest of the recipe."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _variable(found, environment, where), value)
    if isinstance(value, list):
        return [expanded(item, environment, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: expanded(item, environment, f"{where}.{key}" if where else key) for key, item in value.items()}
    return value


def _variable(found: re.Match[str], environment: Mapping[str, str], where: str) -> str:
    name = found[1]
    if name is None:
        return "$"
    if name not in environment:
        raise BadRecipe(f"{where} uses ${{{name}}}, which is not set. Set it in the environment.")
    return environment[name]
