"""The behaviour of a channel, on a real receiver."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, SecretStr

from lily.model.errors import Terminal, Transient
from lily.plugins.channels import Notification
from lily.plugins.groups import CHANNELS
from lily.plugins.surroundings import Surroundings, situated
from lily.testing.suite import ConfiguredSuite, assert_reported, failure

COUNT = 20
SCRIPT = "javascript:alert(document.title)"
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

    def surroundings(self) -> Surroundings:
        """Where the channel runs, if it wants to know. Override it to allow networks, or to have a Kafka."""
        return Surroundings("suite", "channel", datetime(2026, 1, 1, tzinfo=UTC))

    def made(self, settings: Mapping[str, Any] | None = None) -> Any:
        return situated(super().made(settings), self.surroundings())

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

    def test_a_link_that_is_not_of_the_web_is_not_passed_on(self) -> None:
        before = len(self.received())
        sent = replace(notification("linked"), url=SCRIPT)
        error = failure(lambda: self.using(lambda channel: channel.deliver(sent, self.destination())))
        assert error is None or isinstance(error, Terminal), f"{error!r}; leave the link out, or raise Terminal"
        assert not any(SCRIPT in one for one in self.received()[before:]), "people get a link that runs a script"

    def test_an_unknown_previous_message_is_no_obstacle(self) -> None:
        """It is what an earlier configuration returned, of another channel perhaps."""
        data = {"incident_id": "i-1", "state": "acknowledged", "previous": "../x\r\ny: <&>"}
        before, sent = len(self.received()), replace(notification("continued"), data=data)
        error = failure(lambda: self.using(lambda channel: channel.deliver(sent, self.destination())))
        assert error is None or isinstance(error, Terminal), f"{error!r}; begin anew, or raise Terminal"
        assert error is not None or len(self.received()) > before, "it was lost"

    def test_errors_have_no_secret(self) -> None:
        for settings, destination in (self.unavailable(), self.rejecting()):
            secrets = list(_secrets(self.plugin.Config.model_validate(dict(settings))))
            for sent in (None, notification("secret")):
                shown = repr(failure(lambda: self.using(lambda one: _called(one, sent, destination), settings)))  # noqa: B023
                assert not any(secret in shown for secret in secrets), "an error has a secret of the configuration"

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


def _called(channel: Any, sent: Notification | None, destination: str) -> Awaitable[Any]:
    """Delivers it, or only checks."""
    called: Awaitable[Any] = channel.check(destination) if sent is None else channel.deliver(sent, destination)
    return called


def _secrets(value: Any) -> Iterator[str]:
    """Every SecretStr in a configuration."""
    if isinstance(value, SecretStr):
        yield from filter(None, [value.get_secret_value()])
    elif isinstance(value, BaseModel):
        yield from (secret for name in type(value).model_fields for secret in _secrets(getattr(value, name)))
    elif isinstance(value, Mapping):
        yield from (secret for one in value.values() for secret in _secrets(one))
    elif isinstance(value, list | tuple | set):
        yield from (secret for one in value for secret in _secrets(one))
