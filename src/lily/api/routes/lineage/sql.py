"""`POST /lineage/sql`: table and column lineage from SQL."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter

from lily.api.auth.authorisation import authorise_edges, authorise_written
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
from lily.api.ingest.sql_edges import Resolved, edge_events, resolved
from lily.intake.sql.process import Unreadable
from lily.intake.sql.protocol import MAX_SQL_LENGTH, AnalysisRequest, AnalysisResult, Edge
from lily.model.edges import EdgeKey
from lily.model.errors import Problem

MAX_TABLES = 2_000  # of one script: each is looked up with its columns
MAX_REASONS = 1_000  # statements without edges in a response

router = APIRouter(tags=["lineage"])


@router.post(
    "/lineage/sql",
    status_code=202,
    responses={200: {"model": SqlLineage}, 202: {"model": SqlLineage}},
    openapi_extra=body_model(SqlBody, examples.SQL),
)
async def from_sql(call: WritesLineage) -> Json:
    """Finds the lineage of tables and columns in a SQL script, and stores it unless `dry_run` is true. `*` is expanded
    from the catalogue if the caller has `metadata:read`.

    A statement that cannot be parsed does not affect the others: `understood`, `partial` and `not_understood` count the
    statements, and `without_edges` has the position of each that has no lineage, with the reason. A view or table that
    is defined anew replaces the edges of its earlier definition, also if it has none."""
    append = LogAppend(call)
    body = await read_body(call.request, SqlBody, call.services.settings.limits.body_bytes)
    try:
        with call.services.sql_analyzer.script(call.tenant):
            analysis = await _analysis(call, body)
    except Unreadable as error:
        return problems_response(422, error.problems)
    _count(call, analysis)
    edges = resolved(call.tenant, analysis)
    stored = bool(edges or analysis.without_sources) and not body.dry_run
    status, headers = await _store(append, edges, analysis.without_sources) if stored else (200, {})
    return Json(_content(analysis, edges, stored=stored), status, headers)


def _count(call: Call, analysis: AnalysisResult) -> None:
    statements = call.services.metrics.sql_statements
    statements["understood"].inc(analysis.understood)
    statements["partial"].inc(analysis.partial)
    statements["not_understood"].inc(analysis.not_understood)


def _content(analysis: AnalysisResult, edges: dict[Edge, Resolved], *, stored: bool) -> dict[str, Any]:
    found = [
        {"from": e.from_name, "to": e.to_name, "relationship_type": e.type, **_ids(stored_edge.key)}
        for e, stored_edge in edges.items()
    ]
    return {
        "edges": found,
        "statements": analysis.statements,
        "understood": analysis.understood,
        "partial": analysis.partial,
        "not_understood": analysis.not_understood,
        "without_edges": [outcome._asdict() for outcome in analysis.without_edges[:MAX_REASONS]],
        "stored": stored,
        "warnings": analysis.warnings,
    }


async def _analysis(call: Call, body: SqlBody) -> AnalysisResult:
    if len(body.sql) > MAX_SQL_LENGTH:
        raise Unreadable(Problem("TOO_LONG", f"a script has at most {MAX_SQL_LENGTH} characters; split it", "sql"))
    expands = call.principal.may("metadata:read")
    request = AnalysisRequest(body.sql, body.dialect, body.default_database, body.default_schema, expands=expands)
    named = await call.services.sql_analyzer.analyze(call.tenant, request)
    if len(named.tables) > MAX_TABLES:
        raise Unreadable(Problem("TOO_LONG", f"a script names at most {MAX_TABLES} tables; split it", "sql"))
    known = await known_tables(call, named.tables, body.dialect)
    return await call.services.sql_analyzer.analyze(call.tenant, request.with_tables(known))


async def _store(
    append: LogAppend, edges: dict[Edge, Resolved], without_sources: Sequence[str]
) -> tuple[int, dict[str, str]]:
    """Edges of an earlier definition end, also if the new one has none: WRITE is needed on what it defines."""
    call = append.call
    names = {name for edge in edges.values() for name in edge.names}
    await authorise_edges(call, [edge.key for edge in edges.values()], names)
    await authorise_written(call, list(without_sources))
    await append.add(lineage_record(event) for event in edge_events(call, edges.values(), without_sources))
    settlement = await append.settle()
    return settlement.status, settlement.headers()


def _ids(key: EdgeKey) -> dict[str, Any]:
    return {"from_id": key.from_id, "to_id": key.to_id}
