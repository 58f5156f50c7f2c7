"""Bodies, examples and responses of notifications, for the OpenAPI document."""

from typing import Annotated, Any, Literal

from fastapi import Path
from fastapi.openapi.models import Example
from pydantic import BaseModel, ConfigDict, Field

from lily.api.http.openapi.examples import ORDERS, Examples
from lily.api.http.openapi.responses import Errors
from lily.model.values import MAX_QUALIFIED_NAME
from lily.notify.events import Severity
from lily.notify.subscriptions import MAX_DESTINATION, Filters, Grouping, Name, Template

CHANNEL = "data-team-slack"
SUBSCRIPTION_ID = "0190a5c6-7b1e-7c3a-9d52-3f1f8a1c2e4d"
State = Literal["waiting", "held", "grouped", "delivered", "failed", "suppressed"]

ChannelName = Annotated[
    str, Path(description="The channel's name, in any case.", openapi_examples={"a channel": Example(value=CHANNEL)})
]
OwnerName = Annotated[
    str,
    Path(description="The owner's or team's name, in any case.", openapi_examples={"a team": Example(value="bi-team")}),
]

CHANNEL_EXAMPLES: Examples = {
    "a signed webhook": {
        "name": "tickets",
        "type": "webhook",
        "config": {"destinations": {"ops": "https://tickets.example.org/lily"}, "secrets": ["whsec_SECRET"]},
        "per_second": 10,
    }
}
CHANGED_CHANNEL_EXAMPLES: Examples = {"another rate limit": {"type": "webhook", "per_second": 5}}
TEST_EXAMPLES: Examples = {"a webhook": {"destination": "ops"}}
SUBSCRIPTION_EXAMPLES: Examples = {
    "severe incidents of a schema": {
        "name": "incidents of the shop",
        "filters": {"assets": ["shop.public"], "min_severity": "warning", "kinds": ["incident.*", "risk.*"]},
        "channel": CHANNEL,
        "destination": "#data-incidents",
        "template": {"title": "{{ severity|upper }}: {{ incident.title }}", "text": "{{ mentions }}\n{{ text }}"},
        "quiet_hours": {"timezone": "Europe/Berlin", "from": "22:00", "to": "07:00", "except_severity": "critical"},
    },
    "the owners of what is downstream": {
        "name": "owners downstream",
        "filters": {"kinds": ["incident.opened", "incident.resolved"], "downstream_owners": True},
        "channel": CHANNEL,
        "destination": "@owners",
    },
}
MENTION_EXAMPLES: Examples = {"a team": {"name": "bi-team", "handles": {"slack": "<!subteam^SAZ94GDB8>"}}}
MUTE_EXAMPLES: Examples = {
    "an asset, for a while": {"asset": ORDERS, "until": "2030-01-01T08:00:00Z", "reason": "migration"},
    "a kind": {"kind": "tag.*"},
}

IN_USE: dict[int | str, dict[str, Any]] = {409: {"model": Errors, "description": "A subscription names the channel"}}
LIMITED: dict[int | str, dict[str, Any]] = {409: {"model": Errors, "description": "The tenant has as many as it may"}}


class NewChannel(BaseModel, extra="forbid"):
    """`config` is the plug-in's; it is stored encrypted and never shown again. `per_second` limits the messages to one
    destination."""

    name: Name
    type: Name
    config: dict[str, Any]
    per_second: float | None = Field(None, gt=0, le=10_000)


class ChangedChannel(BaseModel, extra="forbid"):
    """Without `config` the stored configuration stays; another type needs one."""

    type: Name
    config: dict[str, Any] | None = None
    per_second: float | None = Field(None, gt=0, le=10_000)


class TestBody(BaseModel, extra="forbid"):
    destination: str = Field("", max_length=MAX_DESTINATION)


class MuteBody(BaseModel, extra="forbid"):
    """`asset` (an id or a name, with everything below it), `kind`, or both."""

    asset: str | None = Field(None, min_length=1, max_length=MAX_QUALIFIED_NAME)
    kind: Name | None = None
    until: str | None = Field(None, max_length=64)
    reason: str = Field("", max_length=1_000)


class FailingDestination(BaseModel):
    destination: str
    failures: int
    gone: bool
    paused_until: str | None
    failed_at: str | None
    error: str


class TestResult(BaseModel):
    """`receiver_id` is what the receiver returned, such as a link; `error` why it was not delivered."""

    request: str
    at: str
    destination: str
    delivered: bool
    receiver_id: str
    error: str
    seconds: float


class Channel(BaseModel):
    """`failing` has the destinations whose last message failed; `test` is the last one."""

    name: str
    type: str
    per_second: float | None
    created_at: str
    updated_at: str
    subscriptions: int
    failing: list[FailingDestination]
    test: TestResult | None


class Channels(BaseModel):
    items: list[Channel]
    next_cursor: str | None


class Removed(BaseModel):
    status: Literal["success"]
    name: str


class Deleted(BaseModel):
    status: Literal["success"]
    id: str


class QuietHoursResponse(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    timezone: str
    begin: str = Field(alias="from")
    end: str = Field(alias="to")
    days: list[str]
    except_severity: Severity | None


class SubscriptionResponse(BaseModel):
    id: str
    created_at: str
    updated_at: str
    name: str
    filters: Filters
    channel: str
    destination: str
    template: Template | None
    group: Grouping | None
    quiet_hours: QuietHoursResponse | None
    enabled: bool


class Subscriptions(BaseModel):
    items: list[SubscriptionResponse]
    next_cursor: str | None


class MentionResponse(BaseModel):
    name: str
    handles: dict[str, str]


class Mentions(BaseModel):
    items: list[MentionResponse]
    next_cursor: str | None


class Mute(BaseModel):
    id: str
    asset: str | None
    kind: str | None
    until: str | None
    reason: str
    by: str
    created_at: str


class Mutes(BaseModel):
    items: list[Mute]
    next_cursor: str | None


class NotifiedAsset(BaseModel):
    id: str
    entity_type: str
    qualified_name: str


class NotificationResponse(BaseModel):
    id: str
    at: str
    kind: str
    severity: Severity
    title: str
    text: str
    event: str
    incident_id: str | None
    assets: list[NotifiedAsset]
    muted: bool
    acknowledged_by: str | None
    acknowledged_at: str | None


class Notifications(BaseModel):
    items: list[NotificationResponse]
    next_cursor: str | None


class Delivery(BaseModel):
    """A receipt: `waiting` for its turn, `held` in quiet hours, `grouped` to be sent with another (`sent_with`),
    `delivered`, `failed` for good (a dead letter), or `suppressed` for a `reason`."""

    id: str
    subscription: str
    channel: str
    destination: str
    state: State
    reason: str
    attempts: int
    receiver_id: str
    error: str
    sent_with: str | None
    due_at: str
    attempted_at: str | None
    delivered_at: str | None
    paused_until: str | None


class NotificationDetail(NotificationResponse):
    deliveries: list[Delivery]


class Acknowledged(BaseModel):
    status: Literal["success"]
    id: str
    acknowledged_by: str
    acknowledged_at: str


class FilterFinding(BaseModel):
    filter: str
    matched: bool
    reason: str


class Explained(BaseModel):
    """Why one event was sent to a subscription or not: `answer` in one sentence, then everything that was looked at."""

    event: str
    notification: str | None
    kind: str
    at: str
    matched: bool
    answer: str
    filters: list[FilterFinding]
    mute: str | None
    quiet_hours: str | None
    group: str | None
    deliveries: list[Delivery]


class Explanation(BaseModel):
    subscription: str
    name: str
    items: list[Explained]
