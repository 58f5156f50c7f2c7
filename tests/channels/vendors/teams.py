"""A workflow of Teams that posts the cards that it gets to a channel."""

import json
from typing import Any

from tests.badserver import Asked, Reply

TARGET = "/workflows/f00d/triggers/manual/paths/invoke"
SIGNATURE = "s1gnatureOfTheWorkflow"
QUERY = f"api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig={SIGNATURE}"
MAX_MESSAGE = 28 << 10
ELEMENTS = {"TextBlock", "RichTextBlock"}


class Teams:
    """Refuses what an Adaptive Card of version 1.4 in Teams must not be."""

    def __init__(self) -> None:
        self.cards: list[dict[str, Any]] = []

    def __call__(self, asked: Asked) -> Reply:
        if asked.path != TARGET or asked.params.get("sig") != SIGNATURE:
            return Reply(401, {"error": {"code": "DirectApiAuthorizationRequired"}})
        if len(asked.body) > MAX_MESSAGE:
            return Reply(413, {"error": {"code": "RequestEntityTooLarge"}})
        message = json.loads(asked.body)
        if message["type"] != "message" or len(message["attachments"]) != 1 or not _is_card(message["attachments"][0]):
            return Reply(400, {"error": {"code": "TriggerInputSchemaMismatch"}})
        self.cards.append(message["attachments"][0]["content"])
        return Reply(202, b"")


def _is_card(attachment: dict[str, Any]) -> bool:
    card = attachment["content"]
    kinds = attachment["contentType"] == "application/vnd.microsoft.card.adaptive" and card["type"] == "AdaptiveCard"
    links = all(one["type"] == "Action.OpenUrl" and one["url"].startswith("http") for one in card.get("actions", ()))
    return kinds and card["version"] == "1.4" and links and _are_elements(card["body"]) and _are_mentioned(card)


def _are_elements(body: list[dict[str, Any]]) -> bool:
    runs = [run for one in body if one["type"] == "RichTextBlock" for run in one["inlines"]]
    texts = [one["text"] for one in body if one["type"] == "TextBlock"] + [run["text"] for run in runs]
    kinds = all(one["type"] in ELEMENTS for one in body) and all(run["type"] == "TextRun" for run in runs)
    return bool(body) and kinds and all(isinstance(text, str) and text for text in texts)


def _are_mentioned(card: dict[str, Any]) -> bool:
    """Teams refuses a card with a mention that its text does not have, to the letter."""
    shown = " ".join(one["text"] for one in card["body"] if one["type"] == "TextBlock")
    entities = card["msteams"]["entities"]
    found = all(one["type"] == "mention" and one["text"] in shown and one["mentioned"]["id"] for one in entities)
    return found and shown.count("<at>") == len(entities)
