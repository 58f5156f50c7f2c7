"""What plug-ins that break a promise share, and the run of a suite that has to notice."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from lily.model.errors import Transient

Broken = tuple[type[Any], str]  # a plug-in, and the test of the suite that has to fail on it


class Careless(BaseModel):
    """Ignores what it does not know."""

    path: Path = Path()
    seconds: float = 5
    token: SecretStr = SecretStr("")
    remove_prefix: str = ""
    add_prefix: str = ""


class NoMethods:
    Config = Careless

    def __init__(self, config: Careless) -> None:
        pass


def closing_once(good: type[Any]) -> type[Any]:
    class ClosesOnce(good):  # type: ignore[misc]
        closed = False

        def close(self) -> None:
            if self.closed:
                raise RuntimeError("closed twice")
            self.closed = True

    return ClosesOnce


def run(good: type[Any], broken: Broken, **prepared: Any) -> None:
    """Runs one test of a suite that passes on the good plug-in, on the broken one."""
    plugin, test = broken
    suite = type("Suite", (good,), {"plugin": plugin, **prepared})()
    try:
        getattr(suite, test)()
    except (AssertionError, RuntimeError, ValueError, Transient):
        return
    pytest.fail(f"{test} passes on {plugin.__name__}")


def promises_of(suite: type[Any]) -> set[str]:
    return {name for name in dir(suite) if name.startswith("test_")}
