"""Settings from environment variables. A name with the prefix that is not a setting is refused like an unknown key."""

from typing import Any

from pydantic_settings import EnvSettingsSource

# Variables with the prefix that are not settings.
OTHER_VARIABLES = frozenset(
    {
        "LILY_URL",  # of the client
        "LILY_TOKEN",
        "LILY_CA",
        "LILY_CLIENT_CERTIFICATE",
        "LILY_CLIENT_KEY",
        "LILY_STACK",  # marks the processes of an embedded stack
        "LILY_NICENESS",  # of Spark's Python processes
        "LILY_API_WORKER_SETTINGS",  # from the API's parent process to its workers
        "LILY_KEEP_TEST_DATA",  # of the tests
        "LILY_FAULT_SEED",
    }
)
_SERVICE = "_service_host"


class Environment(EnvSettingsSource):
    """Yields unknown names too, without their values: the model refuses them, and a value may be a secret."""

    def __call__(self) -> dict[str, Any]:
        return super().__call__() | dict.fromkeys(self._unknown(), None)

    def _unknown(self) -> list[str]:
        prefix = self.env_prefix.lower()
        fields = self.settings_cls.model_fields
        names = [name for name in self.env_vars if name.startswith(prefix) and name.upper() not in OTHER_VARIABLES]
        # Kubernetes describes a service called lily-api to every container with variables such as LILY_API_PORT.
        services = [name.removesuffix(_SERVICE) for name in names if name.endswith(_SERVICE)]
        injected = tuple(f"{service}_{kind}" for service in services for kind in ("service_", "port"))
        stated = [name.removeprefix(prefix) for name in names if not name.startswith(injected)]
        return [name for name in stated if name.partition("__")[0] not in fields]
