"""Jira: its webhooks about the issues that Lily opened as changes of their incidents."""

from lily.intake.jira.intake import Jira

__all__ = ["Jira"]
