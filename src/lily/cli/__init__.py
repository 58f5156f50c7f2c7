"""The `lily` command line. `commands` lists the commands; each lives in a module of its own, or in `stack` and `demo`.

`lily --help` must appear at once, so modules here import nothing heavy at the top: a command imports what it needs
when it runs.
"""

from lily.cli.commands import app, main

__all__ = ["app", "main"]
