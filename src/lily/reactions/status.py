"""How the reactions are doing: how far each is behind, how fast it goes, and what failed."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import httpx
import psycopg
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from lily.bus.offsets import Offsets, lag_by_topic
from lily.reactions.at_risk import AtRisk
from lily.reactions.enforcement import enforcement_reaction
from lily.reactions.feed import Feed
from lily.reactions.incidents import Incidents
from lily.reactions.notifications import Notifications
from lily.reactions.propagation import Propagation
from lily.reactions.quality import quality_reaction
from lily.store.postgres.queries import query
from lily.store.postgres.reactions.ledger import progress_topic

REACTIONS: Mapping[str, Sequence[str]] = {
    reaction.name: reaction.topics
    for reaction in (Propagation, Feed, enforcement_reaction(), quality_reaction(), Incidents, AtRisk, Notifications)
}
TOPICS = sorted({topic for topics in REACTIONS.values() for topic in topics})
METRICS_SECONDS = 2.0


class ReactionStatus(TypedDict):
    lag: int  # events in the log that it has not handled
    parked: int  # events of tenants that wait for their turn or for another attempt
    rate: float | None  # events per second over the last minute; None if no worker reports it
    failures: int | None  # since the workers started: retried, parked and dead-lettered


def reaction_status(database_url: str, ends: Offsets, workers: Sequence[str]) -> dict[str, ReactionStatus]:
    """By reaction. `ends` are where the topics end, `workers` the addresses of the workers' metrics."""
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(query("progress/applied")).fetchall()
        parked: dict[str, int] = dict(connection.execute(query("reactions/parked_by_reaction")).fetchall())
    applied = {(topic, partition): offset for topic, partition, offset in rows}
    rates, failures = _measured(workers)
    return {
        name: ReactionStatus(
            lag=sum(lag_by_topic(_ends_for(name, topics, ends), applied).values()) + parked.get(name, 0),
            parked=parked.get(name, 0),
            rate=rates.get(name),
            failures=failures.get(name),
        )
        for name, topics in REACTIONS.items()
    }


def _ends_for(reaction: str, topics: Sequence[str], ends: Offsets) -> Offsets:
    """The ends under the names by which `applied` records a reaction's progress."""
    return {(progress_topic(topic, reaction), at): end for (topic, at), end in ends.items() if topic in topics}


def _measured(workers: Sequence[str]) -> tuple[dict[str, float], dict[str, int]]:
    rates: dict[str, float] = {}
    failures: dict[str, int] = {}
    for worker in workers:
        for family in _families(worker):
            for sample in family.samples:
                reaction = sample.labels.get("reaction", "")
                if sample.name == "lily_reaction_rate":
                    rates[reaction] = rates.get(reaction, 0.0) + sample.value
                elif sample.name == "lily_reaction_failures_total":
                    failures[reaction] = failures.get(reaction, 0) + int(sample.value)
    return rates, failures


def _families(worker: str) -> Sequence[Metric]:
    try:
        page = httpx.get(f"{worker.rstrip('/')}/metrics", timeout=METRICS_SECONDS)
        page.raise_for_status()
    except httpx.HTTPError:
        return ()
    return tuple(text_string_to_metric_families(page.text))
