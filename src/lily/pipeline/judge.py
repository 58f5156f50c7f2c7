"""Parse, validate and normalise one record of the log, with the very rules of the doors (docs/decisions/0002)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson

from lily.model.envelopes import FUTURE_SKEW
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent, read_event
from lily.model.records import Record, Refusal

PING = "lily.ping"  # travels through everything and changes nothing: how the pipeline proves that it is ready


def judge(
    record: Record, knows_tenant: Callable[[str], bool], skew: timedelta = FUTURE_SKEW
) -> AssetEvent | Refusal | None:
    """An event to apply, a refusal with its cause, or None for a ping. No record can make it raise; only
    `knows_tenant` may, when the store is away, and then the batch is repeated."""
    tenant = _tenant_of_key(record.key)
    try:
        decoded = orjson.loads(record.value or b"")
        if isinstance(decoded, dict) and decoded.get("type") == PING:
            return None
        tenant = tenant or _tenant_of_event(decoded)
        event = read_event(decoded, received=record.received, skew=skew)
        _check_key(record, event)
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


def _check_key(record: Record, event: AssetEvent) -> None:
    """One asset's events stay in one partition only if their key says so; a key cannot borrow another tenant's name."""
    if record.key != f"{event.tenant}/{event.asset_id}".encode():
        raise Refused(Problem("KEY_MISMATCH", "the record's key must be tenant/asset of the event", "key"))


def _tenant_of_key(key: bytes | None) -> str:
    return (key or b"").partition(b"/")[0].decode("ascii", "ignore")


def _tenant_of_event(event: Any) -> str:
    tenant = event.get("tenantid") if isinstance(event, dict) else None
    return tenant if isinstance(tenant, str) else ""
