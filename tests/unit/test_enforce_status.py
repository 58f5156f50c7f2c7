"""What `lily enforce status` shows of a target."""

from typing import Any

from rich.text import Text

from lily.cli.access.enforce import status_lines

AT = "2026-11-16T10:00:00.000Z"
IN_LINE: dict[str, Any] = {
    "name": "shop",
    "type": "postgres",
    "state": "in line",
    "tables": 1,
    "columns": 1_200,
    "receipts": {"confirmed": 2, "waiting": 0},
    "confirmed_at": AT,
    "waiting_since": None,
    "last_run": {"began_at": AT, "steps": 3},
    "error": None,
    "failed_tables": [],
    "drifted": [],
    "waiting": [],
    "findings": [],
}


def shown(**changes: Any) -> list[str]:
    return [Text.from_markup(line).plain for line in status_lines(IN_LINE | changes)]


def test_a_target_that_is_in_line_shows_its_size_and_when_it_was_confirmed() -> None:
    assert shown() == [
        "in line  shop (postgres)",
        "1 table, 1,200 columns; 2 tags enforced, 0 waiting",
        f"last confirmed {AT}; last run {AT}, 3 steps",
    ]


def test_a_new_target_was_never_confirmed() -> None:
    assert shown(state="new", confirmed_at=None, last_run=None, waiting_since=AT)[2:] == [
        "last confirmed never",
        f"a run was requested {AT}",
    ]


def test_what_failed_and_what_waits_for_it_are_shown_with_the_reason() -> None:
    receipt = {"tag": "PII", "qualified_name": "shop.people[mail]", "requested_at": AT, "withdrawn": False}
    lines = shown(
        state="failing",
        error="the server does not respond",
        failed_tables=[{"table": "shop.people", "error": "it is busy"}],
        waiting=[receipt, receipt | {"withdrawn": True}],
    )
    assert lines[3:] == [
        "✗ the server does not respond",
        "✗ shop.people: it is busy",
        f"waiting since {AT}: PII on shop.people[mail]",
        f"waiting since {AT}: the removal of PII on shop.people[mail]",
    ]


def test_drift_is_shown_with_what_was_found_and_whether_it_is_repaired() -> None:
    drift = {"table": "shop.people", "at": AT, "found": "no masking view", "expected": "a view", "repaired_at": AT}
    assert shown(drifted=[drift, drift | {"repaired_at": None}])[3:] == [
        f"changed by hand shop.people: found no masking view; noticed {AT}, repaired {AT}",
        f"changed by hand shop.people: found no masking view; noticed {AT}, not repaired yet",
    ]
