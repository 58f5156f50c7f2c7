"""`lily token` and `lily tenant`: who may come in. They speak to the database as its owner."""

# ruff: noqa: PLC0415 (the commands import the database driver when they run: `--help` need not pay for it)

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from lily.cli.answer import print_json, print_table, say
from lily.cli.duration import parse_duration
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings
from lily.model.errors import Terminal, Transient

token = typer.Typer(help="Create, list and revoke tokens.", no_args_is_help=True)
tenant = typer.Typer(help="Create and list tenants.", no_args_is_help=True)

Tenant = Annotated[str, typer.Option("--tenant", help="The tenant it opens.")]


class NoDatabase(Terminal):
    """There is no stack, and no database was named."""


class DatabaseAway(Transient):
    """There is a database, but it does not answer now."""


@contextmanager
def as_owner(data_dir: DataDir) -> Iterator[str]:
    """The owner's address: LILY_DATABASE_URL, else that of the stack in the data directory."""
    from psycopg import OperationalError

    from lily.embedded.state import load

    settings = read_settings(data_dir)
    state = load(settings.data_dir)
    if not settings.database_url and not state.supervised():
        raise NoDatabase(
            f"No stack runs in {settings.data_dir}. Start it with `lily up --detach`, or name the owner's database in "
            "LILY_DATABASE_URL."
        )
    try:
        yield settings.database_url or state.database
    except OperationalError as error:
        raise DatabaseAway(f"The database does not answer: {error}. See `lily status`.") from error


@token.command("create")
def create(
    *,
    scopes: Annotated[str, typer.Option(help="What it allows, separated by commas: metadata:read, … or admin.")],
    tenant: Tenant = "default",
    user: Annotated[str, typer.Option(help="The user it speaks for.")] = "",
    ttl: Annotated[str, typer.Option(help="How long it is valid: 30m, 1h, 7d. Without it, until revoked.")] = "",
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """Create a token. It is shown this once; only its hash is stored."""
    from lily.store.postgres.access.administration import create_token

    seconds = parse_duration(ttl) if ttl else None
    names = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    with as_owner(data_dir) as owner_url:
        secret = create_token(owner_url, tenant, names, user, seconds)
    if answer is Format.json:
        print_json({"token": secret})
    else:
        print(secret)


@token.command("list")
def list_all(tenant: Tenant = "default", data_dir: DataDir = None, answer: AnswerFormat = Format.text) -> None:
    """List a tenant's tokens, never the secrets."""
    from lily.store.postgres.access.administration import list_tokens

    with as_owner(data_dir) as owner_url:
        tokens = list_tokens(owner_url, tenant)
    if answer is Format.json:
        print_json({"items": tokens})
    else:
        print_table(tokens, ("id", "user", "scopes", "created_at", "expires_at", "revoked_at"))


@token.command("revoke")
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The id that `lily token list` shows.")],
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """Revoke a token, at once."""
    from lily.store.postgres.access.administration import revoke_token

    with as_owner(data_dir) as owner_url:
        revoked = revoke_token(owner_url, token_id)
    if not revoked:
        raise Terminal(f"There is no valid token with the id {token_id}. See `lily token list`.")
    if answer is Format.json:
        print_json({"revoked": token_id})
    else:
        say(f"[green]✓[/] Token {token_id} opens nothing any more.")


@tenant.command("create")
def create_one(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits, - and _.")],
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """Create a tenant. It is no error if it exists."""
    from lily.store.postgres.access.administration import create_tenant

    with as_owner(data_dir) as owner_url:
        create_tenant(owner_url, name)
    if answer is Format.json:
        print_json({"tenant": name})
    else:
        say(f"[green]✓[/] Tenant {name}. A token for it: lily token create --tenant {name} --scopes admin")


@tenant.command("list")
def list_tenants_(data_dir: DataDir = None, answer: AnswerFormat = Format.text) -> None:
    """List the tenants."""
    from lily.store.postgres.access.administration import list_tenants

    with as_owner(data_dir) as owner_url:
        tenants = list_tenants(owner_url)
    if answer is Format.json:
        print_json({"items": tenants})
    else:
        print_table(tenants, ("name", "created_at"))
