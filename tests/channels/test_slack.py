"""Slack gets what Block Kit permits, and nothing in a notification becomes markup."""

import json
from dataclasses import replace
from typing import Any

import pytest

from lily.connect.channels.slack import Slack
from lily.model.errors import Terminal, Transient
from lily.plugins import DestinationGone, Mention
from tests.badserver import BadServer, Reply
from tests.channels import story
from tests.channels.conftest import Serving
from tests.channels.golden_files import matches, recorded
from tests.channels.story import INCIDENT, OPENED, changed
from tests.channels.vendors import slack

ALERTS = "#data-alerts"


@pytest.fixture
def vendor() -> slack.Slack:
    return slack.Slack()


@pytest.fixture
def server(serving: Serving, vendor: slack.Slack) -> BadServer:
    return serving(vendor)


def settings(server: BadServer, **more: Any) -> dict[str, Any]:
    return {"destinations": {ALERTS: f"{server.url}{slack.TARGET}"}, **more}


def block(vendor: slack.Slack, kind: str) -> dict[str, Any]:
    (found,) = [one for one in vendor.messages[-1]["blocks"] if one["type"] == kind]
    return dict(found)


def sent(server: BadServer, notification: Any, **more: Any) -> str:
    return story.delivered(Slack, settings(server, **more), notification, ALERTS)


def test_the_story_of_an_incident_is_what_the_golden_file_has(server: BadServer) -> None:
    for notification in (OPENED, changed("acknowledged", ""), changed("resolved", "", "n-3")):
        assert sent(server, notification, signing_secret="8f742231b10e8888abcd99yyyzzz85a5") == ""
    matches("slack", recorded(server.asked))


def test_markup_in_a_text_is_shown_and_mentions_are_not(server: BadServer, vendor: slack.Slack) -> None:
    sent(server, OPENED)
    text = block(vendor, "section")["text"]["text"]
    assert text.startswith("<@UANN42>, no rows")
    assert text.endswith("\n<!subteam^SDATA7>")
    assert "&lt;https://evil.example|this&gt;" in text
    assert block(vendor, "section")["text"]["verbatim"] is True
    assert block(vendor, "header")["text"]["text"] == "Orders &amp; &lt;returns&gt; are late"
    assert vendor.messages[-1]["text"] == "Orders &amp; &lt;returns&gt; are late"


@pytest.mark.parametrize(
    ("handle", "shown"),
    [("UANN42", "<@UANN42>"), ("S0TEAM", "<!subteam^S0TEAM>"), ("here", "<!here>"), ("U1> <!everyone", "@A &amp; B")],
)
def test_a_handle_is_a_mention_or_a_name(server: BadServer, vendor: slack.Slack, handle: str, shown: str) -> None:
    sent(server, replace(OPENED, text="For @A & B.", mentions=(Mention("A & B", handle),)))
    assert block(vendor, "section")["text"]["text"] == f"For {shown}."


def test_a_name_is_not_mentioned_inside_another_word(server: BadServer, vendor: slack.Slack) -> None:
    people = (Mention("Ann", "UANN"), Mention("Ann Lee", "ULEE"))
    sent(server, replace(OPENED, text="@Annabel saw @Ann Lee", mentions=people))
    assert block(vendor, "section")["text"]["text"] == "@Annabel saw <@ULEE>\n<@UANN>"


def test_an_open_incident_can_be_acknowledged_where_a_click_can_be_verified(
    server: BadServer, vendor: slack.Slack
) -> None:
    sent(server, OPENED, signing_secret="s")
    assert [one.get("value") for one in block(vendor, "actions")["elements"]] == [None, INCIDENT]
    assert block(vendor, "actions")["elements"][1]["action_id"] == "lily.acknowledge"
    sent(server, OPENED)
    assert len(block(vendor, "actions")["elements"]) == 1
    sent(server, changed("acknowledged", ""), signing_secret="s")
    assert len(block(vendor, "actions")["elements"]) == 1


