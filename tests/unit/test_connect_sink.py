"""How the sink reports what Lily refuses."""

from lily.client import Lily
from lily.client.bulk import BATCH
from lily.connect.run import Report
from lily.connect.sink import LilySink
from lily.plugins import SourceAsset
from tests.badserver import Reply, bad_server


def refused(row: int) -> dict[str, object]:
    return {"row": row, "code": "MISSING_FIELD", "description": "why", "entity": "name"}


def test_a_refused_asset_is_reported_by_its_name_in_whichever_batch_it_was() -> None:
    assets = [SourceAsset("table", {"name": f"t{number}"}) for number in range(1, BATCH + 4)]
    report = Report()
    with bad_server() as server, Lily(server.url, "secret") as lily:
        server.will(
            Reply(202, {"accepted": BATCH - 1, "rejected": 1, "errors": [refused(2)]}),
            Reply(202, {"accepted": 2, "rejected": 1, "errors": [refused(3)]}),
        )
        LilySink(lily).send(assets, report, lambda: None)
    assert (report.accepted, report.rejected) == (BATCH + 1, 2)
    assert [error["asset"] for error in report.errors] == ["t2", f"t{BATCH + 3}"]
