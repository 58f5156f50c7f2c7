"""Every promise that the suite of channels tests is broken here once, and the suite notices."""

from dataclasses import replace
from typing import Any

import pytest

from lily.model.errors import Terminal, Transient
from lily.testing import ChannelSuite
from tests.sample_plugins.webhook import Webhook, receiver
from tests.unit import test_suites_on_plugins
from tests.unit.suites.broken import Broken, Careless, promises_of, run


class SyncDeliver:
    Config = Careless

    def __init__(self, config: Careless) -> None:
        pass

    async def check(self, destination: str) -> None:
        pass

    def deliver(self, notification: Any, destination: str) -> str:
        raise NotImplementedError

    async def close(self) -> None:
        pass


class NoKey(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        return await super().deliver(replace(notification, id="-"), destination)


class DropsEverySecond(Webhook):
    count = 0

    async def deliver(self, notification: Any, destination: str) -> str:
        self.count += 1
        return await super().deliver(notification, destination) if self.count % 2 else ""


class CheckDelivers(Webhook):
    async def check(self, destination: str) -> None:
        await self._call("POST", destination, "check", {})


class NotLilysError(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        if len(notification.text) > 1_000 or not destination.endswith("/ok"):
            raise ValueError("too long, or no good")
        return await super().deliver(notification, destination)


class SwallowsErrors(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        await self._call("POST", destination, notification.id, {})
        return ""


class AlwaysTransient(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:  # noqa: ARG002
        raise Transient("later")


class PassesAnyLink(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        return await super().deliver(replace(notification, text=notification.url), destination)


class NeedsItsOwnPrevious(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        int(notification.data.get("previous", "0"))
        return await super().deliver(notification, destination)


class LosesContinuations(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        return "" if notification.data.get("previous") else await super().deliver(notification, destination)


class ShowsItsToken(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        try:
            return await super().deliver(notification, destination)
        except Terminal as error:
            raise Terminal(f"{error}, with {self._token}") from error


class CarelessWebhook(Webhook):
    Config = Careless  # type: ignore[assignment]


class ChannelClosesOnce(Webhook):
    closed = False

    async def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed twice")
        self.closed = True


CHANNELS: list[Broken] = [
    (SyncDeliver, "test_the_class_satisfies_its_port"),
    (CarelessWebhook, "test_a_misspelt_setting_is_refused"),
    (NoKey, "test_a_notification_arrives_with_its_id"),
    (DropsEverySecond, "test_many_at_a_time_all_arrive"),
    (CheckDelivers, "test_a_check_delivers_nothing"),
    (NotLilysError, "test_hostile_text_is_delivered_or_refused"),
    (PassesAnyLink, "test_a_link_that_is_not_of_the_web_is_not_passed_on"),
    (NeedsItsOwnPrevious, "test_an_unknown_previous_message_is_no_obstacle"),
    (LosesContinuations, "test_an_unknown_previous_message_is_no_obstacle"),
    (ShowsItsToken, "test_errors_have_no_secret"),
    (SwallowsErrors, "test_a_receiver_that_does_not_answer_is_worth_another_attempt"),
    (NotLilysError, "test_a_receiver_that_does_not_answer_is_worth_another_attempt"),
    (AlwaysTransient, "test_a_receiver_that_refuses_is_not_asked_again"),
    (ChannelClosesOnce, "test_closing_twice_is_harmless"),
]


@pytest.mark.parametrize("broken", CHANNELS, ids=str)
def test_the_suite_of_channels_notices(broken: Broken) -> None:
    with receiver() as one:
        run(test_suites_on_plugins.TestWebhook, broken, receiver=one)


def test_every_promise_of_the_suite_is_broken_here() -> None:
    assert promises_of(ChannelSuite) == {test for _, test in CHANNELS}