@pytest.mark.parametrize("letter", ["x", "&", "😀", "é"])
def test_what_is_too_long_is_cut_and_the_mentions_stay(server: BadServer, vendor: slack.Slack, letter: str) -> None:
    long = replace(OPENED, title=letter * 4_000, text=letter * 9_000, assets=(letter * 9_000,))
    sent(server, long)
    section = block(vendor, "section")["text"]["text"]
    assert section.endswith("…\n<@UANN42> <!subteam^SDATA7>")
    assert section.count("…") == 1
    assert 2_990 < len(section) <= 3_000
    header = block(vendor, "header")["text"]["text"].replace("&amp;", "&&&&&")
    assert 145 < len(header) <= 150
    assert header.strip(letter) == "…"


def test_a_text_that_just_fits_is_not_cut(server: BadServer, vendor: slack.Slack) -> None:
    sent(server, replace(OPENED, title="t" * 150, text="&" * 600, mentions=()))
    assert block(vendor, "header")["text"]["text"] == "t" * 150
    assert block(vendor, "section")["text"]["text"] == "&amp;" * 600


def test_a_notification_may_only_mention(server: BadServer, vendor: slack.Slack) -> None:
    sent(server, replace(OPENED, text="", mentions=(Mention("Ann", "UANN"),)))
    assert block(vendor, "section")["text"]["text"] == "<@UANN>"


def test_a_notification_without_text_has_a_message_all_the_same(server: BadServer, vendor: slack.Slack) -> None:
    sent(server, replace(OPENED, title=" \n ", text="\x00", url="", mentions=(), data={}))
    assert [one["type"] for one in vendor.messages[-1]["blocks"]] == ["header", "context"]
    assert block(vendor, "header")["text"]["text"] == "incident.opened"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "ftp://x/", "https://a b/", "https://x/\n", "data:text/html,x"])
def test_a_link_that_is_not_of_the_web_has_no_button(server: BadServer, vendor: slack.Slack, url: str) -> None:
    sent(server, replace(OPENED, url=url))
    assert "actions" not in [one["type"] for one in vendor.messages[-1]["blocks"]]


@pytest.mark.parametrize(
    ("status", "text", "kind", "remedy"),
    [
        (404, b"no_service", Terminal, "revoked: create a new one"),
        (403, b"invalid_token", Terminal, "revoked: create a new one"),
        (403, b"action_prohibited", Terminal, "administrator"),
        (410, b"channel_is_archived", DestinationGone, "archived"),
        (400, b"invalid_blocks", Terminal, "does not accept the message"),
        (500, b"rollup_error", Transient, "tried again"),
        (200, b"<html>sign in</html>", Transient, "is not Slack"),
    ],
)
def test_what_slack_responds_is_reported_with_a_remedy(
    server: BadServer, status: int, text: bytes, kind: type[Exception], remedy: str
) -> None:
    server.will(Reply(status, text))
    with pytest.raises(kind, match=remedy) as refused:
        sent(server, OPENED)
    assert type(refused.value) is kind


def test_a_pause_is_passed_on(server: BadServer) -> None:
    server.will(Reply(429, b"rate_limited", {"Retry-After": "30"}))
    with pytest.raises(Transient) as refused:
        sent(server, OPENED)
    assert refused.value.retry_after == 30.0


def test_a_check_finds_out_whether_the_webhook_works_and_posts_nothing(server: BadServer, vendor: slack.Slack) -> None:
    story.checked(Slack, settings(server), ALERTS)
    assert [json.loads(one.body) for one in server.asked] == [{}]
    assert not vendor.messages
    with pytest.raises(Terminal, match="revoked"):
        story.checked(Slack, {"destinations": {"x": f"{server.url}/services/T/B/gone"}}, "x")
    server.will(Reply(200, b"ok"))
    with pytest.raises(Transient, match="not Slack"):
        story.checked(Slack, settings(server), ALERTS)


def test_a_destination_is_a_name_of_the_configuration(server: BadServer, vendor: slack.Slack) -> None:
    with pytest.raises(Terminal, match="did you mean `#data-alerts`"):
        story.delivered(Slack, settings(server), OPENED, "#data-alert")
    story.delivered(Slack, settings(server), OPENED, "")
    assert len(vendor.messages) == 1
    two = {"destinations": {"a": f"{server.url}/a", "b": f"{server.url}/b"}}
    with pytest.raises(Terminal, match="no destination ''"):
        story.delivered(Slack, two, OPENED, "")
