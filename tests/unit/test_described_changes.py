"""A change is described from the fields that differ as it is from all of them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lily.model import changes

KEYS = ("name", "owner", "tags", "$type", "$deleted", "$parent", "$cut", "$held:pii", "$suppressed:pii", "$covers")
texts = st.sampled_from(["a", "b"])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(KEYS, texts),
    "$deleted": st.booleans(),
    "tags": st.dictionaries(texts, texts),
}
fields = st.fixed_dictionaries({}, optional=VALUES)
causes = st.lists(st.sampled_from([{"id": "1"}, {"id": "2", "from": "lake"}]), max_size=2)


@given(st.none() | fields, fields, causes)
def test_described_at_once_and_one_by_one(
    before: dict[str, Any] | None, after: dict[str, Any], causes: list[dict[str, str]]
) -> None:
    changed = changes.differing(before, after)
    was = before or {}
    assert sorted(changed) == sorted(key for key in was.keys() | after.keys() if was.get(key) != after.get(key))
    assert changes.describe(before, after, causes, changed) == (
        changes.kind(before, after, causes),
        changes.differences(before, after),
        changes.tag_changes(before, after),
    )
