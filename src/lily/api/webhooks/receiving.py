"""Receives a signed webhook: verified, and in the log before the sender gets its response."""

import asyncio
import hashlib
import hmac
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import orjson
from starlette.requests import Request

from lily.api.auth.strangers import Strangers
from lily.api.http.bodies import read_bytes
from lily.api.http.errors import Declined, forbidden
from lily.api.ingest.records import incident_record
from lily.api.metrics import ApiMetrics
from lily.api.quotas.quotas import Quotas
from lily.api.webhooks.secrets import WebhookSecrets
from lily.bus import topics
from lily.bus.producer import LogProducer
from lily.incidents import IncidentEvent, WebhookEvent
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.plugins import Delivery, Handshake, Intake, Sender

MAX_BODY = 10 << 20
MAX_RECORD = 3 << 20  # of the log; a webhook in it is a third larger than it came
LARGE = 128 << 10  # bytes from which on a body is verified in a thread: it would hold up other requests
LARGE_BODIES = 4  # held in memory at a time: their senders are not authenticated yet
READ_SECONDS = 30
# The same for every cause: which tenants, sources and secrets exist is not disclosed.
REFUSED = (
    "the signature is missing or wrong, or there is no such webhook; compare the address "
    "(/webhook/SOURCE?tenant=TENANT) and the secret with those of PUT /webhook-secrets/SOURCE"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_KEPT_HEADERS = ("x-", "webhook-", "content-type")  # beginnings; never `authorization`
_MAX_HEADER = 1024
_DECOY = [os.urandom(32)]  # verified with instead of a secret that is not there, so that it takes as long

Record = tuple[str, bytes, bytes]


class Webhooks:
    """Of one process. `secrets` is the cache of what webhooks are signed with."""

    def __init__(
        self, secrets: WebhookSecrets, log: LogProducer, metrics: ApiMetrics, quotas: Quotas, strangers: Strangers
    ) -> None:
        self.secrets, self._log, self._metrics = secrets, log, metrics
        self._quotas, self._strangers = quotas, strangers
        self._reading = asyncio.Semaphore(LARGE_BODIES)
        self._verifying = asyncio.Semaphore(1)  # large bodies: without a secret nobody can occupy all threads

    async def receive(self, request: Request, tenant: str, source: str) -> Mapping[str, str] | None:
        """Returns once the log has confirmed the delivery. If the sender only verifies the address, returns what it
        expects, and stores nothing. Raises Declined: 403 if no secret of the tenant signed it, which is also the
        response for an unknown tenant or source, 413 for a body that is too large, and 429 if the tenant exceeds a
        quota, or the address had too many failures; LogFull or LogUnavailable if it is not in the log."""
        address = request.client.host if request.client else None
        self._strangers.require_few_failures(address)
        async with self._room(request):
            body = await _read(request)
            delivery = Delivery(body, _headers(request.headers), clock.now())
            is_named = is_name(tenant) and is_name(source)
            secrets = await self.secrets.of(tenant, source) if is_named else []
            intake = await self.secrets.intake(tenant, source) if is_named else None
            if not await self._verified(intake, delivery, secrets) or intake is None:
                self._metrics.webhooks_refused.inc()
                self._strangers.failed(address)
                raise forbidden(REFUSED, "signature", "BAD_SIGNATURE")
            # Only now: who cannot sign must not use up what the tenant may send.
            self._quotas.count_webhook(tenant, len(body))
            response = intake.handshake(delivery) if isinstance(intake, Handshake) else None
            if response is None:
                kept = Delivery(body, _kept(delivery.headers, secrets), delivery.received)
                await self._log.append(await _records(intake, Sender(tenant, source), kept))
        self._metrics.webhooks_accepted.inc()
        return response

    @asynccontextmanager
    async def _room(self, request: Request) -> AsyncIterator[None]:
        announced = request.headers.get("content-length", "")
        # What is compressed may be a hundred times as large as it is announced.
        if announced.isdecimal() and int(announced) <= LARGE and "content-encoding" not in request.headers:
            yield
        else:
            async with self._reading:
                yield

    async def _verified(self, intake: Intake | None, delivery: Delivery, secrets: list[bytes]) -> bool:
        """Everything that may be wrong takes as long: a signature is computed in every case."""
        if len(delivery.body) <= LARGE:
            return _signed(intake, delivery, secrets)
        async with self._verifying:
            return await asyncio.to_thread(_signed, intake, delivery, secrets)


async def _read(request: Request) -> bytes:
    """Raises Refused if the sender takes too long: it holds a place that others need."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await read_bytes(request, MAX_BODY)
    except TimeoutError as error:
        described = f"the body took longer than {READ_SECONDS} s; send it again"
        raise Refused(Problem("SLOW_BODY", described, "body")) from error


def is_name(text: str) -> bool:
    """Whether a tenant or a source can be called that."""
    return _NAME.fullmatch(text) is not None


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in given.items() if len(name) + len(value) <= _MAX_HEADER}


def _kept(headers: Mapping[str, str], secrets: Sequence[bytes]) -> dict[str, str]:
    """Those that go into the log: no token, and nothing that is a secret itself."""
    known = [secret.decode("utf-8", "replace") for secret in secrets]
    return {
        name: value
        for name, value in headers.items()
        if name.startswith(_KEPT_HEADERS) and not any(secret in value for secret in known)
    }


def _signed(intake: Intake | None, delivery: Delivery, secrets: list[bytes]) -> bool:
    if intake is None:
        hmac.new(_DECOY[0], delivery.body, hashlib.sha512).hexdigest()
        return False
    return intake.verify(delivery, secrets or _DECOY) and bool(secrets)


async def _records(intake: Intake, sender: Sender, delivery: Delivery) -> list[Record]:
    """The delivery as it came. One that a record cannot hold becomes statements at once, without the original."""
    if len(delivery.body) * 4 // 3 > MAX_RECORD:
        return await asyncio.to_thread(_statements, intake, sender, delivery)
    webhook = WebhookEvent.of(sender.tenant, sender.by, delivery.headers, delivery.body, delivery.received)
    return [(topics.INCIDENTS, webhook.key, orjson.dumps(webhook.as_cloudevent()))]


def _statements(intake: Intake, sender: Sender, delivery: Delivery) -> list[Record]:
    try:
        found = [event for item in intake.decode(delivery) for event in intake.events(item, delivery, sender)]
    except Refused as error:
        described = f"the body is too large to be kept as it came, and cannot be read: {error}"
        raise Declined(413, Problem("TOO_LARGE", described, "body")) from error
    said = [event for event in found if isinstance(event, IncidentEvent)]
    if len(said) < len(found):  # what is not a statement about an incident exists in the log only as it came
        described = f"a webhook of this source must not exceed {MAX_RECORD * 3 // 4} bytes"
        raise Declined(413, Problem("TOO_LARGE", described, "body"))
    return [incident_record(event) for event in said]
