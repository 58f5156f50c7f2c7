"""`slack`: posts to incoming webhooks, as Block Kit."""

from lily.connect.channels.slack.channel import Slack, SlackConfig

__all__ = ["Slack", "SlackConfig"]
