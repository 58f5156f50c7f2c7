"""`lily tenant` and `lily token`: who may use Lily. They connect to the database as its owner."""

# ruff: noqa: PLC0415 (the commands import the database driver when they run: `--help` need not pay for it)

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from lily.cli.hints import command
from lily.cli.options import DataDir, Group, OutputFormat, Tenant, flag, option, read_settings
from lily.cli.output import Format, print_json, print_result, print_table, print_text
from lily.model.access import TOKEN_SECONDS
from lily.model.durations import parse_duration
from lily.model.errors import Terminal, Transient

token = typer.Typer(cls=Group, help="Create, list, rotate and revoke API tokens.", no_args_is_help=True)
tenant = typer.Typer(cls=Group, help="Create and list tenants, and set what they may send.", no_args_is_help=True)

ENGINE_SCOPE = "enforce:read"
FOREVER = "never"
GRACE = "24h"

TokenId = Annotated[str, typer.Argument(metavar="ID", help="An id from `lily token list`.")]
TenantName = Annotated[str, typer.Argument(metavar="NAME", help="Lower-case letters, digits, - and _.")]


class NoDatabase(Terminal):
    """No stack is running, and no database is configured."""


class DatabaseUnavailable(Transient):
    """The database does not accept connections."""


class UnknownTenant(Terminal):
    """No tenant has this name."""


@contextmanager
def owner_database(data_dir: Path | None) -> Iterator[str]:
    """Yields the owner's connection URI: LILY_DATABASE_URL, or that of the stack in the data directory."""
    from psycopg import OperationalError

    from lily.embedded.state import load

    settings = read_settings(data_dir)
    state = load(settings.data_dir)
    if not settings.database_url and not state.supervised():
        raise NoDatabase(
            f"No stack is running in {settings.data_dir}. Start one with `lily up --detach`, or set LILY_DATABASE_URL "
            "to the URI of the database owner."
        )
    try:
        yield settings.database_url or state.database
    except OperationalError as error:
        raise DatabaseUnavailable(f"The database does not respond: {error}. Check it with `lily status`.") from error


def operator() -> str:
    """Who runs the command, as the audit shows it: the database's owner, and the login name if there is one."""
    try:
        return f"owner:{getpass.getuser()}"
    except (OSError, KeyError):  # a container may run as a user without a name
        return "owner"


def require_tenant(owner_url: str, name: str) -> None:
    """Raises UnknownTenant."""
    from lily.store.postgres.access.administration import list_tenants

    if name not in {known["name"] for known in list_tenants(owner_url)}:
        raise UnknownTenant(
            f"There is no tenant {name!r}. `lily tenant list` shows the tenants, `lily tenant create {name}` adds it."
        )


@token.command("create")
def create_token(
    *,
    scopes: Annotated[
        str, option("--scopes", "SCOPE,...", "What it allows: metadata:read,metadata:write, or admin for all.", "none")
    ] = "",
    engine: Annotated[
        bool, flag("--engine", "Create an engine key: a token that engines send in the path, for decisions only.")
    ] = False,
    tenant: Tenant = "default",
    user: Annotated[str, option("--user", "NAME", "The user that the token acts as.", "none")] = "",
    ttl: Annotated[str, option("--ttl", "TIME", "How long it is valid: 30m, 1h, 7d, or `never` expires.", "90d")] = "",
    scraper_group: Annotated[
        str, option("--scraper-group", "GROUP", "Limit it to what the group's scraper policies cover.", "no limit")
    ] = "",
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Create a token and print it.

    It cannot be shown again: only its hash is stored.
    """
    from lily.store.postgres.access import administration as store

    if engine and scopes:
        raise Terminal(f"An engine key has the single scope {ENGINE_SCOPE}. Use either --engine or --scopes.")
    seconds = _valid_for(ttl)
    names = [ENGINE_SCOPE] if engine else [scope.strip() for scope in scopes.split(",") if scope.strip()]
    with owner_database(data_dir) as owner_url:
        secret = store.create_token(owner_url, tenant, names, user, seconds, scraper_group=scraper_group, by=operator())
    print_result(output, {"token": secret}, secret)


@token.command("list")
def list_tokens(tenant: Tenant = "default", data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List the tokens of a tenant, without the tokens themselves."""
    from lily.store.postgres.access import administration as store

    with owner_database(data_dir) as owner_url:
        require_tenant(owner_url, tenant)
        tokens = store.list_tokens(owner_url, tenant)
    if output is Format.json:
        print_json({"items": tokens})
        return
    if not tokens:
        print_text(f"The tenant {tenant} has no tokens. Create one with `{_create_token_command(tenant, data_dir)}`.")
        return
    times = {"created_at": "created", "last_used_at": "last used", "expires_at": "expires", "revoked_at": "revoked"}
    print_table(tokens, {"id": "id", "user": "user", "scopes": "scopes", "scraper_group": "group"} | times)


@token.command("rotate")
def rotate_token(
    token_id: TokenId,
    grace: Annotated[str, option("--grace", "TIME", "How long the old token stays valid: 10m, 1h or 7d.")] = GRACE,
    ttl: Annotated[str, option("--ttl", "TIME", "How long the new one is valid.", "as long as the old one was")] = "",
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Create a token in the place of another and print it.

    It has the scopes, the user and the group of the old one, which ends after the grace period.
    """
    from lily.store.postgres.access import administration as store

    seconds, lifetime = parse_duration(grace), parse_duration(ttl) if ttl else None
    with owner_database(data_dir) as owner_url:
        secret = store.rotate_token(owner_url, token_id, seconds, lifetime, operator())
    print_result(output, {"token": secret, "replaces": token_id}, secret)


@token.command("revoke")
def revoke_token(token_id: TokenId, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Revoke a token, with immediate effect."""
    from lily.store.postgres.access import administration as store

    with owner_database(data_dir) as owner_url:
        revoked = store.revoke_token(owner_url, token_id, operator())
    if not revoked:
        raise Terminal(f"There is no active token with the id {token_id}. See `lily token list`.")
    print_result(output, {"revoked": token_id}, f"[green]✓[/] Token {token_id} is revoked.")


@tenant.command("create")
def create_tenant(name: TenantName, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Create a tenant. Succeeds if it already exists."""
    from lily.store.postgres.access import administration as store

    with owner_database(data_dir) as owner_url:
        store.create_tenant(owner_url, name, operator())
    next_step = _create_token_command(name, data_dir)
    print_result(
        output, {"tenant": name}, f"[green]✓[/] Tenant {name} exists. Create a token for it with `{next_step}`."
    )


@tenant.command("list")
def list_tenants(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """List the tenants."""
    from lily.store.postgres.access import administration as store

    with owner_database(data_dir) as owner_url:
        tenants = store.list_tenants(owner_url)
    if output is Format.json:
        print_json({"items": tenants})
    else:
        print_table(tenants, {"name": "name", "created_at": "created"})


def _valid_for(ttl: str) -> int | None:
    """Seconds; None for ever."""
    if ttl == FOREVER:
        return None
    return parse_duration(ttl) if ttl else TOKEN_SECONDS


def _create_token_command(tenant: str, data_dir: Path | None) -> str:
    return command(f"token create --tenant {tenant} --scopes admin", read_settings(data_dir).data_dir)
