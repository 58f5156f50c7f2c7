"""`lily down`: stops the embedded stack."""

# ruff: noqa: PLC0415 (the command imports the stack when it runs: `--help` need not pay for psutil and the drivers)

from lily.cli.options import DataDir, OutputFormat, read_settings
from lily.cli.output import Format, print_result


def down(data_dir: DataDir = None, output: OutputFormat = Format.text) -> None:
    """Stop the stack of this data directory, including processes that a crash left running.

    Data is kept. Succeeds if nothing is running.
    """
    from lily.embedded.supervision.shutdown import stop_stack

    directory = read_settings(data_dir).data_dir
    stopped = stop_stack(directory)
    text = f"[green]✓[/] Stopped the stack in {directory}." if stopped else f"Nothing is running in {directory}."
    print_result(output, {"stopped": stopped}, text)
