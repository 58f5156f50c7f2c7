"""What each part of Lily has to be permitted in Kafka. All of it is needed, and nothing else.

The embedded Kafka permits exactly this; docs/how-to/secure-a-deployment.md shows the same for a cluster of your own.
"""

from dataclasses import dataclass

from lily.bus import topics

GROUPS = "lily-"  # how the names of consumer groups begin; no offset is ever committed under them


@dataclass(frozen=True, slots=True)
class Grants:
    """Names of topics. Who may read or write a topic may also see it."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    owned: tuple[str, ...] = ()  # how the names of topics begin that the part creates and configures itself


API = Grants(read=(topics.METADATA, topics.NOTIFICATIONS), write=(*topics.INTAKE, topics.INCIDENTS))
PIPELINE = Grants(read=topics.INTAKE, write=(topics.ASSETS,))  # it warms up with events of its own
WORKER = Grants(
    read=(topics.GOVERNANCE, topics.PROPAGATED, topics.INCIDENTS, topics.NOTIFICATIONS, topics.SUBSCRIBED),
    write=tuple(topic for topic in topics.TOPICS if topic != topics.USAGE),
    owned=("lily-enforcement.", "lily-notifications."),
)
OF_PART = {"api": API, "pipeline": PIPELINE, "worker": WORKER}
