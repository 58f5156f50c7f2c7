"""The topics of the contract. They are internal and shared by all tenants, keyed `tenant/asset`."""

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from lily.model.errors import Transient

ASSETS = "asset-ingestion-events"
METADATA = "metadata-events"
DEAD_LETTERS = "dead-letter-events"

TOPICS = (
    ASSETS,
    METADATA,
    DEAD_LETTERS,
    "scraping-job-events",
    "asset-ingestion-events-bulk",
    "usage-events",
    "incident-events",
    "lineage-events",
    "policy-events",
    "metadata-update-propagation-events",
    "notification-events",
)
_MAX_MESSAGE = 4 << 20  # the largest event is 1 MiB; a dead letter carries it base64-encoded with its cause


def ensure_topics(bootstrap: str, partitions: int, replication: int) -> None:
    """Creates what is missing; topics that exist are left as they are."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
    try:
        existing = admin.list_topics(timeout=15).topics
        missing = [
            NewTopic(name, partitions, replication, config={"max.message.bytes": str(_MAX_MESSAGE)})
            for name in TOPICS
            if name not in existing
        ]
        for created in (admin.create_topics(missing) if missing else {}).values():
            _settle(created.exception())
    except KafkaException as error:
        raise Transient(f"Kafka at {bootstrap} does not answer: {error}. Is it running? See: lily status") from error


def _settle(error: BaseException | None) -> None:
    already_there = isinstance(error, KafkaException) and error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
    if error is not None and not already_there:
        raise error


def key_of(tenant: str, asset_id: str) -> bytes:
    return f"{tenant}/{asset_id}".encode()
