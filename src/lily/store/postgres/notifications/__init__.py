"""Channels, subscriptions, mentions and mutes; notifications and their deliveries."""
