"""`teams`: posts to workflows of Microsoft Teams, as Adaptive Cards."""

from lily.connect.channels.teams.channel import Teams, TeamsConfig

__all__ = ["Teams", "TeamsConfig"]
