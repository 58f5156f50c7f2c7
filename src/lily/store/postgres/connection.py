"""How the pipeline and the worker connect: either side notices within half a minute that the other has vanished."""

from typing import Any

import psycopg
from psycopg.rows import RowFactory, tuple_row

# On the server too: a machine that vanishes keeps its locks, and with them its leases, until the server gives it up.
_SERVER_KEEPALIVE = """
    select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
           set_config('tcp_keepalives_count', '3', false)
"""


def connect(database_url: str, name: str, row_factory: RowFactory[Any] = tuple_row) -> psycopg.Connection[Any]:
    connection = psycopg.connect(
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
    try:
        connection.execute(_SERVER_KEEPALIVE)
    except BaseException:
        connection.close()  # nobody else knows it
        raise
    return connection
