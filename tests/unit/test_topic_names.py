"""No two targets share a topic, whatever they are called."""

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from lily.connect.enforcers.topic.names import topic_name

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=80)


def test_plain_names_are_readable() -> None:
    assert topic_name("acme", "lake-house2") == "lily-enforcement.acme.lake-house2"
    assert topic_name("acme", "sales eu") == "lily-enforcement.acme.sales_20eu"
    assert topic_name("a_b", "c.d") == "lily-enforcement.a_5fb.c_2ed"


@given(NAMES, NAMES, NAMES, NAMES)
def test_it_is_a_name_for_kafka_and_different_for_every_target(
    tenant: str, target: str, other_tenant: str, other: str
) -> None:
    name = topic_name(tenant, target)
    assert re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", name)
    assume((tenant, target) != (other_tenant, other))
    # Kafka's metrics do not tell a dot from an underscore.
    assert name.replace(".", "_") != topic_name(other_tenant, other).replace(".", "_")
