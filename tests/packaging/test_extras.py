"""Every extra brings the packages that its part of Lily imports."""

import sys
from collections.abc import Mapping
from importlib.metadata import packages_distributions

import grimp
import pytest
from packaging.utils import canonicalize_name

from tests.packaging.requirements import installed_with

PARTS = {
    "": ("lily.client", "lily.model", "lily.__main__"),
    "plugins": ("lily.plugins", "lily.testing"),
    "core": (
        "lily.connect",
        "lily.formats",
        *(
            f"lily.cli.{name}"
            for name in ("access.tenants", "metadata.ingest", "metadata.cost", "deployment.plugins", "stack.down")
        ),
    ),
    "server": ("lily.api", "lily.intake", "lily.reactions"),
    "pipeline": ("lily.pipeline", "lily.embedded.jars"),
    "embedded": ("lily.cli", "lily.embedded"),
}
# The entry point imports the command when it runs, and says what to install if it cannot.
LAZY = ("lily.__main__", "lily.cli")


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    graph = grimp.build_graph("lily", include_external_packages=True, cache_dir=None)
    graph.remove_import(importer=LAZY[0], imported=LAZY[1])
    return graph


@pytest.fixture(scope="module")
def providers() -> dict[str, set[str]]:
    """The distributions that bring each package; several share a name such as `google`."""
    return {package: set(map(canonicalize_name, names)) for package, names in packages_distributions().items()}


@pytest.mark.parametrize("extra", PARTS)
def test_an_extra_brings_what_its_part_imports(
    imports: grimp.ImportGraph, providers: Mapping[str, set[str]], extra: str
) -> None:
    imported = {package for part in PARTS[extra] for package in imported_by(part, imports)}
    brought = installed_with(extra)
    assert not {package for package in imported if not providers[package] & brought}


def imported_by(part: str, imports: grimp.ImportGraph) -> set[str]:
    """The packages of others that a part of Lily imports, itself or by way of other parts."""
    modules = {part, *imports.find_descendants(part)}
    reached = modules.union(*map(imports.find_upstream_modules, modules))
    return {name for name in reached if name.partition(".")[0] != "lily"} - sys.stdlib_module_names
