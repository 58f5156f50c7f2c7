"""The configuration of the node. It contains a password, so only its owner may read it."""

from pathlib import Path

from lily.brokers import LOGIN_MODULES
from lily.embedded.kafka.users import ADMINISTRATOR, BROKER, MECHANISM


def properties(port: int, controller_port: int, logs: Path, password: str) -> dict[str, object]:
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "listeners": f"CLIENTS://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"CLIENTS://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "CLIENTS",
        "log.dirs": logs,
        **_access(password),
        **SETTINGS,
    }


def _access(password: str) -> dict[str, object]:
    """Every connection logs in, also those of the node to itself, and what is not permitted is denied.

    A controller cannot check a password that is in its own log, so the node logs in with PLAIN. The clients of Lily use
    SCRAM, with which no password is ever sent.
    """
    plain, scram = LOGIN_MODULES["PLAIN"], LOGIN_MODULES[MECHANISM]
    itself = f'{plain} required username="{BROKER}" password="{password}" user_{BROKER}="{password}";'
    return {
        "listener.security.protocol.map": "CLIENTS:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.clients.sasl.enabled.mechanisms": f"{MECHANISM},PLAIN",
        f"listener.name.clients.{MECHANISM.lower()}.sasl.jaas.config": f"{scram} required;",
        "listener.name.clients.plain.sasl.jaas.config": itself,
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": itself,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "false",
        "super.users": f"User:{BROKER};User:{ADMINISTRATOR}",
    }


SETTINGS: dict[str, object] = {
    # One node: one replica, and few partitions of the internal topics, which are opened at each start.
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 8,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 4,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
    # After a kill -9 the controller considers the dead broker alive until its session ends: 9 s by default.
    "broker.session.timeout.ms": 3_000,
    "broker.heartbeat.interval.ms": 500,
    "auto.create.topics.enable": "false",
    "message.max.bytes": 4 << 20,
    "log.retention.hours": 7 * 24,
    # For two cores and 384 MiB: the default threads and the 128 MiB of the log cleaner suit a larger server.
    "num.network.threads": 2,
    "num.io.threads": 4,
    "log.cleaner.dedupe.buffer.size": 16 << 20,
}
