"""The plug-in: the destination is the key of a project. An incident is one issue, found by its label."""

import re
from typing import Annotated

from pydantic import Field, SecretStr, StringConstraints

from lily.connect.channels.jira.documents import comment, description, summary
from lily.connect.channels.jira.issues import Issues
from lily.connect.channels.sites import Site, SiteConfig
from lily.connect.channels.subjects import RESOLVED, incident_of, label
from lily.model.errors import Terminal
from lily.outbound import Response
from lily.plugins import Notification, Surroundings
from lily.plugins.channels import Severity

REMEDIES = {
    400: "Correct `issue_type`, `labels` or `priorities` of the channel, or the fields that the project requires.",
    401: "The token expired or was revoked: create a new one in Atlassian's settings and update the channel.",
    403: "The account may not do this: let it browse the project, and create, comment and transition its issues.",
    404: "The project or issue does not exist, or the account may not see it.",
}
_PROJECT = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}-[0-9]{1,18}")
Label = Annotated[str, StringConstraints(pattern=r"^\S{1,255}$")]


class JiraConfig(SiteConfig):
    email: str = Field(min_length=3, max_length=254, description="of the account that opens issues")
    token: SecretStr = Field(description="an API token of the account")
    issue_type: str = Field("Task", min_length=1, max_length=60)
    labels: list[Label] = Field([], max_length=20, description="that every issue gets, besides Lily's own")
    priorities: dict[Severity, str] = Field({}, description="names of priorities by severity; default: the project's")


class Jira:
    Config = JiraConfig

    def __init__(self, config: JiraConfig) -> None:
        self._config = config
        self._site = Site("Jira", config, config.email, config.token.get_secret_value(), _remedy)
        self._issues = Issues(self._site)

    def situate(self, surroundings: Surroundings) -> None:
        self._site.situate(surroundings)

    async def check(self, destination: str) -> None:
        await self._issues.check(_project(destination))

    async def deliver(self, notification: Notification, destination: str) -> str:
        """Returns the issue's key. A repeated first delivery finds the issue that it opened and adds nothing to it."""
        project, incident = _project(destination), incident_of(notification)
        key, is_new = await self._opened(notification, project)
        problem = await self._issues.close(key) if incident.state == RESOLVED else ""
        if not is_new:  # last, because it is the one step that cannot be repeated without an effect
            await self._issues.comment(key, comment(notification), notification.id)
        if problem:
            raise Terminal(f"the issue stays open: {problem}. Add one to the workflow, or close the issue by hand.")
        return key

    async def close(self) -> None:
        await self._site.close()

    async def _opened(self, notification: Notification, project: str) -> tuple[str, bool]:
        """The issue's key, and whether this notification opened it."""
        incident = incident_of(notification)
        if _KEY.fullmatch(incident.previous):
            return incident.previous, False
        named = label(incident.id or notification.id)
        if (found := await self._issues.find(project, named)) is not None:
            return found.key, found.opened_by == notification.id
        fields = {
            "project": {"key": project},
            "issuetype": {"name": self._config.issue_type},
            "summary": summary(notification),
            "description": description(notification),
            "labels": [named, *self._config.labels],
        }
        if priority := self._config.priorities.get(notification.severity):
            fields["priority"] = {"name": priority}
        return await self._issues.create(fields, notification.id), True


def _project(destination: str) -> str:
    if not _PROJECT.fullmatch(destination):
        raise Terminal(f"the destination {destination!r} is not the key of a Jira project, such as OPS.")
    return destination.upper()


def _remedy(response: Response) -> str:
    return REMEDIES.get(response.status, "Correct the channel, then replay the dead letter.")
