"""The signature of authority: who may write to Kafka cannot claim `policy:write` by that.

Whether the writer of a statement had authority is part of the event's data. The door that found out signs the event:
the last attribute of its envelope is `authority`, `KEY.MAC`, an HMAC-SHA256 over all bytes before it. So neither a
canonical form nor a header of the record is needed, and a statement without authority, as most are, costs nothing.

The keys are derived from the master keys that `lily keys rotate` manages. The first signs, all verify.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import structlog
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_ATTRIBUTE: Final = b',"authority":"'
_END: Final = b'"}'
_INFO: Final = b"lily/authority/1"
_log = structlog.get_logger()

ReadKeys = Callable[[Path | None], list[bytes]]  # raises Terminal if the file has no keys


class SigningKey(NamedTuple):
    """Derived: it signs statements and decrypts nothing, so it may go where the master key may not."""

    name: bytes
    secret: bytes

    @classmethod
    def of(cls, master_key: bytes) -> "SigningKey":
        secret = HKDF(SHA256(), 32, salt=None, info=_INFO).derive(master_key)
        return cls(hashlib.sha256(secret).hexdigest()[:12].encode(), secret)

    def mac(self, prefix: bytes) -> bytes:
        return base64.urlsafe_b64encode(hmac.digest(self.secret, prefix, "sha256")).rstrip(b"=")


def sign(value: bytes, keys: Sequence[SigningKey]) -> bytes:
    """The event with its signature; as it is if there is no key. `value` is a JSON object without white space around
    it."""
    if not keys:
        return value
    prefix = value[:-1]
    return b"".join((prefix, _ATTRIBUTE, keys[0].name, b".", keys[0].mac(prefix), _END))


class Verifier:
    """Counts the events that claim authority and have no valid signature."""

    def __init__(self, keys: Sequence[SigningKey]) -> None:
        self._secrets = {key.name: key for key in keys}
        self.rejected = 0

    def accepts(self, value: bytes | None) -> bool:
        accepted = value is not None and self._is_signed(value)
        self.rejected += not accepted
        return accepted

    def _is_signed(self, value: bytes) -> bool:
        prefix, found, signature = value.rpartition(_ATTRIBUTE)
        name, _, mac = signature.removesuffix(_END).partition(b".")
        key = self._secrets.get(name) if found and signature.endswith(_END) else None
        return key is not None and hmac.compare_digest(key.mac(prefix), mac)


class SigningKeys:
    """The keys of a master key file, which is read again when it changes: `lily keys rotate` adds keys while Lily runs.

    Without a file nothing is signed and no claim is accepted: then nobody has authority."""

    def __init__(self, path: Path | None, read: ReadKeys) -> None:
        self._path, self._read, self._changed_at = path, read, -1
        self._keys: tuple[SigningKey, ...] = ()

    def __call__(self) -> tuple[SigningKey, ...]:
        if self._path is None:
            if self._changed_at:
                _log.warning("no master key: statements cannot carry authority; set LILY_MASTER_KEY_FILE")
                self._changed_at = 0
            return ()
        changed_at = self._path.stat().st_mtime_ns if self._path.exists() else 0
        if changed_at != self._changed_at:
            self._keys = tuple(map(SigningKey.of, self._read(self._path)))
            self._changed_at = changed_at
        return self._keys
