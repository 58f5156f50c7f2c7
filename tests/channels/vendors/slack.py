"""Slack's incoming webhooks: https://hooks.slack.com/services/T…/B…/…"""

import json
from typing import Any

from tests.badserver import Asked, Reply

TARGET = "/services/T0001/B0001/s3cr3tOfTheWebhook"
TYPES = {"header", "section", "context", "actions"}
ESCAPES = ("&amp;", "&lt;", "&gt;")


class Slack:
    """Refuses what Block Kit does not permit."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def __call__(self, asked: Asked) -> Reply:
        if asked.path != TARGET:
            return Reply(404, b"no_service")
        if not asked.headers.get("content-type", "").startswith("application/json"):
            return Reply(400, b"invalid_payload")
        try:
            message = json.loads(asked.body)
        except ValueError:
            return Reply(400, b"invalid_payload")
        if not message.get("text"):
            return Reply(400, b"no_text")
        if not _are_valid(message["blocks"]):
            return Reply(400, b"invalid_blocks")
        self.messages.append(message)
        return Reply(200, b"ok")


def _are_valid(blocks: list[dict[str, Any]]) -> bool:
    actions = [one["action_id"] for block in blocks for one in block.get("elements", ()) if "action_id" in one]
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    unique = len(set(actions)) == len(actions) and len(set(ids)) == len(ids) and all(len(one) <= 255 for one in ids)
    return 0 < len(blocks) <= 50 and unique and all(_is_valid(block) for block in blocks)


def _is_valid(block: dict[str, Any]) -> bool:
    kind = block["type"]
    if kind == "header":
        return block["text"]["type"] == "plain_text" and 0 < len(block["text"]["text"]) <= 150
    if kind == "section":
        return _is_text(block["text"], 3_000)
    if kind == "context":
        return 0 < len(block["elements"]) <= 10 and all(_is_text(one, 3_000) for one in block["elements"])
    if kind == "actions":
        return 0 < len(block["elements"]) <= 25 and all(_is_button(one) for one in block["elements"])
    return False


def _is_text(text: dict[str, Any], limit: int) -> bool:
    return text["type"] == "mrkdwn" and 0 < len(text["text"]) <= limit and _is_escaped(text["text"])


def _is_escaped(text: str) -> bool:
    """An ampersand that is not an entity is shown wrongly, and what is in < > is a link or a mention."""
    for escape in ESCAPES:
        text = text.replace(escape, "")
    return "&" not in text


def _is_button(button: dict[str, Any]) -> bool:
    texts = len(button["text"]["text"]) <= 75 and button["text"]["type"] == "plain_text"
    is_link = button.get("url", "https://").startswith(("http://", "https://")) and len(button.get("url", "")) <= 3_000
    return button["type"] == "button" and texts and is_link and len(button.get("value", "")) <= 2_000
