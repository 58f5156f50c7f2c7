"""`lily` in this process, against a server whose responses a test states."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner, Result

from lily.cli.commands import app
from tests.badserver import BadServer, Responder, bad_server


def lily(server: BadServer, *words: str, given: str | None = None) -> Result:
    """`given` is its standard input. What it raises is in the result."""
    environment = {"LILY_URL": server.url, "LILY_TOKEN": "secret"}
    return CliRunner().invoke(app, words, input=given, env=environment)


def server_with(responder: Responder) -> Any:
    """A fixture: a server that responds so to what a test has stated no response for."""

    @pytest.fixture(name="server")
    def serving() -> Iterator[BadServer]:
        with bad_server() as served:
            served.responder = responder
            yield served

    return serving


def sent(server: BadServer) -> tuple[str, str, Any]:
    """The last request: its method, its path and its body."""
    asked = server.asked[-1]
    return asked.method, asked.path, orjson.loads(asked.body or b"null")
