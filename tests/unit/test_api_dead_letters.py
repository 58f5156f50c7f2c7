"""What a reader of dead letters sees of a job, and of a webhook."""

from datetime import UTC, datetime

import pytest

from lily.api.routes.operations.dead_letters import _item
from lily.bus import topics
from lily.store.postgres.dead_letters.records import DeadLetter


def letter(topic: str) -> DeadLetter:
    return DeadLetter(1, topic, 0, 7, [], datetime(2026, 1, 1, tzinfo=UTC), None, b"original", 8)


@pytest.mark.parametrize("topic", ["jobs", topics.INCIDENTS, f"{topics.INCIDENTS}@incidents"])
def test_jobs_and_webhooks_are_hidden_from_readers_of_metadata(topic: str) -> None:
    """A webhook may be Okta's, with the names and groups of users."""
    shown = _item(letter(topic), shows_all=False)
    assert (shown["original"], shown["truncated"]) == (None, False)
    assert _item(letter(topic), shows_all=True)["original"] == "original"


@pytest.mark.parametrize("topic", [topics.ASSETS, "governance-events@propagation"])
def test_events_are_shown_to_every_reader(topic: str) -> None:
    assert _item(letter(topic), shows_all=False)["original"] == "original"
