"""Monte Carlo's part in the demo: webhooks about an incident, signed with the tenant's secret."""

import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from lily.cli.demo.stack import DemoStack
from lily.cli.demo.step import StepFailed
from lily.client import Tls

SOURCE, HEADER = "monte-carlo", "x-mcd-signature"
PATH = f"/webhook/{SOURCE}"
SECONDS = 30  # for one webhook


@dataclass(frozen=True, slots=True)
class MonteCarlo:
    """A sender without a token: the signature is what proves who it is."""

    client: httpx.Client
    tenant: str
    secret: str

    def send(self, message: dict[str, Any]) -> None:
        """Raises StepFailed unless the response is 200."""
        body = json.dumps(message).encode()
        signature = hmac.new(self.secret.encode(), body, "sha512").hexdigest()
        headers = {HEADER: signature, "content-type": "application/json"}
        try:
            response = self.client.post(PATH, params={"tenant": self.tenant}, content=body, headers=headers)
        except httpx.HTTPError as error:
            raise StepFailed(f"the webhook to {PATH} had no response: {error}") from error
        if response.status_code != httpx.codes.OK:
            raise StepFailed(f"the webhook to {PATH} was refused with {response.status_code}: {response.text}")


@contextmanager
def monte_carlo(stack: DemoStack, tenant: str, secret: str) -> Iterator[MonteCarlo]:
    """Yields the sender with its HTTP client: making one takes longer than a webhook does."""
    verify = Tls(stack.certificate).context() if stack.certificate else True
    with httpx.Client(base_url=stack.url, timeout=SECONDS, verify=verify) as client:
        yield MonteCarlo(client, tenant, secret)


def opened(incident: str, table: str, details: str) -> dict[str, Any]:
    """The message about a table that is not as it was."""
    return _message(incident, {"event_list": [{"table_name": table, "event_details": details}]})


def fixed(incident: str) -> dict[str, Any]:
    """The message that someone has set the incident's status to fixed."""
    return _message(incident, {"alert_feedback": "fixed", "event_list": []})


def _message(incident: str, payload: dict[str, Any]) -> dict[str, Any]:
    link = f"https://getmontecarlo.com/incidents/{incident}"
    known = {"incident_id": incident, "group_id": None, "url": link}
    return {"type": "open_anomaly_incident", "version": "v0.1", "action": "incident", "payload": known | payload}
