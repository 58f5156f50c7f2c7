"""One run of a connector: everything that the source states is accounted for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from lily.connect.recipes import Part, Recipe
from lily.connect.run import MAX_ERRORS, Report, Stated, run
from lily.connect.sink import NoSink
from lily.model.errors import Problem, Terminal, Transient
from lily.plugins import CONNECTORS, BadConfiguration, BrokenPlugin, Registry, SourceAsset, UnknownPlugin, installed
from tests.distributions import install, registry_of

SOURCE = """
from pydantic import BaseModel
from lily.model.errors import Transient, Problem, Refused
from lily.plugins import SourceAsset

class Config(BaseModel):
    fail: str = ""

class Source:
    Config = Config
    closed = 0
    def __init__(self, config):
        self.fail = config.fail
    def check(self):
        if self.fail == "check":
            raise KeyError("check")
    def read(self):
        yield SourceAsset("table", {"name": "a", "qualified_name": "a"})
        if self.fail == "later":
            raise Transient("The source does not answer. Run the recipe again.")
        if self.fail == "bug":
            raise KeyError("bug")
        yield Problem("UNREADABLE", "table b cannot be read", "b")
    def close(self):
        type(self).closed += 1

class Halves:
    Config = Config
    def __init__(self, config):
        self.fail = config.fail
    def asset(self, stated):
        if self.fail == "refuse":
            raise Refused(Problem("NO", "not this one"))
        if self.fail == "bug":
            raise ZeroDivisionError
        return [] if self.fail == "drop" else [stated, stated]
    def edge(self, stated):
        return [stated]
