"""Names and types that were chosen to mislead Lily, or to keep it busy."""

import unicodedata

import pytest

from lily.enforce.trino import ObjectNames, allow, batch_column_masks, parse_request
from lily.enforce.trino import answers as trino_answers
from lily.enforce.trino import masks as trino_masks
from lily.enforce.trino.requests import MAX_ITEMS, MAX_NAME
from lily.enforce.trino.types import MAX_DEPTH, parse_type
from lily.model.errors import Refused
from lily.policy import Facts
from lily.policy.candidates import UnknownObjects
from tests import trino_requests as opa
from tests.policy_examples import policy
from tests.unit.enforce.test_trino_operations import CATALOGUE, ORDERS, answered, facts, shop

MASKED = policy("masked", "mask", resources=[{"tag": "PII"}], mask="replace-with-null")
NULL = [{"index": 0, "viewExpression": {"expression": "CAST(NULL AS varchar)"}}]


def mask(table: str, column: str, known: dict[str, Facts], unknown_objects: UnknownObjects = "closed") -> object:
    request = parse_request(opa.masks(table, {column: "varchar"}))
    exchange = batch_column_masks(request, ObjectNames(()))
    return answered(exchange, [shop("READ"), MASKED], CATALOGUE | known, unknown_objects)


@pytest.mark.parametrize("column", ["a.b", "a/b"])
@pytest.mark.parametrize("setting", ["open", "closed"])
def test_a_column_with_a_separator_in_its_name_has_the_tags_of_its_table(column: str, setting: UnknownObjects) -> None:
    docs = "shop.public.docs"
    tagged = {docs: facts(docs, "table", "PII")}
    assert mask(docs, column, tagged, setting) == NULL
    # Somebody ingests what would be the table by the column's name alone.
    shadow = f"{docs}.{column}"
    assert mask(docs, column, {**tagged, shadow: facts(shadow, "column")}, setting) == NULL


@pytest.mark.parametrize("column", [unicodedata.normalize("NFD", "café"), "café ", "\tcafé"[::-1]])
def test_a_column_is_found_however_the_engine_writes_it(column: str) -> None:
    stored = f"{ORDERS}.{unicodedata.normalize('NFC', column).strip()}"
    assert mask(ORDERS, column, {stored: facts(stored, "column", "PII")}, "open") == NULL


def test_so_is_a_table() -> None:
    notes, column = "shop.public.notes", "shop.public.notes .text"
    known = {notes: facts(notes, "table"), column: facts(column, "column", "PII")}
    assert mask("shop.public.notes ", "text", known, "open") == NULL


def test_a_type_is_read_once_however_deep_it_is() -> None:
    depth = MAX_DEPTH - 1
    kind = "row(" * depth + "a varchar" + ", b varchar" * 100 + ")" * depth
    known = parse_type(kind)
    assert known is not None
    assert known.sql.count('"b" varchar') == 100
    for wrong in (f"{kind})", f"({kind}", "row(a varchar)(b varchar)", 'row("a varchar)', "row(a varchar),"):
        assert parse_type(wrong) is None


def test_long_types_are_not_read_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trino_answers, "MAX_TYPES", 1_000)
    kind = "row(" + ", ".join(f"f{number} varchar" for number in range(50)) + ")"
    body = opa.masks("shop.public.nothing", {"a": kind, "b": kind, "c": "varchar"})
    found = answered(batch_column_masks(parse_request(body), ObjectNames(())), [shop("READ")])
    assert [one["viewExpression"]["expression"] for one in found] == ["NULL", "NULL", "CAST(NULL AS varchar)"]


def test_names_that_no_asset_has_are_refused() -> None:
    for body in (
        opa.masks(ORDERS, {"x" * (MAX_NAME + 1): "varchar"}),
        opa.select(ORDERS, ["x" * (MAX_NAME + 1)]),
        opa.select(ORDERS, ["id"], user="x" * (MAX_NAME + 1)),
    ):
        with pytest.raises(Refused):
            parse_request(body)
    assert parse_request(opa.masks(ORDERS, {"id": "row(a varchar" + " " * MAX_NAME + ")"})).columns


def test_a_request_about_too_many_names_is_refused() -> None:
    """Deciding takes time, and nobody selects that many columns."""
    many = {f"c{number}": "varchar" for number in range(MAX_ITEMS)}
    assert len(parse_request(opa.masks(ORDERS, many)).columns) == MAX_ITEMS
    assert parse_request(opa.select(ORDERS, list(many))).resource.columns
    halves = [opa.table(ORDERS, list(many)[: MAX_ITEMS // 2])] * 3
    for body in (
        opa.masks(ORDERS, many | {"one": "varchar"}),
        opa.select(ORDERS, [*many, "one"]),
        opa.request("SelectFromColumns", filterResources=halves),
        opa.request("FilterTables", filterResources=[opa.table(ORDERS)] * (MAX_ITEMS + 1)),
    ):
        with pytest.raises(Refused, match=f"{MAX_ITEMS}"):
            parse_request(body)


def test_what_is_kept_of_requests_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lily.enforce.trino.objects.MAX_KEPT_COLUMNS", 10)
    names = ObjectNames(())
    kept = []
    for number in range(30):
        allow(parse_request(opa.select(f"shop.public.t{number}", [])), names)
        kept.append(len(names._kept))
    assert max(kept) < 15
    before = trino_masks._expression.cache_info().currsize
    mask("shop.public.nothing", "x" * trino_masks.MAX_KEPT_LENGTH, {})
    assert trino_masks._expression.cache_info().currsize == before
