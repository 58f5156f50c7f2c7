"""Mutual TLS: the certificate by which a receiver recognises the caller."""

import ssl
import tempfile
from pathlib import Path

from lily.outbound.connections import new_tls


def client_tls(certificate: str, key: str) -> ssl.SSLContext:
    """A context that presents the certificate (with its chain) and key, both in PEM. Raises ValueError, without either.

    The library of TLS reads them from a file alone: a private one, which is gone before this returns."""
    context = new_tls()
    with tempfile.TemporaryDirectory(prefix="lily-") as directory:  # accessible to its owner alone
        path = Path(directory) / "identity.pem"
        path.write_text(f"{key}\n{certificate}\n")
        try:
            context.load_cert_chain(path, password=_no_password)
        except (ssl.SSLError, ValueError) as error:
            described = "the client's certificate and key do not belong together, or are not PEM without a password"
            raise ValueError(described) from error
    return context


def _no_password() -> str:
    """Instead of it the library would ask at the terminal."""
    raise ValueError("the key has a password")
