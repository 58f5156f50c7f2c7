"""What Lily knows after a producer ran: edges by name, and the assets that have a tag."""

from collections.abc import Iterable
from urllib.parse import quote

from tests.contract.door import Door
from tests.extra_api import until

SECONDS = 60.0  # until events, and the SQL in them, have become edges
Sources = dict[str, set[str]]


def sources(door: Door, tables: Iterable[str], kind: str = "derived-from") -> Sources:
    """The sources of each of the tables and of each of their columns that has one."""
    found: Sources = {}
    for table in tables:
        asked: dict[str, str | int] = {
            "direction": "upstream",
            "depth": 1,
            "columns": "true",
            "remove_deleted": "true",
            "limit": 1000,
        }
        answer = door.http.get(f"/lineage/{quote(table, safe='')}", params=asked)
        if answer.status_code == 404:
            continue
        assert answer.status_code == 200, answer.text
        for edge in answer.json()["edges"]:
            if edge["relationship_type"] == kind:
                found.setdefault(edge["to_name"], set()).add(edge["from_name"])
    return found


def expect(door: Door, expected: Sources, kind: str = "derived-from") -> None:
    """Waits until the tables among the keys, and their columns, have these sources and no others."""
    tables = [name for name in expected if not any(name.startswith(f"{other}.") for other in expected)]
    try:
        until(lambda: sources(door, tables, kind) == expected, SECONDS)
    except AssertionError:
        assert sources(door, tables, kind) == expected  # shows the difference
        raise


def tagged(door: Door, tag: str) -> set[str]:
    """The names of all assets that have the tag, by themselves or through lineage."""
    found: set[str] = set()
    cursor = None
    while True:
        answer = door.http.get("/metadata", params={"tag": tag, **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.text
        found |= {item["attributes"]["qualified_name"] for item in answer.json()["items"]}
        cursor = answer.json().get("next_cursor")
        if cursor is None:
            return found


def expect_tagged(door: Door, tag: str, expected: set[str]) -> None:
    try:
        until(lambda: tagged(door, tag) == expected, SECONDS)
    except AssertionError:
        assert tagged(door, tag) == expected
        raise
