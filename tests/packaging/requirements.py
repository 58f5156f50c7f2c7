"""The distributions that an installation of Lily with an extra contains, from the metadata of those installed here."""

import tomllib
from collections.abc import Collection, Iterable
from importlib.metadata import PackageNotFoundError, requires

from packaging.utils import canonicalize_name

from packaging.requirements import Requirement
from tests.packaging.environments import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def installed_with(extra: str) -> set[str]:
    """What `pip install 'lily-metadata[EXTRA]'` installs."""
    return closure([f"{PROJECT['name']}[{extra}]"])


def closure(requirements: Iterable[str]) -> set[str]:
    """The names of all distributions that these need, directly or not."""
    wanted = list(map(Requirement, requirements))
    found: dict[str, set[str]] = {}
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        new = {"", *requirement.extras} - found.setdefault(name, set())
        found[name] |= new
        wanted += _needs(name, new)
    return set(found)


def _needs(name: str, extras: Collection[str]) -> list[Requirement]:
    if name == PROJECT["name"]:  # as the file has it now, which may differ from what is installed
        groups = {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
        return [Requirement(text) for extra in extras for text in groups[extra]]
    try:
        stated = list(map(Requirement, requires(name) or ()))
    except PackageNotFoundError:  # for another platform
        return []
    return [need for need in stated if any(_holds(need, extra) for extra in extras)]


def _holds(need: Requirement, extra: str) -> bool:
    return need.marker is None or need.marker.evaluate({"extra": extra})
