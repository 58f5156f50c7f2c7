"""Issues of a Jira site, over its REST API."""

from typing import Any, NamedTuple
from urllib.parse import quote

from lily.connect.channels.sites import Site
from lily.model.errors import Transient

API = "/rest/api/3"
PROPERTY = "lily"
DONE = "done"  # the key of the category of statuses, which is the same in every language
INDEXED_SECONDS = 30.0  # after which a search finds an issue that was opened

Json = dict[str, Any]


class Found(NamedTuple):
    """`opened_by` is the id of the notification for which Lily opened the issue."""

    key: str
    opened_by: str


class Issues:
    """Raises what Site raises."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def check(self, project: str) -> None:
        await self._site.get(f"{API}/project/{project}", dict)

    async def find(self, project: str, label: str) -> Found | None:
        """The newest issue with the label, which Jira's index has some seconds after it was opened."""
        jql = f'project = "{project}" AND labels = "{label}" ORDER BY created DESC'
        body = {"jql": jql, "fields": ["status"], "properties": [PROPERTY], "maxResults": 1}
        issues = (await self._site.find(f"{API}/search/jql", body)).get("issues")
        if not isinstance(issues, list):  # nothing is opened unless the search is known to find nothing
            raise Transient("Jira's search returns no list of issues. It is tried again.")
        return Found(str(_part(issues[0], "key")), _opened_by(issues[0])) if issues else None

    async def create(self, fields: Json, notification_id: str) -> str:
        """The key of the new issue. If its outcome is unknown, the next attempt comes when a search can find it."""
        body = {"fields": fields, "properties": [{"key": PROPERTY, "value": {"notification": notification_id}}]}
        try:
            return await self._site.create(f"{API}/issue", body, "key")
        except Transient as error:
            pause = max(INDEXED_SECONDS, error.retry_after or 0.0)
            raise Transient(f"{error} An issue that was opened is found then.", retry_after=pause) from error

    async def comment(self, key: str, body: Json, notification_id: str) -> None:
        stated = {"key": PROPERTY, "value": {"notification": notification_id}}
        await self._site.post(f"{_issue(key)}/comment", {"body": body, "properties": [stated]})

    async def close(self, key: str) -> str:
        """Moves it to a status of the category Done, unless it has one. Returns why that is not possible."""
        issue = await self._site.get(f"{_issue(key)}?fields=status", dict)
        if _category(_part(_part(issue, "fields"), "status")) == DONE:
            return ""
        listed = (await self._site.get(f"{_issue(key)}/transitions", dict)).get("transitions") or ()
        ends = [_part(one, "id") for one in listed if _category(_part(one, "to")) == DONE]
        if not ends:
            return f"the workflow of {key} has no transition from its status to one of the category Done"
        await self._site.post(f"{_issue(key)}/transitions", {"transition": {"id": str(ends[0])}}, once=False)
        return ""


def _issue(key: str) -> str:
    return f"{API}/issue/{quote(key, safe='')}"


def _category(status: Any) -> str:
    return str(_part(_part(status, "statusCategory"), "key") or "")


def _opened_by(issue: Any) -> str:
    return str(_part(_part(_part(issue, "properties"), PROPERTY), "notification") or "")


def _part(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, dict) else None
