"""`POST /lineage/sql`: table and column lineage from SQL."""

from typing import Any

from fastapi import APIRouter

from lily.api.auth.authorisation import authorise_edges
from lily.api.calls import Call, WritesLineage
from lily.api.http.bodies import read_body
from lily.api.http.errors import problems_response
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.requests import SqlBody
from lily.api.http.openapi.responses import Json, SqlLineage
from lily.api.ingest.known_tables import known_tables
from lily.api.ingest.log_append import LogAppend
from lily.api.ingest.records import lineage_record
from lily.api.ingest.sql_analyzer import Unreadable
from lily.intake.sql.protocol import MAX_SQL_LENGTH, AnalysisRequest, AnalysisResult, Edge
from lily.model import clock, ids
from lily.model.edges import EdgeEvent, EdgeKey, EdgeStatement
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_QUALIFIED_NAME, Checker
from lily.observe import traces

MAX_TABLES = 500  # of one script: each is looked up with its columns

router = APIRouter(tags=["lineage"])


@router.post(
    "/lineage/sql",
    status_code=202,
    responses={200: {"model": SqlLineage}, 202: {"model": SqlLineage}},
    openapi_extra=body_model(SqlBody, examples.SQL),
)
async def from_sql(call: WritesLineage) -> Json:
    """Finds the lineage of tables and columns in a SQL script, and stores it unless `dry_run` is true. `*` is expanded
    from the catalogue."""
    append = LogAppend(call)
    body = await read_body(call.request, SqlBody, call.services.settings.limits.body_bytes)
    try:
        with call.services.sql_analyzer.script(call.tenant):
            analysis = await _analysis(call, body)
    except Unreadable as error:
        return problems_response(422, error.problems)
    edges = _resolved(call.tenant, analysis.edges)
    stored = bool(edges) and not body.dry_run
    if stored:
        await authorise_edges(call, edges.values())
    status, headers = await _store(append, edges) if stored else (200, {})
    found = [
        {"from": e.from_name, "to": e.to_name, "relationship_type": e.type, **_ids(key)} for e, key in edges.items()
    ]
    content = {"edges": found, "statements": analysis.statements, "stored": stored, "warnings": analysis.warnings}
    return Json(content, status, headers)


async def _analysis(call: Call, body: SqlBody) -> AnalysisResult:
    if len(body.sql) > MAX_SQL_LENGTH:
        raise Unreadable(Problem("TOO_LONG", f"a script has at most {MAX_SQL_LENGTH} characters; split it", "sql"))
    request = AnalysisRequest(body.sql, body.dialect, body.default_database, body.default_schema)
    named = await call.services.sql_analyzer.analyze(call.tenant, request)
    if len(named.tables) > MAX_TABLES:
        raise Unreadable(Problem("TOO_LONG", f"a script names at most {MAX_TABLES} tables; split it", "sql"))
    known = await known_tables(call, named.tables)
    return await call.services.sql_analyzer.analyze(call.tenant, request.with_tables(known))


def _resolved(tenant: str, edges: list[Edge]) -> dict[Edge, EdgeKey]:
    """The keys of the edges. Raises Refused if a name is not a valid name of an asset."""
    checker, keys = Checker(), dict[Edge, EdgeKey]()
    for edge in edges:
        ends = [checker.name(name, "sql", MAX_QUALIFIED_NAME) or "" for name in edge[:2]]
        if any(ids.looks_like_uuid(name) for name in ends):
            checker.refuse("INVALID_VALUE", "a name must not look like a UUID", "sql")
        start, end = (ids.asset_id(tenant, name) for name in ends)
        keys[Edge(ends[0], ends[1], edge.type)] = EdgeKey(start, end, edge.type)
    if checker.problems:
        raise Refused(*checker.problems[:20])
    return keys


async def _store(append: LogAppend, edges: dict[Edge, EdgeKey]) -> tuple[int, dict[str, str]]:
    """Stores the edges in the source layer, so what a user set on an edge takes precedence."""
    time = clock.now()
    await append.add(lineage_record(_event(append.call, time, key)) for key in edges.values())
    settlement = await append.settle()
    return settlement.status, settlement.headers()


def _event(call: Call, time: str, key: EdgeKey) -> EdgeEvent:
    may_declassify = call.principal.may("policy:write")
    statement = EdgeStatement("source", "upsert", key, {}, call.principal.name, may_declassify)
    return EdgeEvent(
        ids.event_id(), time, call.tenant, statement, correlation=call.correlation, trace=traces.traceparent()
    )


def _ids(key: EdgeKey) -> dict[str, Any]:
    return {"from_id": key.from_id, "to_id": key.to_id}
