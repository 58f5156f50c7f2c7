"""The topics of the contract. They are internal and shared by all tenants, keyed `tenant/asset`."""

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from lily.brokers import Brokers
from lily.model.errors import Transient
from lily.model.lanes import Lane

ASSETS = "asset-ingestion-events"
ASSETS_BULK = "asset-ingestion-events-bulk"
LINEAGE_INTAKE = "lineage-ingestion-events"  # statements about edges, and the claims of jobs' runs
METADATA = "metadata-events"
LINEAGE = "lineage-events"
GOVERNANCE = "governance-events"  # changes that can propagate or that decisions depend on: lily.model.governance
PROPAGATED = "metadata-update-propagation-events"
NOTIFICATIONS = "notification-events"
SUBSCRIBED = "subscribed-changes"  # changes of assets that subscriptions name: lily.notify.events
POLICIES = "policy-events"
USAGE = "usage-events"
DEAD_LETTERS = "dead-letter-events"
INCIDENTS = "incident-events"  # webhooks as they came, and statements about incidents: lily.incidents
SCRAPING_JOBS = "scraping-job-events"  # requests to refresh data sources, for scrapers
OF_LANE: dict[Lane, str] = {"hot": ASSETS, "bulk": ASSETS_BULK}
INTAKE = (ASSETS, ASSETS_BULK, LINEAGE_INTAKE, USAGE)  # what the API writes and the pipeline applies

TOPICS = (
    ASSETS,
    METADATA,
    DEAD_LETTERS,
    SCRAPING_JOBS,
    ASSETS_BULK,
    USAGE,
    INCIDENTS,
    LINEAGE_INTAKE,
    LINEAGE,
    POLICIES,
    PROPAGATED,
    GOVERNANCE,
    NOTIFICATIONS,
    SUBSCRIBED,
)
_MAX_MESSAGE = 5 << 20  # producers send at most 4 MiB, plus the overhead of the batch


def ensure_topics(brokers: Brokers, partitions: int, replication: int) -> None:
    """Creates missing topics. Existing ones stay as they are."""
    admin = AdminClient(brokers.client())
    try:
        existing = admin.list_topics(timeout=15).topics
        missing = [
            NewTopic(name, partitions, replication, config=_config(replication))
            for name in TOPICS
            if name not in existing
        ]
        for created in (admin.create_topics(missing) if missing else {}).values():
            _raise_unless_exists(created.exception())
    except KafkaException as error:
        raise Transient(
            f"Kafka at {brokers.bootstrap} does not respond: {error}. Check the address, and the login if it needs one."
        ) from error


def _config(replication: int) -> dict[str, str]:
    """One replica may be down. With two down, a 202 would depend on a single disk, so Kafka refuses the write."""
    return {"max.message.bytes": str(_MAX_MESSAGE), "min.insync.replicas": str(max(1, replication - 1))}


def _raise_unless_exists(error: BaseException | None) -> None:
    already_there = isinstance(error, KafkaException) and error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
    if error is not None and not already_there:
        raise error


def key_of(tenant: str, asset_id: str) -> bytes:
    return f"{tenant}/{asset_id}".encode()
