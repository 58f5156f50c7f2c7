"""Mail reaches a real mail server, encrypted and authenticated, in one thread per incident; no text is a header."""

import email.policy
import smtplib
import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lily.connect.channels.email import Email, EmailConfig, session
from lily.connect.channels.email.composition import mail
from lily.model.errors import Terminal, Transient
from lily.outbound import ForbiddenAddress
from lily.plugins import Notification
from tests.channels import story
from tests.channels.conftest import HOST
from tests.channels.golden_files import matches
from tests.channels.smtp_lines import smtp_lines
from tests.channels.story import OPENED, changed
from tests.channels.vendors.mail import BUSY, FULL, PASSWORD, USER, Mailbox, mail_server

ANN, BO = "ann@example.org", "bo.o'neil+alerts@mail.example.org"
Resolves = Callable[..., None]
WORDS = st.text(max_size=60)


@pytest.fixture
def mailbox(trusted: ssl.SSLContext, resolves: Resolves) -> Iterator[Mailbox]:
    resolves(["127.0.0.1"])
    with mail_server(trusted) as found:
        yield found


def settings(port: int, **more: Any) -> dict[str, Any]:
    login = {"user": USER, "password": PASSWORD, "sender": "lily@acme.example"}
    return {"host": HOST, "port": port, "seconds": 10, **login, **more}


def sent(mailbox: Mailbox, notification: Notification, destination: str = ANN, **more: Any) -> str:
    return story.delivered(Email, settings(mailbox.port, **more), notification, destination)


def parsed(raw: bytes) -> EmailMessage:
    return BytesParser(policy=email.policy.default).parsebytes(raw)


def test_the_story_of_an_incident_is_what_the_golden_file_has(mailbox: Mailbox) -> None:
    first = sent(mailbox, OPENED, f"{ANN}, {BO}")
    sent(mailbox, changed("resolved", first))
    envelopes = [[one.mail_from, *one.rcpt_tos] for one in mailbox.envelopes]
    mails = [one.decode("ascii").split("\r\n") for one in mailbox.mails]
    matches("email", [{"envelope": pair[0], "mail": pair[1]} for pair in zip(envelopes, mails, strict=True)])


def test_mails_about_an_incident_are_one_thread(mailbox: Mailbox) -> None:
    first = sent(mailbox, OPENED)
    second = sent(mailbox, changed("acknowledged", first))
    third = sent(mailbox, changed("resolved", first, "n-3"))
    one, two, three = map(parsed, mailbox.mails)
    assert [str(found["Message-ID"]) for found in (one, two, three)] == [first, second, third]
    assert len({first, second, third}) == 3
    assert first in str(two["References"]).split()
    assert str(two["In-Reply-To"]) == str(three["In-Reply-To"]) == first
    shared = set(str(one["References"]).split()) & set(str(two["References"]).split())
    assert len(shared) == 1


def test_a_repeat_has_the_same_id_and_another_tenant_has_not(mailbox: Mailbox) -> None:
    ids = [sent(mailbox, one) for one in (OPENED, OPENED, replace(OPENED, tenant="other"))]
    assert ids[0] == ids[1] != ids[2]


