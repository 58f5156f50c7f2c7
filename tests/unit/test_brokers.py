"""How clients log in to Kafka: the same settings for librdkafka and for Spark's Java client."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation  # type: ignore[attr-defined] # its types do not export it
from pydantic import ValidationError

from lily.brokers import Brokers, KafkaSecurity
from lily.bus.grants import API, GROUPS, OF_PART, PIPELINE, WORKER
from lily.bus.topics import INTAKE, TOPICS
from lily.cli.options import BadSettings, read_settings
from lily.connect.channels.kafka.channel import PREFIX as NOTIFICATIONS
from lily.connect.enforcers.topic.names import PREFIX as ENFORCEMENT
from lily.embedded.kafka.access import permissions
from lily.enforce.surroundings import surroundings_of
from lily.model.errors import Terminal
from lily.reactions.status import TOPICS as READ_BY_REACTIONS
from lily.settings import Settings

SINCE = datetime(2026, 1, 1, tzinfo=UTC)


def test_brokers_that_require_nothing_get_nothing_but_their_address() -> None:
    assert Brokers("b:9092").client() == {"bootstrap.servers": "b:9092", "log_level": 2}
    assert Brokers("b:9092").spark_options() == {"kafka.bootstrap.servers": "b:9092"}


def test_every_setting_reaches_both_kinds_of_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {name: tmp_path / f"{name}.pem" for name in ("ca", "certificate", "key")}
    for name, path in files.items():
        path.write_text(f"the {name}")
        monkeypatch.setenv(f"LILY_KAFKA__SSL_{name.upper()}", str(path))
    monkeypatch.setenv("LILY_KAFKA_BOOTSTRAP", "b:9093")
    monkeypatch.setenv("LILY_KAFKA__SECURITY_PROTOCOL", "SASL_SSL")
    monkeypatch.setenv("LILY_KAFKA__SASL_MECHANISM", "SCRAM-SHA-256")
    monkeypatch.setenv("LILY_KAFKA__SASL_USERNAME", "lily")
    monkeypatch.setenv("LILY_KAFKA__SASL_PASSWORD", 's"ec\\ret')
    brokers = Settings().brokers
    assert brokers.client() == {
        "bootstrap.servers": "b:9093",
        "log_level": 2,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "lily",
        "sasl.password": 's"ec\\ret',
        "ssl.ca.location": str(files["ca"]),
        "ssl.certificate.location": str(files["certificate"]),
        "ssl.key.location": str(files["key"]),
    }
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    assert brokers.spark_options() == {
        "kafka.bootstrap.servers": "b:9093",
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-256",
        "kafka.sasl.jaas.config": f'{module} required username="lily" password="s\\"ec\\\\ret";',
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.certificates": "the ca",
        "kafka.ssl.keystore.type": "PEM",
        "kafka.ssl.keystore.certificate.chain": "the certificate",
        "kafka.ssl.keystore.key": "the key",
    }


def test_the_password_may_be_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "password"
    login = KafkaSecurity(security_protocol="SASL_SSL", sasl_username="lily", sasl_password_file=path)
    with pytest.raises(Terminal, match=f"{path}.*No such file"):
        login.for_librdkafka()
    path.write_text("secret\n")
    assert login.for_librdkafka()["sasl.password"] == "secret"
    assert 'password="secret"' in login.for_java()["sasl.jaas.config"]


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    with pytest.raises(Terminal, match=r"ca\.pem"):
        KafkaSecurity(security_protocol="SSL", ssl_ca=tmp_path / "ca.pem").for_librdkafka()


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({"security_protocol": "SASL_SSL"}, "set sasl_username"),
        ({"security_protocol": "SASL_SSL", "sasl_username": "lily"}, "sasl_password_file"),
        ({"sasl_username": "lily", "sasl_password": "secret"}, "set security_protocol to SASL_SSL"),
        ({"security_protocol": "SSL", "ssl_key": "key.pem"}, "belong together"),
        ({"security_protocol": "TLS"}, "SASL_SSL"),
    ],
)
def test_settings_that_do_not_fit_each_other_are_refused(given: dict[str, str], remedy: str) -> None:
    with pytest.raises(ValidationError, match=remedy) as refused:
        KafkaSecurity.model_validate(given)
    assert "secret" not in str(refused.value)


def test_a_password_is_not_part_of_the_message_about_other_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILY_KAFKA__SASL_USERNAME", "lily")
    monkeypatch.setenv("LILY_KAFKA__SASL_PASSWORD", "s3cret")
    with pytest.raises(BadSettings, match="LILY_KAFKA: a user is set") as refused:
        read_settings(None)
    assert "s3cret" not in str(refused.value)


def test_a_password_is_not_shown() -> None:
    login = KafkaSecurity(security_protocol="SASL_SSL", sasl_username="lily", sasl_password="s3cret")
    assert "s3cret" not in repr(Settings(kafka=login))
    assert "s3cret" not in repr(surroundings_of(Settings(kafka_bootstrap="b:1", kafka=login), "t", "x", SINCE))


def test_another_kafka_for_topics_of_tenants_never_gets_the_password_of_lilys_own() -> None:
    login = KafkaSecurity(security_protocol="SASL_SSL", sasl_username="lily", sasl_password="s3cret")
    own = Settings(kafka_bootstrap="own:9092", kafka=login)
    assert surroundings_of(own, "t", "x", SINCE).kafka_options["sasl.password"] == "s3cret"
    shared = Settings.model_validate(
        {"kafka_bootstrap": "own:9092", "kafka": login, "outbound": {"topics_bootstrap": "shared:9092"}}
    )
    place = surroundings_of(shared, "t", "x", SINCE)
    assert (place.kafka_bootstrap, place.kafka_options) == ("shared:9092", {})


def test_grants_cover_what_the_parts_do() -> None:
    assert set(API.write) >= set(INTAKE)
    assert set(PIPELINE.read) == set(INTAKE)
    assert set(WORKER.read) == set(READ_BY_REACTIONS)
    assert set(WORKER.owned) == {f"{ENFORCEMENT}.", f"{NOTIFICATIONS}."}
    assert all({*grants.read, *grants.write} <= set(TOPICS) for grants in OF_PART.values())
    assert GROUPS == "lily-"


def test_nobody_but_the_worker_may_write_to_the_change_log() -> None:
    names = {(one.principal, one.name) for one in permissions() if one.operation == AclOperation.WRITE}
    assert {principal for principal, name in names if name == "metadata-events"} == {"User:lily_worker"}
