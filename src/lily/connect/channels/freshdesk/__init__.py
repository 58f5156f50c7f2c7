"""`freshdesk`: one ticket per incident, with a private note for each change."""

from lily.connect.channels.freshdesk.channel import Freshdesk, FreshdeskConfig

__all__ = ["Freshdesk", "FreshdeskConfig"]
