"""One session with a mail server: at the address that was checked, encrypted, and within a time."""

import smtplib
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Literal, NamedTuple

from lily.outbound import Endpoint, Guard
from lily.outbound.connections import connected, tls
from lily.outbound.deadlines import Deadline

Security = Literal["starttls", "tls", "none"]
SCHEMES: dict[Security, str] = {"starttls": "smtp+starttls", "tls": "smtps", "none": "smtp"}
MAX_REPLIES = 64 << 10  # bytes that a server may send in one session


class Server(NamedTuple):
    """`host`, `port` and how the connection is encrypted. No user: no authentication."""

    host: str
    port: int
    security: Security
    user: str
    password: str
    seconds: float

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(SCHEMES[self.security], self.host, self.port, "")


@contextmanager
def session(server: Server, guard: Guard, ehlo: str) -> Iterator["PinnedSmtp"]:
    """Authenticated. Raises what smtplib raises, OSError, UnresolvedName and ForbiddenAddress."""
    smtp = PinnedSmtp(server, guard.addresses(server.endpoint), ehlo)
    with Deadline(smtp, server.seconds):
        try:
            smtp.expect(smtp.connect(server.host, server.port), (220,))
            if server.security == "starttls":
                smtp.starttls(context=tls())
            if server.user:
                smtp.login(server.user, server.password)
            smtp.ehlo_or_helo_if_needed()
            yield smtp
            with suppress(smtplib.SMTPException, OSError):  # what was accepted is accepted, also without a farewell
                smtp.quit()
        finally:
            smtp.close()


class PinnedSmtp(smtplib.SMTP):
    """Resolves nothing, and reads a bounded number of bytes."""

    def __init__(self, server: Server, addresses: Sequence[str], ehlo: str) -> None:
        super().__init__(local_hostname=ehlo, timeout=server.seconds)
        self._host = server.host  # whose certificate STARTTLS verifies
        self._server, self._addresses = server, addresses

    def submit(self, sender: str, recipients: Sequence[str], message: bytes | None) -> None:
        """Nothing is sent unless the server takes every recipient. Without a message, only that is found out."""
        self.expect(self.mail(sender), (250,))
        for recipient in recipients:
            self.expect(self.rcpt(recipient), (250, 251), recipient)
        if message is None:
            self.rset()
        else:
            self.expect(self.data(message), (250,))

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = _Bounded(self.sock.makefile("rb"))
        return super().getreply()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002 - the library's
        self.sock = connected(self._addresses, port, timeout)
        if self._server.security == "tls":
            wrapped = tls().wrap_socket(self.sock, server_hostname=self._host, do_handshake_on_connect=False)
            self.sock = wrapped  # before the handshake, so that the deadline can end it
            wrapped.do_handshake()
        return self.sock

    @staticmethod
    def expect(reply: tuple[int, bytes], codes: Sequence[int], recipient: str = "") -> None:
        """Raises SMTPSenderRefused."""
        code, text = reply
        if code not in codes:
            raise smtplib.SMTPSenderRefused(code, text, recipient)


class _Bounded:
    """What a server sends, up to a limit: it may send lines for ever."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._left = file, MAX_REPLIES

    def readline(self, limit: int) -> bytes:
        line = self._file.readline(limit)
        self._left -= len(line)
        if self._left < 0 or len(line) == limit:
            raise smtplib.SMTPServerDisconnected(f"it sent more than {MAX_REPLIES} bytes, or a line without an end")
        return line

    def close(self) -> None:
        self._file.close()
