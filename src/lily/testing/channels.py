"""The behaviour of a channel, on a real receiver."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from lily.model.errors import Terminal, Transient
from lily.plugins.channels import Notification
from lily.plugins.groups import CHANNELS
from lily.testing.suite import ConfiguredSuite, assert_reported, failure

COUNT = 20
HOSTILE = "quotes \" ' and <b>markup</b>, *stars*, ${NAME}, {{name}}, \x00, \u202e, 😀 " + "long " * 5_000


class ChannelSuite(ConfiguredSuite):
    """Override everything that raises here. The receiver speaks the protocol of the real one, on this machine."""

    group = CHANNELS

    def destination(self) -> str:
        raise NotImplementedError("return a destination that accepts notifications")

    def received(self) -> Sequence[str]:
        raise NotImplementedError("return what reached the receiver so far, one text per message")

    def unavailable(self) -> tuple[Mapping[str, Any], str]:
        raise NotImplementedError("return the settings and destination of a receiver that does not respond now")

    def rejecting(self) -> tuple[Mapping[str, Any], str]:
        raise NotImplementedError("return the settings and destination of a receiver that refuses every notification")

    def using(self, call: Callable[[Any], Awaitable[Any]], settings: Mapping[str, Any] | None = None) -> Any:
        async def used() -> Any:
            channel = self.made(settings)
            try:
                return await call(channel)
            finally:
                await channel.close()

        return asyncio.run(used())

    def test_a_notification_arrives_with_its_id(self) -> None:
        before = len(self.received())
        link = self.using(lambda channel: channel.deliver(notification("arrives"), self.destination()))
        arrived = self.received()[before:]
        assert isinstance(link, str), "deliver returns the receiver's id or link, or an empty string"
        assert len(arrived) == 1, f"{len(arrived)} messages arrived instead of one"
        assert "title of arrives" in arrived[0], f"the title is missing in {arrived[0][:500]!r}"
        assert "arrives" in arrived[0].replace("title of arrives", ""), "the idempotency key is not passed on"

    def test_many_at_a_time_all_arrive(self) -> None:
        before = len(self.received())

        async def deliver(channel: Any) -> None:
            sent = [channel.deliver(notification(f"many-{number}"), self.destination()) for number in range(COUNT)]
            await asyncio.gather(*sent)

        self.using(deliver)
        arrived = self.received()[before:]
        missing = [number for number in range(COUNT) if not any(f"title of many-{number}" in one for one in arrived)]
        assert not missing, f"{len(missing)} of {COUNT} did not arrive"

    def test_a_check_delivers_nothing(self) -> None:
        before = len(self.received())
        self.using(lambda channel: channel.check(self.destination()))
        assert len(self.received()) == before, "check delivered a message"

    def test_hostile_text_is_delivered_or_refused(self) -> None:
        sent = notification("hostile", text=HOSTILE)
        error = failure(lambda: self.using(lambda channel: channel.deliver(sent, self.destination())))
        assert error is None or isinstance(error, Terminal), f"{error!r}; deliver it, or raise Terminal"

    def test_a_receiver_that_does_not_answer_is_worth_another_attempt(self) -> None:
        settings, destination = self.unavailable()
        error = failure(lambda: self.using(lambda one: one.deliver(notification("later"), destination), settings))
        assert_reported(error, "the receiver does not respond")
        assert isinstance(error, Transient), f"raise Transient, or the notification is given up: {error!r}"

    def test_a_receiver_that_refuses_is_not_asked_again(self) -> None:
        settings, destination = self.rejecting()
        error = failure(lambda: self.using(lambda one: one.deliver(notification("never"), destination), settings))
        assert_reported(error, "the receiver refuses")
        assert isinstance(error, Terminal), f"raise Terminal, or delivery is retried forever: {error!r}"

    def test_closing_twice_is_harmless(self) -> None:
        self.using(lambda channel: channel.close())


def notification(id_: str, text: str = "what happened") -> Notification:
    at = "2026-01-01T00:00:00.000000Z"
    return Notification(id_, "suite", "incident", "warning", f"title of {id_}", text, at, assets=("shop.orders",))
