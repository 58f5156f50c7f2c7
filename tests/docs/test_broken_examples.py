"""An example that no longer works fails its test, in whatever language it is."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.docs.blocks import Block
from tests.docs.page_session import PageSession
from tests.shared_stack import Stack


@pytest.fixture
def session(stack: Stack, make_tenant: Callable[[], tuple[str, str]], tmp_path: Path) -> Iterator[PageSession]:
    _, token = make_tenant()
    variables = {"URL": stack.url, "TOKEN": token, "LILY_URL": stack.url, "LILY_TOKEN": token}
    reader = PageSession(stack, tmp_path, variables, token)
    yield reader
    reader.close()


def block(language: str, text: str, role: str = "") -> Block:
    return Block("page.md", 1, language, text, role=role)


@pytest.mark.parametrize(
    "broken",
    [
        block("bash", 'curl -H "Authorization: Bearer $TOKEN" $URL/no-such-call'),
        block("bash", "lily estate --no-such-option"),
        block("bash", "false\ntrue"),
        block("bash", "true", role="refused"),
        block("text", "an output, and nothing was run", role="response"),
        block("python", "from lily.client import Lily\nLily().no_such_call()"),
        block("http", "GET /metadata/no.such.table"),
        block("http", "GET /metadata", role="refused"),
        block("http", 'POST /ingest-metadata {"entity_type": "table"}'),
        block("fortran", "END"),
    ],
    ids=lambda one: f"{one.language}: {one.text.splitlines()[-1]}",
)
def test_a_broken_example_fails(session: PageSession, broken: Block) -> None:
    with pytest.raises(AssertionError):
        session.run(broken)


def test_a_response_that_is_not_the_one_shown_fails(session: PageSession) -> None:
    session.run(block("http", "GET /metadata"))
    session.run(block("json", '{"items": []}', role="response"))
    with pytest.raises(AssertionError):
        session.run(block("json", '{"items": ["…"]}', role="response"))


def test_an_output_that_is_not_the_one_shown_fails(session: PageSession) -> None:
    session.run(block("bash", "echo one; false", role="refused"))
    session.run(block("text", "one\n", role="response"))
    session.run(block("text", "not compared\n"))
    with pytest.raises(AssertionError):
        session.run(block("text", "two\n", role="response"))


def test_sql_that_names_no_column_fails(session: PageSession) -> None:
    session.run(block("sql", "update applied set next_offset = 0 where topic = 'none';"))
    with pytest.raises(psycopg.errors.UndefinedColumn):
        session.run(block("sql", "update applied set next_offzet = 0 where topic = 'none';"))


def test_blocks_of_a_page_share_their_shell_and_their_python(session: PageSession) -> None:
    session.run(block("bash", "export GREETING=hello; echo $GREETING > greeting.txt"))
    session.run(block("bash", 'test "$GREETING" = hello'))
    session.run(block("python", "number = 41"))
    session.run(block("python", "assert number + 1 == 42\nassert open('greeting.txt').read() == 'hello\\n'"))
