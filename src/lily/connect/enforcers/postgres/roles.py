"""The roles of the target: whom nothing can restrict, and who has the rights of whom."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache

from lily.connect.enforcers.postgres.catalogue import Role
from lily.plugins import TargetRole

_SYSTEM = "pg_"
_BEYOND_GRANTS = frozenset(
    {"pg_read_all_data", "pg_read_server_files", "pg_write_server_files", "pg_execute_server_program"}
)


class Roles:
    def __init__(self, roles: Mapping[int, Role], ignored: Collection[str]) -> None:
        self.by_oid = roles
        self.oids = {role.name: role.oid for role in roles.values()}
        self._ignored = frozenset(ignored)
        self.unrestricted = {oid: why for oid, role in roles.items() if (why := self._unrestricted(role))}
        self.below: dict[int, set[int]] = defaultdict(set)
        for role in roles.values():
            for above in role.above:
                self.below[above].add(role.oid)
        self.exempt = cache(self._exempt)

    def name(self, oid: int) -> str:
        return self.by_oid[oid].name

    def is_system(self, oid: int) -> bool:
        return self.name(oid).startswith(_SYSTEM)

    def listed(self) -> tuple[TargetRole, ...]:
        """PostgreSQL's own roles are left out: nobody logs in as one, and they are never granted anything here."""
        return tuple(
            TargetRole(
                role.name,
                role.login,
                tuple(sorted(self.name(oid) for oid in role.above if not self.is_system(oid))),
                self.unrestricted.get(role.oid, ""),
            )
            for role in self.by_oid.values()
            if not self.is_system(role.oid)
        )

    def _exempt(self, owner: int) -> frozenset[int]:
        """For a table of this owner: whom privileges do not restrict."""
        return frozenset({owner, *self.below[owner], *self.unrestricted})

    def _unrestricted(self, role: Role) -> str:
        for oid in (role.oid, *sorted(role.above)):
            one = self.by_oid[oid]
            if why := self._reason(one):
                return why if one is role else f"has the rights of {one.name}, which is unrestricted: {why}"
        return ""

    def _reason(self, role: Role) -> str:
        if role.superuser:
            return "superuser"
        if role.name in _BEYOND_GRANTS:
            return "reads every table or file whatever is granted"
        if role.is_lily:
            return "the role with which Lily enforces"
        return "named in `ignored_roles`" if role.name in self._ignored else ""
