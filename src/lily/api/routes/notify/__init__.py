"""Notifications: channels, subscriptions, mentions, mutes, the panel's list, and why something was sent or not."""
