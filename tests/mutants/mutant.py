"""What a mutant is."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A fault: in a file below `src/lily`, a text that occurs once is replaced by another. `tests` are those that have
    to fail with it; they are part of `make test`. One that no test can notice has a `reason`."""

    path: str
    text: str
    fault: str
    tests: tuple[str, ...]
    reason: str = ""

    @property
    def name(self) -> str:
        return f"{self.path}: {' '.join(self.text.split())[:60]}"


def unit(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/unit/{name}.py" for name in names)


def postgres(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/postgres/{name}.py" for name in names)
