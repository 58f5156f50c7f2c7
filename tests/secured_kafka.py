"""A Kafka of someone else: clients need a password, and trust in its certificate."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lily.brokers import Brokers, KafkaSecurity
from lily.embedded.jars import jars_dir
from lily.embedded.kafka import Kafka
from lily.embedded.kafka.access import ensure_access
from lily.embedded.kafka.users import ADMINISTRATOR, BROKER, MECHANISM
from lily.embedded.ports import choose_ports
from lily.embedded.process import last_lines, reap, signal_group, spawn
from lily.embedded.state import new_password
from lily.model.errors import Transient
from tests.certificates import Authority

START_SECONDS = 90.0


@contextmanager
def secured_kafka(place: Path) -> Iterator[Brokers]:
    """As a client sees it that may do everything."""
    authority, ports = Authority(), choose_ports(("kafka", "controller"), {})
    ca, identity = place / "kafka-ca.pem", place / "kafka-identity.pem"
    ca.write_bytes(authority.certificate)
    issued = authority.issue()
    identity.write_bytes(issued.key + issued.certificate)
    passwords = {BROKER: new_password(), ADMINISTRATOR: new_password()}
    broker = Kafka(place, jars_dir(), ports["kafka"], ports["controller"], passwords[BROKER])
    broker.prepare()
    with (broker.home / "server.properties").open("a") as properties:
        properties.write(_tls(ca, identity))
    log = place / "logs" / "kafka.log"
    process = spawn(broker.command(), log)

    def seen_by(user: str) -> Brokers:
        login = KafkaSecurity(
            security_protocol="SASL_SSL",
            sasl_mechanism="PLAIN" if user == BROKER else MECHANISM,
            sasl_username=user,
            sasl_password=passwords[user],
            ssl_ca=ca,
        )
        return Brokers(f"127.0.0.1:{ports['kafka']}", login)

    try:
        _wait(seen_by(BROKER), passwords, log)
        yield seen_by(ADMINISTRATOR)
    finally:
        signal_group(process, broker.stop_signal)
        process.wait(30)
        reap(process)


def _tls(ca: Path, identity: Path) -> str:
    return "\n".join(
        (
            "listener.security.protocol.map=CLIENTS:SASL_SSL,CONTROLLER:SASL_PLAINTEXT",
            "ssl.keystore.type=PEM",
            f"ssl.keystore.location={identity}",
            "ssl.truststore.type=PEM",
            f"ssl.truststore.location={ca}",
            "",
        )
    )


def _wait(broker: Brokers, passwords: dict[str, str], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return ensure_access(broker, passwords)
        except Transient as error:
            if time.monotonic() > deadline:
                raise AssertionError(last_lines(log)) from error
            time.sleep(0.5)
