"""A PostgreSQL server of its own for a page whose examples change one, and how the page's commands find it."""

import base64
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from lily.embedded.postgres.cluster import installation
from lily.store.postgres.migrations import migrate
from tests.postgres.migrated import PASSWORDS
from tests.postgres_server import postgres_server

TARGET = "docs/how-to/enforce-in-postgresql.md"
# The shared stack has secrets that tests encrypt with keys of their own, and no rotation could decrypt those.
KEYS = "docs/how-to/rotate-keys.md"


@contextmanager
def variables_of_database(page: str, directory: Path) -> Iterator[dict[str, str]]:
    """The environment of a reader who is an administrator of the server; empty for other pages."""
    if page not in (TARGET, KEYS):
        yield {}
        return
    with postgres_server() as server:
        if page == KEYS:
            migrate(server.url, PASSWORDS)
            key = directory / "master.key"
            key.write_text(base64.b64encode(os.urandom(32)).decode())
            yield {"LILY_DATABASE_URL": server.url, "LILY_MASTER_KEY_FILE": str(key)}
            return
        parts = urlsplit(server.url)
        yield {
            "PATH": os.pathsep.join((str(Path(sys.prefix, "bin")), str(installation() / "bin"), os.environ["PATH"])),
            "PGHOST": parts.hostname or "",
            "PGPORT": str(parts.port),
            "PGUSER": parts.username or "",
            "PGPASSWORD": parts.password or "",
        }
