"""The tests of examples can fail: what they read, what they send, and what they compare."""

import pytest

from tests.docs.blocks import read_blocks
from tests.docs.http_requests import read_requests
from tests.docs.page_session import holds, prints

PAGE = """Text.

```bash
echo one
```

* item

  ```python not-run="needs a cluster"
  start()
  ```

```json response
{"a": 1}
```
"""


def test_blocks_have_a_language_a_line_and_what_their_author_says() -> None:
    shell, python, shown = read_blocks("page.md", PAGE)
    assert (shell.language, shell.line, shell.text, shell.not_run) == ("bash", 4, "echo one\n", "")
    assert (python.text, python.not_run) == ("start()\n", "needs a cluster")
    assert shown.role == "response"


@pytest.mark.parametrize(
    ("markdown", "problem"),
    [
        ("```bash\necho\n", "never closed"),
        ("```bash skip\necho\n```\n", "not-run"),
        ('```bash not-run=""\necho\n```\n', "not-run"),
        ("Text:\n\n    echo\n", "indented block"),
    ],
)
def test_a_block_that_no_test_could_run_is_refused(markdown: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_blocks("page.md", markdown)


def test_requests_have_headers_and_bodies() -> None:
    first, second = read_requests(
        '# states a table\nPOST /ingest-metadata\nPrefer: wait=30\n\n{"entity_type":\n "table"}\n\n'
        'POST /tags {"name": "Secret"}\n'
    )
    assert (first.method, first.target, first.headers["Prefer"]) == ("POST", "/ingest-metadata", "wait=30")
    assert first.body == '{"entity_type":\n "table"}\n'
    assert second.body == '{"name": "Secret"}'


@pytest.mark.parametrize("text", ['POST /tags {"name": }', "FETCH /metadata", '{"name": 1}'])
def test_a_request_that_cannot_be_sent_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the JSON parser's own message, or ours
        read_requests(text)


@pytest.mark.parametrize(
    ("shown", "actual", "same"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": "…"}, {"a": [1]}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1, 2], False),
        ([{"a": 1}], [{"a": 1, "b": 2}], True),
    ],
)
def test_a_response_has_what_a_page_shows(shown: object, actual: object, same: bool) -> None:  # noqa: FBT001
    assert holds(shown, actual) is same


@pytest.mark.parametrize(
    ("shown", "actual", "same"),
    [
        ("DE\n", "DE\n", True),
        ("DE", "DE\nFR", False),
        ("DE", "FR", False),
        ("in line, …", "in line, 3 tables\nconfirmed", True),
        ("…\nrepaired", "found\nnot repaired", False),
        ("a.c", "abc", False),
    ],
)
def test_an_output_is_what_a_page_shows(shown: str, actual: str, same: bool) -> None:  # noqa: FBT001
    assert prints(shown, actual) is same
