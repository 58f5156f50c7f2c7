"""A migrated database, and how each of Lily's roles reaches it."""

from dataclasses import dataclass

from lily.embedded.bootstrap import url_for_role

PASSWORDS = {"lily_api": "api-password", "lily_pipeline": "pipeline-password"}


@dataclass(frozen=True)
class Migrated:
    owner: str

    def url_of(self, role: str) -> str:
        return url_for_role(self.owner, role, PASSWORDS[role])
