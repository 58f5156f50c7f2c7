"""The demo's receiver responds as an incoming webhook of Slack does."""

import json

import httpx
import pytest

from lily.cli.demo.slack import slack_receiver


def test_it_keeps_the_titles_of_messages_in_order() -> None:
    with slack_receiver() as slack:
        for title in ("Incident opened", "Incident resolved"):
            response = httpx.post(slack.url, json={"text": title, "blocks": []})
            assert (response.status_code, response.text) == (200, "ok")
        assert slack.titles == ["Incident opened", "Incident resolved"]
        assert slack.messages[0].at < slack.messages[1].at


@pytest.mark.parametrize(
    ("suffix", "body", "status", "text"),
    [
        ("/other", json.dumps({"text": "x"}), 404, "no_service"),
        ("", "text=x", 400, "invalid_payload"),
        ("", "{}", 400, "no_text"),
        ("", "[]", 400, "no_text"),
    ],
)
def test_it_refuses_what_slack_refuses(suffix: str, body: str, status: int, text: str) -> None:
    with slack_receiver() as slack:
        response = httpx.post(slack.url + suffix, content=body)
        assert (response.status_code, response.text, slack.messages) == (status, text, [])
