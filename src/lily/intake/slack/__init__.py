"""Slack: clicks on the buttons of Lily's messages as changes of incidents."""

from lily.intake.slack.intake import Slack

__all__ = ["Slack"]
