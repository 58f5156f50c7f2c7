"""`lily doctor`: checks this machine."""

# ruff: noqa: PLC0415 (the command imports the parts it checks when it runs: `--help` need not pay for them)

import typer

from lily.cli.hints import complete_hints
from lily.cli.options import DataDir, OutputFormat, read_settings
from lily.cli.output import Format, print_json, print_text


def doctor(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Check whether this machine can run Lily, and print a remedy for everything that is missing.

    The exit code is 1 if something essential is missing.
    """
    from lily.embedded.machine_checks import check_machine

    settings = read_settings(data_dir)
    checks = check_machine(settings)
    if output is Format.json:
        print_json({"checks": [check.as_dict() for check in checks], "ok": all(check.ok for check in checks)})
    else:
        for check in checks:
            sign = "[green]✓[/]" if check.good else "[yellow]![/]" if check.ok else "[bold red]✗[/]"
            remedy = f"\n    {complete_hints(check.remedy, settings.data_dir)}" if check.remedy else ""
            print_text(f"{sign} {check.name}: {check.found}{remedy}")
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
