"""Certificates for servers and clients on this machine."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Issued:
    """A key and the certificate for it, both in PEM."""

    key: bytes
    certificate: bytes

    def saved(self, directory: Path, name: str) -> tuple[Path, Path]:
        """The files of the certificate and of the key."""
        certificate, key = directory / f"{name}.pem", directory / f"{name}.key"
        certificate.write_bytes(self.certificate)
        key.write_bytes(self.key)
        return certificate, key


class Authority:
    """Signs certificates. Its own is what others have to trust."""

    def __init__(self, name: str = "authority") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        own = _certificate(self._name, self._key.public_key(), self._name, authority=True)
        self.certificate = own.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def issue(self, host: str = "localhost", ends: timedelta = timedelta(days=1)) -> Issued:
        """For this name, and for the loopback address."""
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.DNSName(host), x509.IPAddress(ip_address("127.0.0.1"))]
        draft = _certificate(_named(host), key.public_key(), self._name, ends=ends, names=names)
        return Issued(_pem(key), draft.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))


def self_signed(host: str) -> tuple[bytes, bytes]:
    """Key and certificate, in PEM."""
    key, name = ec.generate_private_key(ec.SECP256R1()), _named(host)
    draft = _certificate(name, key.public_key(), name, authority=True, names=[x509.DNSName(host)])
    return _pem(key), draft.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _certificate(
    subject: x509.Name,
    key: ec.EllipticCurvePublicKey,
    issuer: x509.Name,
    *,
    authority: bool = False,
    ends: timedelta = timedelta(days=1),
    names: Sequence[x509.GeneralName] = (),
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    draft = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + ends)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    return draft.add_extension(x509.SubjectAlternativeName(names), critical=False) if names else draft


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    plain, pem = serialization.NoEncryption(), serialization.Encoding.PEM
    return key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)


def server_context(directory: Path, host: str) -> tuple[ssl.SSLContext, bytes]:
    """For a server of that name, and the certificate that its clients have to trust."""
    key, certificate = self_signed(host)
    (directory / f"{host}.pem").write_bytes(key + certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / f"{host}.pem")
    return context, certificate
