"""Installed distributions for tests of plug-ins: what pip would leave on the path, in a directory of the test's own."""

from importlib.metadata import distributions
from pathlib import Path

from lily.plugins import Registry
from lily.plugins.discovery import discover


def install(site: Path, name: str, entry_points: str, version: str = "1.0", **modules: str) -> None:
    """`modules` are the sources of the distribution's top-level modules, by name."""
    directory = site / f"{name.replace('-', '_')}-{version}.dist-info"
    directory.mkdir(parents=True)
    (directory / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: misleading\n"
    )
    (directory / "entry_points.txt").write_text(entry_points)
    for module, source in modules.items():
        (site / f"{module}.py").write_text(source)


def registry_of(*sites: Path) -> Registry:
    return Registry(discover(distributions(path=[str(site) for site in sites])))
