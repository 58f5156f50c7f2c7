"""Whom the client trusts over https, and how it proves who it is."""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from lily.model.errors import Terminal

CA, CERTIFICATE, KEY = "LILY_CA", "LILY_CLIENT_CERTIFICATE", "LILY_CLIENT_KEY"
File = str | Path


class UnusableFile(Terminal):
    """A file with a certificate or a key is missing or invalid."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Files in PEM. `ca` has the certificates to trust instead of the system's: that of an authority, or of the server
    itself. `certificate` and `key` are the client's, for a server that requires them; one file may hold both."""

    ca: File | None = None
    certificate: File | None = None
    key: File | None = None

    def or_environment(self) -> Self:
        """As given, else from the environment."""
        return type(self)(
            self.ca or os.environ.get(CA) or None,
            self.certificate or os.environ.get(CERTIFICATE) or None,
            self.key or (None if self.certificate else os.environ.get(KEY) or None),
        )

    def context(self) -> ssl.SSLContext:
        """Raises UnusableFile."""
        context = _trusting(self.ca)
        if self.certificate:
            try:
                context.load_cert_chain(self.certificate, self.key, password=_no_password)
            except (OSError, ValueError) as error:  # errors of TLS are OSErrors
                raise UnusableFile(
                    f"The client's certificate {self.certificate} or its key {self.key or '(in the same file)'} cannot "
                    f"be used: {_reason(error)}. Check {CERTIFICATE} and {KEY}: PEM, without a password."
                ) from error
        return context


def _trusting(ca: File | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise UnusableFile(
            f"The certificates in {ca} cannot be used: {_reason(error)}. {CA} is a file of certificates in PEM."
        ) from error
    if ca:
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # it may be the server's own certificate
    return context


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _no_password() -> str:
    """Instead of it the library would ask at the terminal."""
    raise ValueError("the key has a password")
