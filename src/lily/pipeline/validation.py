"""Parse, validate and normalise one record of the log, with the very rules of the doors (docs/decisions/0002)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import orjson

from lily.model.edges import EDGES_CLAIMED, ClaimsEvent, EdgeEvent, read_claims_event, read_edge_event
from lily.model.envelopes import FUTURE_SKEW
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent, read_event
from lily.model.records import Record, Refusal

PING = "lily.ping"  # travels through everything and changes nothing: how the pipeline proves that it is ready

Event = TypeVar("Event", AssetEvent, EdgeEvent | ClaimsEvent)
KnowsTenant = Callable[[str], bool]


def judge(record: Record, knows_tenant: KnowsTenant, skew: timedelta = FUTURE_SKEW) -> AssetEvent | Refusal | None:
    """An event to apply, a refusal with its cause, or None for a ping. No record can make it raise; only
    `knows_tenant` may, when the store is away, and then the batch is repeated."""
    return _judged(record, knows_tenant, lambda event: read_event(event, received=record.received, skew=skew))


def judge_lineage(
    record: Record, knows_tenant: KnowsTenant, skew: timedelta = FUTURE_SKEW
) -> EdgeEvent | ClaimsEvent | Refusal | None:
    """The same for a record of the topic that speaks about edges."""

    def read(event: Any) -> EdgeEvent | ClaimsEvent:
        if isinstance(event, dict) and event.get("type") == EDGES_CLAIMED:
            return read_claims_event(event, received=record.received, skew=skew)
        return read_edge_event(event, received=record.received, skew=skew)

    return _judged(record, knows_tenant, read)


def _judged(record: Record, knows_tenant: KnowsTenant, read: Callable[[Any], Event]) -> Event | Refusal | None:
    tenant = _tenant_of_key(record.key)
    try:
        decoded = orjson.loads(record.value or b"")
        if isinstance(decoded, dict) and decoded.get("type") == PING:
            return None
        tenant = tenant or _tenant_of_event(decoded)
        event = read(decoded)
        _check_key(record, event.key)
    except orjson.JSONDecodeError as error:
        problems: tuple[Problem, ...] = (Problem("MALFORMED_JSON", f"the event is not JSON: {error}", ""),)
    except Refused as refused:
        problems = refused.problems
    except (RecursionError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
        # A record that the checks did not foresee: whatever it broke, it goes with its cause and stops nobody else.
        problems = (Problem("INTERNAL", f"{type(error).__name__}: {error}", ""),)
    else:
        if knows_tenant(event.tenant):
            return event
        problems = (Problem("UNKNOWN_TENANT", f"there is no tenant {event.tenant!r}", "tenantid"),)
    return Refusal(record, tenant if tenant and knows_tenant(tenant) else "", problems)


def _check_key(record: Record, expected: bytes) -> None:
    """What belongs together stays in one partition only if its key says so; a key cannot borrow another tenant's
    name."""
    if record.key != expected:
        raise Refused(Problem("KEY_MISMATCH", "the record's key must be that of the event: tenant/asset", "key"))


def _tenant_of_key(key: bytes | None) -> str:
    return (key or b"").partition(b"/")[0].decode("ascii", "ignore")


def _tenant_of_event(event: Any) -> str:
    tenant = event.get("tenantid") if isinstance(event, dict) else None
    return tenant if isinstance(tenant, str) else ""
