"""The tables of an engine that an asset may be: the other way round than `ObjectNames`."""

from collections.abc import Collection, Iterator

from lily.enforce.trino.objects import ObjectNames
from lily.model.engine_names import EngineMapping

SEPARATOR = "."
MAX_PARTS = 8  # of a name; what has more is not a table of an engine


def engine_paths(
    asset_name: str, mappings: Collection[EngineMapping], names: ObjectNames, levels: int
) -> list[tuple[str, ...]]:
    """Paths of so many levels, in lower case as engines write them. A name with more parts may be divided in several
    ways, such as where a schema has a dot in its name."""
    given = asset_name.casefold()
    written = [asset_name]
    for mapping in mappings:
        start = mapping.asset_name.casefold()
        if given == start or given.startswith(f"{start}{SEPARATOR}"):
            written.append(mapping.engine_name + asset_name[len(mapping.asset_name) :])
    found = dict.fromkeys(path for name in written for path in _divided(name.lower().split(SEPARATOR), levels))
    return [path for path in found if given in {name.casefold() for name in names.of(path)}]


def _divided(parts: list[str], levels: int) -> Iterator[tuple[str, ...]]:
    if levels == 1:
        yield (SEPARATOR.join(parts),)
    elif len(parts) <= MAX_PARTS:
        for end in range(1, len(parts) - levels + 2):
            for rest in _divided(parts[end:], levels - 1):
                yield (SEPARATOR.join(parts[:end]), *rest)
