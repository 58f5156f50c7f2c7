"""Turns what callers send into events: the tenant is the token's, the time the door's, the statement checked."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from lily.api.calls import Call
from lily.api.http.errors import forbidden
from lily.model import clock, ids
from lily.model.envelopes import read_time
from lily.model.errors import Problem, Refused
from lily.model.events import AssetEvent
from lily.model.statements import Operation, read_statement
from lily.observe import traces
from lily.store.assets import StoredAsset

FIELDS = frozenset({"entity_type", "attributes", "operation", "time", "tenant_id"})


def source_event(call: Call, body: Any) -> AssetEvent:
    """An event of the source layer from the body of `POST /ingest-metadata`. Raises Refused with what is wrong."""
    if not isinstance(body, dict):
        raise Refused(Problem("INVALID_TYPE", "a body is a JSON object", "body"))
    unknown = body.keys() - FIELDS
    if unknown:
        known = ", ".join(sorted(FIELDS))
        raise Refused(*(Problem("UNKNOWN_FIELD", f"known fields are: {known}", name) for name in sorted(unknown)[:20]))
    _refuse_other_tenant(call, body.get("tenant_id"))
    skew = timedelta(seconds=call.services.settings.limits.future_skew_seconds)
    time = read_time(body.get("time"), received=clock.now(), skew=skew)
    stated = {key: body[key] for key in ("entity_type", "attributes", "operation") if key in body}
    return _event(call, time, {"layer": "source", **stated})


def person_event(
    call: Call,
    asset: StoredAsset,
    operation: Operation,
    *,
    tag: str | None = None,
    attributes: Any = None,
    reason: str | None = None,
    origins: Sequence[str] = (),
) -> AssetEvent:
    """An event of the person's layer about an asset there is."""
    stated = {"layer": "user", "operation": operation, "qualified_name": asset.qualified_name}
    about = {"tag": tag, "attributes": attributes, "reason": reason, "origins": list(origins)}
    return _event(call, clock.now(), {**stated, **about})


def _event(call: Call, time: str, stated: Mapping[str, Any]) -> AssetEvent:
    # Whoever may take protective tags away says so in the event: the pipeline knows no scopes.
    who = {"by": call.principal.name, "authorised": call.principal.may("policy:write")}
    statement = read_statement({**stated, **who}, tenant=call.tenant)
    return AssetEvent(ids.event_id(), time, call.tenant, statement, call.correlation, traces.traceparent())


def _refuse_other_tenant(call: Call, tenant: Any) -> None:
    if tenant is None or tenant == call.tenant:
        return
    if not isinstance(tenant, str):
        raise Refused(Problem("INVALID_TYPE", "tenant_id must be a string", "tenant_id"))
    raise forbidden("tenant_id is not the token's tenant; leave it out", "tenant_id", "OTHER_TENANT")
