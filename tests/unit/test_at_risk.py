"""What is at risk: which events matter, by which path it came, and what listeners receive."""

import orjson
import pytest

from lily.api.websocket.messages import MessageFilter, read_messages
from lily.bus import topics
from lily.lineage.risk import assets_at_risk
from lily.model import governance
from lily.model.records import ConsumedRecord
from lily.reactions.at_risk.reaction import marks_of
from lily.store.postgres.at_risk.reading import Supports, paths_of
from lily.store.postgres.at_risk.spreading import RiskMarks
from tests.risk_oracle import RiskGraph


def marks(*records: governance.Record) -> RiskMarks:
    return marks_of(orjson.dumps(record) for record in records)


def test_incidents_edges_and_parents_matter_and_nothing_else() -> None:
    found = marks(
        governance.incident_record("i", 1),
        governance.edge_record("a", "b", 2, ""),
        governance.edges_record([governance.EdgeChanged("f", "g", 7), governance.EdgeChanged("g", "h", 8)]),
        governance.asset_record("c", "source", ["name", "$parent", "parent"], 3, ""),
        governance.asset_record("d", "user", ["tags"], 4, ""),
        governance.asset_record("e", "source", ["$deleted"], 5, ""),
        governance.decision_record(governance.SETTING, "on_delete", 6),
    )
    assert found == RiskMarks(incidents={"i"}, edges={("a", "b"), ("f", "g"), ("g", "h")}, moved={"c"})
    assert found.any
    assert not marks(governance.decision_record(governance.TAG, "PII", 1)).any


@pytest.mark.parametrize(
    ("supports", "paths"),
    [
        ({"a": None, "b": ["a"]}, {"a": ("a",), "b": ("a", "b")}),
        ({"schema": None, "b": ["column", "table", "schema"]}, {"b": ("schema", "table", "column", "b")}),
        # The two seem to support each other; only the way from the incident's own asset counts.
        ({"top": None, "b": ["c", "top"], "c": ["b"]}, {"b": ("top", "c", "b"), "c": ("top", "c", "b", "c")}),
        ({"b": ["c"], "c": ["b"]}, {}),
    ],
)
def test_a_path_begins_at_an_asset_of_the_incident(supports: Supports, paths: dict[str, tuple[str, ...]]) -> None:
    assert paths_of(supports).items() >= paths.items()
    assert paths_of(supports).keys() == paths.keys() | {asset for asset, chain in supports.items() if chain is None}


def test_the_oracle_goes_along_edges_and_down_the_hierarchy_and_round_a_cycle_once() -> None:
    graph = RiskGraph(frozenset({("column", "b"), ("b", "c"), ("c", "b")}), {"column": "table", "row": "c"})
    assert graph.reached(["table"]) == {"table", "column", "b", "c", "row"}
    assert graph.stored(["table"]) == {"table", "b", "c"}
    assert graph.explains(["table", "column", "b"], ["table"])
    assert not graph.explains(["table", "b"], ["table"])
    assert not graph.explains(["b", "c"], ["table"])


def test_what_is_below_an_asset_at_risk_puts_at_risk_what_is_derived_from_it() -> None:
    assert assets_at_risk(["table"], {"column": ["b"], "b": ["c"]}, {"table": ["column"]}) == {"table", "b", "c"}


def announced(change: str) -> ConsumedRecord:
    incident = {
        "incident_id": "i1",
        "source": "monte-carlo",
        "external_id": "77",
        "severity": "critical",
        "state": "open",
        "title": "Late",
        "url": "https://example.com/77",
        "kind": "freshness",
        "previous_state": None,
    }
    assets = [["a1", "table", "shop.orders"], ["a2", None, None]]
    data = {"change": change, "root": "i1", "incident": incident, "assets": assets}
    event = {"id": "change-9", "time": "2026-11-16T00:00:00.000000Z", "data": data}
    return ConsumedRecord(topics.NOTIFICATIONS, 0, 3, b"t/i1", orjson.dumps(event))


@pytest.mark.parametrize("change", ["at_risk", "clear"])
def test_a_listener_receives_an_alert_for_each_asset_with_the_severity(change: str) -> None:
    first, second = read_messages(announced(change))
    body = orjson.loads(first.at({}))
    assert (body["type"], body["change"], body["metadata_id"]) == ("alert", change, "a1")
    assert (body["severity"], body["incident_id"], body["state"]) == ("critical", "i1", "open")
    assert (body["title"], body["url"], body["qualified_name"]) == ("Late", "https://example.com/77", "shop.orders")
    assert (second.metadata_id, second.entity_type) == ("a2", "")
    assert MessageFilter.of("t", {"change": [change]}).matches(first)
    assert not MessageFilter.of("t", {"change": ["tagged"]}).matches(first)
