"""Ids that follow from what they identify: a repeated event makes the same notification and the same deliveries."""

import hashlib
import uuid

_NAMESPACE = uuid.UUID("5a0c8f5e-6c69-8c79-8e6f-746966790001")


def notification_id(tenant: str, event_id: str) -> str:
    return _derived("notification", tenant, event_id)


def delivery_id(notification: str, subscription: str, target: str) -> str:
    return _derived("delivery", notification, subscription, target)


def target_of(channel: str, destination: str) -> str:
    """Identifies a destination of a channel, in few characters: a destination may be a long address."""
    digest = hashlib.sha256(f"{channel}\x00{destination}".encode()).hexdigest()[:32]
    return f"{channel[:64]}/{digest}"


def job_group(target: str) -> str:
    """Jobs of one destination run in order, on one worker at a time."""
    return f"notify/{target}"


def _derived(*parts: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, "\x00".join(parts)))
