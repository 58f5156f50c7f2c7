"""`lily quality`: what it sends."""

import orjson
import pytest
from typer.testing import CliRunner

from lily.cli.commands import app
from tests.badserver import Reply, bad_server


@pytest.mark.parametrize(("written", "kind"), [("90", int), ("12.5", float)])
def test_a_whole_threshold_is_sent_as_a_whole_number(written: str, kind: type) -> None:
    words = ["quality", "add", "*", "unused_for_x_days", "--threshold", written, "--entity-type", "table"]
    with bad_server() as server:
        server.will(Reply(201, {"id": "unused"}))
        environment = {"LILY_URL": server.url, "LILY_TOKEN": "secret"}
        result = CliRunner().invoke(app, words, env=environment, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    threshold = orjson.loads(server.asked[0].body)["threshold"]
    assert (threshold, type(threshold)) == (float(written), kind)
