"""How a client reaches Kafka: the address of its brokers, and what they require of clients.

Every client in Lily is configured here, in the names of librdkafka or of Java.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lily.model.errors import Terminal

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
LOGIN_MODULES: dict[Mechanism, str] = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


class KafkaSecurity(BaseModel):
    """What brokers require of clients: encryption, a password, a certificate."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    security_protocol: Protocol = Field("PLAINTEXT", description="how clients connect to the brokers")
    sasl_mechanism: Mechanism = "SCRAM-SHA-512"
    sasl_username: str = ""
    sasl_password: str = Field("", repr=False)
    sasl_password_file: Path | None = Field(None, description="a file with the password, instead of sasl_password")
    ssl_ca: Path | None = Field(None, description="PEM: who signs the brokers' certificates; default: the system's")
    ssl_certificate: Path | None = Field(None, description="PEM: the client's certificate, if the brokers require one")
    ssl_key: Path | None = Field(None, description="PEM (PKCS #8): the key of ssl_certificate")
    ssl_key_password: str = Field("", repr=False)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        password = self.sasl_password or self.sasl_password_file
        if self.uses_sasl and not (self.sasl_username and password):
            raise ValueError(
                f"{self.security_protocol} needs a user: set sasl_username, and sasl_password or sasl_password_file"
            )
        if self.sasl_username and not self.uses_sasl:
            raise ValueError(
                f"a user is set, but clients do not log in with {self.security_protocol}: set security_protocol to "
                "SASL_SSL, or to SASL_PLAINTEXT if the brokers have no TLS"
            )
        if bool(self.ssl_certificate) != bool(self.ssl_key):
            raise ValueError("ssl_certificate and ssl_key belong together: set both of them, or neither")
        return self

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL_")

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol.endswith("SSL")

    def password(self) -> str:
        """Raises Terminal if its file cannot be read."""
        return self.sasl_password or (_read(self.sasl_password_file).strip() if self.sasl_password_file else "")

    def for_librdkafka(self) -> dict[str, str]:
        """Empty if the brokers require nothing. Raises Terminal if a file cannot be read."""
        if self.security_protocol == "PLAINTEXT":
            return {}
        return {"security.protocol": self.security_protocol} | self._librdkafka_sasl() | self._librdkafka_tls()

    def for_java(self) -> dict[str, str]:
        """The same with certificates inside: Spark's executors may run where the files are not."""
        if self.security_protocol == "PLAINTEXT":
            return {}
        return {"security.protocol": self.security_protocol} | self._java_sasl() | self._java_tls()

    def _librdkafka_sasl(self) -> dict[str, str]:
        if not self.uses_sasl:
            return {}
        named = {"sasl.mechanism": self.sasl_mechanism, "sasl.username": self.sasl_username}
        return named | {"sasl.password": self.password()}

    def _librdkafka_tls(self) -> dict[str, str]:
        if not self.uses_tls:
            return {}
        files = {
            "ssl.ca.location": self.ssl_ca,
            "ssl.certificate.location": self.ssl_certificate,
            "ssl.key.location": self.ssl_key,
        }
        # Read here too, because librdkafka's error does not name the file.
        stated = {name: str(path) for name, path in files.items() if path and _read(path)}
        return stated | ({"ssl.key.password": self.ssl_key_password} if self.ssl_key_password else {})

    def _java_sasl(self) -> dict[str, str]:
        if not self.uses_sasl:
            return {}
        user, password = _quoted(self.sasl_username), _quoted(self.password())
        login = f"{LOGIN_MODULES[self.sasl_mechanism]} required username={user} password={password};"
        return {"sasl.mechanism": self.sasl_mechanism, "sasl.jaas.config": login}

    def _java_tls(self) -> dict[str, str]:
        options: dict[str, str] = {}
        if self.uses_tls and self.ssl_ca:
            options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": _read(self.ssl_ca)}
        if self.uses_tls and self.ssl_certificate and self.ssl_key:
            chain, key = _read(self.ssl_certificate), _read(self.ssl_key)
            options |= {"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": chain, "ssl.keystore.key": key}
            options |= {"ssl.key.password": self.ssl_key_password} if self.ssl_key_password else {}
        return options


OPEN = KafkaSecurity()  # brokers that require nothing


@dataclass(frozen=True, slots=True)
class Brokers:
    """A Kafka cluster."""

    bootstrap: str
    security: KafkaSecurity = OPEN

    def client(self) -> dict[str, Any]:
        """What every client of librdkafka is configured with. Raises Terminal if a file cannot be read."""
        return {"bootstrap.servers": self.bootstrap, "log_level": 2} | self.security.for_librdkafka()

    def spark_options(self) -> dict[str, str]:
        """The same for Spark's Kafka source."""
        options = {"bootstrap.servers": self.bootstrap} | self.security.for_java()
        return {f"kafka.{name}": value for name, value in options.items()}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Terminal(
            f"{path}, which the settings of Kafka name, cannot be read: {reason}. Correct the path."
        ) from error
