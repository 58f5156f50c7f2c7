"""A PostgreSQL server of its own for a page whose examples change one, and how `psql` finds it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from lily.embedded.postgres.cluster import installation
from tests.postgres_server import postgres_server

PAGES = frozenset({"docs/how-to/enforce-in-postgresql.md"})


@contextmanager
def variables_of_database(page: str) -> Iterator[dict[str, str]]:
    """The environment of a reader who is an administrator of the server; empty for other pages."""
    if page not in PAGES:
        yield {}
        return
    with postgres_server() as server:
        parts = urlsplit(server.url)
        yield {
            "PATH": os.pathsep.join((str(Path(sys.prefix, "bin")), str(installation() / "bin"), os.environ["PATH"])),
            "PGHOST": parts.hostname or "",
            "PGPORT": str(parts.port),
            "PGUSER": parts.username or "",
            "PGPASSWORD": parts.password or "",
        }
