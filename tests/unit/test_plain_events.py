"""Plain events are read on a short way: it leads to the rows, the refusals and the states of the full one."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import event as observe
from hypothesis import example, given
from hypothesis import strategies as st

from lily.bus.authority import SigningKey, Verifier, sign
from lily.model import ids
from lily.model.assets import ENTITY_TYPES
from lily.model.envelopes import FUTURE_SKEW, cloud_event
from lily.model.events import ASSET_STATED, AssetEvent
from lily.model.plain_events import PlainEvent
from lily.model.records import Record, Refusal
from lily.model.states import AssetState, merge_pieces, merge_states
from lily.pipeline.validation import validate_asset_record, validate_asset_records
from lily.store.lake.rows import states_to_batch
from lily.store.postgres.catalogue.aggregation import aggregate, copy_rows, count_layers
from tests.unit.test_plain_statements import KEYS, LONG, ODD, OTHER, odd, plain_texts, texts

TENANTS = {"default", "other"}
KEY = SigningKey.of(b"k" * 32)
NOW, SOON, LATE = "2026-11-15T08:36:00.000000Z", "2026-11-15T08:40:59.999999Z", "2026-11-15T08:41:00.000001Z"
RECEIVED = (NOW, "2026-11-15T08:36:00.250000Z", "2026-11-15T08:35:30.000000Z")
NAMES = ("db.orders", "db.orders", "db.people", "orders", "a/b.c")
PARENTS = ("db", "db.orders", "a/b")
times = st.sampled_from((NOW, SOON, "2026-11-15T08:35:59.000000Z"))
odd_times = st.sampled_from((LATE, "2026-11-15T08:36:00Z", "2026-02-30T08:36:00.000000Z", "noon"))
event_ids = st.sampled_from([f"0000-{number}" for number in range(4)])
MARKS = (
    b"",
    b" ",
    b'"',
    b"\\",
    b"\\n",
    b"\\u0041",
    b"{",
    b"}",
    b",",
    b":",
    b"|",
    b"\xff",
    b"\x7f",
    b"1",
    b"\n",
    b"null",
)
PIECES = (
    b'"name":"x",',
    b'"owner":" x",',
    b',"owner":""',
    b'"a',
    "ü".encode(),
    b'","',
    b'":"',
    b"null",
    b'"authorised":true,',
)
descriptions = plain_texts | st.sampled_from(["", " two\nlines ", 'a "b"', "ü", "x" * 600])
written = st.fixed_dictionaries(
    {"name": plain_texts},
    optional={key: plain_texts for key in KEYS if key not in {"name", "parent", "qualified_name", "description"}}
    | {"parent": st.sampled_from(PARENTS), "description": descriptions},
)
ODDITIES = ("attributes", "data", "type", "name", "time", "id", "tenant", "key", "envelope", "edit", "edit")


def full_key(tenant: str, name: Any) -> bytes:
    return f"{tenant}/{ids.asset_id(tenant, name if isinstance(name, str) else '')}".encode("ascii", "replace")


def oddly(draw: st.DrawFn, oddity: str, data: dict[str, Any]) -> None:
    """Changes one thing in what a door could have written."""
    if oddity == "attributes":
        data["attributes"] |= draw(odd)
    elif oddity == "data":
        chosen = draw(st.lists(st.sampled_from(sorted(OTHER)), min_size=1, max_size=3, unique=True))
        data |= {key: draw(OTHER[key]) for key in chosen}
    elif oddity == "type":
        data["entity_type"] = draw(st.sampled_from([*sorted(ENTITY_TYPES), " Table ", "tabel", None, 1]))
    elif oddity == "name":
        data["qualified_name"] = draw(texts)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """As Lily's own doors write them; a third of them with something else in them."""
    oddity = draw(st.sampled_from([""] * 2 * len(ODDITIES) + [*ODDITIES]))
    data: dict[str, Any] = {"layer": "source", "operation": "upsert", "qualified_name": draw(st.sampled_from(NAMES))}
    data |= {"entity_type": draw(st.sampled_from(["table", "column"])), "attributes": draw(written)}
    data |= draw(st.sampled_from([{}, {"by": "alice"}]))
    oddly(draw, oddity, data)
    tenant = "nobody" if oddity == "tenant" else draw(st.sampled_from(["default", "other"]))
    name = data["qualified_name"]
    event = cloud_event(
        ASSET_STATED,
        event_id=draw(texts if oddity == "id" else event_ids),
        time=draw(odd_times if oddity == "time" else times),
        tenant=tenant,
        data=data,
        subject=draw(st.sampled_from(["", "x"])),
        correlation=draw(st.sampled_from(["x" * 129, "ü"] if oddity == "envelope" else ["", "c-1", "x" * 128])),
        trace=draw(st.sampled_from(["", "00-1-2-01", *(['a"b'] if oddity == "envelope" else [])])),
    )
    try:
        value = orjson.dumps(event)
    except TypeError:  # no door can write a lone surrogate
        value = b"{}"
    if data.get("authorised") is True and draw(st.booleans()):
        value = sign(value, (KEY,))
    if oddity == "edit":
        at, length = draw(st.integers(0, len(value))), draw(st.integers(0, 3))
        value = value[:at] + draw(st.sampled_from((*MARKS, *PIECES))) + value[at + length :]
    key = (
        draw(st.sampled_from([full_key("third", name), b"default/x", None]))
        if oddity == "key"
        else full_key(tenant, name)
    )
    return Record("asset-ingestion-events", 0, draw(st.integers(0, 99)), draw(st.sampled_from(RECEIVED)), key, value)


