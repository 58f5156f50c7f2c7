"""How `lily incidents show` writes an incident: all that is known of it, and nothing of it as markup."""

from typing import Any

from rich.text import Text

from lily.cli.metadata.incidents import incident_lines

INCIDENT: dict[str, Any] = {
    "incident_id": "i",
    "severity": "critical",
    "state": "open",
    "title": "[red]Late[/]",
    "source": "monte-[b]carlo",
    "external_id": "[1]",
    "opened_at": "2026-01-01T00:00:00.000000Z",
    "description": "no [i]rows[/]",
    "owner": "[data] team",
    "links": [{"name": "[x]", "url": "https://mc.example/[1]"}],
    "assets": [{"qualified_name": None, "metadata_id": "0190"}, {"qualified_name": "shop.[orders]", "metadata_id": ""}],
    "unmatched": ["shop.[later]"],
    "history": [
        {"at": "T3", "by": "ann", "change": {"source": "s", "state": "resolved", "rank": 2, "note": "[ok] again"}},
        {"at": "T2", "by": "", "change": {"source": "s", "rank": 1}},
        {"at": "T1", "by": "", "change": {"source": "s", "series": "daily"}},
    ],
}


def test_an_incident_is_shown_as_it_was_stated() -> None:
    assert [Text.from_markup(line).plain for line in incident_lines(INCIDENT)] == [
        "critical open  [red]Late[/]",
        "monte-[b]carlo [1], opened 2026-01-01T00:00:00.000000Z",
        "no [i]rows[/]",
        "owner [data] team",
        "[x]: https://mc.example/[1]",
        "on 0190",
        "on shop.[orders]",
        "on shop.[later], which no asset is called yet",
        "T3  ann resolved: [ok] again",
        "T2  s updated",
        "T1  s check passed",
    ]


def test_what_is_not_known_is_left_out() -> None:
    nothing = {"title": "", "description": "", "owner": "", "links": [], "assets": [], "unmatched": [], "history": []}
    first, second = (Text.from_markup(line).plain for line in incident_lines(INCIDENT | nothing))
    assert first == "critical open  (no title)"
    assert second.startswith("monte-[b]carlo")
