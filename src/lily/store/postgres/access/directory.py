"""What a directory of users states: whether a user is enabled, and in which groups. The newest holds, by its clock."""

from lily.model.access import Principal
from lily.model.directory import UserEvent
from lily.store.postgres.access.users import change_user
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Fetches

ALWAYS = "infinity"


async def record_state(database: Fetches, event: UserEvent, subject: str, *, holds: bool) -> bool:
    """Returns False if something newer is known, or this event is."""
    parameters = {
        "source": event.by,
        "user": event.user,
        "subject": subject,
        "holds": holds,
        "at": event.time,
        "event": event.id,
    }
    return bool(await database.fetch(event.tenant, query("access/record_directory_state"), parameters))


async def revoke_tokens(database: Fetches, event: UserEvent, until: str = ALWAYS) -> int:
    """Ends the user's tokens that were created until then. Returns how many there were."""
    parameters = {"user": event.user, "until": until, "by": event.by}
    ((revoked,),) = await database.fetch(event.tenant, query("access/revoke_tokens"), parameters)
    return int(revoked)


async def apply_status(database: Fetches, event: UserEvent) -> bool:
    """Disables a user and ends the tokens, or enables a user whom the same directory disabled. An event that arrives
    after a newer one ends only the tokens that there were at its time. Returns whether the user was changed."""
    disables = event.change == "disabled"
    is_newest = await record_state(database, event, "", holds=not disables)
    if disables:
        await revoke_tokens(database, event, ALWAYS if is_newest else event.time)
    if not is_newest:
        return False
    directory = Principal("", event.tenant, event.by, frozenset())
    return await change_user(
        database, directory, "user.disabled" if disables else "user.enabled", event.user, source=event.by
    )
