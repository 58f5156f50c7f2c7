"""What a mapping states: how a source signs, and what of its messages becomes which field of an incident."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from lily.incidents import SEVERITIES, STATES
from lily.intake.mapped.paths import read_path
from lily.intake.mapped.templates import read_template

PASSED = "passed"  # the check of the series passed: earlier incidents of it are resolved
OUTCOMES = (*STATES, PASSED)
MAX_ALTERNATIVES = 16
MAX_VALUES = 100
MAX_CONDITIONS = 16
ANY = "*"  # in `values`: whatever else it is
Scheme = Literal["standard-webhooks", "hmac-sha256", "hmac-sha512", "bearer"]


Texts = str | list[str]


def _read_all(read: Callable[[str], object]) -> Callable[[Texts], Texts]:
    """Checks one text or several; one error for all of them, not one for each type that a field could have."""

    def check(given: Texts) -> Texts:
        texts = [given] if isinstance(given, str) else given
        if not 0 < len(texts) <= MAX_ALTERNATIVES:
            raise ValueError(f"state 1 to {MAX_ALTERNATIVES} alternatives, not {len(texts)}")
        for text in texts:
            read(text)
        return given

    return check


Paths = Annotated[Texts, AfterValidator(_read_all(read_path))]
Written = Annotated[Texts, AfterValidator(_read_all(read_template))]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Signature(_Strict):
    """How deliveries are authenticated with the secret of the source."""

    type: Scheme
    header: HeaderName | None = None
    prefix: str | None = Field(None, max_length=64)
    encoding: Literal["hex", "base64"] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.type == "standard-webhooks" and (self.header or self.prefix or self.encoding):
            raise ValueError("standard-webhooks fixes the headers: leave out header, prefix and encoding")
        if self.type == "bearer" and self.encoding:
            raise ValueError("bearer has no encoding: the header holds the secret itself")
        return self


class Table(_Strict):
    """A value that is translated. An item whose value is not listed, and for which there is no `*`, has none."""

    path: Written
    values: dict[str, str] = Field(min_length=1, max_length=MAX_VALUES)


def _kind(given: object) -> str:
    return "table" if isinstance(given, dict | Table) else "text"


WrittenOrTable = Annotated[Annotated[Written, Tag("text")] | Annotated[Table, Tag("table")], Discriminator(_kind)]


class Fields(_Strict):
    """Each is a path, a text with paths in braces, or a list of these, of which the first that yields a value holds."""

    external_id: Written
    state: Table | None = None
    severity: WrittenOrTable | None = None
    title: Written | None = None
    description: Written | None = None
    url: Written | None = None
    kind: WrittenOrTable | None = None
    owner: Written | None = None
    tables: Written | None = None
    series: Written | None = None
    time: Written | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _listed(self.state, "state", OUTCOMES)
        _listed(self.severity, "severity", SEVERITIES)
        if self.state is not None and PASSED in self.state.values.values() and self.series is None:
            raise ValueError(f"a state `{PASSED}` needs the field series: it resolves earlier incidents of that series")
        if self.series is not None and any(read_template(text).names_series for text in written(self.series)):
            raise ValueError("series must not name itself")
        return self


def _read_one(path: str) -> str:
    read_path(path)
    return path


class Condition(_Strict):
    """One of `equals`, `in` and `exists`."""

    model_config = ConfigDict(extra="forbid", populate_by_name=False)

    path: Annotated[str, AfterValidator(_read_one)]
    equals: str | int | float | bool | None = None
    among: list[str | int | float | bool] | None = Field(None, alias="in", min_length=1, max_length=MAX_VALUES)
    exists: bool | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.model_fields_set & {"equals", "among", "exists"}) != 1:
            raise ValueError("a condition has exactly one of equals, in and exists")
        return self

    def holds(self, found: list[Any]) -> bool:
        if self.exists is not None:
            return self.exists == any(value is not None for value in found)
        # In Python true equals 1; in JSON it does not.
        wanted = {(type(one), one) for one in ([self.equals] if self.among is None else self.among)}
        return any((type(value), value) in wanted for value in found if not isinstance(value, dict | list))


class Mapping(_Strict):
    """`items` leads to the list whose items are one incident each; without it, the message is one."""

    name: Name
    description: str = Field("", max_length=1_024)
    signature: Signature
    items: Paths | None = None
    fields: Fields
    when: list[Condition] = Field([], max_length=MAX_CONDITIONS)

    def as_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def written(field: str | list[str] | Table | None) -> list[str]:
    """The alternatives of a field."""
    if field is None:
        return []
    stated = field.path if isinstance(field, Table) else field
    return [stated] if isinstance(stated, str) else stated


def is_mapping_name(text: str) -> bool:
    return re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", text) is not None


def _listed(field: object, name: str, allowed: tuple[str, ...]) -> None:
    unknown = sorted({*field.values.values()} - {*allowed}) if isinstance(field, Table) else []
    if unknown:
        raise ValueError(f"{name}.values may only lead to {', '.join(allowed)}, not {', '.join(unknown)[:128]}")
