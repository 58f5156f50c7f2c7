"""The first steps of the demo: assets are created, read, changed, tagged, deleted and restored."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from lily.cli.demo.shop import EMAIL, ORDERS, REVENUE, SHOP, Event, first_event, shop_events
from lily.cli.demo.step import DemoContext, Step, StepFailed, StepResult, expect_equal, require
from lily.client import Asset, NotFound, Receipt, Refused

WAIT = 30  # seconds until a change that cannot be read counts as failed
LAKE_WAIT = 60  # the same for plain columns, which take the bulk lane

WRITE, BULK, READ, SEARCH, HISTORY, PUSH, REFUSAL = (
    "one change, sent to readable",
    "the whole shop, sent to readable",
    "one asset, read",
    "a search",
    "the history of one asset",
    "one change, sent to WebSocket message",
    "invalid input, sent to rejected",
)


def create_asset(demo: DemoContext) -> StepResult:
    receipt, seconds = _write(demo, first_event())
    expect_equal("the name of the asset with the returned id", demo.lily.get(receipt.metadata_id).qualified_name, SHOP)
    return StepResult(f"One POST creates the database [b]{SHOP}[/], and it can be read", seconds)


def create_shop(demo: DemoContext) -> StepResult:
    events = list(shop_events())
    result, seconds = demo.timed(BULK, lambda: demo.lily.ingest_many(events, wait=LAKE_WAIT))
    expect_equal("the number of accepted assets", (result.accepted, result.rejected), (len(events), 0))
    require(that=result.readable, failure=f"the shop could not be read within {LAKE_WAIT} seconds")
    text = f"[b]{len(events)} assets[/] of two databases and a dashboard are sent in bulk, and all can be read"
    return StepResult(text, seconds)


def read_back(demo: DemoContext) -> StepResult:
    sent = {event["attributes"]["qualified_name"]: event for event in shop_events()}
    found = {asset.qualified_name: asset for asset in demo.lily.batch_get(list(sent)).items}
    expect_equal("the set of assets read back", set(found), set(sent))
    for name, event in sent.items():
        _expect_as_sent(found[name], event)
    seconds = median(demo.timed(READ, lambda: demo.lily.get(found[EMAIL].metadata_id))[1] for _ in range(20))
    return StepResult("Every asset reads back exactly as it was sent (the time is that of one read)", seconds)


def search(demo: DemoContext) -> StepResult:
    hits, seconds = demo.timed(SEARCH, lambda: list(demo.lily.find("customers email")))
    names = [hit.qualified_name for hit in hits]
    require(that=EMAIL in names, failure=f"a search for 'customers email' finds {names} and not {EMAIL}")
    sent = {e["attributes"]["qualified_name"] for e in shop_events() if "PII" in e["attributes"].get("tags", ())}
    tagged = {asset.qualified_name for asset in demo.lily.find(tag="pii", page_size=5)}
    require(that=sent <= tagged, failure=f"a search for the tag PII finds {tagged} and misses {sent - tagged}")
    text = f"A search for 'customers email' finds [b]{EMAIL}[/]; a search by tag finds {len(tagged)} PII columns"
    return StepResult(text, seconds)


def change_in_source(demo: DemoContext) -> StepResult:
    changed = _event(EMAIL, data_type="citext", description="Checked by a confirmation mail")
    _, seconds = _write(demo, changed)
    _expect_as_sent(demo.lily.get(EMAIL), changed)
    return StepResult(f"The source changes the type of [b]{EMAIL}[/] to citext", seconds)


def change_by_user(demo: DemoContext) -> StepResult:
    description = "Personal. Ask the growth team before you use it."
    _, seconds = _applied(demo, lambda: demo.lily.update(EMAIL, {"description": description}, wait=WAIT))
    expect_equal("the description", demo.lily.get(EMAIL).attributes["description"], description)
    return StepResult("A user writes a description for it", seconds)


def refresh_from_source(demo: DemoContext) -> StepResult:
    """The user's description outlives the refresh. Once it is removed, the source's is shown again."""
    before = demo.lily.get(EMAIL).attributes["description"]
    refreshed = _event(EMAIL, data_type="varchar(255)", description="Refreshed by the nightly scan")
    _, seconds = _write(demo, refreshed)
    now = demo.lily.get(EMAIL).attributes
    expect_equal("the data type after the refresh", now["data_type"], "varchar(255)")
    expect_equal("the user's description after the refresh", now["description"], before)
    _applied(demo, lambda: demo.lily.update(EMAIL, {"description": None}, wait=WAIT))
    _expect_as_sent(demo.lily.get(EMAIL), refreshed)
    return StepResult("The next refresh by the source changes the type and keeps the user's description", seconds)


def ignore_late_event(demo: DemoContext) -> StepResult:
    before = demo.lily.get(ORDERS)
    late = _event(ORDERS, description="From last week's export")
    written_at = datetime.now(UTC) - timedelta(days=7)
    receipt, seconds = demo.timed(
        WRITE, lambda: demo.lily.ingest(late["entity_type"], late["attributes"], time=written_at, wait=WAIT)
    )
    expect_equal("whether the late event was superseded", receipt.superseded, True)
    expect_equal("the attributes after the late event", demo.lily.get(ORDERS).attributes, before.attributes)
    return StepResult("An event that is a week late is accepted and reported as superseded by newer ones", seconds)


def add_tag(demo: DemoContext) -> StepResult:
    _, seconds = _applied(demo, lambda: demo.lily.add_tag(REVENUE, "Certified", wait=WAIT))
    found = [(tag.tag, tag.layer) for tag in demo.lily.tags(REVENUE)]
    expect_equal("the tags", found, [("Certified", "user")])
    return StepResult(f"A user tags [b]{REVENUE}[/] as Certified", seconds)


def remove_tag(demo: DemoContext) -> StepResult:
    _, seconds = _applied(demo, lambda: demo.lily.remove_tag(REVENUE, "certified", wait=WAIT))
    expect_equal("the tags", demo.lily.tags(REVENUE), [])
    return StepResult("The user removes the tag again; the case of a tag does not matter", seconds)


def delete(demo: DemoContext) -> StepResult:
    _, seconds = _applied(demo, lambda: demo.lily.delete(ORDERS, wait=WAIT))
    _write(demo, _event(ORDERS))
    expect_equal("is_deleted, after a refresh by the source", demo.lily.get(ORDERS).is_deleted, True)
    listed = [asset.qualified_name for asset in demo.lily.find(parent="shop.public", entity_type="table")]
    require(that=ORDERS not in listed, failure=f"{ORDERS} is deleted and still listed")
    return StepResult(f"A user deletes [b]{ORDERS}[/], and a refresh by the source does not restore it", seconds)


def restore(demo: DemoContext) -> StepResult:
    _, seconds = _applied(demo, lambda: demo.lily.restore(ORDERS, wait=WAIT))
    _expect_as_sent(demo.lily.get(ORDERS), _event(ORDERS))
    return StepResult("The user restores it, complete as before", seconds)


def read_history(demo: DemoContext) -> StepResult:
    changes, seconds = demo.timed(HISTORY, lambda: list(demo.lily.history(ORDERS)))
    kinds = [change.change for change in changes]
    expect_equal("the newest two changes", kinds[:2], ["restored", "deleted"])
    expect_equal("the first change", kinds[-1], "created")
    require(that=all(change.causes for change in changes), failure="a change does not name the event that caused it")
    return StepResult(f"Its history lists {' ← '.join(kinds[:4])}: who, when, what, and by which event", seconds)


def receive_notification(demo: DemoContext) -> StepResult:
    description = f"For order confirmations (changed at {datetime.now(UTC):%H:%M:%S.%f})"
    with demo.lily.notifications(metadata_id=EMAIL) as changes:
        received, seconds = demo.timed(
            PUSH, lambda: (demo.lily.update(EMAIL, {"description": description}), changes.receive(timeout=WAIT))[1]
        )
    _applied(demo, lambda: demo.lily.update(EMAIL, {"description": None}, wait=WAIT))
    if received is None:
        raise StepFailed(f"the WebSocket sent no message within {WAIT} seconds")
    expect_equal("the WebSocket message", (received.qualified_name, received.change), (EMAIL, "updated"))
    return StepResult("A WebSocket client receives a change", seconds)


def reject_invalid_input(demo: DemoContext) -> StepResult:
    name = "shop.public.mistake"
    error, seconds = demo.timed(
        REFUSAL, lambda: _rejection(demo, "tabel", {"name": "mistake", "qualified_name": name, "tags": "PII"})
    )
    expect_equal("the set of error codes", {p.code for p in error.problems}, {"UNKNOWN_ENTITY_TYPE", "INVALID_TYPE"})
    _expect_missing(demo, name)
    reasons = "; ".join(problem.description.partition("; use one of")[0] for problem in error.problems)
    return StepResult(f"Invalid input is rejected with the reasons, and nothing is stored: [i]{reasons}[/]", seconds)


def change_ten_times(demo: DemoContext) -> StepResult:
    for number in range(10):
        _write(demo, _event(REVENUE, rows=1_000 + number))
    expect_equal("the last value", demo.lily.get(REVENUE).attributes["rows"], 1_009)
    text = "Ten more single changes, one after the other (the time is the median of all so far)"
    return StepResult(text, median(demo.measured[WRITE]))


CATALOGUE = (
    Step("create one asset", create_asset),
    Step("create the shop", create_shop),
    Step("read it back", read_back),
    Step("search", search),
    Step("change in the source", change_in_source),
    Step("change by a user", change_by_user),
    Step("refresh from the source", refresh_from_source),
    Step("ignore a late event", ignore_late_event),
    Step("add a tag", add_tag),
    Step("remove a tag", remove_tag),
    Step("delete", delete),
    Step("restore", restore),
    Step("read the history", read_history),
    Step("receive a notification", receive_notification),
    Step("reject invalid input", reject_invalid_input),
    Step("change ten times", change_ten_times),
)


def _write(demo: DemoContext, event: Event) -> tuple[Receipt, float]:
    return _applied(demo, lambda: demo.lily.ingest(event["entity_type"], event["attributes"], wait=WAIT))


def _applied(demo: DemoContext, write: Callable[[], Receipt]) -> tuple[Receipt, float]:
    """Runs a write that waits. Its change must be readable and must not be superseded."""
    receipt, seconds = demo.timed(WRITE, write)
    require(that=receipt.readable, failure=f"{receipt.metadata_id} could not be read within {WAIT} seconds")
    expect_equal("whether the change was superseded", receipt.superseded, False)
    return receipt, seconds


def _event(qualified_name: str, **changed: Any) -> Event:
    """Returns the shop's event for an asset, with some attributes changed."""
    event = next(event for event in shop_events() if event["attributes"]["qualified_name"] == qualified_name)
    return {**event, "attributes": event["attributes"] | changed}


def _expect_as_sent(asset: Asset, event: Mapping[str, Any]) -> None:
    sent = event["attributes"]
    shown = {key: asset.attributes.get(key) for key in sent}
    expect_equal(f"the attributes of {asset.qualified_name}", _unordered(shown), _unordered(sent))
    expect_equal(f"the type of {asset.qualified_name}", asset.entity_type, event["entity_type"])


def _unordered(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: sorted(value) if key == "tags" else value for key, value in attributes.items()}


def _expect_missing(demo: DemoContext, name: str) -> None:
    try:
        demo.lily.get(name)
    except NotFound:
        return
    raise StepFailed(f"{name} was rejected but exists")


def _rejection(demo: DemoContext, entity_type: str, attributes: Mapping[str, Any]) -> Refused:
    try:
        demo.lily.ingest(entity_type, attributes)
    except Refused as error:
        return error
    raise StepFailed(f"an event of the unknown type {entity_type!r} was accepted")
