"""What must be true of a catalogue whatever happened to the processes that made it."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import orjson

from lily.model import ids
from lily.model.assets import LAYERS
from lily.model.clock import stamp
from lily.model.events import AssetEvent
from lily.model.records import Record
from tests import oracle
from tests.faults.evidence import Asset, Evidence
from tests.oracle_form import as_oracle

Problem = tuple[str, str]


def problems(evidence: Evidence, events: Iterable[AssetEvent], hot: Container[str]) -> Iterator[Problem]:
    """`hot` are the ids of assets that an event of the hot lane spoke about."""
    yield from _differs_from_oracle(evidence, events, hot)
    yield from _mixes_tenants(evidence)
    yield from _has_an_odd_history(evidence)
    yield from _was_not_published(evidence)
    yield from _has_letters_from_nowhere(evidence)
    yield from _lost_or_repeated_in_the_lake(evidence)


def _differs_from_oracle(evidence: Evidence, events: Iterable[AssetEvent], hot: Container[str]) -> Iterator[Problem]:
    """The lake holds every asset; PostgreSQL those that were ever hot, with what came through either lane."""
    everything = oracle.catalogue(events := list(events))
    parents = {
        ids.asset_id(event.tenant, parent): parent
        for event in events
        if (parent := event.statement.attributes.get("parent"))
    }
    in_postgres = {key: asset for key, asset in everything.items() if ids.asset_id(*key) in hot}
    for store, expected, held in (
        ("PostgreSQL", in_postgres, evidence.assets),
        ("the lake", everything, evidence.lake),
    ):
        found = {(asset.tenant, asset.qualified_name): _told(asset, parents) for asset in held.values()}
        for key in expected.keys() | found.keys():
            if expected.get(key) != found.get(key):
                yield f"{store} is not the oracle's", f"{key}: {found.get(key)} instead of {expected.get(key)}"


def _lost_or_repeated_in_the_lake(evidence: Evidence) -> Iterator[Problem]:
    """A record that was refused may be there too, as long as its key could be read: the lake keeps what came."""
    kept = Counter(evidence.lake_events)
    for spot, count in kept.items():
        if count > 1:
            yield "an event is in the lake more than once", str(spot)
    for record in evidence.log:
        spot = (record.topic, record.partition, record.offset)
        if record.key is not None and spot not in evidence.letters and spot not in kept:
            yield "an event is not in the lake", str(record)


def _told(asset: Asset, parents: Mapping[str, str]) -> dict[str, Any]:
    """An asset as the oracle tells it."""
    layers: dict[str, Any] = {name: as_oracle(layer.fields, parents) for name, layer in asset.layers.items()}
    times = {"created_at": stamp(asset.created_at), "updated_at": stamp(asset.updated_at)}
    return {**times, **layers}


def _mixes_tenants(evidence: Evidence) -> Iterator[Problem]:
    for asset in evidence.assets.values():
        if asset.id != ids.asset_id(asset.tenant, asset.qualified_name):
            yield "an asset is in another tenant than its own", f"{asset.tenant} {asset.id} {asset.qualified_name}"
    for change in evidence.changes:
        if str(change.asset_id) != ids.asset_id(change.tenant_id, change.qualified_name):
            yield "a change is in another tenant than its asset", str(change)
    tenant_of = {f"change-{change.position}": change.tenant_id for change in evidence.changes}
    for record in evidence.published:
        event = orjson.loads(record.value or b"")
        if event["tenantid"] != tenant_of.get(event["id"], event["tenantid"]):
            yield "a change was published for another tenant", str(record)


def _has_an_odd_history(evidence: Evidence) -> Iterator[Problem]:
    """Versions count 1, 2, 3 …; each change begins where the one before has ended; the last is what there is now.

    A layer that holds no value is as good as none, so only the creation of an asset may change nothing in it.
    """
    histories: dict[str, list[Any]] = defaultdict(list)
    for change in evidence.changes:
        histories[str(change.asset_id)].append(change)
        if (change.before or {}) == change.after and change.version > 1:
            yield "a change changed nothing", str(change)
    for asset in evidence.assets.values():
        history = histories.pop(asset.id, [])
        versions = [change.version for change in history]
        if versions != list(range(1, asset.version + 1)):
            yield "the versions of an asset have gaps or repeats", f"{asset.id} at {asset.version}: {versions}"
        yield from _breaks(asset, history)
    for asset_id, history in histories.items():
        yield "there are changes of an asset that is not there", f"{asset_id}: {history[0]}"


def _breaks(asset: Asset, history: list[Any]) -> Iterator[Problem]:
    for layer in LAYERS:
        steps = [change for change in history if change.layer == layer]
        if steps and steps[0].before:
            yield "the first change of a layer does not begin with nothing", str(steps[0])
        for earlier, later in pairwise(steps):
            if later.before != earlier.after:
                yield "a change does not begin where the one before ended", f"{earlier} then {later}"
        now = asset.layers[layer].fields if layer in asset.layers else {}
        if now != (steps[-1].after if steps else {}):
            yield "the last change of a layer is not what it holds", f"{asset.id} {layer}: {now}"


def _was_not_published(evidence: Evidence) -> Iterator[Problem]:
    changes = {f"change-{change.position}" for change in evidence.changes}
    letters = {f"dead-letter-{letter.id}" for letter in evidence.letters.values()}
    sides = (("change", changes, evidence.published), ("dead letter", letters, evidence.buried))
    for what, committed, records in sides:
        told = _ids(records).keys()
        for missing in sorted(committed - told):
            yield f"a {what} was never published", missing
        for invented in sorted(told - committed):
            yield f"a {what} was published that was never committed", invented


def _has_letters_from_nowhere(evidence: Evidence) -> Iterator[Problem]:
    spots = {(record.topic, record.partition, record.offset) for record in evidence.log}
    for spot, letter in evidence.letters.items():
        if spot not in spots or not letter.errors:
            yield "a dead letter has no cause or no place in the log", str(letter)
    for place, applied in evidence.applied.items():
        ends = 1 + max(
            (record.offset for record in evidence.log if (record.topic, record.partition) == place), default=-1
        )
        if applied != ends:
            yield "the applied position is not the end of the log", f"{place}: {applied} of {ends}"


def _ids(records: Iterable[Record]) -> Counter[str]:
    return Counter(orjson.loads(record.value or b"")["id"] for record in records)


def repeats(records: Iterable[Record]) -> int:
    """How many events were published more than once: allowed, and worth knowing."""
    return sum(count - 1 for count in _ids(records).values())
