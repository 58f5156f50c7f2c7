"""Teams gets one card, small enough, in which nothing is markup but what Lily means."""

from dataclasses import replace
from typing import Any

import pytest

from lily.connect.channels.teams import Teams
from lily.model.errors import Terminal, Transient
from lily.plugins import DestinationGone, Mention, Notification
from tests.badserver import BadServer, Reply
from tests.channels import story
from tests.channels.conftest import Serving
from tests.channels.golden_files import matches, recorded
from tests.channels.story import OPENED, changed
from tests.channels.vendors import teams

PEOPLE = (Mention("Ann Lee", "ann@acme.example"), Mention("<b>Data</b> [Team](x)", "19c5-4e1f"))
MENTIONING = replace(OPENED, mentions=PEOPLE)


@pytest.fixture
def vendor() -> teams.Teams:
    return teams.Teams()


@pytest.fixture
def server(serving: Serving, vendor: teams.Teams) -> BadServer:
    return serving(vendor)


def sent(server: BadServer, notification: Notification) -> str:
    url = f"{server.url}{teams.TARGET}?{teams.QUERY}"
    return story.delivered(Teams, {"destinations": {"Data alerts": url}}, notification, "Data alerts")


def texts(card: dict[str, Any]) -> list[str]:
    return [run["text"] for one in card["body"] for run in one.get("inlines", [one])]


def test_the_story_of_an_incident_is_what_the_golden_file_has(server: BadServer) -> None:
    for notification in (MENTIONING, changed("resolved", "")):
        assert sent(server, notification) == ""
    matches("teams", recorded(server.asked))


def test_text_is_in_runs_that_teams_shows_as_they_are(server: BadServer, vendor: teams.Teams) -> None:
    sent(server, MENTIONING)
    plain = [one for one in vendor.cards[0]["body"] if one["type"] == "TextBlock"]
    assert [one["text"] for one in plain] == ["<at>Ann Lee</at> <at>b Data b Team x</at>"]
    assert any("[that](https://evil.example)" in one for one in texts(vendor.cards[0]))


def test_a_handle_that_is_none_mentions_nobody(server: BadServer, vendor: teams.Teams) -> None:
    sent(server, replace(OPENED, mentions=(Mention("Ann", "ann lee <x>"),)))
    assert vendor.cards[0]["msteams"]["entities"] == []


@pytest.mark.parametrize("letter", ["x", '"', "\\", "😀", "é"])
def test_a_card_is_small_enough_however_long_the_text_is(server: BadServer, vendor: teams.Teams, letter: str) -> None:
    people = tuple(Mention(f"{letter} {number}" * 30, f"user{number}@acme.example") for number in range(90))
    sent(server, replace(OPENED, title=letter * 9_000, text=letter * 90_000, assets=(letter * 9_000,), mentions=people))
    assert [one[-1] for one in texts(vendor.cards[0])[:3]] == ["…"] * 3
    assert len(server.asked[0].body) <= teams.MAX_MESSAGE


def test_the_link_opens_in_the_browser_and_only_if_it_is_of_the_web(server: BadServer, vendor: teams.Teams) -> None:
    sent(server, OPENED)
    assert vendor.cards[0]["actions"] == [{"type": "Action.OpenUrl", "title": "Open", "url": OPENED.url}]
    sent(server, replace(OPENED, url="javascript:alert(1)"))
    assert "actions" not in vendor.cards[1]


@pytest.mark.parametrize(
    ("status", "kind", "remedy"),
    [
        (400, Terminal, "template for webhook requests"),
        (401, Terminal, "copy its present URL"),
        (404, Terminal, "copy its present URL"),
        (410, DestinationGone, "copy its present URL"),
        (413, Terminal, "shorten"),
        (502, Transient, "tried again"),
    ],
)
def test_what_a_workflow_responds_is_reported_with_a_remedy(
    server: BadServer, status: int, kind: type[Exception], remedy: str
) -> None:
    server.will(Reply(status, {"error": {"message": f"see {teams.TARGET}?{teams.QUERY}"}}))
    with pytest.raises(kind, match=remedy) as refused:
        sent(server, OPENED)
    assert teams.SIGNATURE not in str(refused.value)


def test_a_check_only_connects(server: BadServer) -> None:
    story.checked(Teams, {"destinations": {"Data alerts": f"{server.url}{teams.TARGET}"}}, "")
    assert not server.asked
