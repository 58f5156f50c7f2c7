"""SQL, search syntax, templates, expressions and log lines in whatever a caller may name."""

from collections.abc import Callable, Iterator

import pytest

from tests.contract.access import policy
from tests.contract.door import Door, client, codes
from tests.security.operations import WITH_TOKEN, parameters, send
from tests.shared_stack import Stack

PAYLOADS = (
    "'; drop table assets; --",
    "' or '1'='1",
    "x' & !y | (z:*",  # a query of PostgreSQL's text search
    "%' escape '!",
    "{{ 7 * 7 }}${7*7}#{7*7}",
    "$(touch /tmp/x)`id`",
    "\r\nx-injected: 1",
    "\u0000",
    "$.store[?(@.price<10)]",
)
WITH_PARAMETERS = [name for name in WITH_TOKEN if parameters(name, "path") or parameters(name, "query")]


@pytest.fixture(scope="module")
def target(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    tenant, token = make_tenant()
    with client(stack, token) as http:
        door = Door(stack, tenant, token, http)
        door.ingest("shop.public.orders", description="kept")
        yield door


@pytest.mark.parametrize("operation", WITH_PARAMETERS)
def test_a_parameter_is_a_value_and_nothing_else(target: Door, operation: str) -> None:
    for payload in PAYLOADS:
        for name in parameters(operation, "path"):
            answer = send(target.http, operation, path={name: payload})
            assert answer.status_code < 500, (name, payload, answer.text)
            assert "x-injected" not in answer.headers
        asked = dict.fromkeys(parameters(operation, "query"), payload)
        answer = send(target.http, operation, query=asked)
        assert answer.status_code < 500, (asked, answer.text)


def test_nothing_was_dropped_or_widened(target: Door) -> None:
    assert target.read("shop.public.orders")["attributes"]["description"] == "kept"
    assert "tag" in parameters("GET /metadata", "query")
    for payload in PAYLOADS[:4]:
        assert target.http.get("/metadata", params={"tag": payload}).json().get("items", []) == []


@pytest.mark.parametrize(
    "condition",
    [
        "1=1; drop table x",
        "a in (select 1)",
        "pg_sleep(5) is null",
        "a = 1 union select 1",
        "a = lo_import('/etc/passwd')",
    ],
)
def test_a_row_filter_is_an_expression_over_columns(target: Door, condition: str) -> None:
    body = policy({"role": "r"}, {"tag": "PII"}, "row-filter", row_filter=condition)
    assert codes(target.http.post("/policies", json=body)) == {"INVALID_ROW_FILTER"}


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ kind.__init__.__globals__ }}",
        "{% for x in range(10**9) %}{% endfor %}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% include '/etc/passwd' %}",
        "{{ 'a' * 10**9 }}",
    ],
)
def test_a_template_reaches_no_object_behind_its_values(target: Door, text: str) -> None:
    target.http.post("/channels", json={"name": "c", "type": "kafka", "config": {}})
    body = {"name": "s", "channel": "c", "destination": "d", "template": {"text": text}}
    assert codes(target.http.post("/subscriptions", json=body)) == {"INVALID_TEMPLATE"}


def test_sql_that_is_analyzed_is_not_run(target: Door) -> None:
    script = "drop table assets; create table shop.public.b as select pg_sleep(100) as x from shop.public.orders"
    answer = target.http.post("/lineage/sql", json={"sql": script, "dialect": "postgres", "dry_run": True})
    assert answer.status_code == 200, answer.text
    assert target.read("shop.public.orders")
