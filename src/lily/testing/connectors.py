"""The behaviour of a connector, on a real source."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any

from lily.model.edges import read_edge_statement
from lily.model.errors import Problem
from lily.model.statements import Statement, read_statement
from lily.plugins.connectors import SourceAsset, SourceEdge, SourceItem
from lily.plugins.groups import CONNECTORS
from lily.testing.suite import ConfiguredSuite, assert_reported, failure

TENANT = "suite"


class ConnectorSuite(ConfiguredSuite):
    """Override `settings` (a real source with several assets, all of them good) and `unreachable`."""

    group = CONNECTORS

    def unreachable(self) -> Mapping[str, Any]:
        raise NotImplementedError("return the configuration of a source that does not exist or does not respond")

    def read(self) -> list[SourceItem]:
        with closing(self.made()) as connector:
            return list(connector.read())

    def test_a_source_that_is_there_passes_its_check(self) -> None:
        with closing(self.made()) as connector:
            assert connector.check() is None

    def test_it_finds_assets(self) -> None:
        found = self.read()
        assert any(isinstance(one, SourceAsset) for one in found), "the source of the suite has no asset"
        strange = [one for one in found if not isinstance(one, SourceAsset | SourceEdge | Problem)]
        assert not strange, f"read yields SourceAsset, SourceEdge and Problem, not {strange[0]!r}"
        problems = [one for one in found if isinstance(one, Problem)]
        assert not problems, f"a good source has problems: {problems[:3]}"

    def test_lily_accepts_what_it_states(self) -> None:
        for one in self.read():
            if isinstance(one, SourceAsset):
                error = failure(_statement, one)
                assert error is None, f"Lily refuses {one.name}: {error}"
            elif isinstance(one, SourceEdge):
                error = failure(partial(read_edge_statement, tenant=TENANT), one.as_body())
                assert error is None, f"Lily refuses the edge {one}: {error}"

    def test_an_asset_is_stated_one_way(self) -> None:
        stated: dict[str, SourceAsset] = {}
        for one in self.read():
            if isinstance(one, SourceAsset):
                known = stated.setdefault(_statement(one).qualified_name, one)
                assert known == one, f"{one.name} is stated twice, differently: {known} and {one}"

    def test_every_run_states_the_same(self) -> None:
        assert _sorted(self.read()) == _sorted(self.read()), "two runs over the same source differ"

    def test_it_reads_one_by_one(self) -> None:
        """Sources are larger than memory."""
        with closing(self.made()) as connector:
            reading = connector.read()
            assert isinstance(reading, Iterator), f"read returns {type(reading).__name__}; it has to be an iterator"
            next(reading)

    def test_a_source_that_is_not_there_is_reported(self) -> None:
        error = failure(lambda: self.made(self.unreachable()))
        assert error is None, f"the constructor must not connect: {error!r}"
        for what, call in (("check", _check), ("read", _read)):
            with closing(self.made(self.unreachable())) as connector:
                error = failure(call, connector)
                assert_reported(error, f"{what} of a source that is not there")

    def test_closing_twice_is_harmless(self) -> None:
        connector = self.made()
        connector.close()
        connector.close()


def _statement(asset: SourceAsset) -> Statement:
    return read_statement({"layer": "source", **asset.as_body()}, tenant=TENANT)


def _check(connector: Any) -> None:
    connector.check()


def _read(connector: Any) -> None:
    list(connector.read())


def _sorted(found: list[SourceItem]) -> list[str]:
    return sorted(map(repr, found))
