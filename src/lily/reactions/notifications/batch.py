"""The deliveries of one job: how many of them may be sent now, and what became of each."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog

from lily.model.errors import LilyError, Terminal, Transient
from lily.notify.pacing import Pace
from lily.plugins import DestinationGone
from lily.reactions.notifications.messages import Message
from lily.reactions.notifications.metrics import DeliveryMetrics
from lily.reactions.notifications.sending import Sent
from lily.store.postgres.deliveries.ledger import DeliveryLedger, Outcome, Taken
from lily.store.postgres.jobs.queue import Job, Later

ATTEMPTS = 20  # of one message, without those during which the destination took no other either
GIVE_UP_SECONDS = 86_400.0  # what has waited for longer is given up with the next failure

_log = structlog.get_logger()


class Batch:
    """`gone`: the receiver wants no more. `stopped`: nothing more is sent in this run."""

    def __init__(  # noqa: PLR0917 - what a batch is
        self, ledger: DeliveryLedger, job: Job, metrics: DeliveryMetrics, pace: Pace, now: datetime, limit: float | None
    ) -> None:
        self._ledger, self._job, self._metrics, self._limit = ledger, job, metrics, limit
        self._pace, self._began, self._clock = pace, now, time.monotonic()
        self._outcomes: list[Outcome] = []
        self._letters: list[tuple[str, str]] = []  # deliveries that failed for good, and why
        self._delivered = self._failed = self._was_refused = self.gone = False

    @property
    def stopped(self) -> bool:
        return self._failed or self.gone

    def room(self, wanted: int) -> int:
        """How many of so many messages may be sent now: one if it is a probe, none if the rate limit is used up."""
        self._pace = self._pace.refilled(self._limit, self._now())
        return self._pace.room(self._limit, 1 if self._pace.probing else wanted)

    def record(self, messages: Sequence[Message], sent: Sequence[Sent]) -> list[Message]:
        """What became of messages; returns those that are still to be sent."""
        self._pace = self._pace.spent(self._limit, len(sent))
        settled = {one.message.lead.id for one in sent if self._settled(one)}
        failed = [(one.error, one.seconds) for one in sent if isinstance(one.error, Transient)]
        if failed:
            requested = max((error.retry_after for error, _ in failed if error.retry_after), default=None)
            took = max(seconds for _, seconds in failed)
            self._pace = self._pace.failed(self._now(), str(failed[0][0]), requested=requested, took=took)
            self._failed = True
        elif refused := _refusal(sent):
            self._refused(refused)
        elif sent:
            self._pace = self._pace.succeeded()
        self.gone = any(isinstance(one.error, DestinationGone) for one in sent)
        return [message for message in messages if message.lead.id not in settled]

    def suppress(self, deliveries: Sequence[Taken]) -> None:
        """Those of subscriptions that want them no more."""
        for one in deliveries:
            why = "the subscription was deleted" if one.body is None else "the subscription is disabled"
            self._outcomes.append(Outcome(one.id, "suppressed", why, attempted=False))
        self._metrics.count("suppressed", len(deliveries))

    def refuse(self, deliveries: Sequence[Taken], error: LilyError) -> None:
        """What cannot be sent at all."""
        if deliveries:
            self._refused(error)
        self._settle(deliveries, "failed", str(error))
        self._letters += [(one.id, str(error)) for one in deliveries if one.lead is None]
        self._metrics.count("failed", len(deliveries))

    def close(self, *, waits: bool) -> Later | None:
        """Writes what became of the deliveries. If some are still to be sent, returns when."""
        self._ledger.settle(self._outcomes)
        for delivery, error in self._letters:
            self._ledger.dead_letter(self._job, delivery, error)
        failed = self._failed or self._was_refused
        self._ledger.keep_pace(self._pace, gone=self.gone, failed=failed, delivered=self._delivered)
        if not waits:
            return None
        seconds = max(self._pace.pause(self._now()), self._pace.wait(self._limit))
        return Later(seconds, self._pace.error if self._failed else "the rate limit of the destination is used up")

    def _refused(self, error: LilyError) -> None:
        self._pace, self._was_refused = self._pace.refused(str(error)), True

    def _settled(self, sent: Sent) -> bool:
        message, error = sent.message, sent.error
        if error is None:
            self._settle(message.deliveries, "delivered", message.problem, sent.receiver)
            self._delivered = True
            self._metrics.delivered(message.lead.waited, len(message.deliveries))
            return True
        given_up = isinstance(error, Terminal) or _is_last(message.lead, self._pace.failures)
        self._settle(message.deliveries, "failed" if given_up else None, str(error))
        self._metrics.count("failed" if given_up else "retried", len(message.deliveries))
        if given_up:
            self._letters.append((message.lead.id, str(error)))
            place = {"tenant": self._job.tenant, "notification": message.lead.notification}
            _log.warning("notification not delivered", **place, error=str(error)[:500])
        return given_up

    def _settle(self, deliveries: Sequence[Taken], state: str | None, error: str, receiver: str = "") -> None:
        self._outcomes += [Outcome(one.id, state, error, receiver) for one in deliveries]

    def _now(self) -> datetime:
        """By the clock of PostgreSQL, which all workers share."""
        return self._began + timedelta(seconds=time.monotonic() - self._clock)


def _refusal(sent: Sequence[Sent]) -> LilyError | None:
    """Why the receiver refused all of them; None if it took one."""
    errors = [one.error for one in sent if one.error is not None]
    return errors[-1] if errors and len(errors) == len(sent) else None


def _is_last(delivery: Taken, failures: int) -> bool:
    """Whether another failure is the last; `failures` is how often the destination has failed in a row: an outage is no
    fault of the message that probes it. A delivery that had failed was replayed, and counts anew."""
    attempts = 0 if delivery.state == "failed" else delivery.attempts
    return attempts + 1 - failures >= ATTEMPTS or delivery.waited > GIVE_UP_SECONDS
