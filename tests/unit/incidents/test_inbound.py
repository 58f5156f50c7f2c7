"""What Jira, Slack and Okta send, and how each of them authenticates."""

import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given

from lily.incidents import IncidentStatement, TransitionEvent
from lily.incidents.statements import BY_A_PERSON
from lily.intake.jira import Jira
from lily.intake.okta import Okta, verification
from lily.intake.settings import NoSettings
from lily.intake.slack import Slack
from lily.model import clock
from lily.model.errors import Refused
from lily.plugins import Delivery, Intake, Sender
from tests.okta import delivery as okta_delivery
from tests.okta import lifecycle
from tests.signing import SECRET, jira_headers, jira_update, slack_click, slack_headers
from tests.unit.incidents.test_monte_carlo import JSON

INCIDENT = "0190a5b0-7b1e-8c3d-9e4f-0123456789ab"
JIRA, SLACK, OKTA = Jira(NoSettings()), Slack(NoSettings()), Okta(NoSettings())


def stated(intake: Intake, body: bytes) -> list[TransitionEvent]:
    delivery, sender = Delivery(body, {}, clock.now()), Sender("acme", "them")
    found = [event for item in intake.decode(delivery) for event in intake.events(item, delivery, sender)]
    return [event for event in found if isinstance(event, TransitionEvent)]


def verifies(intake: Intake, body: bytes, headers: dict[str, str]) -> bool:
    return intake.verify(Delivery(body, headers, clock.now()), [b"another", SECRET.encode()])


@pytest.mark.parametrize(("category", "state"), [("done", "resolved"), ("indeterminate", "acknowledged")])
def test_the_category_of_an_issues_status_decides(category: str, state: str) -> None:
    (event,) = stated(JIRA, jira_update(INCIDENT, category))
    assert (event.incident_id, event.state, event.by, event.note) == (
        INCIDENT,
        state,
        "them:zoe@example.org",
        "Jira issue OPS-7",
    )


@pytest.mark.parametrize(
    "body",
    [
        jira_update(INCIDENT, "new"),
        jira_update(INCIDENT, "done", changes="labels"),
        jira_update(INCIDENT, "done", label="lily"),
        jira_update(INCIDENT, "done", label="lily-1"),
        jira_update(INCIDENT, "done", label=INCIDENT),
        jira_update(INCIDENT, "done").replace(b"jira:issue_updated", b"jira:issue_created"),
        b"{}",
    ],
)
def test_other_updates_of_issues_change_nothing(body: bytes) -> None:
    assert stated(JIRA, body) == []


def test_what_is_known_of_a_change_becomes_part_of_the_statement() -> None:
    (event,) = stated(JIRA, jira_update(INCIDENT, "done"))
    statement = event.stated_of("monte-carlo", "1").statement
    assert isinstance(statement, IncidentStatement)
    assert (statement.state, statement.by, statement.note) == ("resolved", event.by, event.note)
    assert statement.rank == BY_A_PERSON


def test_an_issue_of_two_incidents_concerns_both() -> None:
    other = INCIDENT.replace("0190", "0191")
    body = jira_update(INCIDENT, "done").replace(b'"unrelated"', f'"lily-{other}","lily-{INCIDENT}"'.encode())
    events = stated(JIRA, body)
    assert [event.incident_id for event in events] == [other, INCIDENT]
    assert len({event.id for event in events}) == 2


def test_a_webhook_of_jira_is_signed_as_a_whole() -> None:
    body = jira_update(INCIDENT, "done")
    good = jira_headers(body)["x-hub-signature"]
    assert verifies(JIRA, body, {"x-hub-signature": good})
    for wrong in ("", good[7:], good.replace("sha256", "sha1"), good[:-1], f"{good}00", "sha256=", "sha256=zz"):
        assert not verifies(JIRA, body, {"x-hub-signature": wrong})


