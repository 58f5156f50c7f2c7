"""One message for several notifications: what a grouped subscription sends."""

from collections.abc import Sequence

from lily.notify.events import SEVERITIES, Severity
from lily.notify.wording import MAX_TITLE, Worded

MAX_LISTED = 50


def digest(messages: Sequence[Worded]) -> Worded:
    """A single message stays as it is."""
    if len(messages) == 1:
        return messages[0]
    lines = [f"- {message.title}" for message in messages[:MAX_LISTED]]
    if len(messages) > MAX_LISTED:
        lines.append(f"and {len(messages) - MAX_LISTED} more")
    return Worded(f"{len(messages)} notifications: {messages[0].title}"[:MAX_TITLE], "\n".join(lines))


def highest(severities: Sequence[Severity]) -> Severity:
    return max(severities, key=SEVERITIES.index)
