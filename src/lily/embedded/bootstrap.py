"""What a stack needs between its engines and its services: the schema, the topics, a tenant and a key to it."""

import base64
import secrets
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg

from lily.bus.topics import ensure_topics
from lily.embedded.state import replace_file
from lily.model.errors import Terminal, Transient
from lily.settings import Settings
from lily.store.postgres.access.administration import authenticates, create_tenant, create_token
from lily.store.postgres.migrations import migrate

TENANT = "default"


def prepare_stores(settings: Settings, kafka: str, owner_url: str, passwords: Mapping[str, str]) -> None:
    """Brings schema, roles and topics up to date and makes sure the admin token works. Safe to repeat."""
    try:
        migrate(owner_url, passwords)
        ensure_topics(kafka, settings.kafka_partitions, settings.kafka_replication)
        create_tenant(owner_url, TENANT)
        ensure_admin_token(settings.data_dir, owner_url)
    except psycopg.OperationalError as error:
        raise Transient(f"PostgreSQL does not answer: {error}. See `lily status`.") from error


def admin_token(data_dir: Path) -> str:
    """The token of the last start; empty if there was none."""
    try:
        return _token_file(data_dir).read_text().strip()
    except FileNotFoundError:
        return ""


def ensure_admin_token(data_dir: Path, owner_url: str) -> None:
    """Keeps the stored token while it works. It no longer does if it was revoked or the database is a new one."""
    kept = admin_token(data_dir)
    if not kept or not authenticates(owner_url, kept):
        replace_file(_token_file(data_dir), create_token(owner_url, TENANT, ["admin"]) + "\n")


def ensure_master_key(data_dir: Path) -> Path:
    """The key that wraps stored secrets. Made once: without it they cannot be read any more."""
    path = data_dir / "master.key"
    if not path.exists():
        replace_file(path, base64.b64encode(secrets.token_bytes(32)).decode() + "\n")
    return path


def url_for_role(owner_url: str, role: str, password: str) -> str:
    """The owner's URI with another role's name and password."""
    parts = urlsplit(owner_url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise Terminal("LILY_DATABASE_URL has to be a URI: postgresql://OWNER:PASSWORD@HOST:PORT/DATABASE")
    _, _, address = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{quote(role)}:{quote(password, safe='')}@{address}"))


def _token_file(data_dir: Path) -> Path:
    return data_dir / "admin.token"
