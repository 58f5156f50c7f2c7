"""`lily user`: keeps users out, or lets them in again. The commands connect to the database as its owner."""

# ruff: noqa: PLC0415 (the commands import the database driver when they run: `--help` need not pay for it)

from typing import Annotated

import typer
from rich.markup import escape

from lily.cli.access.tenants import operator, owner_database
from lily.cli.options import DataDir, Group, OutputFormat, Tenant
from lily.cli.output import Format, print_result

user = typer.Typer(cls=Group, help="Disable and enable users.", no_args_is_help=True)

UserName = Annotated[str, typer.Argument(metavar="NAME", help="The user's name; case does not matter.")]


@user.command("disable")
def disable_user(
    name: UserName, tenant: Tenant = "default", data_dir: DataDir = None, output: OutputFormat = Format.text
) -> None:
    """Keep a user out, with immediate effect: API tokens, sign-ins and open WebSockets.

    Use it when access must end before the tokens of the identity provider expire.
    """
    from lily.store.postgres.access import users as store

    with owner_database(data_dir) as owner_url:
        changed = store.disable_user(owner_url, tenant, name, operator())
    text = "is disabled" if changed else "was disabled already"
    print_result(output, {"disabled": name, "changed": changed}, f"[green]✓[/] User {escape(name)} {text}.")


@user.command("enable")
def enable_user(
    name: UserName, tenant: Tenant = "default", data_dir: DataDir = None, output: OutputFormat = Format.text
) -> None:
    """Let a disabled user in again. Tokens that are still valid work at once."""
    from lily.store.postgres.access import users as store

    with owner_database(data_dir) as owner_url:
        changed = store.enable_user(owner_url, tenant, name, operator())
    text = "is enabled" if changed else "was not disabled"
    print_result(output, {"enabled": name, "changed": changed}, f"[green]✓[/] User {escape(name)} {text}.")
