"""What enforcers and channels get to know about where they run, from the operator's settings."""

from datetime import datetime

from lily.plugins.surroundings import Surroundings
from lily.settings import Settings


def surroundings_of(settings: Settings, tenant: str, target: str, since: datetime) -> Surroundings:
    """`target` is the folded name of the target or channel: names that differ in case are one."""
    brokers = settings.topics_brokers
    return Surroundings(
        tenant,
        target,
        since,
        allowed_networks=settings.allowed_networks,
        kafka_bootstrap=brokers.bootstrap,
        kafka_replication=settings.kafka_replication,
        kafka_options=brokers.security.for_librdkafka(),
    )
