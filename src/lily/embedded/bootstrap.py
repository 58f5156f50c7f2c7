"""Prepares the engines for the services: schema, topics, the tenant `default` and its admin token."""

import base64
import secrets
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg

from lily.brokers import Brokers
from lily.bus.topics import ensure_topics
from lily.embedded.state import replace_file
from lily.model.errors import Terminal, Transient
from lily.settings import Settings
from lily.store.postgres.access.administration import create_tenant, create_token, seconds_left
from lily.store.postgres.migrations import migrate

TENANT = "default"
ADMIN_TOKEN_SECONDS = 30 * 86_400  # of the token that `lily up` prints


def prepare_schema(settings: Settings, owner_url: str, passwords: Mapping[str, str]) -> None:
    """Creates or updates schema, roles, tenant and admin token. Idempotent."""
    try:
        migrate(owner_url, passwords)
        create_tenant(owner_url, TENANT)
        ensure_admin_token(settings.data_dir, owner_url)
    except psycopg.OperationalError as error:
        raise Transient(f"PostgreSQL does not respond: {error}. Check `lily status`.") from error


def prepare_topics(settings: Settings, kafka: Brokers) -> None:
    """Creates missing topics. Idempotent."""
    ensure_topics(kafka, settings.kafka_partitions, settings.kafka_replication)


def admin_token(data_dir: Path) -> str:
    """Returns the token of the last start, or an empty string if there was none."""
    try:
        return _token_file(data_dir).read_text().strip()
    except FileNotFoundError:
        return ""


def ensure_admin_token(data_dir: Path, owner_url: str) -> None:
    """Replaces the stored token if it does not work, or less than half of its time is left. It may be revoked, or the
    database may be a new one. A token that is replaced in time stays valid until it expires: a shell may have it."""
    stored = admin_token(data_dir)
    if not stored or seconds_left(owner_url, stored) < ADMIN_TOKEN_SECONDS / 2:
        token = create_token(owner_url, TENANT, ["admin"], ttl_seconds=ADMIN_TOKEN_SECONDS)
        replace_file(_token_file(data_dir), token + "\n")


def ensure_master_key(data_dir: Path) -> Path:
    """Returns the file with the key that wraps stored secrets. It is created once: without it they are lost."""
    path = master_key_of(data_dir)
    if not path.exists():
        replace_file(path, base64.b64encode(secrets.token_bytes(32)).decode() + "\n")
    return path


def master_key_of(data_dir: Path) -> Path:
    return data_dir / "master.key"


def url_for_role(owner_url: str, role: str, password: str) -> str:
    """Returns the owner's URI with the name and password of another role."""
    parts = urlsplit(owner_url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise Terminal("LILY_DATABASE_URL must be a URI: postgresql://OWNER:PASSWORD@HOST:PORT/DATABASE")
    _, _, address = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{quote(role)}:{quote(password, safe='')}@{address}"))


def url_without_password(url: str) -> str:
    """Returns the URI without its password and without its parameters, which may contain one too."""
    parts = urlsplit(url)
    login, at, address = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{login.partition(':')[0]}{at}{address}", query="", fragment=""))


def _token_file(data_dir: Path) -> Path:
    return data_dir / "admin.token"
