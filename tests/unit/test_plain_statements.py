"""The short way through the checks of a statement finds what the full one finds, and nothing that it refuses."""

from typing import Any

from hypothesis import event, example, given
from hypothesis import strategies as st

from lily.model.assets import ENTITY_TYPES
from lily.model.errors import Refused
from lily.model.statements import read_any_statement, read_plain_statement, read_statement

TENANT = "default"
UUID = "0a1b2c3d-0000-8000-8000-000000000000"
ODD = (
    "",
    " ",
    " x",
    "x ",
    "|",
    "a||b",
    "a| b",
    "a |b",
    "\x00",
    "\n",
    "ü",
    "u\u0308",
    "\ud800",
    UUID,
    UUID.upper(),
    "db.orders",
)
LONG = tuple("x" * length for length in (511, 512, 513, 1024, 1025, 65_536, 65_537))
plain_texts = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=12)
texts = plain_texts | st.sampled_from((*ODD, *LONG)) | st.text(max_size=5)
values = texts | st.none() | st.booleans() | st.integers() | st.lists(texts, max_size=2) | st.dictionaries(texts, texts)
KEYS = ("name", "owner", "created_by", "data_source", "external_id", "parent", "description", "qualified_name")
plain = st.dictionaries(st.sampled_from(KEYS), plain_texts)
odd = st.dictionaries(st.sampled_from((*KEYS, "tags", "business_terms", "row_count", "$type", "")), values)
OTHER = {
    "layer": st.sampled_from(["source", "source", "user", "enriched", None, 3]),
    "operation": st.sampled_from(["upsert", "upsert", "delete", "tag", "suppress", "release", None, [1]]),
    "qualified_name": texts | st.none(),
    "by": texts | st.none() | st.just(7),
    "authorised": st.booleans() | st.sampled_from([None, 1, "true"]),
    "tag": texts | st.none(),
    "reason": texts,
    "origins": st.lists(texts, max_size=1),
    "release": st.just({"kind": "tag", "tag": "pii"}),
    "tenant_id": texts,
}


@st.composite
def data(draw: st.DrawFn) -> dict[str, Any]:
    attributes: dict[str, Any] = {"name": draw(plain_texts), "qualified_name": draw(plain_texts), **draw(plain)}
    if draw(st.booleans()):
        attributes |= draw(odd)
    for key in draw(st.lists(st.sampled_from(KEYS), max_size=2)):
        attributes.pop(key, None)
    types = st.sampled_from([*sorted(ENTITY_TYPES), " Table ", "tabel", None, 1])
    stated: dict[str, Any] = {"entity_type": draw(types), "attributes": attributes}
    chosen = draw(st.lists(st.sampled_from(sorted(OTHER)), max_size=3, unique=True))
    return stated | {key: draw(OTHER[key]) for key in chosen}


@given(data())
@example({"entity_type": "table", "attributes": {"name": "a", "qualified_name": "db.a", "parent": "db.a"}})
@example({"entity_type": "table", "attributes": {"name": "a", "qualified_name": "db.a", "description": ""}})
@example({"entity_type": "table", "attributes": {"name": "a", "qualified_name": "db.a", "description": " two\nlines "}})
@example({"entity_type": "table", "attributes": {"name": "a|b", "qualified_name": "db.a", "description": "x" * 600}})
def test_the_short_way_and_the_full_one_agree(stated: dict[str, Any]) -> None:
    short = read_plain_statement(stated)
    event("plain" if short is not None else "not plain")
    if short is not None:
        assert short == read_any_statement(stated, tenant=TENANT)


@given(data())
def test_what_is_read_is_what_the_full_way_reads(stated: dict[str, Any]) -> None:
    def outcome(read: Any) -> Any:
        try:
            return read(stated, tenant=TENANT)
        except Refused as refused:
            return refused.problems
        except TypeError as error:  # of a layer that is no text: the pipeline refuses what it did not foresee
            return str(error)

    assert outcome(read_statement) == outcome(read_any_statement)


def test_plain_statements_take_the_short_way() -> None:
    attributes = {"name": "orders", "description": "One row an order.\nBy hour.", "owner": "alice", "parent": "db"}
    assert read_plain_statement({"entity_type": "table", "attributes": attributes, "qualified_name": "db.orders"})
    written = {**attributes, "qualified_name": "db.orders"}
    assert read_plain_statement({"entity_type": "table", "attributes": written, "by": "alice", "authorised": False})


def test_authority_takes_the_full_way() -> None:
    stated = {"entity_type": "table", "attributes": {"name": "orders", "qualified_name": "db.orders"}}
    assert read_plain_statement(stated)
    assert read_plain_statement(stated | {"authorised": True}) is None
    assert read_statement(stated | {"authorised": True}, tenant=TENANT).authorised


def test_what_the_caller_changes_afterwards_is_not_stated() -> None:
    attributes = {"name": "orders", "qualified_name": "db.orders"}
    statement = read_plain_statement({"entity_type": "table", "attributes": attributes})
    attributes["owner"] = "bob"
    assert statement is not None
    assert statement.attributes == {"name": "orders"}
    assert attributes == {"name": "orders", "qualified_name": "db.orders", "owner": "bob"}
