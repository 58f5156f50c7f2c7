"""Templates of subscriptions: what they can say, and that they can do nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateError

from lily.model.errors import Refused
from lily.notify.digests import digest, highest
from lily.notify.events import Occurrence, Subject
from lily.notify.subscriptions import Template
from lily.notify.templates import FIELDS, MAX_OUTPUT, check_template, render
from lily.notify.wording import MAX_SHOWN, Worded, standard, template_values, worded

INCIDENT = {"incident_id": "i-1", "state": "open", "title": "Late data", "source": "monte-carlo", "url": "https://mc/1"}
SUBJECTS = tuple(Subject(f"id-{n}", "table", f"shop.t{n}", owner="ann") for n in range(3))
OPENED = Occurrence("e", ("incident.opened",), "critical", "2026-01-01T00:00:00.000000Z", SUBJECTS, INCIDENT)


def values(occurrence: Occurrence = OPENED) -> dict[str, Any]:
    kind = occurrence.kinds[0]
    usual = standard(kind, occurrence)
    return template_values("t", kind, occurrence, usual, public_url="https://lily.example", mentions=["ann"])


def test_a_template_has_the_fields_that_it_may_name() -> None:
    assert set(values()) == set(FIELDS)


def test_a_template_says_what_happened_with_mentions_and_links() -> None:
    source = (
        "{{ mentions }} {{ severity|upper }} {{ incident.title }}: "
        "{% for one in assets %}{{ one.name }} ({{ one.url }}){% if not loop.last %}, {% endif %}{% endfor %}"
    )
    check_template(source, "template.text")
    text = render(source, values())
    assert text.startswith("@ann CRITICAL Late data: shop.t0 (https://lily.example/#/assets/id-0), shop.t1")


@pytest.mark.parametrize(
    "source",
    [
        "{{ titel }}",
        "{{ title.__class__ }}",
        "{{ asset._id }}",
        "{{ ''['__class__'] }}",
        "{{ title|attr('x') }}",
        "{{ 'a' * 1000000000 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ range(10) }}",
        "{% for x in range(1000000) %}{% endfor %}",
        "{% for c in text %}{% endfor %}",
        "{% for a in assets %}{% for b in assets %}{% for c in assets %}x{% endfor %}{% endfor %}{% endfor %}",
        "{% for a in assets recursive %}{{ loop(assets) }}{% endfor %}",
        "{% for assets in owners %}{% endfor %}",
        "{% set x = text ~ text %}{{ x }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% filter upper %}x{% endfilter %}",
        "{{ title|center(1000000000) }}",
        "{{ title.format(1) }}",
        "{{ cycler }}",
        "{{ self }}",
        "{% if %}",
        "{{ title",
        "{% for a in assets %}{% endfor %}" * 6,
        "{{ " + "(" * 3000 + "title" + ")" * 3000 + " }}",
        "{% for a in assets %}{% for b in assets %}{{ " + "text ~ " * 100 + "text }}{% endfor %}{% endfor %}",
        "{% for a in assets %}{% for b in assets %}"
        + "{% if title in text %}{% endif %}" * 50
        + "{% endfor %}{% endfor %}",
    ],
)
def test_anything_else_is_refused_when_it_is_stored(source: str) -> None:
    with pytest.raises(Refused, match="INVALID_TEMPLATE"):
        check_template(source, "template.text")


def test_the_refusal_names_a_similar_field() -> None:
    with pytest.raises(Refused, match="did you mean `severity`"):
        check_template("{{ severty }}", "template.title")


def test_output_is_cut() -> None:
    many = tuple(Subject(f"{n}", "table", "x" * 1000) for n in range(2 * MAX_SHOWN))
    source = "{% for a in assets %}{% for b in assets %}{{ a.name }}{{ b.name }}{% endfor %}{% endfor %}"
    check_template(source, "template.text")
    assert len(render(source, values(OPENED.about(many)))) == MAX_OUTPUT


def test_a_template_that_fails_is_replaced_by_the_standard_text() -> None:
    usual = Worded("title", "text")
    found, problem = worded(Template(title="{{ count|join }}", text="mine"), usual, values())
    assert found == usual
    assert "TypeError" in problem


@pytest.mark.parametrize(
    "source",
    [
        "{{ text|join(text) }}",
        "{{ text|join(text)|join(text)|join(text) }}",
        "{{ assets|join(text)|join(text)|join(text) }}",
        "{{ 'aaaaaaaaaaaaaaaa'" + "|join('aaaaaaaaaaaaaaaa')" * 16 + " }}",
        "{% for a in assets %}{% for b in assets %}{% if text"
        + "|title" * 50
        + " == '' %}{% endif %}{% endfor %}{% endfor %}",
        "{% for a in assets %}{{ text|trim(text) }}{% endfor %}",
    ],
)
def test_a_template_cannot_grow_a_text_by_filters(source: str) -> None:
    """Rendered without a bound, these need terabytes, or hours."""
    many = tuple(Subject(f"{n}", "table", "x" * 1000) for n in range(MAX_SHOWN))
    check_template(source, "template.text")
    found, problem = worded(Template(text=source), Worded("t", "usual"), values(OPENED.about(many)))
    assert found == Worded("t", "usual")
    assert "join takes a list, not str" in problem or "filters write more than" in problem


@pytest.mark.parametrize(
    "source", ["{{ title.upper }}", "{{ assets.sort|lower }}", "{% for a in assets %}{{ a.get }}{% endfor %}"]
)
def test_a_template_does_not_see_the_methods_of_values(source: str) -> None:
    check_template(source, "template.text")
    found, _ = worded(Template(text=source), Worded("t", "usual"), values())
    assert " at 0x" not in found.text


def test_lists_are_joined_by_their_items_and_by_one_of_their_fields() -> None:
    source = "{{ tags|join(', ') }}{{ assets|join(' and ', 'name')|upper }}{{ incident.unknown|join }}"
    check_template(source, "template.text")
    assert render(source, values()) == "SHOP.T0 AND SHOP.T1 AND SHOP.T2"


def test_what_a_template_leaves_out_is_the_standard_text() -> None:
    usual = standard("incident.opened", OPENED)
    assert worded(Template(title="Mine"), usual, values()) == (Worded("Mine", usual.text), "")
    assert worded(Template(text="Mine"), usual, values())[0].title == usual.title


def test_a_title_is_one_line() -> None:
    found, _ = worded(Template(title="a\n{{ kind }}\n"), Worded("t", "x"), values())
    assert found.title == "a incident.opened"


PIECES = st.sampled_from(
    [
        "{{ title }}",
        "{{ assets }}",
        "{% if count %}",
        "{% endif %}",
        "{% for a in assets %}",
        "{% endfor %}",
        "{{ a.name }}",
        "{{ a.name.upper }}",
        "{{ incident.x.y }}",
        "{{ owners|join(', ') }}",
        "{{ tags|first|default('none') }}",
        "{{ asset|first }}",
        "{{ count|join }}",
        "{{",
        "%}",
        "text",
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_is_accepted_renders_within_bounds(source: str) -> None:
    try:
        check_template(source, "template.text")
    except Refused:
        return
    try:
        assert len(render(source, values())) <= MAX_OUTPUT
    except (TemplateError, TypeError, LookupError, ValueError):
        assert worded(Template(text=source), Worded("t", "x"), values())[0] == Worded("t", "x")


def test_the_standard_text_names_the_assets_and_the_source() -> None:
    title, text = standard("incident.opened", OPENED)
    assert title == "Incident opened: Late data"
    assert "monte-carlo" in text
    assert "https://mc/1" in text
    assert "- shop.t0" in text
    risk = standard("risk.at_risk", Occurrence("e", ("risk.at_risk",), "info", "", SUBJECTS, INCIDENT))
    assert risk.title == "At risk: shop.t0 and 2 more"
    assert risk.text.splitlines()[0] == "Incident: Late data"
    tagged = standard("tag.tagged", Occurrence("e", ("tag.tagged",), "info", "", SUBJECTS[:1], tags=("PII",)))
    assert tagged.title == "Tagged: PII on shop.t0"


def test_several_messages_are_one_digest() -> None:
    assert digest([Worded("a", "b")]) == Worded("a", "b")
    many = digest([Worded(f"t{n}", "") for n in range(60)])
    assert many.title == "60 notifications: t0"
    assert many.text.splitlines()[-1] == "and 10 more"
    assert highest(["info", "critical", "warning"]) == "critical"
