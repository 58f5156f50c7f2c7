"""What the change log makes propagation look at, and what rules state on their way to the log."""

from datetime import UTC, datetime

import jsonschema_rs
import orjson
import pyarrow as pa

from lily.bus import topics
from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.schemas import SCHEMAS
from lily.model.statements import Statement
from lily.pipeline.propagation import marks_of
from lily.pipeline.validation import judge
from lily.reactions.relay.change_events import statement_event
from lily.store.postgres.outbox.batches import RuleStatement
from lily.store.postgres.propagation.marks import AssetMark, EdgeMark, Marks

NOW = datetime(2026, 11, 15, tzinfo=UTC)
COLUMNS = ("topic", "key", "correlation", "position", "from", "kind", "name", "changed", "layer")


def records(*rows: tuple[str | None, ...]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(COLUMNS, columns, strict=True)})


def changed(key: str | None, fields: str, layer: str | None = "source") -> tuple[str | None, ...]:
    return (topics.METADATA, key, "write", "7", None, None, None, fields, layer)


def test_an_asset_is_marked_with_what_of_it_changed() -> None:
    table = records(
        changed("t/plain", "owner,description"),
        changed("t/tagged", "tags,notes"),
        changed("t/moved", "$parent,owner", "user"),
        changed("t/new", "name,$type,$deleted"),
        changed("t/ruled", "owner", "enriched"),
        changed("t/old", "owner", None),  # published before layers were told
        changed("other/plain", "owner"),
        changed(None, "description"),
    )
    owner = frozenset({"owner"})
    assert marks_of(table, {"t": owner}) == {
        "t": Marks(
            assets=[
                AssetMark("plain", 7, "write", tags=False, attributes=owner),
                AssetMark("tagged", 7, "write", tags=True, attributes=frozenset()),
                AssetMark("moved", 7, "write", tags=True, attributes=owner),
                AssetMark("new", 7, "write", tags=True, attributes=owner),
                AssetMark("old", 7, "write", tags=False, attributes=owner),
            ]
        )
    }


def test_edges_and_decisions_are_marked_by_their_headers() -> None:
    table = records(
        (topics.LINEAGE, "t/end", None, "8", "start", None, None, "masking", None),
        (topics.POLICIES, "t/tag/x", None, "9", None, "tag", "PII", None, None),
        (topics.POLICIES, "t/rule/x", None, "9", None, "rule", "owners", None, None),
        (topics.POLICIES, "t/setting/x", None, "9", None, "setting", "on_delete", None, None),
    )
    assert marks_of(table, {}) == {
        "t": Marks(edges=[EdgeMark("start", "end", 8)], tags={"pii"}, rules={"owners"}, deletion=True)
    }


def test_what_a_rule_states_is_read_like_a_statement_of_a_door() -> None:
    for value in ("ada", ["a", {"b": 1}], None):
        stated = Statement("enriched", "upsert", "shop.orders", None, {"cost_centre": value}, by="rule:Owners")
        asset = ids.asset_id("default", "shop.orders")
        event = statement_event(RuleStatement(9, "default", asset, stated.as_data(), NOW))
        jsonschema_rs.validator_for(SCHEMAS["asset-event"]).validate(event)
        record = Record(
            topics.ASSETS, 0, 7, "2026-11-15T08:36:00.000000Z", topics.key_of("default", asset), orjson.dumps(event)
        )
        read = judge(record, lambda _: True)
        assert read == AssetEvent("rule-00000000000000000009", "2026-11-15T00:00:00.000000Z", "default", stated)
