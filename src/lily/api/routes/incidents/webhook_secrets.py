"""`/webhook-secrets`: what other systems sign their webhooks with."""

from fastapi import APIRouter

from lily.api.calls import Anyone, HttpCall
from lily.api.http.bodies import read_body
from lily.api.http.errors import Declined, not_found
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.incidents import (
    SECRET_EXAMPLES,
    NewSecret,
    RemovedSecret,
    SourceName,
    WebhookSecret,
    WebhookSecretList,
)
from lily.api.http.openapi.responses import Json
from lily.api.webhooks.receiving import is_name
from lily.model import clock
from lily.model.errors import Problem, Refused, Terminal
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.access.webhook_secrets import SecretDates, put_secret, remove_secrets, secret_dates

PATH = "/webhook-secrets"

router = APIRouter(tags=["incidents"])


@router.get(PATH, responses={200: {"model": WebhookSecretList}})
async def list_secrets(call: Anyone) -> Json:
    """Returns the sources that have a secret, and since when; never the secret. Needs the scope `admin`."""
    call.require("admin", "listing the secrets of webhooks", PATH)
    found = await secret_dates(call.services.database, call.tenant)
    return Json({"items": [_shown(one) for one in found], "next_cursor": None})


@router.put(
    f"{PATH}/{{source:segment}}",
    responses={200: {"model": WebhookSecret}},
    openapi_extra=body_model(NewSecret, SECRET_EXAMPLES),
)
async def put(source: SourceName, call: Anyone) -> Json:
    """Sets the secret with which a source signs its webhooks. It is stored encrypted. The secret before stays valid for
    `keep_previous_for` seconds (a day unless stated), so that the sender can be changed over without downtime. Needs
    the scope `admin`."""
    call.require("admin", "setting the secret of a webhook", source)
    if not is_name(source):
        described = f"{source[:64]!r} is not the name of a source; use letters, digits and -, such as monte-carlo"
        raise Refused(Problem("INVALID_VALUE", described, "source"))
    body = await read_body(call.request, NewSecret, call.services.settings.limits.body_bytes)
    services, vault = call.services, _vault(call)
    stored = {"source": source, "secret": body.secret}
    await put_secret(services.database, call.principal, vault, **stored, keep_seconds=body.keep_previous_for)
    services.webhooks.secrets.invalidate(call.tenant)  # at once in this process; the others are notified
    (shown,) = [_shown(one) for one in await secret_dates(services.database, call.tenant) if one.source == source]
    return Json(shown)


@router.delete(f"{PATH}/{{source:segment}}", responses={200: {"model": RemovedSecret}})
async def remove(source: SourceName, call: Anyone) -> Json:
    """Removes all secrets of a source: its webhooks are refused from now on. Needs the scope `admin`."""
    call.require("admin", "removing the secret of a webhook", source)
    if not is_name(source) or not await remove_secrets(call.services.database, call.principal, source):
        raise not_found(source, "secret of a webhook")
    call.services.webhooks.secrets.invalidate(call.tenant)
    return Json({"status": "success", "source": source})


def _vault(call: HttpCall) -> Vault:
    """Raises Declined with 503 without a master key: a secret is not stored in the clear."""
    try:
        return Vault.of(call.services.settings.master_key_file)
    except Terminal as error:
        raise Declined(503, Problem("NO_MASTER_KEY", str(error), "secret")) from error


def _shown(found: SecretDates) -> dict[str, str | None]:
    until = found.previous_valid_until
    return {
        "source": found.source,
        "created_at": clock.stamp(found.created_at),
        "previous_valid_until": None if until is None else clock.stamp(until),
    }
