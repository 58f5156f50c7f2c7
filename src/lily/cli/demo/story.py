"""The story the demo tells, step by step. Each step checks its result for real."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from lily.cli.demo.estate import EMAIL, ORDERS, REVENUE, SHOP, Event, estate, first_event
from lily.cli.demo.scene import Scene, Step, StepFailed, Told, expect_equal, insist
from lily.client import Asset, NotFound, Receipt, Refused

WAIT = 30  # seconds a step waits for its change to be readable before it counts as failed
LAKE_WAIT = 60  # the same for plain columns, which take the other lane

WRITE, BULK, READ, SEARCH, HISTORY, PUSH, REFUSAL = (
    "one change, sent to readable",
    "the whole estate, sent to readable",
    "one asset, read",
    "a search",
    "the history of one asset",
    "one change, sent to heard on the WebSocket",
    "bad input, sent to refused",
)


def state_first_asset(scene: Scene) -> Told:
    receipt, seconds = _write(scene, first_event())
    expect_equal("the name behind the id of the answer", scene.lily.get(receipt.metadata_id).qualified_name, SHOP)
    return Told(f"A database, [b]{SHOP}[/], is stated with one POST and can be read", seconds)


def state_estate(scene: Scene) -> Told:
    events = list(estate())
    result, seconds = scene.timed(BULK, lambda: scene.lily.ingest_many(events, wait=LAKE_WAIT))
    expect_equal("the number of accepted assets", (result.accepted, result.rejected), (len(events), 0))
    insist(that=result.readable, otherwise=f"the estate was not readable within {LAKE_WAIT} seconds")
    sentence = f"[b]{len(events)} assets[/] of two databases and a dashboard are sent in one stream, all readable"
    return Told(sentence, seconds)


def read_back(scene: Scene) -> Told:
    sent = {event["attributes"]["qualified_name"]: event for event in estate()}
    found = {asset.qualified_name: asset for asset in scene.lily.batch_get(list(sent)).items}
    expect_equal("the set of assets read back", set(found), set(sent))
    for name, event in sent.items():
        _expect_as_stated(found[name], event)
    seconds = median(scene.timed(READ, lambda: scene.lily.get(found[EMAIL].metadata_id))[1] for _ in range(20))
    return Told("Every one reads back exactly as it was stated (the time is that of one read)", seconds)


def search(scene: Scene) -> Told:
    hits, seconds = scene.timed(SEARCH, lambda: list(scene.lily.find("customers email")))
    names = [hit.qualified_name for hit in hits]
    insist(that=EMAIL in names, otherwise=f"a search for 'customers email' finds {names} and not {EMAIL}")
    stated = {e["attributes"]["qualified_name"] for e in estate() if "PII" in e["attributes"].get("tags", ())}
    tagged = {asset.qualified_name for asset in scene.lily.find(tag="pii", page_size=5)}
    insist(that=stated <= tagged, otherwise=f"tagged PII are {tagged} and not {stated - tagged}")
    sentence = f"A search for 'customers email' finds [b]{EMAIL}[/]; by tag there are {len(tagged)} PII columns"
    return Told(sentence, seconds)


def change_as_source(scene: Scene) -> Told:
    changed = _restated(EMAIL, data_type="citext", description="Checked by a confirmation mail")
    _, seconds = _write(scene, changed)
    _expect_as_stated(scene.lily.get(EMAIL), changed)
    return Told(f"The source changes [b]{EMAIL}[/] to citext", seconds)


def change_as_person(scene: Scene) -> Told:
    words = "Personal. Ask the growth team before you use it."
    _, seconds = _applied(scene, lambda: scene.lily.update(EMAIL, {"description": words}, wait=WAIT))
    expect_equal("the description", scene.lily.get(EMAIL).attributes["description"], words)
    return Told("A person describes it in words of their own", seconds)


def refresh_below_person(scene: Scene) -> Told:
    """The person's word outlives the refresh; taken back, the source's shows again."""
    before = scene.lily.get(EMAIL).attributes["description"]
    refreshed = _restated(EMAIL, data_type="varchar(255)", description="Refreshed by the nightly scan")
    _, seconds = _write(scene, refreshed)
    now = scene.lily.get(EMAIL).attributes
    expect_equal("the data type after the refresh", now["data_type"], "varchar(255)")
    expect_equal("the person's description after the refresh", now["description"], before)
    _applied(scene, lambda: scene.lily.update(EMAIL, {"description": None}, wait=WAIT))
    _expect_as_stated(scene.lily.get(EMAIL), refreshed)
    return Told("The source's next refresh changes the type, and leaves the person's description alone", seconds)


def ignore_latecomer(scene: Scene) -> Told:
    before = scene.lily.get(ORDERS)
    late = _restated(ORDERS, description="From last week's export")
    written_at = datetime.now(UTC) - timedelta(days=7)
    receipt, seconds = scene.timed(
        WRITE, lambda: scene.lily.ingest(late["entity_type"], late["attributes"], time=written_at, wait=WAIT)
    )
    expect_equal("whether the late event was superseded", receipt.superseded, True)
    expect_equal("the attributes after the late event", scene.lily.get(ORDERS).attributes, before.attributes)
    return Told("An event a week late is taken, and told that newer ones have already won", seconds)


def tag(scene: Scene) -> Told:
    _, seconds = _applied(scene, lambda: scene.lily.add_tag(REVENUE, "Certified", wait=WAIT))
    standing = [(tag.tag, tag.layer) for tag in scene.lily.tags(REVENUE)]
    expect_equal("the tags", standing, [("Certified", "user")])
    return Told(f"A person tags [b]{REVENUE}[/] as Certified", seconds)


def untag(scene: Scene) -> Told:
    _, seconds = _applied(scene, lambda: scene.lily.remove_tag(REVENUE, "certified", wait=WAIT))
    expect_equal("the tags", scene.lily.tags(REVENUE), [])
    return Told("And takes the tag away again; tags compare without case", seconds)


def delete(scene: Scene) -> Told:
    _, seconds = _applied(scene, lambda: scene.lily.delete(ORDERS, wait=WAIT))
    _write(scene, _restated(ORDERS))
    expect_equal("is_deleted, after a refresh of the source", scene.lily.get(ORDERS).is_deleted, True)
    listed = [asset.qualified_name for asset in scene.lily.find(parent="shop.public", entity_type="table")]
    insist(that=ORDERS not in listed, otherwise=f"{ORDERS} is deleted and still listed")
    return Told(f"A person deletes [b]{ORDERS}[/]; not even the source's refresh brings it back", seconds)


def restore(scene: Scene) -> Told:
    _, seconds = _applied(scene, lambda: scene.lily.restore(ORDERS, wait=WAIT))
    _expect_as_stated(scene.lily.get(ORDERS), _restated(ORDERS))
    return Told("Restored, it is all there again", seconds)


def look_back(scene: Scene) -> Told:
    changes, seconds = scene.timed(HISTORY, lambda: list(scene.lily.history(ORDERS)))
    kinds = [change.change for change in changes]
    expect_equal("the newest two changes", kinds[:2], ["restored", "deleted"])
    expect_equal("the first change", kinds[-1], "created")
    insist(that=all(change.causes for change in changes), otherwise="a change does not name the event that caused it")
    return Told(f"Its history knows {' ← '.join(kinds[:4])}: who, when, what, from which event", seconds)


def hear(scene: Scene) -> Told:
    words = f"The address we write to (said at {datetime.now(UTC):%H:%M:%S.%f})"
    with scene.lily.notifications(metadata_id=EMAIL) as changes:
        heard, seconds = scene.timed(
            PUSH, lambda: (scene.lily.update(EMAIL, {"description": words}), changes.receive(timeout=WAIT))[1]
        )
    _applied(scene, lambda: scene.lily.update(EMAIL, {"description": None}, wait=WAIT))
    if heard is None:
        raise StepFailed(f"the WebSocket said nothing within {WAIT} seconds")
    expect_equal("what the WebSocket told", (heard.qualified_name, heard.change), (EMAIL, "updated"))
    return Told("Who listens on the WebSocket hears of a change", seconds)


def refuse(scene: Scene) -> Told:
    name = "shop.public.mistake"
    refusal, seconds = scene.timed(
        REFUSAL, lambda: _refusal(scene, "tabel", {"name": "mistake", "qualified_name": name, "tags": "PII"})
    )
    expect_equal("the set of codes", {p.code for p in refusal.problems}, {"UNKNOWN_ENTITY_TYPE", "INVALID_TYPE"})
    _expect_missing(scene, name)
    said = "; ".join(problem.description.partition("; use one of")[0] for problem in refusal.problems)
    return Told(f"Bad input is refused with what is wrong, and nothing is stored: [i]{said}[/]", seconds)


def repeat(scene: Scene) -> Told:
    """Ten single changes, one after the other."""
    for number in range(10):
        _write(scene, _restated(REVENUE, rows=1_000 + number))
    expect_equal("the last value", scene.lily.get(REVENUE).attributes["rows"], 1_009)
    sentence = "Ten more single changes, one after the other (the median of all so far)"
    return Told(sentence, median(scene.measured[WRITE]))


STORY = (
    Step("state one asset", state_first_asset),
    Step("state the estate", state_estate),
    Step("read it back", read_back),
    Step("search", search),
    Step("change as the source", change_as_source),
    Step("change as a person", change_as_person),
    Step("refresh below the person", refresh_below_person),
    Step("ignore a latecomer", ignore_latecomer),
    Step("tag", tag),
    Step("untag", untag),
    Step("delete", delete),
    Step("restore", restore),
    Step("look back", look_back),
    Step("hear of a change", hear),
    Step("refuse bad input", refuse),
    Step("repeat", repeat),
)


def _write(scene: Scene, event: Event) -> tuple[Receipt, float]:
    return _applied(scene, lambda: scene.lily.ingest(event["entity_type"], event["attributes"], wait=WAIT))


def _applied(scene: Scene, write: Callable[[], Receipt]) -> tuple[Receipt, float]:
    """A write that waits: it must come back readable, and must not have lost to anything newer."""
    receipt, seconds = scene.timed(WRITE, write)
    insist(that=receipt.readable, otherwise=f"{receipt.metadata_id} was not readable within {WAIT} seconds")
    expect_equal("whether the change was superseded", receipt.superseded, False)
    return receipt, seconds


def _restated(qualified_name: str, **changed: Any) -> Event:
    """What the source stated about an asset, with something else."""
    event = next(event for event in estate() if event["attributes"]["qualified_name"] == qualified_name)
    return {**event, "attributes": event["attributes"] | changed}


def _expect_as_stated(asset: Asset, event: Mapping[str, Any]) -> None:
    stated = event["attributes"]
    shown = {key: asset.attributes.get(key) for key in stated}
    expect_equal(f"what is shown of {asset.qualified_name}", _unordered(shown), _unordered(stated))
    expect_equal(f"the type of {asset.qualified_name}", asset.entity_type, event["entity_type"])


def _unordered(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: sorted(value) if key == "tags" else value for key, value in attributes.items()}


def _expect_missing(scene: Scene, name: str) -> None:
    try:
        scene.lily.get(name)
    except NotFound:
        return
    raise StepFailed(f"{name} was refused and is there all the same")


def _refusal(scene: Scene, entity_type: str, attributes: Mapping[str, Any]) -> Refused:
    try:
        scene.lily.ingest(entity_type, attributes)
    except Refused as refusal:
        return refusal
    raise StepFailed(f"an event of the unknown type {entity_type!r} was accepted")
