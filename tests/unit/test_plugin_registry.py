"""The registry finds what is installed, and a plug-in that cannot be used is reported and left out."""

from itertools import count
from pathlib import Path

import pytest

from lily.plugins import (
    CONNECTORS,
    FORMATS,
    TRANSFORMS,
    BadConfiguration,
    BrokenPlugin,
    Plugin,
    Registry,
    UnknownPlugin,
    installed,
)
from lily.plugins.media_types import UnknownFormat
from tests.distributions import install, registry_of

_numbers = count()

GOOD_FORMAT = """
class Tsv:
    media_types = ("text/tab-separated-values",)
    suffixes = (".tsv",)
    def splitter(self, limit):
        return self
"""
GOOD_TRANSFORM = """
from pydantic import BaseModel
class Same:
    class Config(BaseModel):
        times: int = 1
    def __init__(self, config):
        self.times = config.times
    def asset(self, stated):
        return [stated] * self.times
    def edge(self, stated):
        return [stated]
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def module() -> str:
    """A name that no other test imports: Python imports a module once."""
    return f"plugin_of_a_test_{next(_numbers)}"


def formats(site: Path, source: str, attribute: str = "Tsv", name: str = "tsv") -> Registry:
    of = module()
    install(site, "lily-tsv", f"[lily.formats]\n{name} = {of}:{attribute}\n", "2.5", **{of: source})
    return registry_of(site)


def only(registry: Registry) -> Plugin:
    (plugin,) = registry.plugins()
    return plugin


def test_an_installed_plugin_is_found_with_its_origin(site: Path) -> None:
    registry = formats(site, GOOD_FORMAT)
    assert only(registry) == Plugin("lily.formats", "tsv", "lily-tsv", "2.5", "ready", "")
    assert registry.formats.media_types == ("text/tab-separated-values",)
    assert type(registry.formats.of_suffix(".TSV")).__name__ == "Tsv"
    assert registry.left_out() == []


def test_nothing_is_imported_before_it_is_needed(site: Path) -> None:
    registry = formats(site, "raise RuntimeError('imported')")
    assert registry.names(FORMATS) == ["tsv"]
    assert "imported" in only(registry).problem


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import no_such_module_anywhere", "No module named 'no_such_module_anywhere'"),
        ("def broken(:\n", "SyntaxError"),
        ("import sys\nsys.exit(3)", "SystemExit"),
        ("Tsv = 7", "must name a class, not an object of type int"),
        ("class Other: pass", "no attribute 'Tsv'"),
        (GOOD_FORMAT.replace("splitter", "split"), "the method splitter(limit) is missing"),
        (GOOD_FORMAT.replace("(self, limit)", "(self)"), "it must be possible to call splitter(limit)"),
        (GOOD_FORMAT.replace("(self, limit)", "(self, limit, more)"), "it must be possible to call splitter(limit)"),
        (GOOD_FORMAT.replace("def splitter", "async def splitter"), "must not be `async def`"),
        (GOOD_FORMAT.replace("suffixes", "endings"), "suffixes is missing"),
        (GOOD_FORMAT.replace('("text/tab-separated-values",)', '"text/csv"'), "media_types must be a tuple"),
        (GOOD_FORMAT.replace("text/tab", "Text/Tab"), "media_types must be a tuple"),
        (GOOD_FORMAT + "    def __init__(self, config): pass\n", "without arguments"),
        (GOOD_FORMAT + "    def __init__(self): raise ValueError('boom')\n", "ValueError: boom"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_reported_and_left_out(site: Path, source: str, problem: str) -> None:
    registry = formats(site, source)
    plugin = only(registry)
    assert (plugin.state, plugin.origin, plugin.version) == ("failed", "lily-tsv", "2.5")
    assert problem in plugin.problem
    assert registry.formats.media_types == ()
    with pytest.raises(UnknownFormat, match="Installed: none"):
        registry.formats.of_media_type("text/tab-separated-values")


def test_a_broken_plugin_does_not_take_another_along(site: Path) -> None:
    bad, good = module(), module()
    install(site, "lily-bad", f"[lily.formats]\nbad = {bad}:Tsv\n", **{bad: "1 / 0"})
    install(site, "lily-good", f"[lily.formats]\ngood = {good}:Tsv\n", **{good: GOOD_FORMAT})
    assert [(plugin.name, plugin.state) for plugin in registry_of(site).plugins()] == [
        ("bad", "failed"),
        ("good", "ready"),
    ]


def test_damaged_metadata_does_not_hide_other_plugins(site: Path) -> None:
    good = module()
    install(site, "lily-good", f"[lily.formats]\ngood = {good}:Tsv\n", **{good: GOOD_FORMAT})
    install(site, "lily-damaged", "[lily.formats]\nthis line is no entry point\n")
    install(site, "lily-odd", "[lily.formats]\nodd = not a module at all\n")
    install(site, "unrelated", "[console_scripts]\nthis line is no entry point\n")
    (site / "nameless-1.0.dist-info").mkdir()
    found = {plugin.origin: plugin for plugin in registry_of(site).plugins()}
    assert {origin: plugin.state for origin, plugin in found.items()} == {
        "lily-good": "ready",
        "lily-damaged": "failed",
        "lily-odd": "failed",
    }
    assert "entry_points.txt cannot be read" in found["lily-damaged"].problem


@pytest.mark.parametrize("file", ["METADATA", "entry_points.txt"])
def test_metadata_that_is_not_utf_8_does_not_hide_other_plugins(site: Path, file: str) -> None:
    good = module()
    install(site, "lily-good", f"[lily.formats]\ngood = {good}:Tsv\n", **{good: GOOD_FORMAT})
    install(site, "unrelated", "")
    (site / "unrelated-1.0.dist-info" / file).write_bytes("Author: José\n".encode("latin-1"))
    assert (only(registry_of(site)).origin, only(registry_of(site)).state) == ("lily-good", "ready")


def test_of_two_with_one_name_the_first_distribution_has_it_and_the_other_is_shadowed(site: Path) -> None:
    for distribution in ("zebra", "aardvark", "mole"):
        of = module()
        install(site, distribution, f"[lily.formats]\ntsv = {of}:Tsv\n", **{of: GOOD_FORMAT})
    found = registry_of(site).plugins()
    assert [(plugin.origin, plugin.state) for plugin in found] == [
        ("aardvark", "ready"),
        ("mole", "shadowed"),
        ("zebra", "shadowed"),
    ]
    assert "taken by aardvark 1.0" in found[1].problem


def test_a_builtin_cannot_be_replaced(site: Path) -> None:
    of = module()
    install(site, "aardvark", f"[lily.formats]\ncsv = {of}:Tsv\n", **{of: GOOD_FORMAT})
    install(site, "lily", "[lily.formats]\ncsv = lily.formats.csv:Csv\n")
    registry = registry_of(site)
    assert [(plugin.origin, plugin.state) for plugin in registry.plugins()] == [
        ("lily", "ready"),
        ("aardvark", "shadowed"),
    ]
    assert registry.formats.media_types == ("text/csv",)


def test_which_of_two_is_taken_does_not_depend_on_whether_it_works(site: Path) -> None:
    bad, good = module(), module()
    install(site, "aardvark", f"[lily.formats]\ntsv = {bad}:Tsv\n", **{bad: "1 / 0"})
    install(site, "zebra", f"[lily.formats]\ntsv = {good}:Tsv\n", **{good: GOOD_FORMAT})
    assert [plugin.state for plugin in registry_of(site).plugins()] == ["failed", "shadowed"]


def test_of_two_formats_for_one_media_type_the_builtin_has_it(site: Path) -> None:
    of = module()
    source = GOOD_FORMAT.replace('("text/tab-separated-values",)', '("text/csv", "text/tab-separated-values")')
    install(site, "aardvark", f"[lily.formats]\na = {of}:Tsv\n", **{of: source})
    install(site, "lily", "[lily.formats]\ncsv = lily.formats.csv:Csv\n")
    registry = registry_of(site)
    assert type(registry.formats.of_media_type("text/csv")).__name__ == "Csv"
    assert type(registry.formats.of_media_type("text/tab-separated-values")).__name__ == "Tsv"
    found = {plugin.name: plugin for plugin in registry.plugins()}
    assert (found["a"].state, found["a"].problem) == ("ready", "text/csv is taken by the format csv")


def test_of_two_versions_on_the_path_the_first_counts(site: Path, tmp_path: Path) -> None:
    of = module()
    install(site / "new", "Lily_Tsv", f"[lily.formats]\ntsv = {of}:Tsv\n", "2.0")
    install(site / "old", "lily-tsv", f"[lily.formats]\ntsv = {of}:Tsv\n", "1.0")
    (site / f"{of}.py").write_text(GOOD_FORMAT)
    assert only(registry_of(tmp_path / "new", tmp_path / "old")).version == "2.0"


def test_a_configured_plugin_is_made_from_its_settings(site: Path) -> None:
    of = module()
    install(site, "lily-same", f"[lily.transforms]\nsame = {of}:Same\n", **{of: GOOD_TRANSFORM})
    registry = registry_of(site)
    assert vars(registry.make(TRANSFORMS, "same", {"times": 3}))["times"] == 3
    with pytest.raises(BadConfiguration, match="times"):
        registry.make(TRANSFORMS, "same", {"times": "many"})
    with pytest.raises(UnknownPlugin, match="Installed: same"):
        registry.make(TRANSFORMS, "smae", {})
    with pytest.raises(UnknownPlugin, match="Installed: none"):
        registry.make(CONNECTORS, "same", {})


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (GOOD_TRANSFORM.replace("Config(BaseModel)", "Config"), "Config must be a subclass of pydantic.BaseModel"),
        (GOOD_TRANSFORM.replace("(self, config)", "(self)"), "construct it with its Config"),
        (GOOD_TRANSFORM.replace("self.times = config.times", "raise OSError('no disk')"), "OSError: no disk"),
    ],
)
def test_a_configured_plugin_that_cannot_be_made_is_reported(site: Path, source: str, problem: str) -> None:
    of = module()
    install(site, "lily-same", f"[lily.transforms]\nsame = {of}:Same\n", "0.3", **{of: source})
    with pytest.raises(BrokenPlugin, match=f"same of lily-same 0.3 cannot be used: .*{problem}"):
        registry_of(site).make(TRANSFORMS, "same", {})


def test_every_builtin_is_declared_and_ready() -> None:
    """Of the installed Lily, as pip has registered it."""
    ours = [plugin for plugin in installed().plugins() if plugin.group and plugin.state == "ready"]
    assert {(plugin.group, plugin.name) for plugin in ours} >= {
        ("lily.connectors", "file"),
        ("lily.formats", "csv"),
        ("lily.formats", "json"),
        ("lily.formats", "ndjson"),
        ("lily.formats", "xlsx"),
        ("lily.formats", "xml"),
        ("lily.intakes", "openlineage"),
        ("lily.transforms", "add-tags"),
        ("lily.transforms", "rename"),
    }
