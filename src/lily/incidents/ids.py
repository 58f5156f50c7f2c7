"""Ids of incidents, and ids of events that follow from their content."""

import hashlib

_CONTENT_DIGITS = 40  # leaves room for a number behind it within the longest event id


def incident_id(tenant: str, source: str, external_id: str) -> str:
    """A UUIDv8. It follows from its parts, so it is known before anything is stored."""
    digest = _digest(tenant, source, external_id)
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


def content_id(tenant: str, source: str, content: bytes) -> str:
    """The id of an event: a message that is delivered again is the same event."""
    return f"{source[:12]}-{_digest(tenant, source, content)[:_CONTENT_DIGITS]}"


def _digest(*parts: str | bytes) -> str:
    # The length of each part is hashed too, so no two lists of parts hash the same input.
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8) + raw)
    return digest.hexdigest()
