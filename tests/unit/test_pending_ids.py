"""The id of what is pending: whoever makes one up gets the item that it names, or an error."""

import base64

import orjson
import pytest

from lily.lineage.pending import KINDS, PendingId, PendingKind, parse_pending_id
from lily.model import ids

A, B, JOB = (ids.asset_id("t", name) for name in ("a", "b", "job"))
ITEMS = [
    PendingId("tag", (A, "pii")),
    PendingId("parent", (A, B)),
    PendingId("edge", (A, B, "derived-from")),
    PendingId("claim", (JOB, A, B, "derived-from")),
    PendingId("deletion", (A,)),
]


def written(*parts: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(parts)).rstrip(b"=").decode()


def test_every_kind_is_read_back() -> None:
    assert [item.kind for item in ITEMS] == list(KINDS)
    assert [parse_pending_id(str(item)) for item in ITEMS] == ITEMS


@pytest.mark.parametrize(
    ("item", "assets"), list(zip(ITEMS, [(A,), (A, B), (A, B), (JOB, A, B), (A,)], strict=True)), ids=KINDS
)
def test_an_item_names_all_assets_that_a_caller_has_to_be_able_to_read(
    item: PendingId, assets: tuple[str, ...]
) -> None:
    assert item.assets == assets


@pytest.mark.parametrize("item", ITEMS, ids=KINDS)
def test_ids_of_assets_are_read_in_any_case(item: PendingId) -> None:
    count = len(item.assets)
    spelled = (*map(str.upper, item.keys[:count]), *item.keys[count:])
    assert parse_pending_id(written(item.kind, *spelled)) == item


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("tag", (A,)),
        ("tag", (A, "pii", "more")),
        ("parent", (A,)),
        ("parent", (A, B, "more")),
        ("edge", (A, B)),
        ("claim", (A, B, "derived-from")),
        ("deletion", ()),
        ("deletion", (A, B)),
    ],
)
def test_every_kind_has_its_number_of_keys(kind: PendingKind, keys: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not the keys"):
        parse_pending_id(written(kind, *keys))


@pytest.mark.parametrize("kind", KINDS)
def test_assets_are_named_by_ids_only(kind: PendingKind) -> None:
    item = ITEMS[KINDS.index(kind)]
    for place in range(len(item.assets)):
        keys = [*item.keys[:place], "shop.orders", *item.keys[place + 1 :]]
        with pytest.raises(ValueError, match="not the keys"):
            parse_pending_id(written(kind, *keys))


def test_a_name_that_no_database_stores_is_refused() -> None:
    with pytest.raises(ValueError, match="not a name"):
        parse_pending_id(written("tag", A, "p\x00ii"))
