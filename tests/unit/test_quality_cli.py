"""`lily quality`: what it sends, and what a person reads."""

import orjson
import pytest

from tests.badserver import Reply, bad_server
from tests.cli_on_server import lily


@pytest.mark.parametrize(("written", "kind"), [("90", int), ("12.5", float)])
def test_a_whole_threshold_is_sent_as_a_whole_number(written: str, kind: type) -> None:
    with bad_server() as server:
        server.will(Reply(201, {"id": "unused"}))
        words = ["quality", "add", "*", "unused_for_x_days", "--threshold", written, "--entity-type", "table"]
        assert lily(server, *words).exit_code == 0
    threshold = orjson.loads(server.asked[0].body)["threshold"]
    assert (threshold, type(threshold)) == (float(written), kind)


def test_an_asset_that_nothing_has_ingested_is_reported() -> None:
    warning = {"code": "UNKNOWN_ASSET", "description": "there is no asset 'shop.order' yet", "entity": "asset"}
    with bad_server() as server:
        server.will(Reply(201, {"id": "one", "warnings": [warning]}))
        shown = lily(server, "quality", "add", "shop.order", "query_spike", "--threshold", "9").output
    assert shown.splitlines() == ["✓ Policy one watches shop.order.", "! there is no asset 'shop.order' yet"]
