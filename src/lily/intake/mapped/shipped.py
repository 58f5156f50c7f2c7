"""The mappings that Lily ships: data files, one per source. A tenant's own mapping of the same name replaces one."""

from functools import cache
from importlib import resources

import orjson

from lily.intake.mapped.intake import Mapped
from lily.intake.mapped.mapping import Mapping


@cache
def shipped() -> dict[str, Mapped]:
    """By name."""
    files = resources.files(__package__).joinpath("data").iterdir()
    stated = [Mapping.model_validate(orjson.loads(one.read_bytes())) for one in files if one.name.endswith(".json")]
    return {one.name: Mapped(one) for one in sorted(stated, key=lambda mapping: mapping.name)}
