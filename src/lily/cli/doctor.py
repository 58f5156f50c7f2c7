"""`lily doctor`: what this machine lacks, with the remedy."""

# ruff: noqa: PLC0415 (the command imports the parts it examines when it runs: `--help` need not pay for them)

import typer

from lily.cli.answer import print_json, say
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings


def doctor(data_dir: DataDir = None, answer: AnswerFormat = Format.text) -> None:
    """Check what this machine needs to run Lily. Exit code 1 if something essential is missing."""
    from lily.embedded.checkup import examine

    findings = examine(read_settings(data_dir))
    if answer is Format.json:
        print_json({"checks": [finding.as_dict() for finding in findings], "ok": all(f.ok for f in findings)})
    else:
        for finding in findings:
            sign = "[green]✓[/]" if finding.good else "[yellow]![/]" if finding.ok else "[bold red]✗[/]"
            say(f"{sign} {finding.name}: {finding.found}" + (f"\n    {finding.remedy}" if finding.remedy else ""))
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)
