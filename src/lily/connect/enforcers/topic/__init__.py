"""`topic`: writes decisions to a Kafka topic of the target's own, the newest message about each table.

docs/decisions/0028-decisions-for-any-tool.md has the reasons, docs/how-to/enforce-anywhere.md the messages.
"""

from lily.connect.enforcers.topic.enforcer import Topic, TopicConfig

__all__ = ["Topic", "TopicConfig"]
