"""The URL of a target. A tenant states it and the operator's worker connects, with what it has and nothing else."""

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from pydantic import SecretStr

# Without those that name a file with credentials, or an entry of the worker's own configuration.
_PERMITTED = frozenset(
    {
        *("host", "hostaddr", "port", "dbname", "user", "password", "options", "connect_timeout", "application_name"),
        *("sslmode", "sslrootcert", "channel_binding", "target_session_attrs"),
        *("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"),
    }
)
_LOCAL = ("/", "@")  # begin the path of a socket
NO_FILE = "/nonexistent"


def checked_url(url: SecretStr) -> SecretStr:
    """Raises ValueError, without the URL."""
    try:
        parts = conninfo_to_dict(url.get_secret_value())
    except psycopg.Error as error:
        raise ValueError("write it as postgresql://user:password@host:5432/database") from error
    if refused := sorted(parts.keys() - _PERMITTED):
        raise ValueError(f"the URL must not have {refused[0]!r}; the server verifies a user and a password")
    hosts = str(parts.get("hostaddr") or parts.get("host") or "").split(",")
    if any(not host or host.startswith(_LOCAL) for host in hosts):
        raise ValueError("the URL must name the host: postgresql://user:password@host:5432/database")
    return url


def without_own_credentials(url: str) -> dict[str, Any]:
    """What else to connect with, so that libpq does not take the password, certificate or ticket of the worker."""
    password = conninfo_to_dict(url).get("password") or ""
    return {"password": password, "passfile": NO_FILE, "sslcertmode": "disable", "gssencmode": "disable"}
