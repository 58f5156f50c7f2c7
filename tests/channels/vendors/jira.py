"""A site of Jira Cloud, as its REST API version 3 is documented."""

import base64
import json
import re
import threading
from dataclasses import dataclass, field
from typing import Any

from tests.badserver import Asked, Reply

EMAIL, TOKEN = "lily@acme.example", "ATATT3xFfGF0-the-token"
JQL = re.compile(r'project = "(?P<project>\w+)" AND labels = "(?P<label>[\w-]+)" ORDER BY created DESC')
BLOCKS = {"paragraph"}
INLINE = {"text", "hardBreak", "mention"}
TODO, DONE = {"name": "To Do", "key": "new"}, {"name": "Erledigt", "key": "done"}


@dataclass
class Issue:
    key: str
    fields: dict[str, Any]
    properties: dict[str, Any]
    category: dict[str, str] = field(default_factory=lambda: TODO)
    comments: list[dict[str, Any]] = field(default_factory=list)
    is_indexed: bool = True


class Jira:
    """`late_index`: a search finds only what was there at the last `index()`."""

    def __init__(self) -> None:
        self.issues: dict[str, Issue] = {}
        self.transitions: list[dict[str, Any]] = [
            {"id": "11", "name": "Start", "to": {"name": "In Progress", "statusCategory": {"key": "indeterminate"}}},
            {"id": "31", "name": "Schließen", "to": {"name": "Erledigt", "statusCategory": DONE}},
        ]
        self.late_index = False
        self._lock = threading.Lock()

    def index(self) -> None:
        for issue in self.issues.values():
            issue.is_indexed = True

    def __call__(self, asked: Asked) -> Reply:
        expected = base64.b64encode(f"{EMAIL}:{TOKEN}".encode()).decode()
        if asked.headers.get("authorization") != f"Basic {expected}":
            return Reply(401, b"Client must be authenticated to access this resource.")
        body = json.loads(asked.body) if asked.body else None
        with self._lock:
            return self._routed(asked, body)

    def _routed(self, asked: Asked, body: Any) -> Reply:
        match [asked.method, *asked.path.removeprefix("/rest/api/3/").split("/")]:
            case ["GET", "project", "OPS"]:
                return Reply(200, {"id": "1", "key": "OPS"})
            case ["POST", "search", "jql"]:
                return self._search(body)
            case ["POST", "issue"]:
                return self._create(body)
            case [method, "issue", key, *rest] if key in self.issues:
                return self._of_issue(method, self.issues[key], rest, body)
        return Reply(404, {"errorMessages": ["Issue does not exist or you do not have permission to see it."]})

    def _search(self, body: dict[str, Any]) -> Reply:
        query = JQL.fullmatch(body["jql"])
        if query is None or not set(body) <= {"jql", "fields", "properties", "maxResults", "nextPageToken"}:
            return Reply(400, {"errorMessages": ["Invalid request payload."]})
        found = [
            {"id": "1", "key": one.key, "fields": {"status": _status(one)}, "properties": one.properties}
            for one in self.issues.values()
            if one.is_indexed and query["label"] in one.fields["labels"] and one.key.startswith(query["project"])
        ]
        return Reply(200, {"issues": found[: body["maxResults"]], "isLast": True})

    def _create(self, body: dict[str, Any]) -> Reply:
        fields = body["fields"]
        if fields["project"] != {"key": "OPS"}:
            return Reply(400, {"errorMessages": [], "errors": {"project": "valid project is required"}})
        if problem := _problem(fields):
            return Reply(400, {"errorMessages": [], "errors": problem})
        key = f"OPS-{len(self.issues) + 1}"
        properties = {one["key"]: one["value"] for one in body.get("properties", ())}
        self.issues[key] = Issue(key, fields, properties, is_indexed=not self.late_index)
        return Reply(201, {"id": "10000", "key": key, "self": "https://acme.atlassian.net/rest/api/3/issue/10000"})

    def _of_issue(self, method: str, issue: Issue, rest: list[str], body: Any) -> Reply:
        match [method, *rest]:
            case ["GET"]:
                return Reply(200, {"key": issue.key, "fields": {"status": _status(issue)}})
            case ["POST", "comment"] if _is_document(body["body"]):
                issue.comments.append(body)
                return Reply(201, {"id": "1"})
            case ["GET", "transitions"]:
                return Reply(200, {"transitions": self.transitions})
            case ["POST", "transitions"]:
                (chosen,) = [one for one in self.transitions if one["id"] == body["transition"]["id"]]
                issue.category = chosen["to"]["statusCategory"]
                return Reply(204, b"")
        return Reply(400, {"errorMessages": ["Comment body is not valid!"]})


def _status(issue: Issue) -> dict[str, Any]:
    return {"name": issue.category.get("name"), "statusCategory": issue.category}


def _problem(fields: dict[str, Any]) -> dict[str, str]:
    if not 0 < len(fields["summary"]) <= 255 or "\n" in fields["summary"]:
        return {"summary": "Summary must be one line of at most 255 characters."}
    if fields["issuetype"] != {"name": "Task"}:
        return {"issuetype": "Specify a valid issue type"}
    if not _is_document(fields["description"]) or _length(fields["description"]) > 32_767:
        return {"description": "Operation value must be an Atlassian Document"}
    if any(" " in label or len(label) > 255 for label in fields["labels"]):
        return {"labels": "The label can't contain spaces."}
    return {}


def _length(document: Any) -> int:
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def _is_document(found: Any) -> bool:
    return found["type"] == "doc" and found["version"] == 1 and all(_is_block(one) for one in found["content"])


def _is_block(node: dict[str, Any]) -> bool:
    return node["type"] in BLOCKS and bool(node["content"]) and all(_is_inline(one) for one in node["content"])


def _is_inline(node: dict[str, Any]) -> bool:
    if node["type"] == "text":
        links = [mark["attrs"]["href"] for mark in node.get("marks", ()) if mark["type"] == "link"]
        return bool(node["text"]) and "\n" not in node["text"] and all(one.startswith("http") for one in links)
    return node["type"] in INLINE and (node["type"] != "mention" or bool(node["attrs"]["id"]))
