"""An authorised statement that ends what a layer holds, and states nothing else (`lily.model.held`)."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from lily.model import ids
from lily.model.assets import CUT, tag_key
from lily.model.held import COVERS, RELEASED, RELEASED_PARENT
from lily.model.values import MAX_TAG, Checker

ReleaseKind = Literal["tag", "parent", "covered", "deletion"]
RELEASE_KINDS: tuple[ReleaseKind, ...] = get_args(ReleaseKind)


class Release(NamedTuple):
    """What ends: a tag by its key, a parent by its id, the parents of the layers below, or what a deleted asset passes
    on."""

    kind: ReleaseKind
    key: str = ""

    def as_data(self) -> dict[str, str]:
        return {"kind": self.kind, **({"key": self.key} if self.key else {})}

    def fields(self) -> dict[str, Any]:
        field = {
            "tag": RELEASED + self.key,
            "parent": RELEASED_PARENT + self.key,
            "covered": COVERS,
            "deletion": CUT,
        }[self.kind]
        return {field: True}


def read_release(checker: Checker, data: Mapping[str, Any]) -> Release | None:
    """None, with a problem, if the statement does not state validly what ends, or has no authority to end it."""
    given = data.get("release")
    if data.get("authorised") is not True:
        checker.refuse("PROTECTED", "a release needs authority: the scope policy:write", "operation")
        return None
    if not isinstance(given, Mapping) or given.get("kind") not in RELEASE_KINDS:
        description = f"release is required, with a kind: one of {', '.join(RELEASE_KINDS)}"
        checker.refuse("MISSING_FIELD", description, "release")
        return None
    kind: ReleaseKind = given["kind"]
    key = ""
    if kind == "tag":
        key = tag_key(checker.name(given.get("key"), "release.key", MAX_TAG) or "")
    elif kind == "parent":
        key = str(given.get("key", "")).lower()
        if not ids.looks_like_uuid(key):
            checker.refuse("INVALID_VALUE", "release.key must be the id of the parent", "release.key")
    return Release(kind, key)
