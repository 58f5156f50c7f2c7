"""Completes the commands that messages suggest, so that a copied command works.

Code below the command line writes a hint in backticks (`lily status`) and does not know the data directory. A stack in
any other than the default directory needs `--data-dir`, which is added here.
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

DEFAULT_DATA_DIR = ".lily"
OPTION = "--data-dir"
_COMMANDS = (
    "up|down|status|doctor|token|tenant|user|estate|ingest|recompute|enforce|incidents|notify|quality|refresh|keys|"
    "webhooks"
)
_OF_A_STACK = re.compile(rf"`lily ((?:{_COMMANDS})\b[^`]*)`")


def command(words: str, data_dir: Path) -> str:
    """Returns the shell command for this data directory: `command("down", path)` is `lily down --data-dir …`."""
    if OPTION in words or data_dir.resolve() == Path(DEFAULT_DATA_DIR).resolve():
        return f"lily {words}"
    return f"lily {words} {OPTION} {shlex.quote(str(data_dir.resolve()))}"


def complete_hints(message: str, data_dir: Path) -> str:
    """Adds `--data-dir` to every command in backticks that acts on a stack."""
    return _OF_A_STACK.sub(lambda found: f"`{command(found[1], data_dir)}`", message)


def data_dir_of(argv: Sequence[str], environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the data directory that the command line names. Needed for errors that precede parsing."""
    given = environment.get("LILY_DATA_DIR") or DEFAULT_DATA_DIR
    for word, value in zip(argv, [*argv[1:], ""], strict=True):
        if word == OPTION:
            given = value
        elif word.startswith(f"{OPTION}="):
            given = word.partition("=")[2]
    return Path(given).expanduser()