batches = st.lists(records(), min_size=1, max_size=8)


def read_in_full(batch: Iterable[Record]) -> list[AssetEvent | Refusal | None]:
    verifier = Verifier((KEY,))
    return [validate_asset_record(record, TENANTS.__contains__, FUTURE_SKEW, verifier) for record in batch]


def read(batch: Sequence[Record]) -> list[PlainEvent | AssetEvent | Refusal | None]:
    return list(validate_asset_records(batch, TENANTS.__contains__, FUTURE_SKEW, Verifier((KEY,))))


def a_record(offset: int = 0, time: str = NOW, *, tenant: str = "default", **attributes: Any) -> Record:
    stated = {"layer": "source", "operation": "upsert", "qualified_name": "db.orders", "entity_type": "table"}
    data = {**stated, "attributes": {"name": "orders", **attributes}}
    event = cloud_event(ASSET_STATED, event_id=f"id-{offset}", time=time, tenant=tenant, data=data, subject="s")
    return Record("asset-ingestion-events", 0, offset, NOW, full_key(tenant, "db.orders"), orjson.dumps(event))


def edited(record: Record, old: bytes, new: bytes) -> Record:
    assert record.value is not None
    assert old in record.value
    return record._replace(value=record.value.replace(old, new))


@given(batches)
@example([a_record(0), a_record(1, parent="db"), a_record(2, tags=["PII"]), a_record(1, parent="db")])
@example([a_record(0, SOON), a_record(1, NOW, owner="alice"), a_record(2, LATE)])
@example([a_record(0, SOON)._replace(received=RECEIVED[-1]), a_record(1)])
@example([a_record(0, description="x" * 600, owner=" x")])
@example([a_record(0, owner="x" * 513)])
@example([edited(a_record(0, owner="x"), b'"owner":"x"', b'"owner":"x","owner":"y"')])
@example([edited(a_record(0, owner="x"), b'"owner":"x"', b'"owner": "x"')])
@example([edited(a_record(0, owner="x"), b'"owner":"x"', b'"owner":":","parent":7')])
@example([edited(a_record(0, owner="x"), b'"owner":"x"', b'"owner":"\\u0078"')])
def test_events_refusals_and_staged_rows_are_those_of_the_full_way(batch: list[Record]) -> None:
    found, full = read(batch), read_in_full(batch)
    observe(f"{sum(isinstance(outcome, PlainEvent) for outcome in found)} plain of {len(batch)}")
    assert [outcome.in_full() if isinstance(outcome, PlainEvent) else outcome for outcome in found] == full
    rows = aggregate(event for event in found if isinstance(event, PlainEvent | AssetEvent))
    expected = aggregate(event for event in full if isinstance(event, AssetEvent))
    assert copy_rows(rows) == copy_rows(expected)
    assert count_layers(rows) == count_layers(expected)


