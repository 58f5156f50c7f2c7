"""Who wants to know what, and how: channels, subscriptions, mentions and mutes."""
