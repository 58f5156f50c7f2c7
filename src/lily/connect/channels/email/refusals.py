"""What a mail server said, as Lily's errors."""

import base64
import smtplib

from lily.connect.channels.email.session import Server
from lily.connect.channels.http import HIDDEN
from lily.model.errors import LilyError, Terminal
from lily.outbound import Response, Unreachable
from lily.outbound.responses import EXCERPT

PERMANENT = 500
LOGIN = "The mail server does not accept the user and password: correct them in the channel."
NO_TLS = "The mail server does not offer what the channel needs: correct `security`, or leave out `user`."
ADDRESSES = "Correct the addresses, or what the server permits."


def reported(error: smtplib.SMTPException | OSError, server: Server) -> LilyError:
    """Without the password, which a server may quote."""
    name = f"the mail server {server.host}:{server.port}"
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return Terminal(f"{name}: {error}. {NO_TLS}")
    if not isinstance(error, smtplib.SMTPResponseException):
        described = _hidden(f"{name} did not respond: {type(error).__name__}: {error}", server)
        return Unreachable(f"{described}. It is tried again.")
    recipient = f" for {error.sender}" if isinstance(error, smtplib.SMTPSenderRefused) and error.sender else ""
    said = error.smtp_error if isinstance(error.smtp_error, bytes) else str(error.smtp_error).encode()
    described = f"{name} responds {error.smtp_code}{recipient}: {_hidden(Response(0, said).text, server)[:EXCERPT]}"
    if error.smtp_code < PERMANENT:
        return Unreachable(f"{described}. It is tried again.")
    return Terminal(f"{described}. {LOGIN if isinstance(error, smtplib.SMTPAuthenticationError) else ADDRESSES}")


def _hidden(text: str, server: Server) -> str:
    """The password also as the protocol has it."""
    if not server.password:
        return text
    plain = server.password.encode()
    sent = [base64.b64encode(one).decode() for one in (b"\0" + server.user.encode() + b"\0" + plain, plain)]
    for secret in [*sent, server.password]:
        text = text.replace(secret, HIDDEN)
    return text
