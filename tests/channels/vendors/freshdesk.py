"""A site of Freshdesk, as its API version 2 is documented."""

import base64
import json
import re
import threading
from typing import Any

from tests.badserver import Asked, Reply

KEY = "fr3shd3skKey"
TAGS = re.compile(r"</?(\w+)")
ALLOWED = {"p", "b", "br", "a"}
CREATED = {"subject", "description", "email", "tags", "status", "priority", "group_id"}


class Freshdesk:
    def __init__(self) -> None:
        self.tickets: dict[int, dict[str, Any]] = {}
        self.notes: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Reply:
        if asked.headers.get("authorization") != f"Basic {base64.b64encode(f'{KEY}:X'.encode()).decode()}":
            return Reply(401, {"code": "invalid_credentials", "message": "You have to be logged in"})
        body = json.loads(asked.body) if asked.body else None
        with self._lock:
            return self._routed(asked, body)

    def _routed(self, asked: Asked, body: Any) -> Reply:
        match [asked.method, *asked.path.removeprefix("/api/v2/").split("/")]:
            case ["GET", "tickets"]:
                return self._listed(asked.params)
            case ["POST", "tickets"]:
                return self._create(body)
            case ["PUT", "tickets", id_] if int(id_) in self.tickets:
                return self._update(int(id_), body)
            case ["POST", "tickets", id_, "notes"] if int(id_) in self.tickets and body["private"] is True:
                self.notes.append({"ticket": int(id_), **body})
                return Reply(201, {"id": 1}) if _is_html(body["body"]) else _invalid("body")
        return Reply(404, b"")

    def _listed(self, params: dict[str, str]) -> Reply:
        """Without the description, newest first, as `order_type=desc` asks for."""
        mine = [one for one in self.tickets.values() if params.get("email", one["email"]) == one["email"]]
        newest = sorted(mine, key=lambda one: one["id"], reverse=True)[: int(params["per_page"])]
        return Reply(200, [{name: one[name] for name in ("id", "subject", "status", "tags")} for one in newest])

    def _create(self, body: dict[str, Any]) -> Reply:
        if not set(body) <= CREATED:
            return _invalid(next(iter(set(body) - CREATED)))
        if problem := _problem(body):
            return _invalid(problem)
        id_ = len(self.tickets) + 1
        self.tickets[id_] = {"id": id_, **body}
        return Reply(201, self.tickets[id_])

    def _update(self, id_: int, body: dict[str, Any]) -> Reply:
        if not set(body) <= {"status", "priority"} or problem_of_progress(body):
            return _invalid("status")
        self.tickets[id_] |= body
        return Reply(200, self.tickets[id_])


def _problem(body: dict[str, Any]) -> str:
    if not 0 < len(body["subject"]) <= 255:
        return "subject"
    if not _is_html(body["description"]):
        return "description"
    if "@" not in body["email"]:
        return "email"
    if any(len(tag) > 32 or "," in tag for tag in body["tags"]):
        return "tags"
    return problem_of_progress(body)


def problem_of_progress(body: dict[str, Any]) -> str:
    if body.get("status", 2) not in {2, 3, 4, 5}:
        return "status"
    return "" if body.get("priority", 1) in {1, 2, 3, 4} else "priority"


def _is_html(text: str) -> bool:
    """Only the elements that the channel means to send: others come from text that was not escaped."""
    return bool(text) and set(TAGS.findall(text)) <= ALLOWED


def _invalid(field: str) -> Reply:
    errors = [{"field": field, "message": "It is invalid", "code": "invalid_value"}]
    return Reply(400, {"description": "Validation failed", "errors": errors})