def test_a_click_on_acknowledge_is_of_the_one_who_clicked() -> None:
    (event,) = stated(SLACK, slack_click(INCIDENT.upper()))
    assert (event.incident_id, event.state, event.by) == (INCIDENT, "acknowledged", "them:zoe")
    assert stated(SLACK, slack_click(INCIDENT, action="lily.open")) == []
    assert stated(SLACK, slack_click("not an incident")) == []
    assert stated(SLACK, b'payload={"type": "view_submission"}') == []


@pytest.mark.parametrize(
    "body", [b"", b"payload=", b"payload=%7B", b"a=b", b"&" * 50, b"payload=[]", b"\xff\xfe", b"a=1&" * 50]
)
def test_a_form_of_slack_that_cannot_be_read_is_refused(body: bytes) -> None:
    with pytest.raises(Refused):
        stated(SLACK, body)


def test_a_request_of_slack_is_refused_five_minutes_later() -> None:
    body = slack_click(INCIDENT)
    assert verifies(SLACK, body, slack_headers(body))
    assert not verifies(SLACK, body, slack_headers(body, at=time.time() - 400))
    assert not verifies(SLACK, body, slack_headers(body, at=time.time() + 400))
    old = slack_headers(body, at=time.time() - 400)
    moved = old | {"x-slack-request-timestamp": str(int(time.time()))}
    assert not verifies(SLACK, body, moved), "the time is part of what is signed"
    good = slack_headers(body)
    for name in good:
        assert not verifies(SLACK, body, good | {name: ""})
        assert not verifies(SLACK, body, good | {name: "x"})


def test_slack_gets_its_challenge_back() -> None:
    def handshake(body: Any) -> Any:
        return SLACK.handshake(Delivery(orjson.dumps(body), {}, clock.now()))

    assert handshake({"type": "url_verification", "challenge": "abc"}) == {"challenge": "abc"}
    assert handshake({"type": "url_verification", "challenge": 7}) is None
    assert handshake({"type": "url_verification", "challenge": "x" * 1_000}) is None
    assert handshake({"type": "event_callback", "challenge": "abc"}) is None
    assert SLACK.handshake(Delivery(slack_click(INCIDENT), {}, clock.now())) is None


def test_oktas_shared_value_is_the_whole_header() -> None:
    assert verifies(OKTA, b"{}", {"authorization": SECRET})
    for wrong in ("", SECRET[:-1], f"{SECRET} ", f"Bearer {SECRET}", "\u00e9"):
        assert not verifies(OKTA, b"{}", {"authorization": wrong})
    assert OKTA.verify(Delivery(b"{}", {"authorization": ""}, clock.now()), []) is False


def test_an_event_of_okta_is_the_same_event_in_every_delivery() -> None:
    def ids(*events: dict[str, Any], tenant: str = "acme") -> list[str]:
        made = Delivery(orjson.dumps(okta_delivery(*events)), {}, clock.now())
        return [one.id for item in OKTA.decode(made) for one in OKTA.events(item, made, Sender(tenant, "okta"))]

    left, back = (lifecycle(kind, "zoe", "2026-01-01T08:00:00.000Z") for kind in ("suspend", "unsuspend"))
    assert ids(left, back) == [*ids(left), *ids(back)]
    assert ids(left) != ids(back)
    assert ids(left) != ids(left, tenant="other")


def test_oktas_challenge_is_returned_within_bounds() -> None:
    assert verification("abc") == {"verification": "abc"}
    for wrong in ("", "x" * 513):
        with pytest.raises(Refused, match="X-Okta-Verification-Challenge"):
            verification(wrong)


@given(body=JSON)
def test_whatever_they_send_is_read_or_refused(body: Any) -> None:
    shapes = (
        body,
        {"webhookEvent": "jira:issue_updated", "issue": body, "changelog": body, "user": body},
        {"type": "block_actions", "actions": body, "user": body},
        {"data": {"events": [{"eventType": "user.lifecycle.suspend", "uuid": "1", "target": body, "published": body}]}},
    )
    for shape in shapes:
        for intake in (JIRA, SLACK, OKTA):
            try:
                stated(intake, json.dumps(shape).encode())
            except Refused:
                continue
