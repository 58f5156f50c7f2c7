"""The statements that change who may use Lily. Each writes its audit entry and notifies every process, in one
transaction."""

from functools import cache
from typing import Literal, LiteralString

from lily.store.postgres.queries import query

Change = Literal[
    "user.disabled", "user.enabled", "token.created", "token.rotated", "token.revoked"
]  # as the audit names them

DISABLED_USER = "disabled-user"  # of the decisions that keep users out or let them in, on `policy-events`
OWNER = "owner"  # the principal in the audit for a change made as the database's owner, without a name

_STATEMENTS: dict[Change, str] = {
    "user.disabled": "access/disable_user",
    "user.enabled": "access/enable_user",
    "token.created": "access/create_token",
    "token.rotated": "access/rotate_token",
    "token.revoked": "access/revoke_token",
}


@cache
def change_statement(change: Change) -> LiteralString:
    """Its parameters are those of the change, `by` (who made it), `action` (the change), and for users `kind`. It
    returns one row, whose first column is whether anything changed."""
    followed_by = query("access/user_changed") if change in {"user.disabled", "user.enabled"} else ""
    return query(_STATEMENTS[change]) + followed_by + query("access/access_changed")
