"""How to call each route of the OpenAPI document, which scopes it needs, and what a policy's denial does to it.

A route without an entry here fails `test_route_authorisation.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import httpx

VAULT = "vault.orders"  # an asset below `vault`, which a policy denies
OPEN = "open.orders"
POLICY = "The vault is closed"
NOTHING = "nothing-of-that-name"  # a definition that does not exist: 404 once the caller is authorised

A_MAPPING = {"name": "tickets", "signature": {"type": "bearer"}, "fields": {"external_id": "$.id"}}

Denial = Literal["refused", "left out", "redacted", "per row", "listed", "hidden"]


@dataclass(frozen=True)
class Route:
    """`scopes` are needed together; with `either`, one of them suffices. None: any valid token; empty: no token.
    Without `denial` the route is not about assets, and policies do not apply to it."""

    scopes: tuple[str, ...] | None
    denial: Denial | None = None
    path: dict[str, str] | None = None
    query: dict[str, str] | None = None
    body: Any = None
    either: bool = False

    def send(self, http: httpx.Client, operation: str, known: dict[str, str]) -> httpx.Response:
        """`known` has the values that only a running stack can give, such as a receipt."""
        method, _, template = operation.partition(" ")
        path = template.format(**{**(self.path or {}), **known})
        return http.request(method, path, params=self.query, json=self.body)


def reads(denial: Denial | None = "refused", **more: Any) -> Route:
    return Route(("metadata:read",), denial, **more)


def writes(**more: Any) -> Route:
    return Route(("metadata:write",), "refused", **more)


def looks_up(**more: Any) -> Route:
    return Route(("policy:read", "metadata:read"), either=True, **more)


def administers(path: str, key: str, body: Any) -> dict[str, Route]:
    one, place = f"{path}/{{{key}}}", {key: NOTHING}
    return {
        f"GET {path}": Route(("policy:read",)),
        f"POST {path}": Route(("policy:write",), body=body),
        f"GET {one}": Route(("policy:read",), path=place),
        f"PUT {one}": Route(("policy:write",), path=place, body=body),
        f"DELETE {one}": Route(("policy:write",), path=place),
    }


def defines(path: str, body: Any) -> dict[str, Route]:
    """As `administers`; readers of metadata may read definitions too."""
    one, place = f"{path}/{{name}}", {"name": NOTHING}
    return {
        f"GET {path}": looks_up(),
        f"POST {path}": Route(("policy:write",), body=body),
        f"GET {one}": looks_up(path=place),
        f"PUT {one}": Route(("policy:write",), path=place, body=body),
        f"DELETE {one}": Route(("policy:write",), path=place),
    }


AN_ASSET = {"id": VAULT}
BY_NAME = {"qualified_name": VAULT}
CHANGE = {"attributes": {"owner": "ann"}}
INGESTED = {"entity_type": "table", "attributes": {"name": "orders", "qualified_name": VAULT}}
EDGE = {"from": OPEN, "to": VAULT, "relationship_type": "used-in"}
SQL = {"sql": "insert into vault.orders select id from open.orders", "dialect": "postgres"}
OPENLINEAGE = {
    "eventTime": "2026-01-01T00:00:00Z",
    "eventType": "COMPLETE",
    "producer": "urn:test",
    "run": {"runId": "01941f29-7c00-7000-8000-000000000001"},
    "job": {"namespace": "n", "name": "j"},
    "inputs": [],
    "outputs": [{"namespace": "vault", "name": "orders"}],
}
CHECK = {"principal": "ann", "action": "READ", "asset_id": OPEN}
ALLOW = {
    "name": "a",
    "subjects": [{"role": "nobody"}],
    "resources": [{"asset": OPEN}],
    "actions": ["READ"],
    "effect": "allow",
}
ASKED = {"context": {"identity": {"user": "ann", "groups": []}}, "action": {"operation": "ExecuteQuery"}}
TABLE = {"catalogName": "open", "schemaName": "public", "tableName": "orders"}
AN_ICEBERG_TABLE = {"namespace": "open.public", "table": NOTHING}
COLUMN = {"column": TABLE | {"columnName": "id", "columnType": "bigint"}}


def engine_asks(name: str, operation: str, **about: Any) -> dict[str, Route]:
    """With a token in the header, and with a key in the path, where any other token is no key."""
    body = {"input": ASKED | {"action": {"operation": operation, **about}}}
    return {
        f"POST /enforce/opa/{name}": Route(("enforce:read",), body=body),
        f"POST /enforce/opa/k/{{key}}/{name}": Route((), path={"key": NOTHING}, body=body),
    }


def downloads(address: str) -> dict[str, Route]:
    """As Ranger plug-ins do. They add parameters of their own, and some of them speak Kerberos."""
    query = {"lastKnownVersion": "-1", "pluginId": "p", "clusterName": "", "supportsPolicyDeltas": "false"}
    place = {"service": "trino"}
    return {
        f"GET /enforce/ranger/service/{address}/{{service}}": Route(("enforce:read",), path=place, query=query),
        f"GET /enforce/ranger/k/{{key}}/service/{address}/{{service}}": Route(
            (), path=place | {"key": NOTHING}, query=query
        ),
    }


NO_ID = {"id": "00000000-0000-0000-0000-000000000000"}
MANAGES = ("notifications:manage",)
A_SUBSCRIPTION = {"name": "s", "channel": NOTHING, "destination": "d"}


def manages(path: str, body: Any, changed: Any, key: str = "name") -> dict[str, Route]:
    one, place = f"{path}/{{{key}}}", NO_ID if key == "id" else {"name": NOTHING}
    return {
        f"GET {path}": Route(MANAGES),
        f"POST {path}": Route(MANAGES, body=body),
        f"GET {one}": Route(MANAGES, path=place),
        f"PUT {one}": Route(MANAGES, path=place, body=changed),
        f"DELETE {one}": Route(MANAGES, path=place),
    }


RULE = {"name": "r", "attribute": "owner_team", "direction": "downstream"}

ROUTES: dict[str, Route] = {
    "POST /ingest-metadata": writes(body=INGESTED),
    "POST /ingest-metadata/bulk": Route(("metadata:write",), "per row", body=[INGESTED]),
    "GET /metadata": reads("left out", query={"limit": "100"}),
    "GET /metadata/{id}": reads(path=AN_ASSET),
    "PUT /metadata/{id}": writes(path=AN_ASSET, body=CHANGE),
    "DELETE /metadata/{id}": writes(path=AN_ASSET),
    "POST /metadata/{id}/restore": writes(path=AN_ASSET),
    "GET /metadata/by-name": reads(query=BY_NAME),
    "PUT /metadata/by-name": writes(query=BY_NAME, body=CHANGE),
    "DELETE /metadata/by-name": writes(query=BY_NAME),
    "POST /metadata/batch-get": reads("listed", body={"ids": [VAULT]}),
    "GET /metadata/{id}/history": reads(path=AN_ASSET),
    "GET /metadata/{id}/usage": reads(path=AN_ASSET),
    "POST /usage": Route(("metadata:write",), "per row", body={"events": [{"asset_id": VAULT, "query_count": 1}]}),
    **administers("/quality-policies", "id", {"asset": OPEN, "policy_type": "deleted_asset"}),
    "GET /metadata/{id}/attributes": reads(path=AN_ASSET),
    "GET /metadata/{id}/facets": reads(path=AN_ASSET),
    "GET /metadata/{id}/tags": reads(path=AN_ASSET),
    "POST /metadata/{id}/tags": writes(path=AN_ASSET, body={"tag": "Finance"}),
    "DELETE /metadata/{id}/tags/{tag}": writes(path=AN_ASSET | {"tag": "Finance"}),
    "POST /metadata/{id}/tags/{tag}/suppress": writes(path=AN_ASSET | {"tag": "Finance"}, body={"reason": "r"}),
    "DELETE /metadata/{id}/tags/{tag}/suppress": writes(path=AN_ASSET | {"tag": "Finance"}),
    "GET /propagations/{id}": Route(("metadata:read", "metadata:write"), "refused", either=True),
    "POST /propagations/dry-run": Route(
        ("metadata:read", "lineage:read"), "refused", body={"asset": VAULT, "tag": "PII"}
    ),
    "POST /lineage": Route(("lineage:write",), "refused", body={"edges": [EDGE]}),
    "DELETE /lineage": Route(("lineage:write",), "hidden", body={"edges": [EDGE]}),
    "GET /lineage/{id}": Route(("lineage:read",), "redacted", path={"id": OPEN}),
    "POST /lineage/sql": Route(("lineage:write",), "refused", body=SQL),
    "POST /api/v1/lineage": Route(("lineage:write",), "refused", body=OPENLINEAGE),
    "POST /api/v1/lineage/batch": Route(("lineage:write",), "per row", body=[OPENLINEAGE]),
    # What a policy hides is as what does not exist: tests/contract/test_lineage_rights.py.
    "GET /jobs/{id}": Route(("lineage:read",), path=AN_ASSET),
    "GET /jobs/{id}/runs": Route(("lineage:read",), path=AN_ASSET),
    "GET /runs/{id}": Route(("lineage:read",), path={"id": NOTHING}),
    "GET /dead-letters": reads("left out"),
    "POST /dead-letters/replay": Route(("metadata:write", "lineage:write"), "listed", body={"all": True}, either=True),
    "POST /ws/tickets": reads(None),
    "GET /settings": looks_up(),
    "PUT /settings": Route(("policy:write",), body={"on_delete": "keep"}),
    **defines("/tags", {"name": "Team"}),
    **defines("/propagation-rules", RULE),
    "GET /protections/pending": Route(("policy:read",), "left out"),
    "POST /protections/pending/confirm": Route(("policy:write",), body={"ids": [NOTHING]}),
    "POST /protections/pending/{id}/confirm": Route(("policy:write",), path={"id": NOTHING}),
    "POST /protections/pending/{id}/undo": Route(("policy:write",), path={"id": NOTHING}),
    "GET /enforcement-targets": Route(("policy:read",)),
    "POST /enforcement-targets": Route(("admin",), body={"name": "t", "type": NOTHING, "config": {}}),
    "GET /enforcement-targets/{name}": Route(("policy:read",), path={"name": NOTHING}),
    "DELETE /enforcement-targets/{name}": Route(("admin",), path={"name": NOTHING}),
    "POST /enforcement-targets/{name}/apply": Route(("policy:write",), path={"name": NOTHING}),
    "POST /enforcement-targets/{name}/plan": Route(("policy:write",), path={"name": NOTHING}),
    "GET /enforcement-targets/{name}/script": Route(("policy:write",), path={"name": NOTHING}),
    "POST /enforcement-targets/{name}/confirm": Route(
        ("policy:write",), path={"name": NOTHING}, body={"digest": "0" * 64}
    ),
    "GET /enforcements": Route(("policy:read",)),
    **manages("/channels", {"name": "c", "type": NOTHING, "config": {}}, {"type": NOTHING}),
    "POST /channels/{name}/test": Route(MANAGES, path={"name": NOTHING}, body={"destination": "d"}),
    **manages("/subscriptions", A_SUBSCRIPTION, A_SUBSCRIPTION, "id"),
    "GET /subscriptions/{id}/explain": Route(MANAGES, path=NO_ID, query={"event": "change-1"}),
    **manages("/mentions", {"name": "m", "handles": {"slack": "@m"}}, {"name": NOTHING, "handles": {"slack": "@m"}}),
    "GET /notifications": Route(("metadata:read", "incidents:read"), "left out", either=True),
    "GET /notifications/{id}": Route(("metadata:read", "incidents:read"), path=NO_ID, either=True),
    "POST /notifications/{id}/acknowledge": Route(("incidents:write", *MANAGES), path=NO_ID, either=True),
    "GET /notifications/mutes": Route(MANAGES),
    "POST /notifications/mutes": Route(MANAGES, body={"kind": "tag.*"}),
    "DELETE /notifications/mutes/{id}": Route(MANAGES, path=NO_ID),
    **administers("/policies", "id", ALLOW),
    **administers("/roles", "name", {"name": "someone"}),
    **administers("/users", "name", {"name": "someone"}),
    "GET /users/{name}/disable": Route(("policy:read",), path={"name": NOTHING}),
    "POST /users/{name}/disable": Route(("admin",), path={"name": NOTHING}),
    "DELETE /users/{name}/disable": Route(("admin",), path={"name": NOTHING}),
    **administers("/scraper-policies", "id", {"name": "s", "scraper_group": "g", "sources": ["s"]}),
    **administers(
        "/engine-mappings", "id", {"name": "m", "data_source": "s", "engine_name": "pg.a", "asset_name": "a"}
    ),
    "POST /policy/check": Route(("policy:read",), body={"checks": [CHECK]}),
    "POST /policy/explain": Route(("policy:read",), body=CHECK),
    "POST /policy/dry-run": Route(("policy:read",), body={}),
    "GET /policy/decisions": Route(("policy:read",)),
    **downloads("plugins/policies/download"),
    **downloads("plugins/secure/policies/download"),
    **downloads("tags/download"),
    **downloads("tags/secure/download"),
    **downloads("roles/download"),
    **downloads("roles/secure/download"),
    **engine_asks("allow", "ExecuteQuery"),
    **engine_asks("batch", "FilterTables", filterResources=[{"table": TABLE}]),
    **engine_asks("row-filters", "GetRowFilters", resource={"table": TABLE}),
    **engine_asks("column-masking", "GetColumnMask", resource=COLUMN),
    **engine_asks("batch-column-masking", "GetColumnMask", filterResources=[COLUMN]),
    "GET /enforce/iceberg/{namespace}/{table}": Route(("enforce:read",), path=AN_ICEBERG_TABLE, query={"user": "ann"}),
    "GET /enforce/iceberg/k/{key}/{namespace}/{table}": Route(
        (), path=AN_ICEBERG_TABLE | {"key": NOTHING}, query={"user": "ann"}
    ),
    "POST /webhook/{source}": Route((), path={"source": NOTHING}, body={}),
    "GET /webhook/okta": Route(()),
    "GET /webhook-mappings": Route(("admin",)),
    "POST /webhook-mappings": Route(("admin",), body=A_MAPPING),
    "GET /webhook-mappings/{name}": Route(("admin",), path={"name": NOTHING}),
    "PUT /webhook-mappings/{name}": Route(("admin",), path={"name": NOTHING}, body=A_MAPPING | {"name": NOTHING}),
    "DELETE /webhook-mappings/{name}": Route(("admin",), path={"name": NOTHING}),
    "POST /webhook-mappings/{name}/test": Route(("admin",), path={"name": NOTHING}, body={}),
    "GET /webhook-secrets": Route(("admin",)),
    "PUT /webhook-secrets/{source}": Route(("admin",), path={"source": NOTHING}, body={"secret": "s" * 20}),
    "DELETE /webhook-secrets/{source}": Route(("admin",), path={"source": NOTHING}),
    "GET /incidents": Route(("incidents:read",), "left out"),
    "GET /incidents/{id}": Route(("incidents:read",), path={"id": NOTHING}),
    "GET /incidents/{id}/at-risk": Route(("incidents:read",), path={"id": NOTHING}),
    "POST /incidents/{id}/acknowledge": Route(("incidents:write",), path={"id": NOTHING}),
    "POST /incidents/{id}/resolve": Route(("incidents:write",), path={"id": NOTHING}),
    "GET /metadata/{id}/incidents": Route(("incidents:read",), "refused", path=AN_ASSET),
    "GET /refresh-schedules": reads(None),
    "GET /refresh-schedules/{data_source}": reads(None, path={"data_source": NOTHING}),
    "PUT /refresh-schedules/{data_source}": Route(("admin",), path={"data_source": NOTHING}, body={}),
    "DELETE /refresh-schedules/{data_source}": Route(("admin",), path={"data_source": NOTHING}),
    "POST /refresh-schedules/{data_source}/run": Route(("admin",), path={"data_source": NOTHING}),
    "GET /refresh-runs": reads(None),
    "GET /refresh-runs/{run_id}": reads(None, path={"run_id": NOTHING}),
    "POST /refresh-runs/take": Route(("metadata:write",), body={"data_sources": [NOTHING]}),
    "POST /refresh-runs/{run_id}/start": Route(("metadata:write",), path={"run_id": NOTHING}),
    "POST /refresh-runs/{run_id}/finish": Route(
        ("metadata:write",), path={"run_id": NOTHING}, body={"state": "succeeded"}
    ),
    "GET /audit": Route(("admin",)),
    "GET /metrics": Route(("metrics:read",)),
    "GET /schemas": Route(None),
    "GET /schemas/{name}": Route(None, path={"name": "asset-event"}),
    "GET /health/live": Route(()),
    "GET /health/ready": Route(()),
    "GET /": Route(()),
}


def refused(answer: httpx.Response) -> bool:
    return answer.status_code == 403 and POLICY in answer.text


def left_out(answer: httpx.Response) -> bool:
    return answer.status_code == 200 and VAULT not in answer.text


def redacted(answer: httpx.Response) -> bool:
    nodes = answer.json()["nodes"]
    hidden = [node for node in nodes if node["redacted"]]
    shown = {value for node in hidden for value in (node["qualified_name"], node["name"], node["entity_type"])}
    return len(nodes) == 2 and len(hidden) == 1 and shown == {None} and hidden[0]["tags"] == []


def per_row(answer: httpx.Response) -> bool:
    tally = answer.json()
    return (tally["accepted"], tally["rejected"]) == (0, 1) and POLICY in tally["errors"][0]["description"]


def listed(answer: httpx.Response) -> bool:
    found = answer.json()
    return answer.status_code == 200 and bool(found["denied"]) and not (found.get("items") or found.get("replayed"))


def hidden(answer: httpx.Response) -> bool:
    return answer.status_code == 404


DENIED: dict[Denial, Callable[[httpx.Response], bool]] = {
    "refused": refused,
    "left out": left_out,
    "redacted": redacted,
    "per row": per_row,
    "listed": listed,
    "hidden": hidden,
}
