"""What a directory of users, such as Okta, states about one of them."""

from dataclasses import dataclass, field
from typing import Literal

from lily.model.events import LogEvent

UserChange = Literal["disabled", "enabled", "joined", "left"]


@dataclass(frozen=True, slots=True)
class UserEvent(LogEvent):
    """`time` is the directory's own, so that of two changes the newer one holds whatever their order of arrival. It is
    never in the log itself: it follows from a webhook."""

    user: str
    change: UserChange
    by: str
    group: str = field(default="", kw_only=True)  # that the user joined or left
