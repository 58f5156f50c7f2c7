"""A notification as a mail: plain text and HTML, with ids that make a thread."""

import re
from collections.abc import Sequence
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP

from lily.connect.channels.markup import MAX_TEXT, html_of
from lily.connect.channels.mentions import text_of
from lily.connect.channels.subjects import digest, facts, incident_of, label, title_of
from lily.connect.channels.texts import link, one_line, shortened
from lily.plugins import Notification

MAX_SUBJECT = 200
_MESSAGE_ID = re.compile(r"<[A-Za-z0-9.+_-]{1,200}@[A-Za-z0-9.-]{1,200}>")


def mail(notification: Notification, sender: str, name: str, recipients: Sequence[str]) -> EmailMessage:
    """A repeat of the notification is the same mail, with the same id, which mail servers and readers drop."""
    made = EmailMessage(policy=SMTP)
    made["From"] = Address(one_line(name), addr_spec=sender)
    made["To"] = tuple(Address(addr_spec=one) for one in recipients)
    made["Subject"] = shortened(title_of(notification), MAX_SUBJECT)
    made["Date"] = datetime.fromisoformat(notification.at)
    made["Message-ID"] = message_id(notification, sender)
    if thread := _thread(notification, sender):
        made["In-Reply-To"] = thread[-1]
        made["References"] = " ".join(thread)
    made["Auto-Submitted"] = "auto-generated"  # so that no one's absence is reported to Lily
    made["X-Lily-Notification"] = label(notification.id)
    made.set_content(_plain(notification))
    made.add_alternative(_page(notification), subtype="html")
    made.set_boundary(f"lily-{digest(notification.id)}")
    return made


def message_id(notification: Notification, sender: str) -> str:
    return f"<lily.{digest(notification.tenant, notification.id)}@{_domain(sender)}>"


def _thread(notification: Notification, sender: str) -> list[str]:
    """The incident's own id, which no mail has: readers sort into one thread what refers to the same. Then the first
    mail about it."""
    incident = incident_of(notification)
    if not incident.id:
        return []
    root = f"<lily.incident.{digest(notification.tenant, incident.id)}@{_domain(sender)}>"
    return [root, incident.previous] if _MESSAGE_ID.fullmatch(incident.previous) else [root]


def _domain(sender: str) -> str:
    return sender.partition("@")[2]


def _plain(notification: Notification) -> str:
    listed = "\n".join(f"{name}: {value}" for name, value in facts(notification))
    parts = [shortened(text_of(notification), MAX_TEXT), listed, link(notification.url)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _page(notification: Notification) -> str:
    return f"<!doctype html><html><body>{html_of(notification, title_of(notification))}</body></html>\n"
