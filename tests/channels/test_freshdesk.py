"""An incident is one ticket in Freshdesk, with a note for each change."""

from dataclasses import replace
from typing import Any

import pytest

from lily.connect.channels.freshdesk import Freshdesk
from lily.model.errors import Terminal, Transient
from lily.plugins import Notification
from tests.badserver import BadServer, Reply
from tests.channels import story
from tests.channels.conftest import Serving
from tests.channels.golden_files import matches, recorded
from tests.channels.losses import lost_once
from tests.channels.story import OPENED, changed
from tests.channels.vendors import freshdesk

TEAM = "data-team@acme.example"


@pytest.fixture
def vendor() -> freshdesk.Freshdesk:
    return freshdesk.Freshdesk()


@pytest.fixture
def server(serving: Serving, vendor: freshdesk.Freshdesk) -> BadServer:
    return serving(vendor)


def settings(server: BadServer, **more: Any) -> dict[str, Any]:
    return {"site": server.url, "key": freshdesk.KEY, **more}


def sent(server: BadServer, notification: Notification, requester: str = TEAM, **more: Any) -> str:
    return story.delivered(Freshdesk, settings(server, **more), notification, requester)


def test_the_story_of_an_incident_is_what_the_golden_file_has(server: BadServer, vendor: freshdesk.Freshdesk) -> None:
    id_ = sent(server, OPENED, group_id=7)
    assert sent(server, changed("acknowledged", id_)) == id_
    assert vendor.tickets[1]["status"] == 3
    assert sent(server, replace(changed("resolved", id_, "n-3"), severity="info")) == id_
    matches("freshdesk", recorded(server.asked))
    assert [(one["status"], one["priority"], one["group_id"]) for one in vendor.tickets.values()] == [(4, 1, 7)]
    assert [one["ticket"] for one in vendor.notes] == [1, 1]


def test_text_is_escaped(server: BadServer, vendor: freshdesk.Freshdesk) -> None:
    sent(server, replace(OPENED, text='<script>alert("x")</script> & more\nnext', assets=("shop.<b>orders</b>",)))
    description = vendor.tickets[1]["description"]
    assert "Assets: shop.&lt;b&gt;orders&lt;/b&gt;" in description
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; more<br>next" in description
    assert 'href="https://lily.example/incidents/7?from=alert&amp;to=me"' in description


@pytest.mark.parametrize(("severity", "priority"), [("info", 1), ("warning", 2), ("critical", 4)])
def test_the_severity_is_the_priority(
    server: BadServer, vendor: freshdesk.Freshdesk, severity: Any, priority: int
) -> None:
    sent(server, replace(OPENED, severity=severity))
    assert vendor.tickets[1]["priority"] == priority


def test_a_ticket_whose_id_was_lost_is_found_and_not_opened_again(
    server: BadServer, vendor: freshdesk.Freshdesk
) -> None:
    lost_once(server, vendor, "/tickets")
    with pytest.raises(Transient):
        sent(server, OPENED)
    assert len(vendor.tickets) == 1
    assert sent(server, OPENED) == "1"
    assert (len(vendor.tickets), vendor.notes) == (1, [])


def test_another_notification_about_the_incident_is_a_note(server: BadServer, vendor: freshdesk.Freshdesk) -> None:
    sent(server, OPENED)
    assert sent(server, changed("acknowledged", "not a number")) == "1"
    assert (len(vendor.tickets), len(vendor.notes), vendor.tickets[1]["status"]) == (1, 1, 3)


def test_tickets_of_other_incidents_and_requesters_are_left_alone(server: BadServer) -> None:
    other = replace(OPENED, id="n-9", data={**OPENED.data, "incident_id": "another"})
    assert [sent(server, OPENED), sent(server, other), sent(server, OPENED, "crm@acme.example")] == ["1", "2", "3"]


def test_a_change_without_a_state_does_not_open_a_ticket_again(server: BadServer, vendor: freshdesk.Freshdesk) -> None:
    id_ = sent(server, changed("resolved", ""))
    data = {key: value for key, value in OPENED.data.items() if key != "state"}
    sent(server, replace(OPENED, id="n-8", data={**data, "previous": id_}))
    assert vendor.tickets[1]["status"] == 4


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'"x"', b"7"])
def test_garbage_opens_no_ticket(server: BadServer, vendor: freshdesk.Freshdesk, body: bytes) -> None:
    server.will(Reply(200, body))
    with pytest.raises(Transient):
        sent(server, OPENED)
    assert not vendor.tickets


@pytest.mark.parametrize(
    ("more", "requester", "remedy"),
    [
        ({"key": "old"}, TEAM, "copy the agent's present one"),
        ({}, "data team", "not the mail address of a requester"),
        ({}, "a@b.example\r\nX: y", "not the mail address of a requester"),
    ],
)
def test_what_freshdesk_refuses_is_reported_with_a_remedy(
    server: BadServer, more: dict[str, Any], requester: str, remedy: str
) -> None:
    with pytest.raises(Terminal, match=remedy):
        sent(server, OPENED, requester, **more)


def test_a_limit_of_calls_is_waited_for(server: BadServer) -> None:
    server.will(Reply(429, b"", {"Retry-After": "59"}))
    with pytest.raises(Transient) as refused:
        sent(server, OPENED)
    assert refused.value.retry_after == 59.0


def test_a_check_reads_and_opens_nothing(server: BadServer, vendor: freshdesk.Freshdesk) -> None:
    story.checked(Freshdesk, settings(server), TEAM)
    with pytest.raises(Terminal, match="API key"):
        story.checked(Freshdesk, settings(server, key="old"), TEAM)
    assert not vendor.tickets