def test_both_parts_have_the_text_and_html_is_escaped(mailbox: Mailbox) -> None:
    sent(mailbox, replace(OPENED, text="<script>alert(1)</script>\nno rows — 😀"))
    message = parsed(mailbox.mails[0])
    plain, html = (message.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert html is not None
    assert "<script>alert(1)</script>\r\nno rows — 😀\r\n@Ann Lee @Data Team\r\n" in plain.get_content()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;<br>no rows — 😀" in html.get_content()
    assert OPENED.url in plain.get_content()


@given(title=st.text(max_size=400), id_=WORDS, previous=WORDS, incident=WORDS)
def test_nothing_in_a_notification_becomes_a_header(title: str, id_: str, previous: str, incident: str) -> None:
    data = {"incident_id": incident, "state": "open", "previous": previous}
    hostile = "x\r\nBcc: evil@example.org\r\n\r\nbody"
    for notification in (
        replace(OPENED, title=title, id=id_, data=data),
        replace(OPENED, title=hostile, id=hostile, data={**data, "previous": hostile, "incident_id": hostile}),
    ):
        raw = mail(notification, "lily@acme.example", hostile, [ANN]).as_bytes()
        found = BytesParser(policy=email.policy.compat32).parsebytes(raw)
        assert found["Bcc"] is None
        assert len(found.get_all("To", [])) == 1
        expected = {"From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "X-Lily-Notification"}
        known = {"In-Reply-To", "References", "MIME-Version", "Content-Type"}
        assert expected <= set(found.keys()) <= expected | known
        assert max(map(len, raw.split(b"\r\n"))) <= 998


@pytest.mark.parametrize(
    "destination", ["", "ann", "ann@example", "ann@example.org\r\nBcc: x@y.org", "<ann@example.org>", "a b@example.org"]
)
def test_what_is_not_an_address_is_refused(mailbox: Mailbox, destination: str) -> None:
    with pytest.raises(Terminal, match="not a mail address"):
        sent(mailbox, OPENED, destination)
    assert not mailbox.mails


@pytest.mark.parametrize(("wrong", "kind"), [(FULL, Terminal), (BUSY, Transient)])
def test_nobody_gets_a_mail_that_one_recipient_cannot_get(mailbox: Mailbox, wrong: str, kind: type[Exception]) -> None:
    """A later attempt would bring it to the others twice."""
    with pytest.raises(kind, match=wrong):
        sent(mailbox, OPENED, f"{ANN}, {wrong}")
    assert not mailbox.mails


def test_a_password_that_expired_is_reported_without_it(mailbox: Mailbox) -> None:
    with pytest.raises(Terminal, match="user and password: correct them") as refused:
        sent(mailbox, OPENED, password="an-0ld-password")
    assert "an-0ld-password" not in str(refused.value)


def test_a_check_delivers_nothing_and_knows_the_recipient(mailbox: Mailbox) -> None:
    story.checked(Email, settings(mailbox.port), ANN)
    with pytest.raises(Terminal, match="mailbox full"):
        story.checked(Email, settings(mailbox.port), FULL)
    assert not mailbox.mails


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # of the server, which cannot know
def test_encryption_from_the_first_byte(trusted: ssl.SSLContext, resolves: Resolves) -> None:
    resolves(["127.0.0.1"])
    with mail_server(trusted, implicit=True) as mailbox:
        sent(mailbox, OPENED, security="tls")
        assert len(mailbox.mails) == 1
        with pytest.raises(Transient):
            sent(mailbox, OPENED, security="tls", host="other.example.org")
        assert len(mailbox.mails) == 1


def test_a_certificate_of_another_name_is_refused(mailbox: Mailbox) -> None:
    with pytest.raises(Transient, match="certificate"):
        sent(mailbox, OPENED, host="other.example.org")
    assert not mailbox.mails


def test_a_server_without_encryption_gets_neither_password_nor_mail(resolves: Resolves) -> None:
    resolves(["127.0.0.1"])
    with smtp_lines(b"220 hi\r\n", b"250 HELP\r\n") as server:
        with pytest.raises(Terminal, match="STARTTLS"):
            story.delivered(Email, settings(server.port), OPENED, ANN)
        assert not any(b"AUTH" in line for line in server.lines)


def test_a_server_in_a_private_network_is_not_connected_to(mailbox: Mailbox, resolves: Resolves) -> None:
    for addresses in (["10.0.0.7"], ["93.184.216.34", "192.168.0.1"]):
        resolves(addresses)
        with pytest.raises(ForbiddenAddress):
            sent(mailbox, OPENED)


def test_mail_that_is_not_encrypted_stays_in_the_networks_of_the_operator(resolves: Resolves) -> None:
    resolves(["93.184.216.34"])
    with pytest.raises(ForbiddenAddress, match="not be encrypted"):
        story.delivered(Email, settings(25, security="none"), OPENED, ANN)


def test_a_name_is_resolved_once_for_a_mail(mailbox: Mailbox, resolves: Resolves) -> None:
    """When it is configured, and when it is connected to."""
    resolves(["127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"])
    sent(mailbox, OPENED)
    assert len(mailbox.mails) == 1
    resolves(["127.0.0.1"], ["10.0.0.1"])
    with pytest.raises(ForbiddenAddress):
        sent(mailbox, OPENED)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([b""], id="hangs up"),
        pytest.param([b"HTTP/1.1 400 Bad Request\r\n\r\n"], id="is a web server"),
        pytest.param([b"220-" + b"x" * 9_000 + b"\r\n"], id="sends a long line"),
        pytest.param([b"220-wait\r\n" * 100_000], id="never ends"),
        pytest.param([b"220 hi\r\n", b"\xff\xfe\x00\r\n"], id="sends garbage"),
        pytest.param([b"421 too busy\r\n"], id="is busy"),
        pytest.param([b"220 hi\r\n", b"250-a\r\n250 STARTTLS\r\n", b"220 go\r\n", b"no tls"], id="breaks off TLS"),
    ],
)
def test_a_server_that_misbehaves_is_worth_another_attempt(resolves: Resolves, lines: list[bytes]) -> None:
    resolves(["127.0.0.1"])
    with smtp_lines(*lines) as server, pytest.raises(Transient, match="tried again"):
        story.delivered(Email, settings(server.port, seconds=5), OPENED, ANN)


