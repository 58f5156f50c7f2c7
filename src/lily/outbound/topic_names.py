"""The name of a Kafka topic that belongs to a tenant."""

import hashlib
import string

MAX_NAME = 249  # Kafka's
_PLAIN = frozenset(string.ascii_lowercase + string.digits + "-")


def topic_name(prefix: str, tenant: str, name: str) -> str:
    """`PREFIX.TENANT.NAME`. Different for every pair: dots separate, and any character besides lower-case
    letters, digits and hyphens is written as `_` and the hexadecimal digits of its bytes, as in `sales_20eu`."""
    whole = f"{beginning(prefix, tenant)}{_escaped(name)}"
    if len(whole) <= MAX_NAME:
        return whole
    # An escape never follows two underscores, so no shorter name can be this one.
    tail = f"__{hashlib.sha256(whole.encode()).hexdigest()[:32]}"
    return whole[: MAX_NAME - len(tail)] + tail


def beginning(prefix: str, tenant: str) -> str:
    """With what the names of all topics of the tenant begin, and no others."""
    return f"{prefix}.{_escaped(tenant)}."


def _escaped(text: str) -> str:
    return "".join(one if one in _PLAIN else "".join(f"_{byte:02x}" for byte in one.encode()) for one in text)
