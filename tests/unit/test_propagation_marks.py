"""What the change log makes propagation look at, and what rules state on their way to the log."""

from datetime import UTC, datetime

import jsonschema_rs
import orjson

from lily.bus import topics
from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.model import governance, ids
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.schemas import SCHEMAS
from lily.model.statements import Statement
from lily.pipeline.validation import validate_asset_record
from lily.reactions.propagation.reaction import marks_of
from lily.reactions.relay.change_events import statement_event
from lily.store.postgres.outbox.batches import RuleStatement

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def changed(asset: str, *fields: str, layer: str = "source") -> bytes:
    return orjson.dumps(governance.asset_record(asset, layer, fields, 7, "write"))


def test_an_asset_is_marked_with_what_of_it_changed() -> None:
    owner = frozenset({"owner"})
    values = [
        changed("plain", "owner", "description"),
        changed("tagged", "tags", "notes"),
        changed("moved", "$parent", "owner", layer="user"),
        changed("new", "name", "$type", "$deleted"),
        changed("ruled", "owner", layer="enriched"),
        changed("suppressed", "$suppressed:pii", layer="user"),
        changed("other", "description"),
    ]
    assert marks_of(values, owner) == Marks(
        assets=[
            AssetMark("plain", 7, "write", tags=False, attributes=owner),
            AssetMark("tagged", 7, "write", tags=True, attributes=frozenset()),
            AssetMark("moved", 7, "write", tags=True, attributes=owner),
            AssetMark("new", 7, "write", tags=True, attributes=owner),
            AssetMark("suppressed", 7, "write", tags=True, attributes=frozenset()),
        ]
    )


def test_edges_and_decisions_are_marked() -> None:
    records = [
        governance.edge_record("start", "end", 8, ""),
        governance.edges_record([governance.EdgeChanged("a", "b", 9, "write"), governance.EdgeChanged("b", "c", 11)]),
        governance.decision_record("tag", "PII", 9),
        governance.decision_record("rule", "Owners", 9),
        governance.decision_record("setting", "on_delete", 9),
    ]
    assert marks_of(map(orjson.dumps, records), frozenset()) == Marks(
        edges=[EdgeMark("start", "end", 8), EdgeMark("a", "b", 9, "write"), EdgeMark("b", "c", 11)],
        tags={"pii"},
        rules={"owners"},
        deletion=True,
    )


def test_what_a_rule_states_is_read_like_a_statement_of_a_door() -> None:
    for value in ("ada", ["a", {"b": 1}], None):
        stated = Statement("enriched", "upsert", "shop.orders", None, {"cost_centre": value}, by="rule:Owners")
        asset = ids.asset_id("default", "shop.orders")
        event = statement_event(RuleStatement(9, "default", asset, stated.as_data(), NOW))
        jsonschema_rs.validator_for(SCHEMAS["asset-event"]).validate(event)
        record = Record(
            topics.ASSETS, 0, 7, "2026-11-15T08:36:00.000000Z", topics.key_of("default", asset), orjson.dumps(event)
        )
        read = validate_asset_record(record, lambda _: True)
        assert read == AssetEvent("rule-00000000000000000009", "2026-11-15T00:00:00.000000Z", "default", stated)
