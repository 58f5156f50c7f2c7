"""A subscription: which events, over which channel, to whom, in which words and when."""

from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator, model_validator

from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, MAX_TAG
from lily.notify import kinds
from lily.notify.events import Severity

MAX_LISTED = 200  # values of one filter
MAX_DESTINATION = 1_000
MAX_TEMPLATE = 10_000
OWNERS = "@owners"  # the destination that is looked up: the handles of the owners, from /mentions
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

Listed: Any = Field(default_factory=list, max_length=MAX_LISTED)
Reference = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUALIFIED_NAME)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TAG)]
Clock = Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, given: Any) -> Any:
        if _has_nul(given):
            raise ValueError("a text must not contain NUL")
        return given


def _has_nul(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_nul(one) for pair in value.items() for one in pair)
    return any(map(_has_nul, value)) if isinstance(value, list) else isinstance(value, str) and "\x00" in value


class Filters(Section):
    """Every filter that is given has to match; of the values of one filter, any."""

    assets: list[Reference] = Listed
    descendants: bool = Field(True, description="`assets` stand for everything below them too")
    downstream_of: list[Reference] = Listed
    tags: list[Tag] = Listed
    entity_types: list[Name] = Listed
    owners: list[Name] = Listed
    downstream_owners: bool = Field(
        False, description="owners of what lies downstream count as owners, for `owners` and for `@owners`"
    )
    severities: list[Severity] = Listed
    min_severity: Severity | None = None
    kinds: list[Name] = Field(
        default_factory=list, max_length=MAX_LISTED, description="default: `incident.*` and `risk.*`"
    )

    @field_validator("kinds")
    @classmethod
    def _known(cls, given: list[str]) -> list[str]:
        for kind in given:
            if not kinds.is_pattern(kind):
                known = ", ".join((*kinds.KINDS, *(f"{family}.*" for family in kinds.FAMILIES)))
                raise ValueError(f"unknown kind `{kind[:64]}`; use one of: {known}")
        return given

    @property
    def patterns(self) -> tuple[str, ...]:
        return tuple(self.kinds) or kinds.DEFAULT


class Template(Section):
    """Text of one's own; what is left out is the standard text. See `lily.notify.templates`."""

    title: str = Field("", max_length=MAX_TEMPLATE)
    text: str = Field("", max_length=MAX_TEMPLATE)


class Grouping(Section):
    seconds: int = Field(ge=1, le=86_400, description="what matches within so many seconds is one message")


class QuietHours(Section):
    """Messages that fall into them are held until their end. `days` are those on which they begin."""

    timezone: Name
    begin: Clock = Field(alias="from")
    end: Clock = Field(alias="to")
    days: list[str] = Field(default_factory=list, max_length=7)
    except_severity: Severity | None = Field(None, description="what is at least so severe is sent at once")

    @field_validator("timezone")
    @classmethod
    def _zone(cls, given: str) -> str:
        try:
            ZoneInfo(given)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"unknown time zone `{given[:64]}`; use a name such as Europe/Berlin") from None
        return given

    @field_validator("days")
    @classmethod
    def _weekdays(cls, given: list[str]) -> list[str]:
        if unknown := [day for day in given if day not in DAYS]:
            raise ValueError(f"unknown day `{unknown[0][:64]}`; use {', '.join(DAYS)}")
        return given

    @model_validator(mode="after")
    def _ends(self) -> "QuietHours":
        if self.begin == self.end and len(set(self.days) or DAYS) == len(DAYS):
            raise ValueError("quiet hours must end; set `enabled` to false for a subscription that sends nothing")
        return self


class Subscription(Section):
    name: Name
    filters: Filters = Field(default_factory=Filters)
    channel: Name
    destination: str = Field("", max_length=MAX_DESTINATION, description="what it means depends on the channel's type")
    template: Template | None = None
    group: Grouping | None = None
    quiet_hours: QuietHours | None = None
    enabled: bool = True

    @field_validator("destination")
    @classmethod
    def _one_line(cls, given: str, _: ValidationInfo) -> str:
        if any(character in given for character in "\r\n"):
            raise ValueError("destination must be one line")
        return given.strip()

    def stored(self) -> dict[str, Any]:
        """As it is stored and shown, under the names of the contract."""
        return self.model_dump(by_alias=True, mode="json")
