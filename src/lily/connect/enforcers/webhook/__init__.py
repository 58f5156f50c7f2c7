"""`webhook`: posts decisions to any tool, signed by Standard Webhooks.

docs/decisions/0028-decisions-for-any-tool.md has the reasons, docs/how-to/enforce-anywhere.md the messages.
"""

from lily.connect.enforcers.webhook.enforcer import Webhook, WebhookConfig

__all__ = ["Webhook", "WebhookConfig"]
