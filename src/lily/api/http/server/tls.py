"""The certificate that the API serves with, checked before it is used: a library's own error names neither file nor
remedy."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from lily.model.errors import Terminal
from lily.settings import Tls

T = TypeVar("T")
CERTIFICATE, KEY, CLIENT_CA = "LILY_TLS__CERTIFICATE", "LILY_TLS__KEY", "LILY_TLS__CLIENT_CA"


class BadCertificate(Terminal):
    """A file of the settings of TLS cannot be used."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Files in PEM that were found to be valid, and when the first of the certificates expires."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None
    expires: datetime


def identity(tls: Tls) -> Identity | None:
    """None if the API serves without TLS. Raises BadCertificate if a file is missing, invalid or expired, or if the
    key is that of another certificate."""
    if tls.certificate is None or tls.key is None:
        return None
    certificate, key = _read(CERTIFICATE, tls.certificate), _read(KEY, tls.key)
    chain = _parsed(CERTIFICATE, tls.certificate, lambda: x509.load_pem_x509_certificates(certificate))
    _require_match(tls, chain[0], _parsed_key(tls.key, key))
    for one in chain:
        _require_valid(CERTIFICATE, tls.certificate, one)
    return Identity(certificate, key, _client_ca(tls.client_ca), min(one.not_valid_after_utc for one in chain))


def _client_ca(path: Path | None) -> bytes | None:
    if path is None:
        return None
    authorities = _read(CLIENT_CA, path)
    for one in _parsed(CLIENT_CA, path, lambda: x509.load_pem_x509_certificates(authorities)):
        _require_valid(CLIENT_CA, path, one)
    return authorities


def _read(setting: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadCertificate(f"{setting} is {path}, which cannot be read: {error.strerror}. Correct it.") from error


def _parsed(setting: str, path: Path, parse: Callable[[], T]) -> T:
    try:
        return parse()
    except ValueError as error:
        raise BadCertificate(
            f"{path} ({setting}) is not a certificate in PEM. It begins with -----BEGIN CERTIFICATE-----; convert "
            "other formats with `openssl x509`."
        ) from error


def _parsed_key(path: Path, key: bytes) -> PrivateKeyTypes:
    try:
        return load_pem_private_key(key, password=None)
    except TypeError as error:
        raise BadCertificate(
            f"The key in {path} ({KEY}) has a password, which nobody enters when a server starts. Remove it with "
            "`openssl pkey`, and let only Lily's user read the file."
        ) from error
    except ValueError as error:
        raise BadCertificate(
            f"{path} ({KEY}) is not a private key in PEM. It begins with -----BEGIN PRIVATE KEY-----; convert other "
            "formats with `openssl pkey`."
        ) from error


def _require_match(tls: Tls, certificate: x509.Certificate, key: PrivateKeyTypes) -> None:
    def of(public: object) -> bytes:
        return bytes(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))  # type: ignore[attr-defined]

    if of(certificate.public_key()) != of(key.public_key()):
        raise BadCertificate(
            f"The key in {tls.key} ({KEY}) is not that of the first certificate in {tls.certificate} ({CERTIFICATE}), "
            f"which is for {certificate.subject.rfc4514_string()}. Use the two files that were made together; the "
            "server's own certificate comes before those of its issuers."
        )


def _require_valid(setting: str, path: Path, certificate: x509.Certificate) -> None:
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if datetime.now(UTC) >= ends:
        raise BadCertificate(
            f"The certificate of {certificate.subject.rfc4514_string()} in {path} ({setting}) expired at "
            f"{ends.isoformat()}. Renew it and start again."
        )
    if datetime.now(UTC) < begins:
        raise BadCertificate(
            f"The certificate of {certificate.subject.rfc4514_string()} in {path} ({setting}) is not valid before "
            f"{begins.isoformat()}. Check the clock of this machine."
        )
