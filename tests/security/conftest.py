"""The doors of the contract tests: every test gets a tenant of its own in the one running stack."""

from tests.contract.conftest import door, other_door

__all__ = ("door", "other_door")
