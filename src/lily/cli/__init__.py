"""The `lily` command line. `commands` lists the commands. Each lives in a module of its own, in the folder of its panel
in `lily --help`: `stack` and `demo`, `access`, `metadata`, `deployment`. The modules here are what they share.

`lily --help` must appear at once, so these modules import nothing heavy at the top: a command imports what it needs
when it runs.
"""

from lily.cli.commands import app, main

__all__ = ["app", "main"]
