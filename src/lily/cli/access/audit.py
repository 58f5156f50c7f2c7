"""`lily audit`: who did what, and whether the record of it is complete."""

# ruff: noqa: PLC0415 (the commands import the database driver and the client when they run: `--help` need not pay for it)

from itertools import islice
from typing import Annotated, Any

import typer
from rich.markup import escape

from lily.cli.access.tenants import owner_database, require_tenant
from lily.cli.options import DataDir, Group, OutputFormat, option
from lily.cli.output import Format, print_items, print_json, print_text
from lily.cli.running import running_lily
from lily.model.errors import Terminal

audit = typer.Typer(cls=Group, help="Show who did what, and verify the record.", no_args_is_help=True)

COLUMNS = ("number", "at", "actor", "address", "action", "subject")

OneTenant = Annotated[str | None, option("--tenant", "NAME", "Only this tenant.", "all of them")]
KeptHead = Annotated[
    str | None, option("--head", "NUMBER:HASH", "What `lily audit head` printed earlier; needs --tenant.")
]


class AuditBroken(Terminal):
    """The audit is not as it was written."""


@audit.command("list")
def list_entries(
    *,
    actor: Annotated[str | None, option("--actor", "NAME", "Only what this user or token did.")] = None,
    action: Annotated[str | None, option("--action", "ACTION", "Only this action; `policy.` for all of them.")] = None,
    subject: Annotated[str | None, option("--subject", "NAME", "Only what was done to this.")] = None,
    since: Annotated[str | None, option("--since", "TIME", "Only entries of this time or later.")] = None,
    until: Annotated[str | None, option("--until", "TIME", "Only entries before this time.")] = None,
    limit: Annotated[int, option("--limit", "NUMBER", "The most entries.")] = 50,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """List what was done, newest first. Needs a token with the scope admin."""
    with running_lily(data_dir) as lily:
        asked = lily.audit(actor=actor, action=action, subject=subject, since=since, until=until)
        found = list(islice(asked, limit))
    print_items(output, found, COLUMNS, "Nothing was recorded that matches.")


@audit.command("verify")
def verify(
    tenant: OneTenant = None, head: KeptHead = None, data_dir: DataDir = None, output: OutputFormat = Format.text
) -> None:
    """Verify that no entry was changed, inserted or deleted. Reports the first break of each chain.

    A chain does not show by itself that its end was cut off. Keep what `lily audit head` prints outside of the
    database, and compare with it: --head.
    """
    from lily.store.postgres.audit.chain import parse_head
    from lily.store.postgres.audit.verification import opened_chains

    if head is not None and tenant is None:
        raise Terminal("--head belongs to the chain of one tenant. Name it with --tenant.")
    kept = None if head is None else parse_head(head)
    with owner_database(data_dir) as owner_url:
        if tenant is not None:
            require_tenant(owner_url, tenant)
        with opened_chains(owner_url) as chains:
            verified = {one.tenant: chains.verify(one, kept) for one in chains.found(tenant)}
    if kept is not None and not verified:
        raise AuditBroken(f"The tenant {tenant} has no audit at all, but once had the entry {kept.number}.")
    items: list[dict[str, Any]] = [
        {"tenant": name, "entries": found.entries, "head": str(found.head), "broken": _shown(found.broken)}
        for name, found in verified.items()
    ]
    _report(output, items)


@audit.command("head")
def show_heads(tenant: OneTenant = None, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Print the number and hash of the last entry of each chain, to be kept outside of the database."""
    from lily.store.postgres.audit.verification import opened_chains

    with owner_database(data_dir) as owner_url:
        if tenant is not None:
            require_tenant(owner_url, tenant)
        with opened_chains(owner_url) as chains:
            heads = [{"tenant": one.tenant, "head": str(one.chain.head or "")} for one in chains.found(tenant)]
    print_items(output, heads, ("tenant", "head"), "Nothing was recorded yet.")


def _shown(broken: Any) -> dict[str, Any] | None:
    return None if broken is None else broken._asdict()


def _report(output: Format, items: list[dict[str, Any]]) -> None:
    """Raises AuditBroken, with every break, after everything was verified."""
    broken = [one for one in items if one["broken"]]
    if output is Format.json:
        print_json({"items": items})
    else:
        for one in items:
            if not one["broken"]:
                print_text(f"[green]✓[/] {escape(one['tenant'])}: unbroken until {one['head']}")
    if broken and output is Format.json:
        raise typer.Exit(1)
    if broken:
        lines = [f"{one['tenant']}: {one['broken']['wrong']}. {one['broken']['remedy']}" for one in broken]
        raise AuditBroken("\n".join(("The audit is not as it was written.", *lines)))