"""


class Kept:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.stated: list[Stated] = []

    def send(self, stated: Iterable[Stated], report: Report, on_progress: Callable[[], None]) -> None:
        for one in stated:
            self.stated.append(one)
            report.accepted += 1
            on_progress()


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    site = tmp_path_factory.mktemp("site")
    points = "[lily.connectors]\nodd = odd_source:Source\n[lily.transforms]\nhalves = odd_source:Halves\n"
    install(site, "lily-odd", points, odd_source=SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        yield registry_of(site)


def recipe(source: Mapping[str, Any], *transforms: Mapping[str, Any]) -> Recipe:
    return Recipe(source=Part(**source), transforms=tuple(Part(**one) for one in transforms))


def ran(plugins: Registry, fail: str = "", *transforms: str) -> tuple[Report, Kept]:
    sink = Kept()
    parts = [{"type": "halves", "fail": one} for one in transforms]
    return run(recipe({"type": "odd", "fail": fail}, *parts), plugins, sink, lambda _: None), sink


def test_what_cannot_be_read_is_counted_and_the_rest_is_sent(plugins: Registry) -> None:
    report, sink = ran(plugins)
    assert (report.read, report.accepted, report.rejected, report.dropped) == (2, 1, 1, 0)
    assert report.errors == [
        {"code": "UNREADABLE", "description": "table b cannot be read", "entity": "b", "asset": ""}
    ]
    assert [one.name for one in sink.stated if isinstance(one, SourceAsset)] == ["a"]


def test_transforms_multiply_drop_and_refuse(plugins: Registry) -> None:
    assert ran(plugins, "", "", "")[0].accepted == 4
    report, _ = ran(plugins, "", "", "drop")
    assert (report.accepted, report.dropped) == (0, 1)
    report, _ = ran(plugins, "", "", "refuse")
    assert (report.accepted, report.rejected) == (0, 2)
    assert report.errors[0] == {"code": "NO", "description": "not this one", "entity": "", "asset": "a"}


def test_a_source_that_stops_answering_ends_the_run_and_is_closed(plugins: Registry) -> None:
    source: Any = plugins.load(CONNECTORS, "odd")
    closed = source.closed
    with pytest.raises(Transient, match="Run the recipe again"):
        ran(plugins, "later")
    assert source.closed == closed + 1


@pytest.mark.parametrize(
    ("source", "transform", "says"),
    [
        ("check", None, "odd failed with KeyError: 'check'. This is a bug of the plug-in"),
        ("bug", None, "odd failed with KeyError: 'bug'"),
        ("", "bug", "halves failed with ZeroDivisionError"),
    ],
)
def test_a_bug_of_a_plugin_is_reported_as_one(plugins: Registry, source: str, transform: str | None, says: str) -> None:
    with pytest.raises(BrokenPlugin, match=says):
        ran(plugins, source, *([] if transform is None else [transform]))


def test_a_recipe_can_only_use_what_is_installed(plugins: Registry) -> None:
    with pytest.raises(UnknownPlugin, match=r"There is no 'snowflake' in lily\.connectors\. Installed: odd"):
        run(recipe({"type": "snowflake"}), plugins, NoSink(), lambda _: None)
    with pytest.raises(BadConfiguration, match="odd: `fail`"):
        run(recipe({"type": "odd", "fail": 7}), plugins, NoSink(), lambda _: None)


def test_errors_are_counted_beyond_those_spelled_out() -> None:
    report = Report()
    for _ in range(MAX_ERRORS + 5):
        report.reject(Problem("BAD", "bad"))
    assert (report.rejected, len(report.errors)) == (MAX_ERRORS + 5, MAX_ERRORS)


class TestFile:
    """The connector `file`, in runs that send nothing."""

    def run(self, **settings: Any) -> Report:
        return run(recipe({"type": "file", **settings}), installed(), NoSink(), lambda _: None)

    def test_a_directory_is_read_in_every_format(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("entity_type,name\ntable,a\ntable,b\n")
        (tmp_path / "b.json").write_text('[{"entity_type": "table", "attributes": {"name": "c"}}]')
        (tmp_path / "c.xml").write_text(
            "<assets><asset><entity_type>table</entity_type><name>d</name></asset></assets>"
        )
        (tmp_path / "d.ndjson").write_bytes(orjson.dumps({"from": "a", "to": "b"}) + b"\n\n")
        (tmp_path / "notes.md").write_text("# not metadata")
        report = self.run(path=str(tmp_path))
        assert (report.read, report.accepted, report.edges, report.rejected) == (5, 4, 1, 0)
        assert self.run(path=str(tmp_path), pattern="*.csv").accepted == 2

    def test_a_format_can_be_named(self, tmp_path: Path) -> None:
        (tmp_path / "export.txt").write_text("entity_type,name\ntable,a\n")
        assert self.run(path=str(tmp_path / "export.txt"), format="csv").accepted == 1
        assert self.run(path=str(tmp_path), format="csv").accepted == 1
        with pytest.raises(Terminal, match=r"No installed format reads '.txt'. Installed: .*\.csv"):
            self.run(path=str(tmp_path / "export.txt"))
        with pytest.raises(Terminal, match=r"has a known suffix \(.*\.csv"):
            self.run(path=str(tmp_path))

    @pytest.mark.parametrize(
        ("row", "code"),
        [
            ("nonsense", "MALFORMED_JSON"),
            ("7", "INVALID_TYPE"),
            ('{"entity_type": "table"}', "MISSING_FIELD"),
            ('{"entity_type": 7, "attributes": {}}', "MISSING_FIELD"),
            ('{"entity_type": "table", "attributes": {}, "tenant_id": "x"}', "UNKNOWN_FIELD"),
            ('{"entity_type": "table", "attributes": {}, "operation": "tag"}', "INVALID_VALUE"),
            ('{"from": "a"}', "INVALID_TYPE"),
            ('{"from": "a", "to": "b", "masking": "yes"}', "INVALID_TYPE"),
            ('{"from": "a", "to": "b", "type": "x"}', "UNKNOWN_FIELD"),
        ],
    )
    def test_a_bad_row_is_reported_with_its_place(self, tmp_path: Path, row: str, code: str) -> None:
        good = '{"entity_type": "table", "attributes": {"name": "a"}}'
        (tmp_path / "rows.ndjson").write_text(f"{good}\n\n{row}\n{good}\n")
        report = self.run(path=str(tmp_path / "rows.ndjson"))
        assert (report.accepted, report.rejected) == (2, 1)
        (error,) = report.errors
        assert (error["code"], error["entity"]) == (code, f"{tmp_path / 'rows.ndjson'}, row 3")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, r"file: `path` is missing\.$"),
        ({"paht": "x"}, r"file: `path` is missing; unknown `paht`; did you mean `path`\?$"),
    ],
)
def test_the_options_of_a_connector_are_refused_in_the_words_of_a_recipe(settings: dict[str, str], says: str) -> None:
    with pytest.raises(BadConfiguration, match=says):
        installed().make(CONNECTORS, "file", settings)
