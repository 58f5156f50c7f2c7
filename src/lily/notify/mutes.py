"""Mutes: for a while nothing is sent about an asset, what is below it, or a kind of event."""

from datetime import datetime
from typing import NamedTuple

from lily.notify.events import Occurrence, Subject
from lily.notify.kinds import first_match


class Mute(NamedTuple):
    """`asset` and `kind` limit it; one that has both mutes that kind for that asset."""

    id: str
    asset: str | None
    kind: str | None
    until: datetime | None
    reason: str = ""

    def ended(self, now: datetime) -> bool:
        return self.until is not None and self.until <= now

    def covers(self, kinds: tuple[str, ...], subject: Subject | None) -> bool:
        if self.kind is not None and first_match([self.kind], kinds) is None:
            return False
        return self.asset is None or (
            subject is not None and (subject.id == self.asset or self.asset in subject.ancestors)
        )

    def described(self) -> str:
        what = " of ".join(part for part in (self.kind, self.asset) if part)
        until = f" until {self.until:%Y-%m-%dT%H:%M:%SZ}" if self.until else ""
        return f"muted{until}: {what}" + (f" ({self.reason})" if self.reason else "")


def muting(mutes: tuple[Mute, ...], occurrence: Occurrence, now: datetime) -> Mute | None:
    """A mute by which the event is not sent; None if one of its assets is not muted."""
    active = [mute for mute in mutes if not mute.ended(now)]
    found: Mute | None = None
    for subject in occurrence.subjects or (None,):
        found = next((mute for mute in active if mute.covers(occurrence.kinds, subject)), None)
        if found is None:
            return None
    return found
