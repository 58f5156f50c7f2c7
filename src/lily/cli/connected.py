"""The client of a command that talks to a running Lily."""

# ruff: noqa: PLC0415 (the client is only imported when a command runs)

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lily.cli.options import read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lily.client import Lily


@contextmanager
def connected(data_dir: Path | None) -> "Iterator[Lily]":
    """LILY_URL and LILY_TOKEN if they are set, otherwise the stack of the data directory."""
    from lily.client import Lily

    os.environ["LILY_DATA_DIR"] = str(read_settings(data_dir).data_dir)  # where the client looks for the stack
    with Lily() as lily:
        yield lily
