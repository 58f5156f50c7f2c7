"""An incident is one issue in Jira: opened, commented and closed with it, also when a response was lost."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from lily.connect.channels.jira import Jira, JiraConfig
from lily.connect.channels.jira.issues import INDEXED_SECONDS
from lily.model.errors import Terminal, Transient
from lily.plugins import Mention, Notification
from tests.badserver import BadServer, Reply
from tests.channels import story
from tests.channels.conftest import Serving
from tests.channels.golden_files import matches, recorded
from tests.channels.losses import lost_once
from tests.channels.story import INCIDENT, OPENED, changed
from tests.channels.vendors import jira

MENTIONING = replace(OPENED, mentions=(Mention("Ann Lee", "5b10ac8d82e05b22cc7d4ef5"), Mention("Bo", "no id!")))


@pytest.fixture
def vendor() -> jira.Jira:
    return jira.Jira()


@pytest.fixture
def server(serving: Serving, vendor: jira.Jira) -> BadServer:
    return serving(vendor)


def settings(server: BadServer, **more: Any) -> dict[str, Any]:
    return {"site": server.url, "email": jira.EMAIL, "token": jira.TOKEN, **more}


def sent(server: BadServer, notification: Notification, project: str = "OPS", **more: Any) -> str:
    return story.delivered(Jira, settings(server, **more), notification, project)


def test_the_story_of_an_incident_is_what_the_golden_file_has(server: BadServer, vendor: jira.Jira) -> None:
    more: dict[str, Any] = {"labels": ["data"], "priorities": {"critical": "Highest"}}
    key = sent(server, MENTIONING, **more)
    assert sent(server, changed("acknowledged", key), **more) == key
    assert sent(server, changed("resolved", key, "n-3"), **more) == key
    matches("jira", recorded(server.asked))
    (issue,) = vendor.issues.values()
    assert (issue.key, issue.category, len(issue.comments)) == (key, jira.DONE, 2)
    assert f"lily-{INCIDENT}" in issue.fields["labels"]


def test_an_issue_whose_key_was_lost_is_found_and_not_opened_again(server: BadServer, vendor: jira.Jira) -> None:
    lost_once(server, vendor, "/issue")
    with pytest.raises(Transient):
        sent(server, OPENED)
    assert sent(server, OPENED) == "OPS-1"
    assert [(one.key, one.comments) for one in vendor.issues.values()] == [("OPS-1", [])]


def test_the_next_attempt_waits_until_a_search_can_find_what_was_opened(server: BadServer, vendor: jira.Jira) -> None:
    vendor.late_index = True
    lost_once(server, vendor, "/issue")
    with pytest.raises(Transient) as unknown:
        sent(server, OPENED)
    assert unknown.value.retry_after == INDEXED_SECONDS
    vendor.index()
    assert sent(server, OPENED) == "OPS-1"
    assert len(vendor.issues) == 1


def test_another_notification_about_the_incident_comments(server: BadServer, vendor: jira.Jira) -> None:
    sent(server, OPENED)
    assert sent(server, changed("acknowledged", "")) == "OPS-1"
    assert len(vendor.issues["OPS-1"].comments) == 1


def test_incidents_and_notifications_without_one_have_issues_of_their_own(server: BadServer) -> None:
    other = replace(OPENED, id="n-9", data={**OPENED.data, "incident_id": "another"})
    assert [sent(server, one) for one in (OPENED, other, replace(OPENED, id="n-7", data={}))] == [
        "OPS-1",
        "OPS-2",
        "OPS-3",
    ]


def test_closing_again_does_nothing_but_comment(server: BadServer, vendor: jira.Jira) -> None:
    key = sent(server, OPENED)
    for id_ in ("n-3", "n-4"):
        sent(server, changed("resolved", key, id_))
    moves = [one for one in server.asked if one.method == "POST" and one.path.endswith("/transitions")]
    assert len(moves) == 1
    assert vendor.issues[key].category == jira.DONE


def test_an_incident_that_is_resolved_before_it_was_reported_is_an_issue_that_is_closed(
    server: BadServer, vendor: jira.Jira
) -> None:
    key = sent(server, changed("resolved", ""))
    assert (vendor.issues[key].category, vendor.issues[key].comments) == (jira.DONE, [])


def test_a_workflow_that_cannot_be_closed_is_reported_in_the_issue_and_as_an_error(
    server: BadServer, vendor: jira.Jira
) -> None:
    key = sent(server, OPENED)
    vendor.transitions.pop()
    with pytest.raises(Terminal, match="no transition from its status to one of the category Done"):
        sent(server, changed("resolved", key))
    assert len(vendor.issues[key].comments) == 1


def test_a_comment_that_may_have_arrived_is_not_sent_twice_on_one_connection(
    server: BadServer, vendor: jira.Jira
) -> None:
    """Between attempts the queue decides; within one, a closed connection must not repeat it silently."""
    key = sent(server, OPENED)
    lost_once(server, vendor, "/comment")
    with pytest.raises(Transient):
        sent(server, changed("acknowledged", key))
    assert len(vendor.issues[key].comments) == 1


@pytest.mark.parametrize("previous", ["OPS-1/../x", "", "12", 'OPS-1" OR 1'])
def test_what_is_not_a_key_is_not_called(server: BadServer, previous: str) -> None:
    assert sent(server, changed("acknowledged", previous)) == "OPS-1"
    assert {one.path for one in server.asked} == {"/rest/api/3/search/jql", "/rest/api/3/issue"}


def test_an_incident_whose_id_is_strange_cannot_change_the_search(server: BadServer) -> None:
    strange = replace(OPENED, data={"incident_id": 'x" OR project = "HR', "state": "open"})
    assert [sent(server, strange), sent(server, replace(strange, id="n-5"))] == ["OPS-1", "OPS-1"]


@pytest.mark.parametrize(
    ("more", "project", "remedy"),
    [
        ({"token": "expired"}, "OPS", "create a new one in Atlassian's settings"),
        ({"issue_type": "Bug"}, "OPS", "issue_type"),
        ({}, "HR", "project"),
        ({}, "../x", "not the key of a Jira project"),
    ],
)
def test_what_jira_refuses_is_reported_with_a_remedy(
    server: BadServer, more: dict[str, Any], project: str, remedy: str
) -> None:
    with pytest.raises(Terminal, match=remedy):
        sent(server, OPENED, project, **more)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"issues": 1}', b'"x"', b"\xff\xfe"])
def test_garbage_opens_no_issue(server: BadServer, vendor: jira.Jira, body: bytes) -> None:
    server.will(Reply(200, body))
    with pytest.raises(Transient):
        sent(server, OPENED)
    assert not vendor.issues


def test_a_key_that_is_missing_in_the_response_is_searched_for(server: BadServer) -> None:
    server.will(Reply(200, {"issues": []}), Reply(201, {"id": "1"}))
    with pytest.raises(Transient) as unknown:
        sent(server, OPENED)
    assert unknown.value.retry_after == INDEXED_SECONDS


def test_an_issue_that_was_deleted_is_reported(server: BadServer) -> None:
    with pytest.raises(Terminal, match="does not exist"):
        sent(server, changed("acknowledged", "OPS-77"))


def test_a_long_notification_fits(server: BadServer, vendor: jira.Jira) -> None:
    sent(server, replace(OPENED, title="t" * 900, text="x\n\n" * 30_000, assets=("a" * 20_000,)))
    fields = vendor.issues["OPS-1"].fields
    assert (len(fields["summary"]), fields["summary"][-1]) == (255, "…")
    sent(server, replace(OPENED, id="n-6", text="\\" * 90_000, data={}))


def test_a_check_asks_for_the_project(server: BadServer, vendor: jira.Jira) -> None:
    story.checked(Jira, settings(server), "ops")
    with pytest.raises(Terminal, match="does not exist"):
        story.checked(Jira, settings(server), "HR")
    assert not vendor.issues


@pytest.mark.parametrize(
    "wrong", [{"site": "https://acme.atlassian.net/jira"}, {"labels": ["two words"]}, {"priorities": {"fatal": "x"}}]
)
def test_a_configuration_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    right = {"site": "https://acme.atlassian.net", "email": jira.EMAIL, "token": jira.TOKEN}
    JiraConfig.model_validate(right)
    with pytest.raises(ValidationError):
        JiraConfig.model_validate(right | wrong)
