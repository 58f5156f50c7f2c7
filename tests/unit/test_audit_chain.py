"""A chain of audit entries shows what was changed, deleted, inserted or cut off."""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.model.errors import Refused
from lily.store.postgres.audit.chain import PRUNED, Chain, Chained, Head, Verified, entry_hash, parse_head, verify

NOTHING = Head(0, "")


def entry(before: Head, action: str = "policy.created", entity: str = "p", detail: str = "{}") -> Chained:
    """The one that follows. The fields end with what it is about, and the detail."""
    number = before.number + 1
    fields = ("tenant", str(number), None, action, entity, detail)
    return Chained(number, before.hash, entry_hash(before.hash, fields), action, fields)


def head(one: Chained) -> Head:
    return Head(one.number or 0, one.hash or "")


def chained(count: int, before: Head = NOTHING) -> list[Chained]:
    entries: list[Chained] = []
    for _ in range(count):
        entries.append(entry(head(entries[-1]) if entries else before))
    return entries


ENTRIES = chained(5)
ENDS = Chain(head(ENTRIES[-1]), NOTHING)


def without(*numbers: int) -> list[Chained]:
    return [one for one in ENTRIES if one.number not in numbers]


def changed(number: int, **fields: Any) -> list[Chained]:
    return [one._replace(**fields) if one.number == number else one for one in ENTRIES]


def rewritten(number: int) -> list[Chained]:
    """Another entry in the place of one, with a hash that fits it."""
    before = head(ENTRIES[number - 2]) if number > 1 else NOTHING
    return [entry(before, "policy.deleted") if one.number == number else one for one in ENTRIES]


def test_a_whole_chain_is_verified_until_its_end() -> None:
    assert verify(ENDS, ENTRIES) == Verified(5, head(ENTRIES[-1]))
    assert verify(Chain(NOTHING, NOTHING), []) == Verified(0, NOTHING)


@pytest.mark.parametrize(
    ("entries", "number", "wrong"),
    [
        (without(1), 1, "the entry 1 is missing"),
        (without(3), 3, "the entry 3 is missing: 4 follows 2"),
        (without(5), 5, "ends with the entry 4, but it has to end with 5"),
        (without(1, 2, 3, 4, 5), 1, "ends with the entry 0"),
        (changed(2, fields=("tenant", "2", None, "policy.created", "p", "{ }")), 2, "the entry 2 .* was changed"),
        (changed(2, hash="00" * 32), 2, "the entry 2 .* was changed"),
        (changed(2, hash=None), 2, "the entry 2 .* was changed"),
        (rewritten(3), 4, "the entry 4 .* does not follow the entry 3"),
        (rewritten(1), 2, "the entry 2 .* does not follow the entry 1"),
        ([*ENTRIES, Chained(None, None, None, "x", ())], 6, "has no number"),
    ],
)
def test_the_first_break_is_reported_with_its_number(entries: list[Chained], number: int, wrong: str) -> None:
    broken = verify(ENDS, entries).broken
    assert broken is not None
    assert broken.number == number
    assert re.search(wrong, broken.wrong)
    assert broken.remedy


def test_a_chain_without_a_recorded_end_is_broken() -> None:
    broken = verify(Chain(None, NOTHING), ENTRIES).broken
    assert broken is not None
    assert "no end is recorded" in broken.wrong


def test_an_end_that_was_cut_off_with_its_record_shows_only_by_a_head_that_was_kept() -> None:
    cut = Chain(head(ENTRIES[2]), NOTHING)
    assert verify(cut, ENTRIES[:3]).broken is None
    assert verify(cut, ENTRIES[:3], head(ENTRIES[2])).broken is None
    assert verify(cut, ENTRIES[:3], head(ENTRIES[1])).broken is None
    broken = verify(cut, ENTRIES[:3], head(ENTRIES[4])).broken
    assert broken is not None
    assert (broken.number, "once had 5" in broken.wrong) == (4, True)


def test_a_chain_that_was_written_anew_differs_from_the_head_that_was_kept() -> None:
    broken = verify(ENDS, ENTRIES, Head(3, "ab" * 32)).broken
    assert broken is not None
    assert (broken.number, "written anew" in broken.wrong) == (3, True)


def pruned(until: int, record: Callable[[Head], Chained] | None = None) -> tuple[Chain, list[Chained]]:
    """The chain after the first entries were deleted, and the deletion was recorded."""
    anchor, last = head(ENTRIES[until - 1]), head(ENTRIES[-1])
    end = record(last) if record else entry(last, PRUNED, str(until), json.dumps({"hash": anchor.hash}))
    return Chain(head(end), anchor), [*ENTRIES[until:], end]


@pytest.mark.parametrize("until", [1, 3, 5])
def test_a_chain_goes_on_after_entries_were_deleted_by_age(until: int) -> None:
    chain, entries = pruned(until)
    assert verify(chain, entries) == Verified(6 - until, Head(6, entries[-1].hash or ""))
    assert verify(chain, entries, chain.pruned).broken is None


def test_a_deletion_that_no_entry_records_is_a_break() -> None:
    records: tuple[Callable[[Head], Chained], ...] = (
        entry,
        lambda last: entry(last, PRUNED, "2", json.dumps({"hash": head(ENTRIES[1]).hash})),
        lambda last: entry(last, PRUNED, "3", json.dumps({"hash": "00" * 32})),
    )
    for record in records:
        broken = verify(*pruned(3, record)).broken
        assert broken is not None
        assert (broken.number, "no entry records" in broken.wrong) == (4, True)


def test_a_head_of_an_entry_that_was_deleted_by_age_cannot_be_compared() -> None:
    chain, entries = pruned(3)
    broken = verify(chain, entries, head(ENTRIES[1])).broken
    assert broken is not None
    assert "newer head" in broken.remedy
    anew = verify(chain, entries, Head(3, "ab" * 32)).broken
    assert anew is not None
    assert "written anew" in anew.wrong


TEXTS = st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=5)


@given(TEXTS, TEXTS)
def test_different_fields_never_share_what_is_hashed(one: list[str | None], other: list[str | None]) -> None:
    assert (entry_hash("", one) == entry_hash("", other)) == (one == other)


def test_the_form_that_is_hashed_is_fixed() -> None:
    """Hashes are stored for ever: neither this function nor the one in PostgreSQL may change."""
    expected = hashlib.sha256(b"\x01\x02" + b"1:a,-,0:,3:\xe2\x82\xac,").hexdigest()
    assert entry_hash("0102", ["a", None, "", "\u20ac"]) == expected


def test_a_head_is_read_as_it_is_printed() -> None:
    assert parse_head(str(Head(7, "0a" * 32))) == Head(7, "0a" * 32)
    assert parse_head(f"7:{'0A' * 32}") == Head(7, "0a" * 32)
    for text in ("", "7", "7:", "7:0a", f":{'0a' * 32}", f"-7:{'0a' * 32}", f"7:{'0g' * 32}", f"7:{'0a' * 33}"):
        with pytest.raises(Refused, match="lily audit head"):
            parse_head(text)