def test_a_server_that_does_not_want_mail_from_here_is_not_tried_again(resolves: Resolves) -> None:
    resolves(["127.0.0.1"])
    with smtp_lines(b"554 no mail from your network\r\n") as server, pytest.raises(Terminal, match="your network"):
        story.delivered(Email, settings(server.port), OPENED, ANN)


def test_a_mail_that_was_accepted_is_delivered_also_if_the_server_hangs_up(resolves: Resolves) -> None:
    """Another attempt would bring it twice."""
    resolves(["127.0.0.1"])
    plain = {"security": "none", "user": "", "password": ""}
    accepting = [b"220 hi\r\n", b"250 HELP\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go on\r\n", b"250 queued\r\n"]
    with smtp_lines(*accepting) as server:
        assert story.delivered(Email, settings(server.port, **plain), OPENED, ANN).endswith("@acme.example>")
        assert [line.split(b":")[0].lower() for line in server.lines[:3]] == [
            b"ehlo acme.example\r\n",
            b"mail from",
            b"rcpt to",
        ]
    with smtp_lines(*accepting[:-1]) as server, pytest.raises(Transient):
        story.delivered(Email, settings(server.port, **plain), OPENED, ANN)


def test_a_server_that_hangs_ends_at_the_deadline(resolves: Resolves) -> None:
    resolves(["127.0.0.1"])
    with smtp_lines(hangs=True) as server, pytest.raises(Transient, match="tried again"):
        story.delivered(Email, settings(server.port, seconds=0.3), OPENED, ANN)


def test_what_a_server_sends_is_bounded(resolves: Resolves, monkeypatch: pytest.MonkeyPatch) -> None:
    resolves(["127.0.0.1"])
    monkeypatch.setattr(session, "MAX_REPLIES", 20)
    lines = b"220-hello\r\n220-hello\r\n220 hello\r\n"
    with smtp_lines(lines) as server, pytest.raises(Transient, match="more than 20 bytes"):
        story.delivered(Email, settings(server.port), OPENED, ANN)


def test_a_password_that_a_server_quotes_is_not_shown(mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def quoting(_self: smtplib.SMTP, user: str, password: str, **_: Any) -> None:
        raise smtplib.SMTPAuthenticationError(535, f"no: {user} {password}".encode())

    monkeypatch.setattr(session.PinnedSmtp, "login", quoting)
    with pytest.raises(Terminal) as refused:
        sent(mailbox, OPENED)
    assert PASSWORD not in repr(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"user": ""},
        {"sender": "Lily <lily@acme.example>"},
        {"sender": "lily@acme.example\r\nBcc: x@y.org"},
        {"host": "mail.example.org/x"},
        {"port": 0},
        {"security": "ssl"},
    ],
)
def test_a_configuration_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    EmailConfig.model_validate(settings(587))
    with pytest.raises(ValidationError):
        EmailConfig.model_validate(settings(587) | wrong)
