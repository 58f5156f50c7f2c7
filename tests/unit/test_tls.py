"""Certificates of the API and of its clients: what is wrong with a file is reported with its remedy."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import ValidationError

from lily.api.http.server.tls import BadCertificate, identity
from lily.client import Tls as ClientTls
from lily.client import UnusableFile
from lily.client.address import find_address
from lily.client.errors import untrusted
from lily.embedded.machine_checks import Check, check_machine
from lily.settings import Settings, Tls
from tests.certificates import Authority


def settings_of(directory: Path, ends: timedelta = timedelta(days=1)) -> Tls:
    certificate, key = Authority().issue(ends=ends).saved(directory, "server")
    return Tls(certificate=certificate, key=key)


def test_without_a_certificate_the_api_serves_without_tls() -> None:
    assert identity(Tls()) is None
    assert Settings().link_url == "http://127.0.0.1:8585"


def test_a_certificate_and_its_key_are_accepted_and_its_end_is_known(tmp_path: Path) -> None:
    tls = settings_of(tmp_path)
    served = identity(tls)
    assert served is not None
    assert timedelta(hours=23) < served.expires - datetime.now(UTC) < timedelta(hours=25)
    assert Settings(tls=tls).link_url == "https://127.0.0.1:8585"


def test_a_missing_file_is_named_with_its_setting(tmp_path: Path) -> None:
    tls = settings_of(tmp_path)
    with pytest.raises(BadCertificate, match=r"LILY_TLS__KEY is .*gone\.key.*No such file.*Correct it"):
        identity(tls.model_copy(update={"key": tmp_path / "gone.key"}))
    with pytest.raises(BadCertificate, match=r"LILY_TLS__CLIENT_CA is .*gone\.pem"):
        identity(tls.model_copy(update={"client_ca": tmp_path / "gone.pem"}))


def test_a_key_of_another_certificate_is_reported_as_that(tmp_path: Path) -> None:
    tls = settings_of(tmp_path)
    _, other = Authority().issue().saved(tmp_path, "other")
    with pytest.raises(BadCertificate, match=r"not that of the first certificate.*CN=localhost.*made together"):
        identity(tls.model_copy(update={"key": other}))


def test_an_expired_certificate_is_reported_as_that(tmp_path: Path) -> None:
    with pytest.raises(BadCertificate, match=r"CN=localhost in .*server\.pem .* expired at .*Renew it"):
        identity(settings_of(tmp_path, ends=-timedelta(hours=1)))


def test_files_that_are_not_what_they_should_be_are_reported(tmp_path: Path) -> None:
    tls = settings_of(tmp_path)
    assert tls.certificate is not None
    assert tls.key is not None
    with pytest.raises(BadCertificate, match="not a certificate in PEM"):
        identity(tls.model_copy(update={"certificate": tls.key}))
    with pytest.raises(BadCertificate, match="not a private key in PEM"):
        identity(tls.model_copy(update={"key": tls.certificate}))
    key = load_pem_private_key(tls.key.read_bytes(), None)
    encryption = serialization.BestAvailableEncryption(b"word")
    formats = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    tls.key.write_bytes(key.private_bytes(*formats, encryption))
    with pytest.raises(BadCertificate, match="has a password"):
        identity(tls)


def test_the_doctor_reports_a_certificate_that_ends_soon_or_cannot_be_used(tmp_path: Path) -> None:
    def found(tls: Tls) -> Check:
        return next(check for check in check_machine(Settings(data_dir=tmp_path, tls=tls)) if check.name == "TLS")

    soon = found(settings_of(tmp_path, ends=timedelta(days=3)))
    assert (soon.good, soon.ok) == (False, True)
    assert "Renew" in soon.remedy
    assert found(settings_of(tmp_path, ends=timedelta(days=90))).good
    assert not found(settings_of(tmp_path, ends=-timedelta(days=1))).ok


@pytest.mark.parametrize("given", [{"certificate": "a.pem"}, {"key": "a.key"}, {"client_ca": "ca.pem"}])
def test_half_of_the_settings_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="certificate and key"):
        Tls.model_validate(given)


def test_the_client_reports_files_that_it_cannot_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILY_CA", str(tmp_path / "ca.pem"))
    with pytest.raises(UnusableFile, match=r"ca\.pem.*No such file.*LILY_CA"):
        find_address("https://lily.example", "token")
    assert find_address("http://lily.example", "token").tls is None
    (tmp_path / "ca.pem").write_text("no certificate")
    with pytest.raises(UnusableFile, match=r"ca\.pem"):
        find_address("https://lily.example", "token")
    with pytest.raises(UnusableFile, match="LILY_CLIENT_CERTIFICATE"):
        ClientTls(certificate=tmp_path / "gone.pem").context()


def test_an_ordinary_failure_is_no_question_of_trust() -> None:
    assert untrusted("https://x", ConnectionRefusedError("refused")) is None
    assert untrusted("https://x", ssl.SSLError(1, "something else")) is None
