"""Writes the records that the pipeline refuses, in the transaction that moves its offsets."""

from collections.abc import Sequence
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.model.records import Refusal
from lily.store.postgres.queries import query


def insert_refusals(connection: Connection[Any], batch: int, refusals: Sequence[Refusal]) -> None:
    """`batch` is the outbox batch that publishes them."""
    rows = [
        {
            "batch": batch,
            "tenant": refusal.tenant,
            "topic": refusal.record.topic,
            "partition": refusal.record.partition,
            "offset": refusal.record.offset,
            "key": refusal.record.key,
            "original": refusal.record.value,
            "errors": Jsonb([problem.as_dict() for problem in refusal.problems]),
        }
        for refusal in refusals
    ]
    if rows:
        connection.cursor().executemany(query("dead_letters/insert"), rows)
