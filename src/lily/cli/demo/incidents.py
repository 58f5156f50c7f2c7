"""The last steps: Monte Carlo reports an incident, a dashboard is at risk, Slack is notified, and all is clear."""

import hashlib
from contextlib import suppress
from typing import Any
from uuid import uuid4

from lily.cli.demo.contact_lineage import DASHBOARD
from lily.cli.demo.monte_carlo import SOURCE, fixed, monte_carlo, opened
from lily.cli.demo.step import DemoContext, Step, StepResult, expect_equal, require, wait_until
from lily.client import NotFound

WAIT = 60  # seconds
TABLE = "crm.public.contacts"
AS_MONTE_CARLO_WRITES_IT = "crm:public.contacts"
PROBLEM = "No rows for 12 hours"
CHANNEL, PLACE = "slack", "#data-alerts"
REPORTED, FIXED = "reported", "fixed"  # the clocks
OPENED, AT_RISK = f"Incident opened: {PROBLEM}", f"At risk: {DASHBOARD}"
RESOLVED, CLEAR = f"Incident resolved: {PROBLEM}", f"No longer at risk: {DASHBOARD}"

TESTED, ANSWERED, ON_TABLE, SPREAD, CLEARED, NOTIFIED = (
    "a test of a channel, requested to delivered",
    "a webhook, sent to answered",
    "a webhook, sent to incident on the table",
    "a webhook, sent to dashboard at risk",
    "a webhook, sent to nothing at risk",
    "a webhook, sent to message in Slack",
)


def subscribe(demo: DemoContext) -> StepResult:
    _clear(demo)
    lily = demo.lily
    lily.put_webhook_secret(SOURCE, _secret(demo))
    lily.add_channel({"name": CHANNEL, "type": "slack", "config": {"destinations": {PLACE: demo.slack.url}}})
    test, seconds = demo.timed(TESTED, lambda: lily.send_test(CHANNEL, PLACE))
    require(that=test["delivered"], failure=f"the test of the channel was not delivered: {test['error']}")
    demo.slack.messages.clear()
    filters = {"assets": [TABLE, DASHBOARD], "descendants": False}
    lily.subscribe({"name": "contacts", "channel": CHANNEL, "destination": PLACE, "filters": filters})
    text = f"[b]{PLACE}[/] in Slack (a receiver on this machine) subscribes to {TABLE} and {DASHBOARD}"
    return StepResult(f"{text}; a test arrives", seconds)


def report_incident(demo: DemoContext) -> StepResult:
    message = opened(str(uuid4()), AS_MONTE_CARLO_WRITES_IT, PROBLEM)
    seconds = _send(demo, REPORTED, message)
    return StepResult(f"A signed webhook of Monte Carlo is answered: [i]{PROBLEM}[/] in {TABLE}", seconds)


def show_incident(demo: DemoContext) -> StepResult:
    wait_until(lambda: bool(_open(demo)), f"the incident is not on {TABLE}", WAIT)
    seconds = demo.since(REPORTED, ON_TABLE)
    (incident,) = _open(demo)
    expect_equal("the title of the incident", incident["title"], PROBLEM)
    text = f"[b]{TABLE}[/] has the incident, {incident['severity']} and {incident['state']}"
    return StepResult(f"{text} (from the webhook on, as the next two)", seconds)


def put_dashboard_at_risk(demo: DemoContext) -> StepResult:
    (incident,) = _open(demo)
    identity = incident["incident_id"]
    failure = f"{DASHBOARD} is not at risk"
    wait_until(lambda: identity in demo.lily.get(DASHBOARD).at_risk, failure, WAIT)
    seconds = demo.since(REPORTED, SPREAD)
    others = _at_risk(demo, identity) - {TABLE, DASHBOARD}
    text = f"[b]{DASHBOARD}[/], downstream of it, is at risk, and so are {len(others)} other assets"
    return StepResult(text, seconds)


def notify_slack(demo: DemoContext) -> StepResult:
    """The table is named by the incident, the dashboard by the risk: people are notified once of each."""
    seconds = _notified(demo, REPORTED, [OPENED, AT_RISK])
    return StepResult(f"Slack has [b]{OPENED}[/] and [b]{AT_RISK}[/]", seconds)


def resolve_incident(demo: DemoContext) -> StepResult:
    (incident,) = _open(demo)
    identity = incident["incident_id"]
    _send(demo, FIXED, fixed(incident["external_id"]))
    failure = f"{DASHBOARD} is still at risk"
    wait_until(lambda: identity not in demo.lily.get(DASHBOARD).at_risk, failure, WAIT)
    seconds = demo.since(FIXED, CLEARED)
    expect_equal("what is still at risk", _at_risk(demo, identity), set())
    expect_equal("the state of the incident", demo.lily.incident(identity)["state"], "resolved")
    return StepResult("Monte Carlo reports it as fixed: the incident is resolved, and nothing is at risk", seconds)


def notify_all_clear(demo: DemoContext) -> StepResult:
    seconds = _notified(demo, FIXED, [OPENED, AT_RISK, RESOLVED, CLEAR])
    _clear(demo)
    return StepResult(f"All clear in Slack: [b]{RESOLVED}[/] and [b]{CLEAR}[/]", seconds)


INCIDENTS = (
    Step("subscribe in Slack", subscribe),
    Step("receive a webhook of Monte Carlo", report_incident),
    Step("show the incident on its table", show_incident),
    Step("put the dashboard at risk", put_dashboard_at_risk),
    Step("notify Slack", notify_slack),
    Step("resolve the incident", resolve_incident),
    Step("notify Slack that all is clear", notify_all_clear),
)


def _secret(demo: DemoContext) -> str:
    """It follows from the token, so every step knows it and nobody else."""
    return hashlib.sha256(f"{demo.stack.token}/{SOURCE}".encode()).hexdigest()


def _send(demo: DemoContext, clock: str, message: dict[str, Any]) -> float:
    """Starts the clock and sends the webhook. Returns the seconds until it was answered."""
    with monte_carlo(demo.stack, demo.lily.get(TABLE).tenant_id, _secret(demo)) as sender:
        demo.start(clock)
        return demo.timed(ANSWERED, lambda: sender.send(message))[1]


def _open(demo: DemoContext) -> list[dict[str, Any]]:
    return list(demo.lily.incidents(source=SOURCE, asset=TABLE, state="open"))


def _at_risk(demo: DemoContext, incident: str) -> set[str]:
    return {asset.qualified_name for asset in demo.lily.find(at_risk=True) if incident in asset.at_risk}


def _notified(demo: DemoContext, clock: str, expected: list[str]) -> float:
    """Waits for the messages. Returns the seconds from the webhook to the last of them."""
    slack = demo.slack
    wait_until(lambda: len(slack.messages) >= len(expected), f"Slack did not receive {expected[-2:]}", WAIT)
    expect_equal("the list of messages in Slack", slack.titles, expected)
    return [demo.since(clock, NOTIFIED, message.at) for message in slack.messages[-2:]][-1]


def _clear(demo: DemoContext) -> None:
    """Removes the channel, what subscribes to it and the secret, and resolves what an interrupted run has left open."""
    lily = demo.lily
    for subscription in list(lily.subscriptions()):
        if subscription["channel"] == CHANNEL:
            lily.unsubscribe(subscription["id"])
    with suppress(NotFound):
        lily.remove_channel(CHANNEL)
    for incident in _open(demo):
        lily.resolve_incident(incident["incident_id"])
    wait_until(lambda: not _open(demo), f"an incident of {TABLE} is still open", WAIT)
    with suppress(NotFound):
        lily.remove_webhook_secret(SOURCE)
