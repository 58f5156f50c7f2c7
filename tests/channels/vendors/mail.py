"""A mail server that requires authentication, and encryption before it: aiosmtpd, as anyone would run it."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

USER, PASSWORD = "lily", "p4ssw0rd-of-the-mailbox"
FULL, BUSY = "full@example.org", "busy@example.org"


@dataclass
class Mailbox:
    """A recipient in `refused` gets that reply."""

    port: int = 0
    envelopes: list[Envelope] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=lambda: {FULL: "552 mailbox full", BUSY: "451 try again later"})

    async def handle_RCPT(  # noqa: N802 - the library's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.envelopes.append(envelope)
        return "250 OK"

    @property
    def mails(self) -> list[bytes]:
        return [bytes(one.original_content or b"") for one in self.envelopes]


def _authenticated(_server: Any, _session: Any, _envelope: Any, mechanism: str, data: Any) -> AuthResult:
    matches = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=mechanism in {"PLAIN", "LOGIN"} and matches, handled=False)


class _Controller(Controller):
    def _trigger_server(self) -> None:
        """The port is chosen by the system."""
        self.port = self.server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextmanager
def mail_server(context: ssl.SSLContext, *, implicit: bool = False) -> Iterator[Mailbox]:
    """Encrypted from the first byte if `implicit`, else by STARTTLS."""
    mailbox = Mailbox()
    encryption = {"ssl_context": context} if implicit else {"tls_context": context, "require_starttls": True}
    controller = _Controller(
        mailbox,
        hostname="127.0.0.1",
        port=0,
        authenticator=_authenticated,
        auth_required=True,
        auth_require_tls=not implicit,
        ready_timeout=20,
        **encryption,
    )
    controller.start()
    try:
        mailbox.port = controller.port
        yield mailbox
    finally:
        controller.stop()
