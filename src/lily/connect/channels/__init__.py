"""Built-in channels, one module or folder each: how a notification reaches Slack, Teams, Jira, Freshdesk, a mailbox, a
webhook or a Kafka topic. docs/how-to/notify-people.md has their settings."""
