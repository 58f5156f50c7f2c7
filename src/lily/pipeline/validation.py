"""Parses, validates and normalises one record of the log, with the same rules as the API (docs/decisions/0002)."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import orjson

from lily.bus.authority import Verifier
from lily.model import clock
from lily.model.columns import AssetRecord, read_asset_record
from lily.model.edges import EDGES_CLAIMED, ClaimsEvent, EdgeEvent, read_claims_event, read_edge_event
from lily.model.envelopes import FUTURE_SKEW
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent, read_event
from lily.model.plain_events import PlainEvent
from lily.model.records import Record, Refusal
from lily.model.usage import UsageEvent, read_usage_event
from lily.pipeline.plain_records import read_plain_event

PING = "lily.ping"  # an event that passes through the whole pipeline and changes nothing, for the warm-up

Event = TypeVar("Event", AssetEvent, AssetRecord, EdgeEvent | ClaimsEvent, UsageEvent)
Claiming = TypeVar("Claiming", AssetEvent, AssetRecord, EdgeEvent, ClaimsEvent)
KnowsTenant = Callable[[str], bool]
NOBODY = Verifier(())  # accepts no claim of authority


def validate_asset_record(
    record: Record, knows_tenant: KnowsTenant, skew: timedelta = FUTURE_SKEW, verifier: Verifier = NOBODY
) -> AssetEvent | Refusal | None:
    """The event to apply, a refusal with its cause, or None for a ping. It raises for no record; only `knows_tenant`
    may raise, if the store is unavailable, and then the batch is repeated.

    An event that claims authority without a valid signature is applied as one without authority."""

    def read(event: Any) -> AssetEvent:
        return _verified(read_event(event, received=record.received, skew=skew), record, verifier)

    return _validate(record, knows_tenant, read)


def validate_asset_records(
    records: Sequence[Record], knows_tenant: KnowsTenant, skew: timedelta = FUTURE_SKEW, verifier: Verifier = NOBODY
) -> Iterator[PlainEvent | AssetEvent | Refusal | None]:
    """`validate_asset_record` of each record, but plain events are read without the objects of the full way. They claim
    no authority."""
    latest = _latest_time(records, skew)
    for record in records:
        plain = read_plain_event(record.key, record.value, latest)
        if plain is not None and knows_tenant(plain.tenant):
            yield plain
        else:
            yield validate_asset_record(record, knows_tenant, skew, verifier)


def _latest_time(records: Sequence[Record], skew: timedelta) -> str:
    """A time that is in the future for none of the records; the full way finds the limit of each."""
    try:
        return clock.stamp(clock.parse(min(record.received for record in records)) + skew)
    except (ValueError, OverflowError):  # no records, or a time at the end of the calendar
        return ""


def validate_bulk_record(
    record: Record, knows_tenant: KnowsTenant, skew: timedelta = FUTURE_SKEW, verifier: Verifier = NOBODY
) -> AssetRecord | Refusal | None:
    """The same for a record of the bulk lane, which can state all columns of a table."""

    def read(event: Any) -> AssetRecord:
        return _verified(read_asset_record(event, received=record.received, skew=skew), record, verifier)

    return _validate(record, knows_tenant, read)


def validate_lineage_record(
    record: Record, knows_tenant: KnowsTenant, skew: timedelta = FUTURE_SKEW, verifier: Verifier = NOBODY
) -> EdgeEvent | ClaimsEvent | Refusal | None:
    """The same for a record of the topic for edges."""

    def read(event: Any) -> EdgeEvent | ClaimsEvent:
        if isinstance(event, dict) and event.get("type") == EDGES_CLAIMED:
            return _verified(read_claims_event(event, received=record.received, skew=skew), record, verifier)
        return _verified(read_edge_event(event, received=record.received, skew=skew), record, verifier)

    return _validate(record, knows_tenant, read)


def validate_usage_record(
    record: Record, knows_tenant: KnowsTenant, skew: timedelta = FUTURE_SKEW
) -> UsageEvent | Refusal | None:
    """The same for a record of the topic for usage."""
    return _validate(record, knows_tenant, lambda event: read_usage_event(event, received=record.received, skew=skew))


def _validate(record: Record, knows_tenant: KnowsTenant, read: Callable[[Any], Event]) -> Event | Refusal | None:
    decoded: Any = None
    try:
        decoded = orjson.loads(record.value or b"")
        if isinstance(decoded, dict) and decoded.get("type") == PING:
            return None
        event = read(decoded)
        _check_key(record, event.key)
    except orjson.JSONDecodeError as error:
        problems: tuple[Problem, ...] = (Problem("MALFORMED_JSON", f"the event is not JSON: {error}", ""),)
    except Refused as refused:
        problems = refused.problems
    except (RecursionError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
        # An error that the validation did not foresee: the record becomes a dead letter, and the others are applied.
        problems = (Problem("INTERNAL", f"{type(error).__name__}: {error}", ""),)
    else:
        if knows_tenant(event.tenant):
            return event
        problems = (Problem("UNKNOWN_TENANT", f"unknown tenant {event.tenant!r}", "tenantid"),)
    tenant = _tenant_of_key(record.key) or _tenant_of_event(decoded)
    return Refusal(record, tenant if tenant and knows_tenant(tenant) else "", problems)


def _verified(event: Claiming, record: Record, verifier: Verifier) -> Claiming:
    if event.has_authority:
        if verifier.accepts(record.value):
            return event
        event = event.without_authority()
    if (needs := _needing_authority(event)) is not None:
        raise Refused(needs)
    return event


def _needing_authority(event: Any) -> Problem | None:
    """What an event states that means nothing without authority: applied without, it would still end something."""
    if isinstance(event, AssetEvent):
        name = event.statement.qualified_name
        if event.statement.operation == "suppress":
            return Problem("PROTECTED", "suppressing a tag requires the scope policy:write", name)
        if event.statement.release is not None:
            return Problem("PROTECTED", "a release requires the scope policy:write", name)
    if isinstance(event, ClaimsEvent) and event.released:
        return Problem("PROTECTED", "a release requires the scope policy:write", "released")
    return None


def _check_key(record: Record, expected: bytes) -> None:
    """The key decides the partition, so a wrong key would break the order of an asset's events. Nor may it name
    another tenant."""
    if record.key != expected:
        raise Refused(Problem("KEY_MISMATCH", f"the record's key must be {expected.decode()!r}", "key"))


def _tenant_of_key(key: bytes | None) -> str:
    return (key or b"").partition(b"/")[0].decode("ascii", "ignore")


def _tenant_of_event(event: Any) -> str:
    tenant = event.get("tenantid") if isinstance(event, dict) else None
    return tenant if isinstance(tenant, str) else ""
