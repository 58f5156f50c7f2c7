"""A copy of the sources, into which faults are put, one at a time."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.mutants.mutant import Mutant

ROOT = Path(__file__).parents[2]


class Stale(Exception):
    """The text of a mutant does not occur exactly once: the code has changed, and the mutant has to follow it."""


class SourceCopy:
    def __init__(self, directory: Path) -> None:
        self.root = directory / "src"
        # With the times of the files, so that their compiled forms still count.
        shutil.copytree(ROOT / "src", self.root)

    @contextmanager
    def with_fault(self, mutant: Mutant) -> Iterator[None]:
        path = self.root / "lily" / mutant.path
        original = path.read_text() if path.exists() else ""
        if original.count(mutant.text) != 1:
            raise Stale(f"{original.count(mutant.text)} times in {mutant.path}: {mutant.text!r}")
        path.write_text(original.replace(mutant.text, mutant.fault))
        try:
            yield
        finally:
            shutil.copy2(ROOT / "src" / "lily" / mutant.path, path)
