"""A receiver that is down uses up no delivery, and a message that alone fails is given up."""

import pytest

from lily.notify import pacing
from lily.notify.pacing import DOUBTED_AFTER
from lily.reactions.notifications import batch
from tests.postgres.notified import ORDERS, Notified, incidents, states


def test_an_outage_uses_up_no_delivery(notified: Notified, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "ATTEMPTS", 3)
    notified.subscribe()
    notified.receiver.fail(500)
    (identity,) = incidents(notified, 1)
    for _ in range(10):
        notified.run()
        notified.due()
    receipt = notified.delivery(identity)
    assert (receipt["state"], receipt["attempts"]) == ("waiting", 10)
    assert notified.dead_letters() == []
    notified.receiver.work()
    notified.run()
    assert notified.delivery(identity)["state"] == "delivered"


@pytest.fixture
def long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than a slow machine takes to get to the next job of a turn; `due` ends them."""
    monkeypatch.setattr(pacing, "FIRST_PAUSE", pacing.LONGEST_PAUSE)


@pytest.mark.usefixtures("long_pauses")
def test_a_message_that_alone_fails_is_given_up_and_the_others_pass_it(
    notified: Notified, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "ATTEMPTS", 8)
    notified.subscribe()
    notified.receiver.answer = lambda one: (500 if one.title.endswith(" 1") else 204, {})
    (alone,) = incidents(notified, 1)
    others = list[str]()
    for turn in range(20):
        if turn in {5, 10, 15}:
            others += incidents(notified, 1, first=10 + turn)
        notified.run()
        notified.due()
    assert states(notified, others) == {"delivered": 3}
    receipt = notified.delivery(alone)
    assert (receipt["state"], receipt["attempts"]) == ("failed", 11), "others arrived after the 5th and the 10th"
    assert len(notified.dead_letters()) == 1
    assert notified.queued() == []
    assert len(notified.receiver.taken) == 3


@pytest.mark.usefixtures("long_pauses")
def test_probes_that_fail_again_and_again_are_other_messages_in_the_order_of_their_incidents(
    notified: Notified,
) -> None:
    notified.subscribe()
    notified.receiver.fail(500)
    opened = notified.react(notified.incident(ORDERS, number=1))
    acknowledged = notified.react(notified.incident(ORDERS, number=1, state="acknowledged", previous="open"), first=2)
    other = incidents(notified, 1, first=3)
    for _ in range(DOUBTED_AFTER):
        notified.run()
        notified.due()
    assert [notified.delivery(one)["attempts"] for one in opened + acknowledged + other] == [DOUBTED_AFTER, 0, 0]
    for _ in range(DOUBTED_AFTER):
        notified.run()
        notified.due()
    attempts = [notified.delivery(one)["attempts"] for one in opened + acknowledged + other]
    assert attempts == [DOUBTED_AFTER, 0, DOUBTED_AFTER]
    notified.receiver.work()
    notified.run()
    assert [one.title.split(":")[0] for one in notified.receiver.taken if one.title.endswith(" 1")] == [
        "Incident opened",
        "Incident acknowledged",
    ]
    assert states(notified, opened + acknowledged + other) == {"delivered": 3}


def test_a_delivery_that_waited_for_more_than_a_day_is_given_up_with_its_next_failure(notified: Notified) -> None:
    notified.subscribe()
    notified.receiver.fail(500)
    young, old = incidents(notified, 2)
    notified.connection.execute(
        "update deliveries set due_at = due_at - interval '25 hours' where notification_id = %s", [old]
    )
    notified.run()
    assert [notified.delivery(one)["state"] for one in (young, old)] == ["waiting", "failed"]
    notified.receiver.work()
    notified.due()
    notified.run()
    assert [notified.delivery(one)["state"] for one in (young, old)] == ["delivered", "failed"]
    assert len(notified.dead_letters()) == 1
