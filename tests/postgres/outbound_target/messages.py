"""What a tool was sent."""

from tests.badserver import BadServer
from tests.webhook_tool import known_tables, verified

PEOPLE, PLAIN = "shop.public.people", "shop.public.plain"
MAIL = f"{PEOPLE}.mail"


def types(tool: BadServer) -> list[tuple[str, str]]:
    """Of the messages since the last call: type and table."""
    found = [verified(asked) for asked in tool.asked]
    tool.asked.clear()
    return sorted((one["type"], ".".join(one["data"].get("table", {}).get("path", ()))) for one in found)


def effects(tool: BadServer, table: str = PEOPLE) -> list[tuple[str, list[str]]]:
    """What the tool enforces: effect and columns."""
    return [
        (one["effect"], [column["name"] for column in one.get("columns", ())])
        for one in known_tables(tool.asked)[table]
    ]
