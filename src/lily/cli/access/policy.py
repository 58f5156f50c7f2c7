"""`lily policy`: tests policies as code, and explains decisions of a running Lily."""

# ruff: noqa: PLC0415 (the engine and the client are only imported when a command runs)

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lily.cli.options import DataDir, Group, OutputFormat, option
from lily.cli.output import Format, print_json, print_text
from lily.cli.running import running_lily

if TYPE_CHECKING:
    from lily.cli.access.policy_tests import Outcome

policy = typer.Typer(cls=Group, help="Test policies as code, and explain decisions.", no_args_is_help=True)

PolicyFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="YAML or JSON: policies, roles, users, assets, tests.")
]
User = Annotated[str, typer.Argument(metavar="USER", help="The name of the user.")]
Groups = Annotated[
    list[str] | None, option("--group", "GROUP", "A group that the identity provider states; repeat it for several.")
]
Asset = Annotated[str, typer.Argument(metavar="ASSET", help="The asset's id or qualified name.")]


@policy.command("test")
def run_tests(file: PolicyFile, data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:  # noqa: ARG001 - every command takes it
    """Decide the tests of a file with the policies of the file, offline, and compare with what they expect."""
    from lily.cli.access.policy_tests import read_policy_file

    outcomes = read_policy_file(file).run()
    failed = [outcome for outcome in outcomes if outcome.differences]
    if output is Format.json:
        unknown = [outcome.name for outcome in outcomes if not outcome.known]
        listed = [outcome.as_dict() for outcome in failed]
        print_json({"passed": len(outcomes) - len(failed), "failed": listed, "unknown_assets": unknown})
    else:
        for outcome in outcomes:
            _print_outcome(outcome)
        print_text(f"{len(outcomes) - len(failed)} passed, {len(failed)} failed")
    if failed:
        raise typer.Exit(1)


@policy.command("explain")
def explain(
    user: User,
    asset: Asset,
    *,
    action: Annotated[str, option("--action", "READ|WRITE|DELETE", "What the user wants to do.")] = "READ",
    plane: Annotated[str, option("--plane", "data|metadata", "What is accessed.")] = "data",
    group: Groups = None,
    address: Annotated[str | None, option("--address", "IP", "Where the user would call from.", "unknown")] = None,
    time: Annotated[str | None, option("--time", "TIME", "When the user would call.", "now")] = None,
    purpose: Annotated[str | None, option("--purpose", "TEXT", "The purpose that is stated.", "unknown")] = None,
    as_of: Annotated[str | None, option("--as-of", "TIME", "Decide as of this time in the past.")] = None,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Explain a decision: the policy, the role, the tag, and the path of the tag.

    It uses LILY_URL and LILY_TOKEN if they are set, otherwise the stack of the data directory and its tenant `default`.
    """
    stated = {"address": address, "time": time, "purpose": purpose}
    check: dict[str, Any] = {
        "principal": {"user": user, "groups": group} if group else user,
        "action": action.upper(),
        "asset_id": asset,
        "plane": plane,
        "context": {name: value for name, value in stated.items() if value is not None},
    }
    with running_lily(data_dir) as lily:
        found = lily.explain_access(check, as_of=as_of)
    if output is Format.json:
        print_json(found)
    else:
        print_text("\n".join(explained(user, check["action"], found)))


def explained(user: str, action: str, found: dict[str, Any]) -> list[str]:
    """The lines that explain a decision, with rich markup."""
    colour = {"allow": "green", "deny": "red"}.get(found["effect"], "yellow")
    name = found["qualified_name"] or found["metadata_id"]
    lines = [
        f"[bold {colour}]{found['effect']}[/]  {escape(user)} {action} {escape(name)}",
        f"because {escape(found['reason'])}",
    ]
    for match in found["matches"]:
        lines += _match_lines(match)
    if not found["matches"]:
        lines.append("no policy names both the user and the asset")
    for tag in found["tags"]:
        steps = [named or step for named, step in zip(tag["names"], tag["path"], strict=True)]
        lines.append(f"tag {escape(tag['tag'])} ({tag['layer']}): {escape(' → '.join(steps))}")
    return lines


def _match_lines(match: dict[str, Any]) -> list[str]:
    mark = "●" if match["decided"] else "○" if match["applies"] else "·"
    lines = [
        f"{mark} policy {escape(match['policy_id'])} {escape(match['name'])!r}: {match['effect']}",
        f"    by {escape(' → '.join(match['via']))}",
        f"    on {escape(match['matched'])}",
    ]
    lines += [f"    if {escape(name)}: {outcome}" for name, outcome in match["conditions"].items()]
    return lines


def _print_outcome(outcome: "Outcome") -> None:
    note = "" if outcome.known else "  [yellow](the file's `assets` do not have it)[/]"
    if not outcome.differences:
        print_text(f"[green]✓[/] {escape(outcome.name)}{note}")
        return
    print_text(f"[bold red]✗ {escape(outcome.name)}[/]{note}")
    for field, (expected, found) in outcome.differences.items():
        print_text(f"    {field}: [red]- {escape(str(expected))}[/]  [green]+ {escape(str(found))}[/]")
    print_text(f"    because {escape(outcome.reason)}")
