"""The SQL files of the schema that are part of the package."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import NamedTuple

FUNCTIONS = "functions"
_NUMBERED = re.compile(r"\d{4}_\w+\.sql")


class Script(NamedTuple):
    name: str
    body: bytes

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


@dataclass(frozen=True, slots=True)
class Schema:
    """All scripts of the newest schema, in the order in which they are applied."""

    migrations: tuple[Script, ...]
    functions: tuple[Script, ...]


def read_schema(folder: Traversable) -> Schema:
    numbered = (file for file in folder.iterdir() if _NUMBERED.fullmatch(file.name))
    repeatable = (file for file in folder.joinpath(FUNCTIONS).iterdir() if file.name.endswith(".sql"))
    return Schema(_in_order(numbered), _in_order(repeatable))


def _in_order(files: Iterable[Traversable]) -> tuple[Script, ...]:
    return tuple(sorted((Script(file.name, file.read_bytes()) for file in files), key=lambda script: script.name))
