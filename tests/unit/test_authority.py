"""Only who has the key can claim authority, and rotating keys does not take it from what was signed before."""

import uuid
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.bus.authority import SigningKey, SigningKeys, Verifier, sign
from lily.model import clock, ids
from lily.model.columns import ColumnsEvent
from lily.model.edges import Claim, ClaimsEvent, EdgeEvent, EdgeKey, EdgeStatement
from lily.model.events import AssetEvent
from lily.model.records import Record, Refusal
from lily.model.statements import read_statement
from lily.pipeline.validation import validate_asset_record, validate_bulk_record, validate_lineage_record
from tests.strategies import events

KEY, OLDER = SigningKey.of(bytes(32)), SigningKey.of(bytes(31) + b"1")
NOW = clock.now()
EDGE = EdgeKey(ids.asset_id("t", "a"), ids.asset_id("t", "b"), "derived-from")
WITH_AUTHORITY: list[tuple[Any, Any]] = [
    (
        AssetEvent(
            "e",
            NOW,
            "t",
            read_statement(
                {"layer": "user", "qualified_name": "a", "operation": "untag", "tag": "PII", "authorised": True},
                tenant="t",
            ),
        ),
        validate_asset_record,
    ),
    (ColumnsEvent("e", NOW, "t", "a", {"b": {}}, authorised=True), validate_bulk_record),
    (
        EdgeEvent("e", NOW, "t", EdgeStatement("user", "delete", EDGE, {}, "me", authorised=True)),
        validate_lineage_record,
    ),
    (
        ClaimsEvent("e", NOW, "t", EDGE.to_id, "r", complete=True, claims=(Claim(EDGE),), authorised=True),
        validate_lineage_record,
    ),
]


def validated(event: Any, validate: Any, value: bytes, *keys: SigningKey) -> tuple[Any, int]:
    verifier = Verifier(keys)
    found = validate(Record("topic", 0, 0, NOW, event.key, value), {"t"}.__contains__, verifier=verifier)
    return found, verifier.rejected


@pytest.mark.parametrize(("event", "validate"), WITH_AUTHORITY)
def test_a_signed_claim_counts_and_any_other_does_not(event: Any, validate: Any) -> None:
    value = orjson.dumps(event.as_cloudevent())
    assert validated(event, validate, sign(value, [KEY]), KEY) == (event, 0)
    assert validated(event, validate, sign(value, [OLDER]), KEY, OLDER) == (event, 0), "every key of the ring verifies"
    for forged in (value, sign(value, [OLDER]), value[:-1] + b',"authority":"' + KEY.name + b'."}'):
        assert validated(event, validate, forged, KEY) == (event.without_authority(), 1)
    assert validated(event, validate, sign(value, [KEY])) == (event.without_authority(), 1), (
        "without keys nobody has it"
    )


@pytest.mark.parametrize(("event", "validate"), WITH_AUTHORITY)
def test_what_does_not_claim_authority_needs_no_signature(event: Any, validate: Any) -> None:
    plain = event.without_authority()
    assert validated(plain, validate, orjson.dumps(plain.as_cloudevent()), KEY) == (plain, 0)


@given(events(), st.data())
def test_no_byte_of_a_signed_event_can_be_changed(event: AssetEvent, data: st.DataObject) -> None:
    signed = sign(orjson.dumps(event.as_cloudevent()), [KEY])
    at = data.draw(st.integers(0, len(signed) - 1))
    changed = bytearray(signed)
    changed[at] ^= data.draw(st.integers(1, 255))
    assert Verifier([KEY]).accepts(signed)
    assert not Verifier([KEY]).accepts(bytes(changed))
    assert not Verifier([KEY]).accepts(signed + signed)
    assert not Verifier([KEY]).accepts(None)


def test_an_event_may_state_an_attribute_of_the_same_name() -> None:
    said = {"entity_type": "table", "attributes": {"name": "a", "authority": "land registry"}, "authorised": True}
    event = AssetEvent("e", NOW, "t", read_statement(said, tenant="t"))
    signed = sign(orjson.dumps(event.as_cloudevent()), [KEY])
    assert signed.count(b',"authority":"') == 2
    assert validated(event, validate_asset_record, signed, KEY) == (event, 0)


def test_a_suppression_without_authority_is_refused() -> None:
    said = {"layer": "user", "qualified_name": "a", "operation": "suppress", "tag": "raw", "reason": "because"}
    for authorised in (False, True):
        event = AssetEvent(str(uuid.uuid4()), NOW, "t", read_statement({**said, "authorised": authorised}, tenant="t"))
        value = orjson.dumps(event.as_cloudevent())
        found, _ = validated(event, validate_asset_record, value, KEY)
        assert isinstance(found, Refusal)
        assert [problem.code for problem in found.problems] == ["PROTECTED"]
        if authorised:
            assert validated(event, validate_asset_record, sign(value, [KEY]), KEY) == (event, 0)


def test_keys_are_read_again_when_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "master.key"
    path.write_text("one")
    read: list[str] = []

    def keys(found: Path | None) -> list[bytes]:
        assert found is not None
        read.append(found.read_text())
        return [text.encode().ljust(32) for text in found.read_text().split()]

    ring = SigningKeys(path, keys)
    first = ring()
    assert ring() == first
    path.write_text("two one")
    assert ring()[1:] == first
    assert read == ["one", "two one"]
    assert SigningKeys(None, keys)() == ()


@pytest.mark.parametrize("kind", ["tag", "parent", "covered", "deletion"])
def test_a_release_without_a_valid_signature_is_refused(kind: str) -> None:
    """Without authority it would state nothing else, and end what it names all the same."""
    release = {"kind": kind, "key": EDGE.from_id if kind == "parent" else "pii"}
    stated = {"layer": "user", "qualified_name": "a", "operation": "release", "release": release, "authorised": True}
    event = AssetEvent("e", NOW, "t", read_statement(stated, tenant="t"))
    value = orjson.dumps(event.as_cloudevent())
    for forged in (value, sign(value, [OLDER])):
        found, rejected = validated(event, validate_asset_record, forged, KEY)
        assert (isinstance(found, Refusal), rejected) == (True, 1)
        assert [problem.code for problem in found.problems] == ["PROTECTED"]
    assert validated(event, validate_asset_record, sign(value, [KEY]), KEY) == (event, 0)


def test_releasing_claims_without_a_valid_signature_is_refused() -> None:
    event = ClaimsEvent("e", NOW, "t", EDGE.to_id, "r", complete=False, claims=(), authorised=True, released=(EDGE,))
    value = orjson.dumps(event.as_cloudevent())
    found, _ = validated(event, validate_lineage_record, value, KEY)
    assert [problem.code for problem in found.problems] == ["PROTECTED"]
    assert validated(event, validate_lineage_record, sign(value, [KEY]), KEY) == (event, 0)
