"""`webhook`: posts notifications to any receiver, signed by Standard Webhooks."""

from lily.connect.channels.webhook.channel import Webhook, WebhookConfig

__all__ = ["Webhook", "WebhookConfig"]
