"""`jira`: one issue per incident, opened, commented and closed with it."""

from lily.connect.channels.jira.channel import Jira, JiraConfig

__all__ = ["Jira", "JiraConfig"]
