"""Every promise that the suite of connectors tests is broken here once, and the suite notices."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lily.connect.connectors.file import File
from lily.model import ids
from lily.model.errors import Problem, Transient
from lily.plugins import SourceAsset, SourceEdge, SourceItem
from lily.testing import ConnectorSuite
from tests.unit import test_suites_on_plugins
from tests.unit.suites.broken import Broken, Careless, closing_once, promises_of, run


def a_connector(change: Callable[[list[SourceItem]], Iterable[Any]]) -> type[File]:
    class Changed(File):
        def read(self) -> Iterator[SourceItem]:
            yield from change([*super().read()])

    return Changed


class FailsCheck(File):
    def check(self) -> None:
        raise Transient("not today")


class NoCheck:
    Config = Careless

    def __init__(self, config: Careless) -> None:
        pass

    def read(self) -> Iterator[SourceItem]:
        yield from ()

    def close(self) -> None:
        pass


class ReturnsAList(File):
    def read(self) -> Any:
        return [*super().read()]


class NeverTheSame(File):
    def read(self) -> Iterator[SourceItem]:
        yield SourceAsset("table", {"name": ids.event_id()})


class ConnectsAtOnce(File):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.check()


class SilentlyEmpty(File):
    def check(self) -> None:
        pass

    def read(self) -> Iterator[SourceItem]:
        if self._path.exists():
            yield from super().read()


class CarelessFile(File):
    Config = Careless  # type: ignore[assignment]


CONNECTORS: list[Broken] = [
    (NoCheck, "test_the_class_satisfies_its_port"),
    (CarelessFile, "test_a_misspelt_setting_is_refused"),
    (FailsCheck, "test_a_source_that_is_there_passes_its_check"),
    (a_connector(lambda _: []), "test_it_finds_assets"),
    (a_connector(lambda found: [*found, {"name": "a dict"}]), "test_it_finds_assets"),
    (a_connector(lambda found: [*found, Problem("BAD", "")]), "test_it_finds_assets"),
    (a_connector(lambda found: [*found, SourceAsset("tabel", {"name": "x"})]), "test_lily_accepts_what_it_states"),
    (a_connector(lambda found: [*found, SourceEdge("x", "x")]), "test_lily_accepts_what_it_states"),
    (a_connector(lambda found: [*found, _otherwise(found)]), "test_an_asset_is_stated_one_way"),
    (NeverTheSame, "test_every_run_states_the_same"),
    (ReturnsAList, "test_it_reads_one_by_one"),
    (ConnectsAtOnce, "test_a_source_that_is_not_there_is_reported"),
    (SilentlyEmpty, "test_a_source_that_is_not_there_is_reported"),
    (closing_once(File), "test_closing_twice_is_harmless"),
]


@pytest.mark.parametrize("broken", CONNECTORS, ids=str)
def test_the_suite_of_connectors_notices(broken: Broken, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("entity_type,name\ntable,orders\n")
    run(test_suites_on_plugins.TestFile, broken, directory=tmp_path)


def test_every_promise_of_the_suite_is_broken_here() -> None:
    assert promises_of(ConnectorSuite) == {test for _, test in CONNECTORS}


def _otherwise(found: list[SourceItem]) -> SourceAsset:
    known = next(one for one in found if isinstance(one, SourceAsset))
    return replace(known, attributes={**known.attributes, "owner": "someone else"})
