"""Notifications: the reaction that decides who is notified, and the tasks that deliver."""

from lily.reactions.notifications.reaction import Notifications
from lily.reactions.notifications.task import Delivering
from lily.reactions.notifications.trial import TestingChannels

__all__ = ["Delivering", "Notifications", "TestingChannels"]
