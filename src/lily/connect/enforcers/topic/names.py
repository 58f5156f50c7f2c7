"""The name of a target's topic."""

import hashlib
import string

PREFIX = "lily-enforcement"
MAX_NAME = 249  # Kafka's
_PLAIN = frozenset(string.ascii_lowercase + string.digits + "-")


def topic_name(tenant: str, target: str) -> str:
    """`lily-enforcement.TENANT.TARGET`. Different for every pair: dots separate, and any character besides lower-case
    letters, digits and hyphens is written as `_` and the hexadecimal digits of its bytes, as in `sales_20eu`."""
    name = f"{PREFIX}.{_escaped(tenant)}.{_escaped(target)}"
    if len(name) <= MAX_NAME:
        return name
    # An escape never follows two underscores, so no shorter name can be this one.
    tail = f"__{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return name[: MAX_NAME - len(tail)] + tail


def _escaped(text: str) -> str:
    return "".join(one if one in _PLAIN else "".join(f"_{byte:02x}" for byte in one.encode()) for one in text)
