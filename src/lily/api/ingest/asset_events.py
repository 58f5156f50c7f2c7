"""Builds asset events from requests: takes the tenant from the token, and validates the statement."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from lily.api.calls import Call
from lily.api.http.errors import forbidden
from lily.model import clock, ids
from lily.model.assets import entity_type
from lily.model.envelopes import read_time
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.lanes import BULK_TYPES
from lily.model.statements import Operation, read_statement
from lily.model.suggestions import MAX_LENGTH, hint
from lily.observe import traces
from lily.store.assets import StoredAsset

FIELDS = frozenset({"entity_type", "attributes", "operation", "time", "tenant_id"})
MAX_UNKNOWN = 20  # that are reported


def source_event(call: Call, body: Any) -> AssetEvent:
    """An event of the source layer from the body of `POST /ingest-metadata`. Raises Refused with every problem."""
    if not isinstance(body, dict):
        raise Refused(Problem("INVALID_TYPE", "the body must be a JSON object", "body"))
    if unknown := sorted(body.keys() - FIELDS):
        raise Refused(*map(_unknown, unknown[:MAX_UNKNOWN]))
    _refuse_other_tenant(call, body.get("tenant_id"))
    skew = timedelta(seconds=call.services.settings.limits.future_skew_seconds)
    time = read_time(body.get("time"), received=clock.now(), skew=skew)
    stated = {key: body[key] for key in ("entity_type", "attributes", "operation") if key in body}
    return _event(call, time, {"layer": "source", **stated})


def user_event(
    call: Call,
    asset: StoredAsset,
    operation: Operation,
    *,
    tag: str | None = None,
    attributes: Any = None,
    reason: str | None = None,
    origins: Sequence[str] = (),
) -> AssetEvent:
    """An event of the user layer about an asset that exists."""
    stated = {"layer": "user", "operation": operation, "qualified_name": asset.qualified_name}
    # A column may be in the lake alone. Its first change in PostgreSQL is announced with the type that is known here.
    kind = entity_type(asset.layers)
    about = {
        "entity_type": kind if kind in BULK_TYPES else None,
        "tag": tag,
        "attributes": attributes,
        "reason": reason,
        "origins": list(origins),
    }
    return _event(call, clock.now(), {**stated, **about})


def _event(call: Call, time: str, stated: Mapping[str, Any]) -> AssetEvent:
    # The pipeline does not know scopes, so the event states whether its author may remove a protective tag.
    author = {"by": call.principal.name, "authorised": call.principal.may("policy:write")}
    statement = read_statement({**stated, **author}, tenant=call.tenant)
    return AssetEvent(
        ids.event_id(), time, call.tenant, statement, correlation=call.correlation, trace=traces.traceparent()
    )


def _unknown(name: str) -> Problem:
    description = f"unknown field `{name[:MAX_LENGTH]}`; attributes belong in `attributes`; {hint(name, FIELDS)}"
    return Problem("UNKNOWN_FIELD", description, name)


def _refuse_other_tenant(call: Call, tenant: Any) -> None:
    if tenant is None or tenant == call.tenant:
        return
    if not isinstance(tenant, str):
        raise Refused(Problem("INVALID_TYPE", "tenant_id must be a string", "tenant_id"))
    raise forbidden("tenant_id differs from the tenant of the token; leave it out", "tenant_id", "OTHER_TENANT")
