"""Connections of the pipeline and the worker. TCP keepalives detect a lost server within half a minute."""

from typing import Any

import psycopg
from psycopg.rows import RowFactory, tuple_row


def connect(database_url: str, name: str, row_factory: RowFactory[Any] = tuple_row) -> psycopg.Connection[Any]:
    return psycopg.connect(
        database_url,
        autocommit=True,
        application_name=name,
        row_factory=row_factory,
        connect_timeout=10,
        keepalives_idle=10,
        keepalives_interval=5,
        keepalives_count=3,
        tcp_user_timeout=30_000,
    )
