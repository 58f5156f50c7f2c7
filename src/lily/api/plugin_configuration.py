"""Configurations of plug-ins that tenants state: validated here, encrypted, and only ever decrypted by workers."""

import asyncio
from typing import Any

import orjson

from lily.api.calls import HttpCall
from lily.api.http.errors import Declined
from lily.model.errors import Problem, Refused, Terminal
from lily.outbound import ForbiddenAddress
from lily.plugins import Group, Surroundings, installed, situated
from lily.store.postgres.access.secrets import Vault

VALIDATION_SECONDS = 10


async def made_plugin(group: Group[Any], type_: str, config: dict[str, Any], place: Surroundings, what: str) -> Any:
    """The plug-in, which the caller closes. Raises Refused unless it is installed and the operator permits its
    configuration. It may resolve the name of a host, and connects to nothing. `what` is `target` or `channel`."""

    def made() -> Any:
        return situated(installed().make(group, type_, config), place)

    try:
        return await asyncio.wait_for(asyncio.to_thread(made), VALIDATION_SECONDS)
    except TimeoutError as error:
        described = f"the host of the {what} could not be resolved in time; try again, or correct it"
        raise Declined(503, Problem("SLOW_NAME_SERVER", described, "config")) from error
    except ForbiddenAddress as error:
        raise Declined(422, Problem("FORBIDDEN_ADDRESS", str(error), "config")) from error
    except Terminal as error:
        raise Refused(Problem(f"INVALID_{what.upper()}", str(error), "config")) from error


def encrypted(call: HttpCall, name: str, config: dict[str, Any]) -> tuple[bytes, bytes]:
    """The wrapped key and the sealed configuration. Raises Declined with 503 without a master key: a password is not
    stored in the clear."""
    try:
        vault = Vault.of(call.services.settings.master_key_file)
    except Terminal as error:
        raise Declined(503, Problem("NO_MASTER_KEY", str(error), "config")) from error
    return vault.seal(call.tenant, name, orjson.dumps(config).decode())
