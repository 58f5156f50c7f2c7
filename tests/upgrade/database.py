"""A database and the addresses of its roles; what its schema is."""

import subprocess

from lily.embedded.bootstrap import url_for_role
from lily.embedded.postgres.cluster import installation
from tests.postgres_server import Server

OWNER, OWNER_PASSWORD = "deployer", "owner-password"
PASSWORDS = {"lily_api": "api-password", "lily_pipeline": "pipeline-password"}


class Database:
    """One database of the owner, and how each role reaches it."""

    def __init__(self, server: Server) -> None:
        self.superuser = server.create_database(OWNER)
        self.owner = url_for_role(self.superuser, OWNER, OWNER_PASSWORD)

    def url_of(self, role: str) -> str:
        return url_for_role(self.superuser, role, PASSWORDS[role])

    def schema(self) -> str:
        """Everything but the rows: tables, functions, policies, grants and owners, as `pg_dump` writes them."""
        program = installation() / "bin" / "pg_dump"
        # The key would be a random one otherwise, and no two dumps the same.
        options = ("--schema-only", "--restrict-key=lily")
        done = subprocess.run([program, *options, self.superuser], capture_output=True, text=True, check=True)
        return done.stdout
