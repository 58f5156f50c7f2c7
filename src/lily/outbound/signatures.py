"""Standard Webhooks: the headers by which a receiver verifies a message and drops repeats."""

import base64
import binascii
from collections.abc import Sequence
from datetime import UTC, datetime

from standardwebhooks import Webhook

PREFIX = "whsec_"
BYTES = range(24, 65)  # of a secret, as the standard has it


def checked_secret(secret: str) -> str:
    """Raises ValueError, without the secret."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or len(key) not in BYTES:
        raise ValueError(f"a secret is {PREFIX} and {BYTES[0]} to {BYTES[-1]} random bytes in base64")
    return secret


class Signer:
    """Signs with every secret, so that a receiver can replace one without losing messages."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._keys = [Webhook(secret) for secret in secrets]

    def headers(self, message_id: str, body: bytes) -> dict[str, str]:
        """For one attempt: the time is that of the attempt, which receivers compare with their clock."""
        now = datetime.now(UTC)
        signatures = [key.sign(message_id, now, body.decode()) for key in self._keys]
        return {
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signatures),
        }
