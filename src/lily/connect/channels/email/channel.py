"""The plug-in: the destination is one or more addresses, with commas between them."""

import asyncio
import smtplib
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from lily.connect.channels.addresses import Address, is_address
from lily.connect.channels.email.composition import mail
from lily.connect.channels.email.refusals import reported
from lily.connect.channels.email.session import Security, Server, session
from lily.model.errors import Terminal
from lily.outbound import Guard
from lily.plugins import Notification, Surroundings

MAX_RECIPIENTS = 50


class EmailConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    host: str = Field(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9.:-]+$", description="of the mail server")
    port: int = Field(587, ge=1, le=65_535)
    security: Security = Field(
        "starttls", description="`tls` from the first byte (port 465), or `none`, in networks that the operator allows"
    )
    user: str = Field("", max_length=254)
    password: SecretStr = SecretStr("")
    sender: Address = Field(description="the address that mails come from")
    sender_name: str = Field("Lily", max_length=100)
    seconds: float = Field(20.0, gt=0, le=60, description="for one mail, from the connection to its acceptance")
    connections: int = Field(4, ge=1, le=16, description="mails that are sent at the same time")

    @model_validator(mode="after")
    def _login_is_whole(self) -> "EmailConfig":
        if bool(self.user) != bool(self.password.get_secret_value()):
            raise ValueError("`user` and `password` belong together: set both or none")
        return self


class Email:
    Config = EmailConfig

    def __init__(self, config: EmailConfig) -> None:
        self._config, self._guard = config, Guard()
        self._server = Server(
            config.host,
            config.port,
            config.security,
            config.user,
            config.password.get_secret_value(),
            config.seconds,
        )
        self._threads: ThreadPoolExecutor | None = None

    def situate(self, surroundings: Surroundings) -> None:
        self._guard = Guard(surroundings.allowed_networks)
        self._guard.permit(self._server.endpoint)

    async def check(self, destination: str) -> None:
        """Connects, authenticates, and finds out whether the server takes the recipients."""
        await self._submit(recipients(destination), None)

    async def deliver(self, notification: Notification, destination: str) -> str:
        """Returns the mail's Message-ID. Either all recipients get it, or none does."""
        to = recipients(destination)
        made = mail(notification, self._config.sender, self._config.sender_name, to)
        await self._submit(to, made)
        return str(made["Message-ID"])

    async def close(self) -> None:
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)

    async def _submit(self, to: list[str], message: EmailMessage | None) -> None:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._config.connections, thread_name_prefix="email")
        await asyncio.get_running_loop().run_in_executor(self._threads, self._submitted, to, message)

    def _submitted(self, to: list[str], message: EmailMessage | None) -> None:
        sender = self._config.sender
        try:
            with session(self._server, self._guard, ehlo=sender.partition("@")[2]) as smtp:
                smtp.submit(sender, to, message.as_bytes() if message else None)
        except (smtplib.SMTPException, OSError) as error:
            raise reported(error, self._server) from None


def recipients(destination: str) -> list[str]:
    """Raises Terminal."""
    found = list(dict.fromkeys(part.strip() for part in destination.split(",")))
    if wrong := [one for one in found if not is_address(one)]:
        raise Terminal(f"the destination has {wrong[0]!r}, which is not a mail address. Correct the subscription.")
    if len(found) > MAX_RECIPIENTS:
        raise Terminal(f"the destination has {len(found)} addresses, more than {MAX_RECIPIENTS}. Use a mailing list.")
    return found
