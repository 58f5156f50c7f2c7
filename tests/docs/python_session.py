"""A Python process that runs one block after the other in one namespace, as a reader would type them."""

import json
import subprocess
import sys
from pathlib import Path

from tests.docs.blocks import Block

# Its own standard output is kept for the protocol; what a block prints is captured.
_LOOP = """
import contextlib, io, json, sys, traceback
namespace = {"__name__": "__main__"}
for line in sys.stdin:
    asked, printed, failure = json.loads(line), io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile("\\n" * (asked["line"] - 1) + asked["text"], asked["page"], "exec"), namespace)
        except BaseException:
            failure = traceback.format_exc()
    print(json.dumps({"printed": printed.getvalue(), "failure": failure}), flush=True)
"""


class PythonSession:
    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=directory,
            env=environment,
        )

    def run(self, block: Block) -> str:
        """What the block printed. Raises AssertionError with its traceback if it failed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({"page": block.page, "line": block.line, "text": block.text}) + "\n")
        stdin.flush()
        told = json.loads(stdout.readline())
        assert not told["failure"], f"{block} failed:\n{told['failure']}"
        return str(told["printed"])

    def close(self) -> None:
        self._process.communicate(timeout=30)
