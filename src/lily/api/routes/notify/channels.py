"""`/channels`: configured channels, over which notifications are delivered."""

import asyncio
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter

from lily.api.calls import HttpCall, ManagesNotifications
from lily.api.http.bodies import read_body
from lily.api.http.creating import creates
from lily.api.http.errors import Declined, existing, limit_reached, not_found
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.notifications import (
    CHANGED_CHANNEL_EXAMPLES,
    CHANNEL_EXAMPLES,
    IN_USE,
    TEST_EXAMPLES,
    ChangedChannel,
    Channel,
    ChannelName,
    Channels,
    NewChannel,
    Removed,
    TestBody,
    TestResult,
)
from lily.api.http.openapi.policy_responses import EXISTS, FORBIDDEN_ADDRESS
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.notifications.lists import administering, find, listed
from lily.api.plugin_configuration import encrypted, made_plugin
from lily.api.policy.administration import checked_name
from lily.api.reads.references import normal
from lily.enforce.surroundings import surroundings_of
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_NAME
from lily.notify.matching import fold
from lily.plugins import CHANNELS
from lily.store.postgres.subscriptions import administration
from lily.store.postgres.subscriptions.administration import sealed_name

PATH = "/channels"
TEST_SECONDS = 30.0  # how long a response waits for the receiver's
POLL_SECONDS = 0.1

router = APIRouter(tags=["notifications"])


@creates(router, PATH, Channel, body_model(NewChannel, CHANNEL_EXAMPLES), EXISTS, FORBIDDEN_ADDRESS)
async def add_channel(call: ManagesNotifications) -> Json:
    """Adds a channel. `type` is the name of a plug-in (`lily plugins`), `config` its configuration. Subscriptions name
    the channel; `POST /channels/{name}/test` shows whether it works."""
    body = await read_body(call.request, NewChannel, call.services.settings.limits.body_bytes)
    name = checked_name(body.name, "name", MAX_NAME)
    sealed = await _sealed(call, body.type, fold(name), body.config)
    channel = administration.NewChannel(fold(name), name, body.type, body.per_second, *sealed)
    most = call.services.settings.limits.channels
    if not await administering(call).add_channel(channel, most=most):
        if await find(call, "channels", channel.key) is None:
            raise limit_reached("channels", most, f"{PATH}/{{name}}")
        described = f"the channel {name} exists already; change it with PUT {PATH}/{name}"
        raise Declined(409, Problem("EXISTS", described, "name"))
    return Json(await _found(call, name), 201)


@router.get(PATH, responses={200: {"model": Channels}})
async def list_channels(call: ManagesNotifications, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the channels by name, with the destinations that fail at the moment. The configuration is never shown."""
    return await listed(call, "channels", limit, cursor)


@router.get(f"{PATH}/{{name:segment}}", responses={200: {"model": Channel}})
async def channel(name: ChannelName, call: ManagesNotifications) -> Json:
    """Returns one channel, with the destinations that fail at the moment, and its last test."""
    return Json(await _found(call, name))


@router.put(
    f"{PATH}/{{name:segment}}",
    responses={200: {"model": Channel}, **FORBIDDEN_ADDRESS},
    openapi_extra=body_model(ChangedChannel, CHANGED_CHANNEL_EXAMPLES),
)
async def replace_channel(name: ChannelName, call: ManagesNotifications) -> Json:
    """Changes a channel, for example to replace a secret. Without `config` the stored configuration stays."""
    body = await read_body(call.request, ChangedChannel, call.services.settings.limits.body_bytes)
    found = await _found(call, name)
    key = fold(normal(name))
    sealed: tuple[bytes | None, bytes | None] = (None, None)
    if body.config is not None:
        sealed = await _sealed(call, body.type, key, body.config)
    elif found["type"] != body.type:
        described = f"the channel is of the type {found['type']}; state the `config` of the type {body.type} too"
        raise Refused(Problem("INVALID_VALUE", described, "config"))
    changed = administration.NewChannel(key, found["name"], body.type, body.per_second, *sealed)
    if not await administering(call).replace_channel(changed):
        raise not_found(name, "channel")
    return Json(await _found(call, name))


@router.delete(f"{PATH}/{{name:segment}}", responses={200: {"model": Removed}, **IN_USE})
async def remove_channel(name: ChannelName, call: ManagesNotifications) -> Json:
    """Removes a channel that no subscription names, with its secrets."""
    found = await _found(call, name)
    if not await administering(call).remove_channel(fold(normal(name))):
        described = f"subscriptions name the channel {found['name']}; delete them first, or give them another channel"
        raise Declined(409, Problem("IN_USE", described, "name"))
    return Json({"status": "success", "name": found["name"]})


@router.post(
    f"{PATH}/{{name:segment}}/test",
    responses={200: {"model": TestResult}, 202: {"model": Channel}},
    openapi_extra=body_model(TestBody, TEST_EXAMPLES),
)
async def test_channel(name: ChannelName, call: ManagesNotifications) -> Json:
    """Sends a test to a destination now, and returns what the receiver returned, or why it was not delivered. A test
    that arrives ends the pause of a destination that failed. If no worker sends it within 30 seconds, the response is
    202, and the result is part of the channel later."""
    body = await read_body(call.request, TestBody, call.services.settings.limits.body_bytes)
    key, request = fold(normal(name)), str(uuid.uuid4())
    if "\x00" in body.destination:
        raise Refused(Problem("INVALID_VALUE", "destination must not contain NUL", "destination"))
    await call.record("channel.test-requested", (await _found(call, name))["name"], {})
    database = call.services.database
    if not await administration.request_test(database, call.tenant, key, body.destination, request):
        raise not_found(name, "channel")
    deadline = time.monotonic() + TEST_SECONDS
    while time.monotonic() < deadline:
        test = (await _found(call, name))["test"]
        if test and test["request"] == request:
            return Json(test)
        await asyncio.sleep(POLL_SECONDS)
    return Json(await _found(call, name), 202)


async def _found(call: HttpCall, name: str) -> dict[str, Any]:
    return existing(await find(call, "channels", fold(normal(name))), name, "channel")


async def _sealed(call: HttpCall, type_: str, key: str, config: dict[str, Any]) -> tuple[bytes, bytes]:
    place = surroundings_of(call.services.settings, call.tenant, key, datetime.now(UTC))
    await (await made_plugin(CHANNELS, type_, config, place, "channel")).close()
    return encrypted(call, sealed_name(key), config)
