"""`lily` in this process, against a server whose responses a test states."""

from typer.testing import CliRunner, Result

from lily.cli.commands import app
from tests.badserver import BadServer


def lily(server: BadServer, *words: str, given: str | None = None) -> Result:
    """`given` is its standard input. What it raises is in the result."""
    environment = {"LILY_URL": server.url, "LILY_TOKEN": "secret"}
    return CliRunner().invoke(app, words, input=given, env=environment)
