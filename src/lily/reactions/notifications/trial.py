"""The job `test-channel`: sends a test, and keeps what the receiver returned for the caller who waits for it."""

import time
from typing import Any

from psycopg import Connection

from lily.model import clock
from lily.model.errors import LilyError
from lily.notify.identities import target_of
from lily.notify.pacing import Pace
from lily.plugins import Notification
from lily.reactions.event_loop import EventLoop
from lily.reactions.notifications.channels import ChannelPool
from lily.reactions.notifications.messages import Message
from lily.reactions.notifications.sending import send
from lily.settings import Settings
from lily.store.postgres.deliveries.ledger import DeliveryLedger, StoredChannel, Target
from lily.store.postgres.jobs.queue import Job

RETRIED = "It is tried again."  # how channels end a transient error; a test is not repeated
TEXT = "If you can read this, notifications of Lily reach you here."


class TestingChannels:
    """The task's function and what it needs. A test that fails is an answer, and is not repeated."""

    __test__ = False

    def __init__(self, settings: Settings, pool: ChannelPool, loop: EventLoop) -> None:
        self._settings, self._pool, self._loop = settings, pool, loop

    def run(self, connection: Connection[Any], job: Job) -> None:
        channel, destination = str(job.arguments["channel"]), str(job.arguments["destination"])
        target = Target(channel, destination, target_of(channel, destination))
        ledger = DeliveryLedger(connection, job.tenant, target)
        stored = ledger.channel()
        if stored is None:
            return
        began = time.monotonic()
        test: dict[str, Any] = {"request": job.arguments["request"], "at": clock.now(), "destination": destination}
        try:
            test |= {"delivered": True, "receiver_id": self._send(job, target, stored), "error": ""}
            ledger.keep_pace(Pace(), delivered=True)  # a destination that was paused or gone works again
        except LilyError as error:
            described = str(error).replace(RETRIED, "A notification would be tried again.")
            test |= {"delivered": False, "receiver_id": "", "error": described[:1_000]}
        ledger.keep_test(test | {"seconds": round(time.monotonic() - began, 3)})

    def _send(self, job: Job, target: Target, stored: StoredChannel) -> str:
        channel = self._pool.get(job.tenant, target.channel, stored)
        identity, url = str(job.arguments["request"]), self._settings.link_url
        title = f"Test of the channel {stored.name}"
        notification = Notification(identity, job.tenant, "test", "info", title, TEXT, clock.now(), url)
        (sent,) = self._loop.run(send(channel, target.destination, [Message(notification, ())], {}))
        if sent.error is not None:
            raise sent.error
        return sent.receiver
