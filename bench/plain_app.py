"""The other side of the reads: the same asset from the same row, as a plain FastAPI service would serve it.

uvicorn with uvloop and httptools, one process, an async pool of psycopg, one query a request. It has less to do than
Lily: it checks no token, knows no tenant, goes past row-level security, and writes neither a log line nor a metric.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import uvicorn
from fastapi import FastAPI, HTTPException
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from bench.events import TENANT

DATABASE, PORT = "BENCH_DATABASE_URL", "BENCH_PORT"
CONNECTIONS = 6  # as many as Lily's API has
_QUERY = """
select id, entity_type, qualified_name, source, source_at, version, is_deleted, created_at, updated_at
from assets where tenant_id = %s and id = %s
"""


def make_app(database_url: str) -> FastAPI:
    pool = AsyncConnectionPool(
        database_url, min_size=CONNECTIONS, max_size=CONNECTIONS, open=False,
        kwargs={"autocommit": True, "row_factory": dict_row, "application_name": "bench-plain"},
    )  # fmt: skip

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with pool:
            yield

    app = FastAPI(lifespan=lifespan)

    @app.get("/metadata/{asset_id}")
    async def read(asset_id: UUID) -> dict[str, Any]:
        async with pool.connection() as connection:
            cursor = await connection.execute(_QUERY, [TENANT, asset_id])
            row: Any = await cursor.fetchone()
        if row is None:
            raise HTTPException(404)
        return _asset(row)

    return app


def _asset(row: dict[str, Any]) -> dict[str, Any]:
    stated = row["source"]
    names = ("description", "owner", "created_by", "data_source", "parent")
    return {
        "metadata_id": row["id"],
        "entity_type": row["entity_type"],
        "attributes": {
            "name": stated["name"],
            "qualified_name": row["qualified_name"],
            **{name: stated.get(name) for name in names},
            "tags": [],
            "business_terms": [],
        },
        "tags": {layer: [] for layer in ("source", "enriched", "user", "propagated", "inherited", "effective")},
        "at_risk": [],
        "tenant_id": TENANT,
        "version": row["version"],
        "is_deleted": row["is_deleted"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "fresh_as_of": row["source_at"].partition("/")[0],
    }


if __name__ == "__main__":
    uvicorn.run(
        make_app(os.environ[DATABASE]), host="127.0.0.1", port=int(os.environ[PORT]),
        loop="uvloop", http="httptools", access_log=False, log_level="warning",
    )  # fmt: skip
