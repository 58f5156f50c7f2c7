"""`email`: mail over SMTP, in a thread of its own for each incident."""

from lily.connect.channels.email.channel import Email, EmailConfig

__all__ = ["Email", "EmailConfig"]
