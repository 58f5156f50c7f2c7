"""The users of the embedded Kafka. Each of Lily's parts has its own, with a generated password.

`broker` is the node itself: its credentials are in its own configuration, because those of all others are records in
the log of a node that has to start first.
"""

from lily.brokers import Brokers, KafkaSecurity, Mechanism
from lily.embedded.state import StackState
from lily.settings import Settings

BROKER = "broker"
ADMINISTRATOR = "lily"  # of `lily status`, and of people with access to the data directory
USER_OF = {"api": "lily_api", "pipeline": "lily_pipeline", "worker": "lily_worker"}
USERS = (BROKER, ADMINISTRATOR, *USER_OF.values())
MECHANISM: Mechanism = "SCRAM-SHA-512"


def security_of(user: str, password: str) -> KafkaSecurity:
    """Without TLS: the node listens on loopback only."""
    return KafkaSecurity(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN" if user == BROKER else MECHANISM,
        sasl_username=user,
        sasl_password=password,
    )


def brokers_of(state: StackState, user: str = ADMINISTRATOR) -> Brokers:
    """The embedded Kafka of a stack, for a client that logs in as this user."""
    return Brokers(state.kafka, security_of(user, state.kafka_passwords[user]))


def stack_settings(settings: Settings, state: StackState) -> Settings:
    """Settings with which the engines of a stack are reached as their administrator, wherever they run."""
    embedded = {"kafka": brokers_of(state).security} if state.kafka_passwords else {}
    return settings.model_copy(update={"kafka_bootstrap": state.kafka, "database_url": state.database, **embedded})


def brokers_environment(brokers: Brokers) -> dict[str, str]:
    """The variables that make a process connect to these brokers."""
    stated = brokers.security.model_dump(mode="json", exclude_none=True)
    login = {f"LILY_KAFKA__{name.upper()}": str(value) for name, value in stated.items()}
    return {"LILY_KAFKA_BOOTSTRAP": brokers.bootstrap, **login}
