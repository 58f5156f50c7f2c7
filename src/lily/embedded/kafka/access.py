"""Makes the users of the embedded Kafka and their permissions what they should be, at every start."""

from collections.abc import Iterator, Mapping

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined] # it imports these, and its types do not export them
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from lily.brokers import Brokers
from lily.bus.grants import GROUPS, OF_PART, Grants
from lily.embedded.kafka.users import BROKER, USER_OF
from lily.model.errors import Transient

PATIENCE_SECONDS = 15.0
ITERATIONS = 4_096  # the least that Kafka accepts: the passwords are 192 random bits, so none can be guessed
# Who creates a topic also configures it.
OWNING = (
    AclOperation.CREATE,
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.ALTER_CONFIGS,
    AclOperation.DESCRIBE_CONFIGS,
)


def ensure_access(broker: Brokers, passwords: Mapping[str, str]) -> None:
    """`broker` logs in as the node itself. Idempotent. Raises Transient if Kafka does not respond."""
    admin = AdminClient(broker.client())
    try:
        _set_passwords(admin, {user: word for user, word in passwords.items() if user != BROKER})
        _set_permissions(admin)
    except (KafkaException, TimeoutError) as error:
        raise Transient(f"The users of Kafka could not be created: {error}. Check `lily status`.") from error


def permissions() -> set[AclBinding]:
    """Everything that is permitted. Users that have none of these may do nothing."""
    return {binding for part, grants in OF_PART.items() for binding in _permitted(f"User:{USER_OF[part]}", grants)}


def _set_passwords(admin: AdminClient, passwords: Mapping[str, str]) -> None:
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS)
    users: list[UserScramCredentialAlteration] = [
        UserScramCredentialUpsertion(user, info, word.encode()) for user, word in passwords.items()
    ]
    for set_ in admin.alter_user_scram_credentials(users).values():
        set_.result(timeout=PATIENCE_SECONDS)


def _set_permissions(admin: AdminClient) -> None:
    """Takes away what an earlier version permitted."""
    wanted, found = permissions(), found_permissions(admin)
    if missing := list(wanted - found):
        for created in admin.create_acls(missing).values():
            created.result(timeout=PATIENCE_SECONDS)
    if extra := [_exactly(binding) for binding in found - wanted]:
        for deleted in admin.delete_acls(extra).values():
            deleted.result(timeout=PATIENCE_SECONDS)


def found_permissions(admin: AdminClient) -> set[AclBinding]:
    """What Kafka permits to the users of Lily's parts."""
    theirs = [_any_of(f"User:{user}") for user in USER_OF.values()]
    return {binding for one in theirs for binding in admin.describe_acls(one).result(timeout=PATIENCE_SECONDS)}


def _any_of(principal: str) -> AclBindingFilter:
    return AclBindingFilter(
        ResourceType.ANY,
        None,  # type: ignore[arg-type] # any name and any host, which the types of the library do not know
        ResourcePatternType.ANY,
        principal,
        None,  # type: ignore[arg-type]
        AclOperation.ANY,
        AclPermissionType.ANY,
    )


def _permitted(principal: str, grants: Grants) -> Iterator[AclBinding]:
    def allow(kind: ResourceType, name: str, operation: AclOperation, *, prefix: bool = False) -> AclBinding:
        pattern = ResourcePatternType.PREFIXED if prefix else ResourcePatternType.LITERAL
        return AclBinding(kind, name, pattern, principal, "*", operation, AclPermissionType.ALLOW)

    for topic in grants.read:
        yield allow(ResourceType.TOPIC, topic, AclOperation.READ)
    for topic in grants.write:
        yield allow(ResourceType.TOPIC, topic, AclOperation.WRITE)
    for beginning in grants.owned:
        for operation in OWNING:
            yield allow(ResourceType.TOPIC, beginning, operation, prefix=True)
    yield allow(ResourceType.GROUP, GROUPS, AclOperation.READ, prefix=True)


def _exactly(binding: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        binding.restype, binding.name, binding.resource_pattern_type, binding.principal, binding.host,
        binding.operation, binding.permission_type,
    )  # fmt: skip
