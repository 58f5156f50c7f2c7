"""Tags: whose they are, single edits, and the protective ones."""

from concurrent.futures import ThreadPoolExecutor

from tests.contract.door import WAIT, Door, codes
from tests.contract.flows import audit_of


def tags_of(door: Door, asset_id: str) -> dict[str, list[str]]:
    return dict(door.read(asset_id)["tags"])


def test_a_persons_tags_show_where_the_source_states_none(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "Finance"})
    assert door.read(asset_id)["attributes"]["tags"] == ["Finance"]
    door.ingest("shop.orders", tags=["Raw"])
    assert door.read(asset_id)["attributes"]["tags"] == ["Raw"]
    assert tags_of(door, asset_id)["user"] == ["Finance"]


def test_a_protective_tag_stays_effective_whatever_is_shown(door: Door) -> None:
    asset_id = door.ingest("shop.orders", tags=["Raw"])
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "pii"})
    assert door.read(asset_id)["attributes"]["tags"] == ["Raw"]
    assert tags_of(door, asset_id)["effective"] == ["PII", "Raw"]


def test_concurrent_edits_of_different_tags_never_lose_each_other(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    wanted = [f"t{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda tag: door.change("POST", f"/metadata/{asset_id}/tags", {"tag": tag}), wanted))
    assert tags_of(door, asset_id)["user"] == wanted
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda tag: door.change("DELETE", f"/metadata/{asset_id}/tags/{tag}"), wanted[:4]))
    assert tags_of(door, asset_id)["user"] == wanted[4:]


def test_tags_compare_without_case(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "Finance"})
    door.change("DELETE", f"/metadata/{asset_id}/tags/FINANCE")
    assert tags_of(door, asset_id)["user"] == []


def test_each_tag_is_listed_with_where_it_comes_from(door: Door) -> None:
    asset_id = door.ingest("shop.orders", tags=["Raw"])
    door.change("POST", f"/metadata/{asset_id}/tags", {"tag": "a/b c"})
    items = door.http.get(f"/metadata/{asset_id}/tags").json()["items"]
    names = {"origin_name": "shop.orders", "path_names": ["shop.orders"]}
    assert items == [
        {"tag": tag, "layer": layer, "origin": asset_id, "path": [asset_id], "suppressed": False, **names}
        for tag, layer in (("Raw", "source"), ("a/b c", "user"))
    ]
    door.change("DELETE", f"/metadata/{asset_id}/tags/a%2Fb%20c")
    assert tags_of(door, asset_id)["user"] == []


def test_an_empty_list_clears_the_persons_tags_and_null_too(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    nothing: tuple[list[str] | None, ...] = ([], None)
    for empty in nothing:
        door.change("PUT", f"/metadata/{asset_id}", {"attributes": {"tags": ["a", "b"]}})
        assert tags_of(door, asset_id)["user"] == ["a", "b"]
        door.change("PUT", f"/metadata/{asset_id}", {"attributes": {"tags": empty}})
        assert tags_of(door, asset_id)["user"] == []


def test_taking_a_protective_tag_away_needs_policy_write_and_leaves_a_trace(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    door.change("PUT", f"/metadata/{asset_id}", {"attributes": {"tags": ["PII", "GDPR", "x"]}})
    with door.limited("metadata:write") as limited:
        weak = limited.http
        for answer in (
            weak.delete(f"/metadata/{asset_id}/tags/Pii"),
            weak.put(f"/metadata/{asset_id}", json={"attributes": {"tags": ["gdpr"]}}),
            weak.put(f"/metadata/{asset_id}", json={"attributes": {"tags": None}}),
        ):
            assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
        keeps = {"attributes": {"tags": ["pii", "gdpr"]}}
        assert weak.put(f"/metadata/{asset_id}", json=keeps, headers=WAIT).status_code == 200
    assert audit_of(door) == []
    with door.limited("metadata:write", "policy:write") as strong:
        assert strong.http.delete(f"/metadata/{asset_id}/tags/PII", headers=WAIT).status_code == 200
    assert tags_of(door, asset_id)["user"] == ["gdpr"]
    assert audit_of(door) == [("limited", "tag.removed", asset_id, ["pii"])]


def test_bad_tags_are_refused(door: Door) -> None:
    asset_id = door.ingest("shop.orders")
    for body in ({}, {"tag": ""}, {"tag": " "}, {"tag": 5}, {"tag": "x" * 200}, {"tag": "a\x00"}, {"tag": "a", "b": 1}):
        answer = door.http.post(f"/metadata/{asset_id}/tags", json=body)
        assert answer.status_code == 400, answer.text
        assert codes(answer)
    assert door.http.delete(f"/metadata/{asset_id}/tags/{'x' * 200}").status_code == 400