@given(batches)
@example([a_record(0), a_record(1, parent="db"), a_record(2, tags=["PII"])])
@example([a_record(0, SOON), a_record(1, NOW, owner="alice"), a_record(2, tenant="other")])
def test_states_of_the_lake_are_those_of_the_full_way(batch: list[Record]) -> None:
    found = [event for event in read(batch) if isinstance(event, PlainEvent | AssetEvent)]
    full = [event for event in read_in_full(batch) if isinstance(event, AssetEvent)]
    states = merge_pieces(event if isinstance(event, PlainEvent) else AssetState.of(event) for event in found)
    expected = merge_states(AssetState.of(event) for event in full).values()
    assert states_to_batch(states, 7).to_pylist() == states_to_batch(expected, 7).to_pylist()


def plain(record: Record, skew: timedelta = FUTURE_SKEW) -> bool:
    [outcome] = validate_asset_records([record], TENANTS.__contains__, skew)
    return isinstance(outcome, PlainEvent)


def test_what_a_door_writes_about_a_plain_asset_takes_the_short_way() -> None:
    assert plain(a_record())
    assert plain(a_record(owner="alice", parent="db", description='One row an order.\nBy hour; the "new" ones | all.'))
    assert plain(a_record(description="x" * 60_000))
    assert plain(a_record(time=SOON))


@pytest.mark.parametrize("text", [*ODD, *LONG])
def test_odd_names_and_owners_are_left_to_the_full_way_or_mean_the_same(text: str) -> None:
    for attributes in ({"owner": text}, {"parent": text}, {"name": text}, {"description": text}):
        if "\ud800" not in text:
            batch = [a_record(0, NOW, tenant="default", **attributes)]
            full = read_in_full(batch)
            assert [one.in_full() if isinstance(one, PlainEvent) else one for one in read(batch)] == full


UUID = "0a1b2c3d-0000-8000-8000-000000000000"


@pytest.mark.parametrize(
    "changed",
    [
        {"qualified_name": UUID},
        {"qualified_name": " db.orders"},
        {"qualified_name": ""},
        {"entity_type": "tabel"},
        {"by": " alice"},
        {"by": ""},
        {"layer": "user"},
        {"operation": "delete"},
        {"authorised": True},
        {"attributes": {"owner": "alice"}},
        {"attributes": {"name": "orders", "tags": "PII"}},
        {"attributes": {"name": "orders", "business_terms": "Order"}},
        {"attributes": {"name": "orders", "qualified_name": "db.people"}},
        {"attributes": {"name": "orders", "parent": "db.orders"}},
        {"attributes": {"name": "orders", "parent": UUID}},
        {"attributes": {"name": "orders", "owner": "alice "}},
        {"attributes": {"name": "orders", "owner": " alice"}},
        {"attributes": {"name": "orders", "owner": "x" * 513}},
        {"attributes": {"name": "orders", "owner": None}},
        {"attributes": {"name": "orders", "row_count": 7}},
    ],
)
def test_what_has_to_be_looked_at_takes_the_full_way(changed: dict[str, Any]) -> None:
    event = orjson.loads(a_record().value or b"")
    event["data"] |= changed
    name = event["data"]["qualified_name"]
    record = a_record()._replace(value=orjson.dumps(event), key=full_key("default", name))
    assert not plain(record)
    assert read([record]) == read_in_full([record])


def test_an_unknown_tenant_a_future_time_and_the_key_of_another_asset_are_not_plain() -> None:
    assert not plain(a_record(tenant="nobody"))
    assert not plain(a_record(time=LATE))
    assert not plain(a_record(time="2026-02-30T08:36:00.000000Z"))
    assert not plain(a_record(time=SOON), timedelta(minutes=1))
    assert not plain(a_record()._replace(key=full_key("default", "db.people")))
    assert not plain(a_record()._replace(key=full_key("other", "db.orders")))
    assert not plain(a_record()._replace(key=None))
    assert not plain(a_record()._replace(value=None))


def test_a_claim_of_authority_is_not_plain() -> None:
    record = a_record()
    assert not plain(edited(record, b"}},", b'},"authorised":true},'))
    assert not plain(record._replace(value=sign(record.value or b"", (KEY,))))


def test_events_about_one_asset_become_one_row_in_any_mixture() -> None:
    batch = [a_record(0), a_record(1, tags=["PII"]), a_record(2, owner="bob"), a_record(2, owner="bob")]
    outcomes = [event for event in read(batch) if isinstance(event, PlainEvent | AssetEvent)]
    assert [isinstance(outcome, PlainEvent) for outcome in outcomes] == [True, False, True, True]
    [row] = copy_rows(aggregate(outcomes))
    assert row.count('{"id":') == len(batch)  # each is a cause
